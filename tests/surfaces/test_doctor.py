"""What `gossamer doctor` says of machines in all conditions."""

import json
import os
import resource
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.system.lock import DirectoryLock
from gossamer.bootstrap import open_installation
from gossamer.surfaces.cli import doctor as module
from gossamer.surfaces.cli.doctor import CHECKS, Finding, Surroundings, Verdict, doctor

LITERAL = "127.0.0.1"  # resolves to itself: no name server is asked


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GOSSAMER_")]:
        monkeypatch.delenv(name)
    return tmp_path


def around(data: Path, environment: dict[str, str] | None = None, concurrency: int | None = None) -> Surroundings:
    return Surroundings(data, None, environment or {}, concurrency, LITERAL)


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(doctor, ["--name", LITERAL, *arguments])


def verdicts(result: Result) -> dict[str, str]:
    return {finding["check"]: finding["verdict"] for finding in json.loads(result.stdout)["findings"]}


def test_a_healthy_machine_is_ready_and_nothing_is_made(here: Path) -> None:
    result = asked()
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("ready to crawl")
    assert list(here.iterdir()) == []


def test_json_has_all_checks_and_the_versions_of_all_libraries(here: Path) -> None:
    document = json.loads(asked("--json").stdout)
    assert document["ok"] is True
    assert len(document["findings"]) == len(CHECKS)
    assert {"rocksdict", "turbohtml", "uvloop"} <= document["libraries"].keys()
    assert all(document["libraries"].values())


def test_every_fault_of_the_configuration_is_named_and_it_is_a_problem(here: Path) -> None:
    (here / "gossamer.toml").write_text("delay_s = -1\nspeed = 9\n")
    result = asked()
    assert result.exit_code == 1
    assert "delay_s" in result.stdout
    assert "speed" in result.stdout
    assert "not ready to crawl (1 problem" in result.stdout


def test_a_variable_that_nothing_reads_is_a_warning() -> None:
    finding = module.check_configuration(around(Path("nowhere"), {"GOSSAMER_DELLAY": "3"}))
    assert finding.verdict is Verdict.WARNING
    assert "GOSSAMER_DELLAY" in finding.found


def test_known_variables_are_named_as_sources() -> None:
    finding = module.check_configuration(around(Path("nowhere"), {"GOSSAMER_DELAY": "3", "HOME": "/"}))
    assert finding == Finding("configuration", Verdict.OK, "GOSSAMER_DELAY")


def test_a_directory_in_use_names_the_process(here: Path) -> None:
    directory = DataDirectory(here / "data")
    directory.lock.parent.mkdir(parents=True)
    lock = DirectoryLock(directory.lock)
    finding = module.check_owner(around(here / "data"))
    lock.release()
    assert finding.verdict is Verdict.WARNING
    assert str(os.getpid()) in finding.found
    assert module.check_owner(around(here / "data")).verdict is Verdict.OK


def test_a_file_where_the_data_should_be_is_a_problem(here: Path) -> None:
    (here / "data").write_text("no directory")
    assert module.check_data(around(here / "data")).verdict is Verdict.PROBLEM
    assert module.check_data(around(here / "data" / "deeper")).verdict is Verdict.PROBLEM


def test_a_directory_that_is_not_there_yet_is_no_fault_and_is_not_made(here: Path) -> None:
    assert module.check_data(around(here / "a" / "b")).verdict is Verdict.OK
    assert not (here / "a").exists()


def test_a_disk_without_space_is_a_problem_with_the_figures(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEASE_BYTES_MIN", 2**60)
    finding = module.check_data(around(here))
    assert finding.verdict is Verdict.PROBLEM
    assert "MiB free" in finding.found


def test_stored_crawls_are_counted(here: Path) -> None:
    with open_installation(here / "data"):
        pass
    assert module.check_state(around(here / "data")) == Finding("state", Verdict.OK, "0 crawls")
    assert module.check_state(around(here / "other")) == Finding("state", Verdict.OK, "nothing stored yet")


def test_damaged_state_is_a_problem_that_names_the_file(here: Path) -> None:
    with open_installation(here / "data"):
        pass
    current = DataDirectory(here / "data").state / "CURRENT"
    current.write_bytes(b"rubbish\n")
    finding = module.check_state(around(here / "data"))
    assert finding.verdict is Verdict.PROBLEM
    assert "CURRENT" in finding.found


def test_too_few_open_files_are_a_warning_with_the_number_that_fits() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    finding = module.check_open_files(around(Path("nowhere"), concurrency=100_000))
    assert soft < 100_000
    assert finding.verdict is Verdict.WARNING
    assert "--concurrency" in finding.todo
    assert module.check_open_files(around(Path("nowhere"), concurrency=1)).verdict is Verdict.OK


def test_a_name_without_address_is_a_warning_that_says_what_works_without() -> None:
    finding = module.check_names(Surroundings(Path("nowhere"), None, {}, None, "not a name"))
    assert finding.verdict is Verdict.WARNING
    assert "lab" in finding.todo


def test_files_from_the_future_show_that_the_clock_was_set_back(here: Path) -> None:
    contacts = DataDirectory(here / "data").contacts
    contacts.mkdir(parents=True)
    log = contacts / "contacts-00000001-boot.jsonl"
    log.touch()
    assert module.check_clock(around(here / "data")).verdict is Verdict.OK
    os.utime(log, (4e9, 4e9))
    assert module.check_clock(around(here / "data")).verdict is Verdict.WARNING


def test_a_library_that_is_gone_is_a_problem_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "libraries", lambda: {"click": "8", "rocksdict": None})
    finding = module.check_libraries(around(Path("nowhere")))
    assert finding.verdict is Verdict.PROBLEM
    assert "rocksdict" in finding.found
    assert "pip install" in finding.todo


def test_the_line_of_a_problem_is_followed_by_what_to_do(here: Path) -> None:
    (here / "data").write_text("no directory")
    result = asked("--data", "data/x")
    lines = result.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("problem"))
    assert "→ choose another" in lines[at + 1]
    assert result.exit_code == 1
