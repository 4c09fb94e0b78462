"""`--seen bloom` on a lab: killed and resumed it fetches what the exact set fetches, but for the share that it may lose."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.e2e.gossamer_command import UNHURRIED, Done, assert_one_sentence, by_outcome, gossamer, living
from tests.e2e.lab import lab_words, requested

from gossamer.testing.lab_access import read_access_log
from gossamer.testing.lab_hosts import LabConfig, Profile
from gossamer.testing.lab_process import LabOptions, running_lab
from gossamer.testing.lab_web import LabWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HOSTS = 10
CONFIG = LabConfig(profile=Profile.POLITE, hosts=HOSTS, pages_per_host=80)
BLOOM = ("--seen", "bloom", "--seen-urls", "1000", "--seen-error", "0.01")
LIVES_S = (1.8, 2.0, 2.2)
FOUND_MIN = 0.98


class Crawled(NamedTuple):
    """A crawl after its last life, and what reached the server."""

    data: Path
    last: Done
    asked: list[str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Three lives that end in kill -9, then one to the end, which needs no option."""
    directory = tmp_path_factory.mktemp("bloom")
    data, log = directory / "data", directory / "access.log"
    with running_lab(LabOptions(config=CONFIG, access_log=str(log))) as lab:
        words = [*lab_words(lab.description), "--data", str(data)]
        pace = ("--delay", "0.1", "--delay-factor", "0", "--per-address-delay", "0")
        for life_s in LIVES_S:
            with living([*words, *pace, *BLOOM], directory) as life:
                assert life.lives_for(life_s), life.err()
                life.kill_group()
        last = gossamer(*words, *UNHURRIED, cwd=directory)
    return Crawled(data, last, requested(read_access_log(log)))


def command(crawled: Crawled, *words: str) -> Done:
    return gossamer(*words, "--data", str(crawled.data), cwd=crawled.data.parent)


def test_it_fetches_nearly_all_and_nothing_else(crawled: Crawled) -> None:
    assert crawled.last.code == 0, crawled.last.err
    assert "goes on in" in crawled.last.err
    assert "seen" not in "".join(line for line in crawled.last.err.splitlines() if "changed:" in line)
    reachable, found = LabWeb(CONFIG).reachable().pages, by_outcome(crawled.data)["fetched"]
    assert len(reachable) >= 800
    assert found <= reachable
    assert len(found) >= FOUND_MIN * len(reachable)
    assert not by_outcome(crawled.data).keys() & {"ready", "waiting", "captured"}


def test_no_page_is_stored_twice_and_few_are_asked_for_again(crawled: Crawled) -> None:
    fetched = by_outcome(crawled.data)["fetched"]
    pages = [url for url in crawled.asked if url in fetched]
    assert len(pages) - len(set(pages)) <= 2 * len(LIVES_S) * HOSTS


def test_verify_and_audit_find_nothing_wrong_and_verify_says_what_it_cannot_check(crawled: Crawled) -> None:
    verified = json.loads(command(crawled, "verify", "--json").out)
    assert (verified["problems"], verified["seen"]) == ([], "bloom")
    assert 0 < verified["seenError"] < 0.012
    assert "no check can find them" in command(crawled, "verify").out
    audit = command(crawled, "audit", "--json")
    assert (audit.code, json.loads(audit.out)["violations"]) == (0, []), audit.out


def test_it_does_not_go_on_with_the_other_kind_and_nothing_is_lost(crawled: Crawled) -> None:
    before = by_outcome(crawled.data)
    done = command(crawled, "crawl", "--seen", "exact")
    assert_one_sentence(done, 2)
    assert "knows its URLs by --seen bloom and can't go on with --seen exact" in done.err
    assert by_outcome(crawled.data) == before
    assert command(crawled, "verify").code == 0
