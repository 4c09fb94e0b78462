"""Start, pause, stop and end of a crawl; and how little it does while it waits."""

import asyncio
from typing import Any

import pytest

from gossamer.core.outcome import Reason
from gossamer.core.rows import State
from gossamer.ports.parsing import ParserUnusable
from gossamer.ports.partition_store import Batch, StoreCorrupt
from gossamer.stages.runner import GRACE_S, PARSE_GRACE_S, End
from gossamer.stages.store import FULL_STOP_S, GROUP_WINDOW_S
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_loop import SimLoop
from gossamer.testing.sim_web import any_page, failing, hanging, page, refusal
from gossamer.testing.world import World

A, B = "http://a.test/", "http://b.test/"


def world_of(*seeds: str, **options: Any) -> World:
    settings: dict[str, Any] = {"scope": "any", "delay_s": 1, "delay_factor": 0}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def test_a_crawl_without_work_ends_at_once() -> None:
    world = world_of()
    assert world.crawl() is End.COMPLETED
    assert world.now_s < 0.1


def test_a_finished_crawl_has_nothing_to_do_when_it_is_started_again() -> None:
    world = world_of(A)
    assert world.crawl() is End.COMPLETED
    contacts = len(world.web.exchanges)
    assert world.crawl() is End.COMPLETED
    assert len(world.web.exchanges) == contacts
    assert_accounts(world)


# Pauses.


def test_a_pause_lets_what_is_in_flight_end_and_leases_nothing() -> None:
    world = world_of(*(f"{A}{n}" for n in range(10)))
    world.web.answers[f"{A}2"] = page(latency_s=1.5)  # asked at 3
    assert world.at(4, world.pause).at(100, world.resume).crawl() is End.COMPLETED
    between = [e for e in world.web.exchanges if 4 < e.began_at < 100]
    assert between == []
    assert world.starts(f"{A}3") == pytest.approx([100], abs=0.01)
    assert_accounts(world)


def test_a_crawl_whose_last_answer_comes_during_a_pause_ends() -> None:
    world = world_of(A)
    world.web.answers[A] = page(latency_s=5)
    assert world.at(2, world.pause).crawl() is End.COMPLETED
    assert world.now_s < 7
    assert_accounts(world)


def test_what_is_found_during_a_pause_waits_for_its_end() -> None:
    world = world_of(A)
    world.web.answers[A] = page("/x", latency_s=5)
    assert world.at(2, world.pause).at(50, world.resume).crawl() is End.COMPLETED
    assert world.starts(f"{A}x") == pytest.approx([50], abs=0.01)
    assert_accounts(world)


def test_pause_and_resume_at_one_moment_change_nothing() -> None:
    world = world_of(*(f"{A}{n}" for n in range(3)))
    assert world.at(1.5, world.pause).at(1.5, world.resume).crawl() is End.COMPLETED
    assert world.starts("a.test") == pytest.approx([0, 1, 2, 3], abs=1e-3)


# Stops.


@pytest.mark.parametrize("at_s", [0.0, 0.5, 1.0, 1.01, 2.5, 4.7])
def test_a_stop_at_any_moment_is_orderly(at_s: float) -> None:
    world = world_of(*(f"{A}{n}" for n in range(5)), f"{B}1")
    world.web.answers[f"{B}1"] = page(latency_s=2)
    world.parsing.job_s = 0.2
    assert world.at(at_s, world.stop).crawl() is End.STOPPED
    assert world.now_s <= at_s + 10
    assert_accounts(world)
    assert world.crawl() is End.COMPLETED
    assert max(world.requests().values()) == 1
    assert_accounts(world)


def test_a_stop_is_over_in_ten_seconds_whatever_hangs() -> None:
    world = world_of(f"{A}hang", f"{B}1", "http://c.test/")
    world.web.answers[f"{A}hang"] = hanging()
    world.web.look_up_s["c.test"] = 1_000
    world.parsing.job_s = 1_000
    assert GRACE_S + PARSE_GRACE_S + FULL_STOP_S <= 10
    assert world.at(5, world.stop).crawl() is End.STOPPED
    assert world.now_s <= 15
    assert {url: row.state for url, row in world.rows.items()} == {
        f"{A}hang": State.READY,
        f"{B}1": State.CAPTURED,
        "http://c.test/": State.READY,
    }
    assert_accounts(world)


def test_a_stop_ends_a_pause() -> None:
    world = world_of(*(f"{A}{n}" for n in range(5)))
    assert world.at(2, world.pause).at(50, world.stop).crawl() is End.STOPPED
    assert world.now_s <= 51
    assert_accounts(world)


# Faults.


