"""The parse queue: order, back-pressure, poison, and what a former process left."""

import errno
import os
from random import Random
from typing import Any

import pytest

import gossamer.stages.parse as module
from gossamer.core.rows import CaptureRow, State, load
from gossamer.ports.parsing import ParserUnusable
from gossamer.ports.partition_store import Family
from gossamer.stages.parse import BATCH_MAX, PENDING_MAX, WINDOW_MAX
from gossamer.stages.parse_capture import RECORD_DAMAGED
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_contacts import PLENTY_BYTES
from gossamer.testing.sim_web import NOT_FOUND, any_page, page
from gossamer.testing.world import World

A = "http://a.test/"


def world_of(*seeds: str, **options: Any) -> World:
    settings: dict[str, Any] = {"scope": "any", "delay_s": 0, "delay_factor": 0, "per_address_delay_s": 0}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def captures(world: World) -> list[CaptureRow]:
    return [load(CaptureRow, stored) for _, stored in world.partition.scan(Family.CAPTURES, b"", b"\xff" * 16)]


def hosts(count: int) -> list[str]:
    return [f"http://h{n}.test/" for n in range(count)]


def test_captures_are_parsed_in_their_order() -> None:
    world = world_of(*(f"{A}{n}" for n in range(50)), delay_s=0.01)
    assert world.crawl() is End.COMPLETED
    assert world.parsing.parsed == [e.url for e in world.web.exchanges if not e.url.endswith("robots.txt")]
    assert_accounts(world)


@pytest.mark.slow
def test_slow_parsers_hold_back_the_fetches() -> None:
    world = world_of(
        *hosts(3_000), concurrency=64, parsers=1, robots="off-for=" + ",".join(u[7:-1] for u in hosts(3_000))
    )
    world.web.elsewhere = lambda _: page(latency_s=0.1)
    world.parsing.job_s = 0.05
    pending: list[int] = []
    for second in range(0, 100, 2):
        world.at(second, lambda: pending.append(world.life.stages.parse.pending))
    world.at(100, world.stop).crawl()
    assert PENDING_MAX - BATCH_MAX <= max(pending) <= PENDING_MAX + 2 * 64
    assert len(world.parsing.parsed) == pytest.approx(100 / 0.05, rel=0.05)  # and the parser was never idle
    assert_accounts(world)


@pytest.mark.slow
def test_a_queue_longer_than_memory_is_parsed_to_its_end() -> None:
    """More in flight than the window holds: what does not fit is read from disk, also while a batch is visible
    but not durable yet; nothing is parsed twice.
    """
    count = 2 * WINDOW_MAX + 100
    world = world_of(*hosts(count), concurrency=count, robots="off-for=" + ",".join(u[7:-1] for u in hosts(count)))
    world.parsing.job_s, world.partition.commit_s = 0.01, 0.5
    assert world.crawl() is End.COMPLETED
    assert len(world.parsing.parsed) == len(set(world.parsing.parsed)) == count
    assert world.life.stages.parse.pending == 0
    assert_accounts(world)


@pytest.mark.parametrize("concurrency", [3, 5])
@pytest.mark.parametrize("fast_job_s", [0.001, 0.03])
def test_what_a_refill_has_read_is_not_parsed_again_when_it_is_announced(
    monkeypatch: pytest.MonkeyPatch, concurrency: int, fast_job_s: float
) -> None:
    """The store shows a batch before it is durable and announced. A window that overflowed while the parser was slow
    is refilled when it is fast again, and so reads small batches early.
    """
    monkeypatch.setattr(module, "WINDOW_MAX", 8)
    monkeypatch.setattr(module, "PENDING_MAX", 40)
    monkeypatch.setattr(module, "BATCH_MAX", 2)
    world = world_of(*hosts(120), concurrency=concurrency, robots="off-for=" + ",".join(u[7:-1] for u in hosts(120)))
    world.web.elsewhere = lambda _: page(latency_s=0.2)
    world.partition.commit_s, world.parsing.job_s = 0.3, 1
    world.at(2, lambda: setattr(world.parsing, "job_s", fast_job_s)).at(300, world.stop)
    assert world.crawl() is End.COMPLETED
    assert len(world.parsing.parsed) == len(set(world.parsing.parsed)) == 120
    assert world.life.stages.parse.pending == 0
    assert_accounts(world)


def test_what_a_former_process_left_is_parsed_before_anything_is_fetched() -> None:
    world = world_of(*(f"{A}{n}" for n in range(6)), delay_s=1)
    world.parsing.job_s = 100
    assert world.crawl(kill_at=4.5) is None
    assert world.states()["captured"] == 4
    assert_accounts(world)
    world.parsing.job_s = 0
    parsed: list[int] = []
    world.at(4.7, lambda: parsed.append(len(world.parsing.parsed)))
    assert world.crawl() is End.COMPLETED
    assert parsed == [4]
    assert len(world.fetched()) == 6
    assert max(world.requests().values()) == 1
    assert_accounts(world)


# Poison.


@pytest.mark.parametrize("parsers", [1, 2])
def test_a_page_that_kills_the_parser_costs_its_neighbours_nothing(parsers: int) -> None:
    urls = [f"http://h{n}.test/" for n in range(4 * BATCH_MAX)]
    world = world_of(*urls, parsers=parsers)
    world.parsing.poison = {urls[5]}
    world.parsing.job_s = 0.01
    assert world.crawl() is End.COMPLETED
    row = world.rows[urls[5]]
    assert (row.state, row.reason) == (State.DEAD, "parser died")
    assert world.fetched() == sorted(url for url in urls if url != urls[5])
    assert_accounts(world)


