"""`pause`, `resume`, `set` and `stop` on a crawl that runs, and on one that does not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.gossamer_command import (
    Done,
    Life,
    assert_one_sentence,
    assert_verified,
    by_outcome,
    gossamer,
    living,
)
from tests.e2e.lab import lab_words
from tests.e2e.manners import gaps_too_short

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


# set -----------------------------------------------------------------------------------------------------------------


def changed(data: Path, *options: str) -> dict[str, tuple[object, object]]:
    done = gossamer("set", *options, "--json", "--data", str(data), cwd=data.parent)
    assert done.code == 0, done.err
    return {change["key"]: (change["old"], change["new"]) for change in json.loads(done.out)["changes"]}


def audit(data: Path) -> dict[str, object]:
    done = gossamer("audit", "--json", "--data", str(data), cwd=data.parent)
    assert done.code == 0, done.out or done.err
    return dict(json.loads(done.out))


def test_a_delay_is_changed_at_once_and_outlives_the_process(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data, slow_s = tmp_path / "data", 1.0
    words = [*lab_words(lab), "--data", str(data)]
    with living([*words, *PACE], tmp_path) as life:
        await_contacts(life, log, 12)
        assert changed(data, "--delay", str(slow_s)) == {"delay_s": (0.1, slow_s)}
        assert changed(data, "--delay", str(slow_s)) == {}
        assert life.lives_for(LOG_FLUSH_S), life.err()
        at = len(read_access_log(log))
        assert life.lives_for(3 * slow_s + LOG_FLUSH_S), life.err()
        since = read_access_log(log)[at:]
        assert len(since) >= 4
        assert gaps_too_short(since, slow_s) == []
        life.kill_group()
    at = len(read_access_log(log))
    with living(words, tmp_path) as life:
        await_contacts(life, log, at + 8)
        assert gaps_too_short(read_access_log(log)[at:], slow_s) == []
        assert changed(data, "--delay", "0.05", "--max-pages", "60") == {
            "delay_s": (slow_s, 0.05),
            "max_pages": (None, 60),
        }
        assert life.process.wait(30) == 0, life.err()
    assert len(by_outcome(data)["fetched"]) == 60
    assert audit(data)["violations"] == []
    assert_verified(data)


def test_a_budget_is_raised_and_lowered_while_the_crawl_runs(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    # A second apart, so that the budget is not spent before the command has started.
    slow = [*lab_words(lab), *PACE, "--delay", "1", "--max-pages-per-host", "5", "--data", str(data)]
    with living(slow, tmp_path) as life:
        await_contacts(life, log, 9)
        assert changed(data, "--max-pages-per-host", "9", "--delay", "0.1") == {
            "delay_s": (1.0, 0.1),
            "max_pages_per_host": (5, 9),
        }
        assert life.process.wait(30) == 0, life.err()
    assert len(by_outcome(data)["fetched"]) == 9 * 4
    assert changed(data, "--max-pages-per-host", "none", "--delay", "0.4") == {
        "delay_s": (0.1, 0.4),
        "max_pages_per_host": (9, None),
    }
    with living([*lab_words(lab), "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 50)
        assert changed(data, "--max-pages", "40") == {"max_pages": (None, 40)}
        assert life.process.wait(12) == 0, life.err()
    assert 40 <= len(by_outcome(data)["fetched"]) < 70
    assert audit(data)["violations"] == []
    assert_verified(data)


def test_set_tells_all_that_is_wrong_with_what_it_is_given(lab: LabDescription, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert_one_sentence(gossamer("set", "--delay", "1", "--data", str(data), cwd=tmp_path), 2)
    done = gossamer(*lab_words(lab), *PACE, "--max-pages", "1", "--data", str(data), cwd=tmp_path)
    assert done.code == 0, done.err
    wrong = gossamer("set", "--delay", "-1", "--max-pages", "few", "--data", str(data), cwd=tmp_path)
    assert_one_sentence(wrong, 2)
    assert "--delay" in wrong.err
    assert "--max-pages" in wrong.err
    assert_one_sentence(gossamer("set", "--data", str(data), cwd=tmp_path), 2)
    assert_one_sentence(gossamer("set", "nobody", "--delay", "1", "--data", str(data), cwd=tmp_path), 2)


def test_a_command_that_means_another_crawl_changes_nothing(lab: LabDescription, log: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with living([*lab_words(lab), *PACE, "--data", str(data)], tmp_path) as life:
        await_contacts(life, log, 8)
        for words in (("set", "--delay", "50"), ("pause",), ("stop",)):
            assert_one_sentence(gossamer(*words, "nobody", "--data", str(data), cwd=tmp_path), 2)
        assert status(data) == "running"
        assert life.process.wait(30) == 0, life.err()