def test_a_corrupt_store_comes_out_by_its_own_name() -> None:
    world = world_of(A)

    async def commit(batch: Batch) -> None:
        raise StoreCorrupt("state: block checksum mismatch")

    world.at(0.5, lambda: setattr(world.partition, "commit", commit))
    with pytest.raises(StoreCorrupt, match="checksum"):
        world.crawl()


def test_what_was_reported_before_a_fault_is_kept() -> None:
    """A parser's fault comes while an answer waits for its group: the next run does not ask again."""
    world = world_of(A, B, robots="off-for=a.test,b.test", per_address_delay_s=0)
    world.web.answers = {A: page(text="some text"), B: page(latency_s=1)}
    world.parsing.job_s = 1 - GROUP_WINDOW_S / 2
    world.texts.fault = PermissionError(13, "Permission denied", "x.wet.gz")
    with pytest.raises(ParserUnusable):
        world.crawl()
    assert world.states() == {"captured": 2}
    assert_accounts(world)


# Waiting.


def turns(world: World, *spans: tuple[float, float]) -> list[int]:
    """How often the loop goes round between moments of the next crawl."""
    counted: list[int] = []

    def count() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        counted.append(loop.turns)

    for span in spans:
        for moment in span:
            world.at(moment, count)
    world.crawl()
    return [end - begin for begin, end in zip(counted[::2], counted[1::2], strict=True)]


def test_a_crawl_that_waits_an_hour_turns_about_once_a_minute() -> None:
    world = world_of(f"{A}1", f"{A}2", delay_s=4_000, delay_max_s=4_000)
    (waiting,) = turns(world, (100, 3_700))
    assert waiting <= 2 * 60 + 20
    assert_accounts(world)


def test_waiting_for_a_slow_answer_turns_no_faster() -> None:
    world = world_of(A)
    world.web.answers[A] = page(latency_s=3_600)
    (waiting,) = turns(world, (100, 3_500))
    assert waiting <= 2 * 60 + 20


def test_waiting_for_a_retry_turns_no_faster() -> None:
    world = world_of(A, robots="off-for=a.test", retry_base_s=3_600)
    world.web.answers[A] = [failing(Reason.CONNECTION_LOST), page()]
    (waiting,) = turns(world, (100, 3_500))
    assert waiting <= 2 * 60 + 20


def test_a_spent_budget_waits_for_the_parsers_without_spinning() -> None:
    world = world_of(f"{A}1", f"{B}1", f"{A}2", f"{B}2", max_pages=2)
    world.parsing.job_s = 1_000
    (waiting,) = turns(world, (10, 900))
    assert waiting <= 60
    assert world.states() == {"fetched": 2, "ready": 2}
    assert_accounts(world)


def test_hosts_without_a_unit_of_the_budget_wait_without_spinning() -> None:
    world = world_of(*(f"http://h{n}.test/" for n in range(50)), max_pages=1)
    world.web.answers["http://h0.test/"] = page(latency_s=1_000)
    (waiting,) = turns(world, (10, 900))
    assert waiting <= 60
    assert_accounts(world)


def test_a_full_disk_is_looked_at_once_a_second() -> None:
    world = world_of(*(f"{A}{n}" for n in range(5)))
    world.at(2, lambda: setattr(world.disk, "free", 0)).at(1_000, lambda: setattr(world.disk, "free", 2**40))
    (waiting,) = turns(world, (10, 900))
    assert 800 <= waiting <= 5_000
    assert len(world.fetched()) == 5
    assert_accounts(world)


def test_a_pause_of_a_day_costs_next_to_nothing() -> None:
    world = world_of(*(f"{A}{n}" for n in range(5)))
    world.at(2, world.pause).at(86_400, world.resume)
    (waiting,) = turns(world, (100, 86_000))
    assert waiting <= 2 * 24 * 60
    assert_accounts(world)


# Ends.


def test_a_crawl_waits_for_what_is_closed_and_says_until_when() -> None:
    world = world_of(A)
    world.web.robots("a.test", refusal(503), "")
    wakes: list[float | None] = []
    world.at(30, lambda: wakes.append(world.life.stages.frontier.wake_at))
    assert world.crawl() is End.COMPLETED
    assert wakes == [pytest.approx(60, abs=0.1)]
    assert_accounts(world)


@pytest.mark.parametrize("concurrency", [1, 2, 50])
def test_concurrency_bounds_what_is_in_flight(concurrency: int) -> None:
    world = world_of(*(f"http://h{n}.test/" for n in range(60)), concurrency=concurrency)
    world.web.elsewhere = lambda _: page(latency_s=0.3)
    in_flight: list[int] = []
    for step in range(100):
        world.at(step * 0.1, lambda: in_flight.append(world.life.stages.frontier.in_flight))
    assert world.crawl() is End.COMPLETED
    assert max(in_flight) == concurrency
    assert_accounts(world)
