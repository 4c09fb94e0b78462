"""Crawls of a lab are polite by their own contact log and by the lab's, also when they are killed; a fault is found."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.gossamer_command import gossamer, living
from tests.e2e.lab import LabCrawl, crawl_lab, lab_words
from tests.e2e.manners import CLOCK_S, address_gaps_too_short, gaps_too_short, together_at_a_host

from gossamer.testing.lab_access import read_access_log
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabOptions, running_lab

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DELAY_S = 0.2
PER_ADDRESS_S = 0.05
PACE = ("--delay", "0.2", "--delay-factor", "4", "--per-address-delay", "0.05", "--retry-base", "2")
# One host is slow, one refuses, one has a crawl-delay: the eight first of the plain lab.
SMALL = LabConfig(hosts=8, pages_per_host=3)
KILLED_AFTER_S = (0.9, 1.4, 2.1)
MARGIN_MS_MAX = 200.0


def audit(data: Path, code: int = 0) -> Any:
    done = gossamer("audit", "--json", "--data", str(data), cwd=data.parent)
    assert done.code == code, done.out or done.err
    return json.loads(done.out)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> LabCrawl:
    return crawl_lab(SMALL, tmp_path_factory.mktemp("small"), *PACE)


def test_every_contact_of_a_crawl_was_polite(small: LabCrawl) -> None:
    found = audit(small.data)
    assert found["violations"] == []
    assert (found["contacts"], found["hosts"]) == (len(small.contacts), 8)
    assert 0 <= found["smallestMarginMs"] < MARGIN_MS_MAX
    assert found["unfinished"] == 0


def test_the_lab_saw_the_same(small: LabCrawl) -> None:
    assert small.done.code == 0, small.done.err
    assert gaps_too_short(small.contacts, DELAY_S) == []
    assert address_gaps_too_short(small.contacts, PER_ADDRESS_S) == []
    assert together_at_a_host(small.contacts) == []


def test_a_contact_moved_forward_in_the_log_is_found(small: LabCrawl, tmp_path: Path) -> None:
    shutil.copytree(small.data, tmp_path / "data")
    (log,) = (tmp_path / "data" / "contacts").iterdir()
    records = [json.loads(line) for line in log.read_bytes().splitlines()]
    last = next(record for record in reversed(records) if record["record"] == "begin")
    last["monotonicSeconds"] -= DELAY_S
    last["wallTime"] = (datetime.fromisoformat(last["wallTime"]) - timedelta(seconds=DELAY_S)).isoformat()
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = audit(tmp_path / "data", code=1)
    assert {violation["contactId"] for violation in found["violations"]} == {last["id"]}


def test_a_crawl_that_was_killed_and_went_on_was_polite(tmp_path: Path) -> None:
    config = LabConfig(hosts=5, pages_per_host=4)
    log, data = tmp_path / "access.log", tmp_path / "data"
    pace = ("--delay", "0.2", "--delay-factor", "0", "--per-address-delay", "0.05", "--data", str(data))
    with running_lab(LabOptions(config=config, access_log=str(log))) as lab:
        words = [*lab_words(lab.description), *pace]
        for life_s in KILLED_AFTER_S:
            with living(words, tmp_path) as life:
                assert life.lives_for(life_s), life.err()
                life.kill_group()
        done = gossamer(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    found = audit(data)
    assert found["violations"] == []
    seen = read_access_log(log)
    assert len(seen) <= found["contacts"] <= len(seen) + found["unfinished"]
    assert gaps_too_short(seen, DELAY_S - CLOCK_S) == []
    assert together_at_a_host(seen) == []
