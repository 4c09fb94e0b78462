"""Killed at any moment, a crawl goes on with the same command: nothing is lost, no page is stored twice, no file is torn.

The moments are drawn from a seed that is printed; GOSSAMER_E2E_SEED=N replays one.
"""

import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from bench.pydoc_sites import Fetch, Served, Site, Walk
from tests.e2e.archives import assert_indexed, assert_stored_once, assert_warcio_approves, raw_segments, text_segments
from tests.e2e.docs import BRISK, Few, assert_found_everything, docs_words, truth
from tests.e2e.gossamer_command import UNHURRIED, Done, assert_verified, gossamer, living

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KILLS = 10
LIFE_S = (1.0, 5.0)
PACE = ("--delay", "0.1", "--delay-factor", "0", "--per-address-delay", "0")
SEED_MAX = 2**32


class Killed(NamedTuple):
    """A crawl after its last life."""

    data: Path
    lives: list[list[Fetch]]  # what the server saw of each
    last: Done


@pytest.fixture(scope="module")
def killed(sites: list[Site], plain_server: Served, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """Ten lives that end in kill -9 of the whole group, then one to the end.

    The last one leaves out the delay, which by then proves nothing and would take half a minute.
    """
    seed = int(os.environ.get("GOSSAMER_E2E_SEED", random.SystemRandom().randrange(SEED_MAX)))
    rng = random.Random(seed)
    data = tmp_path_factory.mktemp("killed") / "data"
    words = docs_words(sites, plain_server, data)
    lives, ends = list[list[Fetch]](), list[float]()
    for _ in range(KILLS):
        ends.append(rng.uniform(*LIFE_S))
        since = plain_server.log_bytes()
        with living([*words, *PACE], data.parent) as life:
            assert life.lives_for(ends[-1]), life.err()
            life.kill_group()
        lives.append(plain_server.fetches(since))
    sys.stderr.write(f"GOSSAMER_E2E_SEED={seed}: killed after {', '.join(f'{end:.2f}' for end in ends)} s\n")
    since = plain_server.log_bytes()
    last = gossamer(*words, *UNHURRIED, cwd=data.parent)
    return Killed(data, [*lives, plain_server.fetches(since)], last)


def test_after_ten_kills_the_crawl_has_fetched_the_same_set(killed: Killed, walk: Walk, sites: list[Site]) -> None:
    assert killed.last.code == 0, killed.last.err
    assert "goes on in" in killed.last.err
    assert all(killed.lives[:-1]), "a life was too short for any contact"
    assert_found_everything(killed.data, walk, sites)
    asked = {f"http://{fetch.host}{fetch.target}" for life in killed.lives for fetch in life if fetch.status == 200}
    assert asked == truth(walk, sites).stored


def test_a_kill_costs_no_more_than_the_requests_in_flight(killed: Killed) -> None:
    earlier, again = set[str](), list[int]()
    for life in killed.lives:
        asked = [f"http://{fetch.host}{fetch.target}" for fetch in life]
        assert Counter(asked).most_common(1)[0][1] == 1, "asked twice within one life"
        again.append(len(earlier.intersection(asked)))
        earlier.update(asked)
    sys.stderr.write(f"asked again after each kill: {again[1:]}\n")
    # A host has one request in flight; on a slow disk one more may have ended that is not committed yet.
    hosts = len({fetch.host for life in killed.lives for fetch in life})
    assert sum(again) <= KILLS * hosts
    assert max(again) <= 2 * hosts


def test_the_accounts_are_right_after_ten_kills(killed: Killed) -> None:
    assert_verified(killed.data)


def test_others_read_every_record_of_a_crawl_that_was_killed_ten_times(killed: Killed) -> None:
    assert len(raw_segments(killed.data)) > 1
    assert_indexed(killed.data)
    assert_warcio_approves([*raw_segments(killed.data), *text_segments(killed.data)])


def test_no_url_has_two_records_that_count_after_ten_kills(killed: Killed, walk: Walk, sites: list[Site]) -> None:
    assert_stored_once(killed.data, truth(walk, sites).stored)


def test_a_crawl_that_is_killed_while_it_starts_can_start_again(few: Few, walk: Walk) -> None:
    for moment in range(1, 11):
        with living([*few.words, *BRISK], few.data.parent) as life:
            assert life.lives_for(moment * 0.07), life.err()
            life.kill_group()
    done = few.goes_on()
    assert done.code == 0, done.err
    few.assert_whole(walk)


# One process of the two -----------------------------------------------------------------------------------------------


def test_a_killed_parser_costs_nothing(few: Few, walk: Walk) -> None:
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        (parser,) = life.parsers()
        os.kill(parser, signal.SIGKILL)
        assert life.process.wait(50) == 0, life.err()
        assert "Traceback" not in life.err()
    few.assert_whole(walk)
    assert len(few.served.fetches(few.since)) == len({fetch[:2] for fetch in few.served.fetches(few.since)})


def test_a_killed_owner_takes_its_parsers_along_and_the_crawl_goes_on_at_once(few: Few, walk: Walk) -> None:
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        parsers = life.parsers()
        os.kill(life.pid, signal.SIGKILL)
        life.process.wait(10)
        done = few.goes_on()
        assert done.code == 0, done.err
        assert [pid for pid in parsers if Path(f"/proc/{pid}").exists()] == []
    few.assert_whole(walk)
