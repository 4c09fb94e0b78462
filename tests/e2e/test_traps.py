"""Endless spaces take little of a crawl that has real pages left."""

from pathlib import Path

import pytest
from bench.traps import BAR, QUICK, crawl
from tests.e2e.gossamer_command import assert_verified

from gossamer.testing.lab_hosts import Trap

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_all_traps_together_take_less_than_a_twentieth_of_the_fetches(tmp_path: Path) -> None:
    found = crawl(QUICK, tmp_path)
    assert found.share < BAR, found
    assert found.honest_in_lab > 2 * QUICK.pages
    assert found.traps[Trap.FARM] > 2, "the door was found and entered"
    assert found.traps[Trap.SUBDOMAINS] > 2
    assert_verified(tmp_path / "data")
