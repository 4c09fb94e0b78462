"""Settings from four places: what is wrong with them is said in the words of whoever wrote them."""

from pathlib import Path

import pytest

from gossamer.config import as_plain, read_changes, resolve, unknown_variables
from gossamer.config_faults import ConfigFaults


def faults(path: Path, text: str, **given: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigFaults) as told:
        resolve(given, {}, path)
    return [str(fault).removeprefix(f"{path}: ") for fault in told.value.faults]


@pytest.mark.parametrize(
    ("key", "meant"),
    [("delay", "delay_s"), ("delay-max", "delay_max_s"), ("max_pagse", "max_pages"), ("connect-to", "connect_to")],
)
def test_an_unknown_key_is_told_with_the_one_that_was_meant(tmp_path: Path, key: str, meant: str) -> None:
    assert faults(tmp_path / "a.toml", f"{key} = 3") == [f"unknown key {key}; did you mean {meant}?"]


def test_a_key_like_no_other_is_told_with_all_there_are(tmp_path: Path) -> None:
    (told,) = faults(tmp_path / "a.toml", "xyzzy = 3")
    assert told.startswith("unknown key xyzzy; known: allow_address, ")


@pytest.mark.parametrize("text", ["delay_s\n", "a = 1\nb = [\n", "\0", "x = 'a"])
def test_a_file_that_is_no_toml_is_told_with_the_place(tmp_path: Path, text: str) -> None:
    (told,) = faults(tmp_path / "a.toml", text)
    assert told.startswith(("line ", "end of document: "))
    assert "--config" not in told


def test_the_place_comes_first(tmp_path: Path) -> None:
    (told,) = faults(tmp_path / "a.toml", "delay_s = no\n")
    assert told == "line 1, column 11: Invalid value"


def test_a_file_that_is_not_there_or_no_text_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigFaults, match=r"absent\.toml: can't be read: No such file"):
        resolve({}, {}, tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b"contact = '\xe9'")
    with pytest.raises(ConfigFaults, match=r"latin\.toml: not UTF-8 at byte 11"):
        resolve({}, {}, tmp_path / "latin.toml")


def test_faults_come_in_the_order_of_the_file_after_those_of_the_command_line(tmp_path: Path) -> None:
    text = 'text = "all"\nzzz = 1\nattempts = 0\naaa = 2\nscope = "moon"\n'
    told = faults(tmp_path / "a.toml", text, parsers="many")
    assert [line.removeprefix("unknown key ").removeprefix("--parsers: ").split()[0].strip(";") for line in told] == [
        "parsers",
        "text",
        "zzz",
        "attempts",
        "aaa",
        "scope",
    ]


@pytest.mark.parametrize("key", ["max_pages", "max_pages_per_host", "max_hops"])
def test_none_takes_a_limit_away_wherever_it_was_set(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.toml").write_text(f"{key} = 5", encoding="utf-8")
    assert getattr(resolve({key: "none"}, {}, tmp_path / "a.toml"), key) is None
    assert getattr(resolve({}, {f"GOSSAMER_{key.upper()}": "none"}, None, {key: 5}), key) is None
    (tmp_path / "a.toml").write_text(f"{key} = 'none'", encoding="utf-8")
    config = resolve({}, {}, tmp_path / "a.toml", {key: 5})
    assert getattr(config, key) is None
    assert key not in as_plain(config), "the next run has none either"


def test_what_is_not_given_stays_as_the_crawl_had_it() -> None:
    assert resolve({}, {}, None, {"delay_s": 7.0, "max_pages": 5}).delay_s == 7
    assert resolve({"delay_s": "2"}, {}, None, {"delay_s": 7.0}).delay_s == 2


def test_a_misspelt_variable_is_told() -> None:
    (told,) = unknown_variables({"GOSSAMER_DELAI": "3", "HOME": "/", "GOSSAMER_DELAY": "1", "GOSSAMER_DATA": "d"})
    assert told == "GOSSAMER_DELAI in the environment is not known; did you mean GOSSAMER_DELAY?"


def test_variables_of_the_tests_are_left_alone() -> None:
    assert unknown_variables({"GOSSAMER_TEST_RUNS": "3", "GOSSAMER_CONFIG": "x", "GOSSAMER_MAX_PAGES": "1"}) == []


def test_a_variable_like_no_other_is_told_too() -> None:
    assert unknown_variables({"GOSSAMER_QQQQ": "1"}) == [
        "GOSSAMER_QQQQ in the environment is not known; see gossamer crawl --help"
    ]


def test_changes_are_read_as_options_are_and_those_not_given_are_left_out() -> None:
    given = {"delay_s": "2.5", "max_pages": "none", "max_pages_per_host": "1_000", "concurrency": None}
    assert read_changes(given) == {"delay_s": 2.5, "max_pages": None, "max_pages_per_host": 1_000}


def test_every_fault_of_changes_is_told() -> None:
    with pytest.raises(ConfigFaults) as told:
        read_changes({"delay_s": "-1", "max_pages": "0", "concurrency": "many", "scope": "any"})
    assert [str(fault) for fault in told.value.faults] == [
        "scope: can't be changed while a crawl runs",
        "--delay: delay_s = '-1' is not valid; allowed: a number of seconds from 0 to 86,400",
        "--concurrency: concurrency = 'many' is not valid; allowed: a whole number from 1 to 100,000",
        "--max-pages: max_pages = '0' is not valid; allowed: a whole number from 1 to 10^12, or none",
    ]