@pytest.mark.parametrize("seed", range(5))
def test_any_pages_that_kill_parsers_are_found_out_and_no_others(seed: int) -> None:
    """Two batches are under way with one parser: a lone retry beside a poison page must not be blamed."""
    rng = Random(seed)
    urls = [f"http://h{n}.test/" for n in range(60)]
    world = world_of(*urls, rng=rng, parsers=rng.choice([1, 3]))
    world.parsing.poison = set(rng.sample(urls, 7))
    world.parsing.job_s = 0.01
    assert world.crawl() is End.COMPLETED
    assert {url for url, row in world.rows.items() if row.state is State.DEAD} == world.parsing.poison
    assert len(world.fetched()) == 60 - 7
    assert world.life.stages.parse.pending == 0
    assert_accounts(world)


def test_records_that_are_lost_are_dead_letters_and_cost_no_parser() -> None:
    world = world_of(*(f"{A}{n}" for n in range(6)), delay_s=1)
    world.parsing.job_s = 100
    assert world.crawl(kill_at=4.5) is None
    lost = captures(world)[:2]

    def flip() -> None:
        for row in lost:
            world.raw.files[row.raw_key.segment][row.raw_key.offset + 12] ^= 0xFF

    flip()
    world.parsing.job_s = 0
    assert world.crawl() is End.COMPLETED
    assert {row.url for row in world.rows.values() if row.state is State.DEAD} == {row.url for row in lost}
    assert {world.rows[row.url].reason for row in lost} == {RECORD_DAMAGED}
    assert (world.parsing.deaths, len(world.fetched())) == (0, 4)
    flip()
    assert_accounts(world)


def test_a_text_that_finds_no_room_is_not_the_fault_of_its_page() -> None:
    world = world_of(*(f"{A}{n}" for n in range(3)))
    world.web.elsewhere = lambda url: NOT_FOUND if url.endswith("robots.txt") else page(text="some text")

    def set_full(*, is_full: bool) -> None:
        world.texts.is_full = is_full
        world.disk.free = 0 if is_full else PLENTY_BYTES

    world.parsing.job_s = 1
    world.at(0.5, lambda: set_full(is_full=True)).at(50, lambda: set_full(is_full=False))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 3
    assert world.parsing.deaths >= 1
    assert_accounts(world)


def test_a_quota_that_no_look_at_the_disk_shows_costs_no_page() -> None:
    world = world_of(*(f"{A}{n}" for n in range(3)))
    world.web.elsewhere = lambda url: NOT_FOUND if url.endswith("robots.txt") else page(text="some text")
    world.texts.is_full = True
    world.at(20, lambda: setattr(world.texts, "is_full", False))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 3
    assert 1 <= world.parsing.deaths <= 25  # about one try a second
    assert_accounts(world)


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EROFS], ids=["broken", "forbidden", "read-only"])
def test_a_text_that_cannot_be_written_ends_the_crawl_and_costs_no_page(number: int) -> None:
    world = world_of(*(f"{A}{n}" for n in range(6)), delay_s=1)
    world.web.elsewhere = lambda url: NOT_FOUND if url.endswith("robots.txt") else page(text="some text")
    world.at(3.5, lambda: setattr(world.texts, "fault", OSError(number, os.strerror(number), "x.wet.gz")))
    with pytest.raises(ParserUnusable, match=f"{os.strerror(number)}: 'x.wet.gz'"):
        world.crawl()
    assert world.now_s < 5
    assert world.states() == {"fetched": 3, "captured": 1, "ready": 2}
    assert_accounts(world)
    world.texts.fault = None
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 6
    assert max(world.requests().values()) == 1
    assert_accounts(world)


def test_pages_that_kill_parsers_during_a_stop_cost_nothing() -> None:
    urls = [f"http://h{n}.test/" for n in range(4 * BATCH_MAX)]
    world = world_of(*urls, parsers=2)
    world.parsing.poison = set(urls[::3])
    world.parsing.job_s = 0.3
    assert world.at(1, world.stop).crawl() is End.STOPPED
    assert world.now_s <= 3
    dead = {url for url, row in world.rows.items() if row.state is State.DEAD}
    assert dead < world.parsing.poison
    assert_accounts(world)
    assert world.crawl() is End.COMPLETED
    assert {url for url, row in world.rows.items() if row.state is State.DEAD} == world.parsing.poison
    assert len(world.fetched()) == len(urls) - len(world.parsing.poison)
    assert max(world.requests().values()) == 1
    assert_accounts(world)


def test_a_stop_does_not_wait_for_a_parser_that_hangs() -> None:
    world = world_of(*(f"{A}{n}" for n in range(3)))
    world.parsing.job_s = 1_000
    assert world.at(5, world.stop).crawl() is End.STOPPED
    assert world.now_s <= 7
    assert world.states() == {"captured": 3}
    assert_accounts(world)
    world.parsing.job_s = 0
    assert world.crawl() is End.COMPLETED
    assert max(world.requests().values()) == 1
    assert_accounts(world)
