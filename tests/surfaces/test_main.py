"""The command line as a whole: names of commands, whatever they do."""

import pytest
from click.testing import CliRunner

from gossamer.surfaces.cli.main import gossamer


@pytest.mark.parametrize(
    ("typed", "said"),
    [("stat", "did you mean status?"), ("page", "did you mean pages"), ("xyzzy", "`gossamer --help` lists them")],
)
def test_a_name_that_is_none_is_met_with_those_that_resemble_it(typed: str, said: str) -> None:
    result = CliRunner().invoke(gossamer, [typed])
    assert result.exit_code == 2
    assert said in result.stderr
    assert f"no command '{typed}'" in result.stderr
