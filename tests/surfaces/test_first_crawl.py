"""`make crawl` from outside: the lab, a site, what comes the second time, and what is said."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from gossamer.adapters.system.clock import SystemClock
from gossamer.testing.lab_hosts import LabConfig, Profile
from gossamer.testing.lab_process import LabDescription, LabOptions, running_lab

SMALL = LabOptions(config=LabConfig(profile=Profile.POLITE, hosts=2, pages_per_host=3), addresses=1)
FAST = ("--delay", "0", "--delay-factor", "0", "--per-address-delay", "0", "--retry-base", "0.05")
pytestmark = [pytest.mark.slow, pytest.mark.e2e]


@pytest.fixture(scope="module")
def lab() -> Iterator[LabDescription]:
    with running_lab(SMALL) as running:
        yield running.description


def first_crawl(here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gossamer.surfaces.cli.first_crawl", *arguments]
    return subprocess.run(command, check=False, cwd=here, capture_output=True, text=True, timeout=60)


def site(lab: LabDescription, *more: str) -> list[str]:
    mapped = [word for rule in lab.connect_to for word in ("--connect-to", rule)]
    return [*lab.seeds, *FAST, "--allow-address", lab.allow_address, *mapped, *more]


def status(data: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "gossamer.surfaces.cli.main", "status", "--json", "--data", str(data)]
    document: dict[str, object] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return document


def contacts(data: Path) -> list[dict[str, str]]:
    lines = [line for log in sorted((data / "contacts").iterdir()) for line in log.read_text().splitlines()]
    return [json.loads(line) for line in lines if '"begin"' in line]


def test_a_site_goes_into_gossamer_data_and_the_next_steps_can_be_typed(lab: LabDescription, tmp_path: Path) -> None:
    ended = first_crawl(tmp_path, *site(lab))
    assert ended.returncode == 0, ended.stderr
    assert status(tmp_path / "gossamer-data")["fetched"] == lab.pages
    steps = [line for line in ended.stderr.splitlines() if "gossamer " in line and line.startswith("  ")]
    assert len(steps) == 4
    for step in steps:
        words = step[step.index(str(Path(sys.executable).with_name("gossamer"))) :]
        assert subprocess.run(words, check=False, shell=True, cwd=tmp_path, capture_output=True).returncode == 0, step
    zless = next(line.split()[-1] for line in ended.stderr.splitlines() if "zless" in line)
    assert len(list(tmp_path.glob(zless))) == 1


def test_again_after_the_end_is_another_crawl_with_its_first_contact_within_two_seconds(
    lab: LabDescription, tmp_path: Path
) -> None:
    data = tmp_path / "gossamer-data"
    first_crawl(tmp_path, *site(lab))
    before_s, known = SystemClock().now(), len(contacts(data))
    ended = first_crawl(tmp_path, *site(lab))
    assert ended.returncode == 0, ended.stderr
    began = datetime.fromisoformat(contacts(data)[known]["wallTime"])
    assert began.timestamp() - before_s < 2
    assert status(data)["fetched"] == lab.pages
    assert len({contact["crawl"] for contact in contacts(data)}) == 2
    assert "The last crawl in gossamer-data is complete; this is another." in ended.stderr


def test_again_before_the_end_goes_on(lab: LabDescription, tmp_path: Path) -> None:
    first = first_crawl(tmp_path, *site(lab, "--max-pages", "2"))
    assert first.stderr.count("go on: the same command again, with a higher limit in ARGS: --max-pages 4") == 1
    assert "gossamer crawl --data" not in first.stderr
    second = first_crawl(tmp_path, *site(lab))
    assert "goes on" in second.stderr
    assert status(tmp_path / "gossamer-data")["fetched"] == lab.pages
    assert len({contact["crawl"] for contact in contacts(tmp_path / "gossamer-data")}) == 1


def test_a_limit_of_the_users_own_holds(lab: LabDescription, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("max_pages = 1\n")
    ended = first_crawl(tmp_path, *site(lab))
    assert "at most 1 pages" in ended.stderr
    assert status(tmp_path / "gossamer-data")["fetched"] == 1


def test_without_url_it_crawls_the_lab(tmp_path: Path) -> None:
    ended = first_crawl(tmp_path, *FAST, "--max-pages", "5")
    assert ended.returncode == 0, ended.stderr
    assert "crawling the lab" in ended.stderr
    assert "into gossamer-lab, 0 s or more" in ended.stderr
    assert "make crawl ARGS='--delay 0" in ended.stderr
    assert status(tmp_path / "gossamer-lab")["fetched"] == 5
    assert not (tmp_path / "gossamer-data").exists()


def test_an_interrupted_lab_crawl_is_no_error_and_is_told_once_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer.surfaces.cli.first_crawl"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        seen = ""
        while "starts in" not in seen:
            seen += process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 0, rest
    assert [line for line in rest.splitlines() if line.startswith("go on")] == ["go on: make crawl"]
    assert rest.count("look") == 1
    assert status(tmp_path / "gossamer-lab")["end"] == "stopped"


def test_no_limit_at_all_can_be_asked_for(lab: LabDescription, tmp_path: Path) -> None:
    ended = first_crawl(tmp_path, *site(lab, "--max-pages", "none"))
    assert "without a limit" in ended.stderr
    assert status(tmp_path / "gossamer-data")["fetched"] == lab.pages


def test_a_seed_that_is_none_is_said_in_a_sentence(tmp_path: Path) -> None:
    ended = first_crawl(tmp_path, "example.com")
    assert ended.returncode == 2
    assert "https://example.com" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []
