"""`pause`, `resume` and `stop` on a crawl that runs, and on one that does not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.gossamer_command import Done, Life, assert_verified, by_outcome, gossamer, living
from tests.e2e.lab import lab_words

from gossamer.testing.lab_access import read_access_log
from gossamer.testing.lab_hosts import LabConfig, Profile
from gossamer.testing.lab_process import LabDescription, LabOptions, running_lab
from gossamer.testing.lab_web import LabWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CONFIG = LabConfig(profile=Profile.POLITE, hosts=4, pages_per_host=30)
PACE = ("--delay", "0.1", "--delay-factor", "0", "--per-address-delay", "0")
LOG_FLUSH_S = 0.6  # the lab writes its log every half second
LOOKS_MAX = 100


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def lab(log: Path) -> Iterator[LabDescription]:
    with running_lab(LabOptions(config=CONFIG, access_log=str(log))) as running:
        yield running.description


def command(name: str, data: Path) -> Done:
    return gossamer(name, "--data", str(data), cwd=data.parent)


def status(data: Path) -> str:
    return str(json.loads(gossamer("status", "--json", "--data", str(data), cwd=data.parent).out)["status"])


def await_contacts(life: Life, log: Path, count: int) -> None:
    for _ in range(LOOKS_MAX):
        if len(read_access_log(log)) >= count:
            return
        assert life.lives_for(0.1), life.err()
    raise AssertionError(f"fewer than {count} contacts")


def test_a_paused_crawl_contacts_nobody_until_it_is_resumed(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with living([*lab_words(lab), *PACE, "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 20)
        assert command("pause", data).code == 0
        assert status(data) == "paused"
        assert life.lives_for(2 * LOG_FLUSH_S), life.err()
        before = len(read_access_log(log))
        assert life.lives_for(2 * LOG_FLUSH_S), life.err()
        assert len(read_access_log(log)) == before
        assert command("pause", data).code == 0, "pausing twice is no fault"
        assert command("resume", data).code == 0
        assert status(data) == "running"
        assert life.process.wait(30) == 0, life.err()
    assert by_outcome(data) == {"fetched": LabWeb(CONFIG).reachable().pages}
    assert status(data) == "completed"


def test_a_pause_outlives_the_process(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    words = [*lab_words(lab), *PACE, "--data", str(data)]
    with living(words, tmp_path) as life:
        await_contacts(life, log, 10)
        assert command("pause", data).code == 0
        assert life.lives_for(2 * LOG_FLUSH_S), life.err()
        life.kill_group()
    before = len(read_access_log(log))
    assert status(data) == "paused"
    with living(words, tmp_path) as life:
        assert life.lives_for(2.0), life.err()
        assert len(read_access_log(log)) == before
        assert command("resume", data).code == 0
        assert life.process.wait(30) == 0, life.err()
    assert by_outcome(data) == {"fetched": LabWeb(CONFIG).reachable().pages}


def test_a_pause_is_kept_though_nothing_else_happens_after_it(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with living([*lab_words(lab), "--delay", "30", "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 4)  # robots.txt of each host, then half a minute of rest
        assert life.lives_for(LOG_FLUSH_S), life.err()
        assert command("pause", data).code == 0
        assert life.lives_for(0.5), life.err()
        life.kill_group()
    assert status(data) == "paused"


def test_resume_without_a_process_says_what_to_run(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with living([*lab_words(lab), *PACE, "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 10)
        assert command("stop", data).code == 0
        assert life.process.wait(12) == 0, life.err()
    assert status(data) == "stopped"
    assert command("pause", data).code == 0
    assert status(data) == "paused"
    resumed = command("resume", data)
    assert resumed.code == 0
    assert f"gossamer crawl --data {data}" in resumed.out + resumed.err
    done = gossamer(*lab_words(lab), *PACE, "--data", str(data), cwd=tmp_path)
    assert done.code == 0, done.err
    assert by_outcome(data) == {"fetched": LabWeb(CONFIG).reachable().pages}
    assert_verified(data)


def test_looking_works_while_a_crawl_runs(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with living([*lab_words(lab), "--delay", "0.5", "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 12)
        for name in ("status", "pages", "hosts", "verify"):
            done = gossamer(name, "--json", "--data", str(data), cwd=tmp_path)
            assert done.code == 0, f"{name}: {done.err or done.out}"
            assert done.out
        assert status(data) == "running"
        assert life.lives_for(0.1), life.err()
