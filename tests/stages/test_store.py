"""Group commit: what is durable when, what a full disk does, and what a kill at any moment leaves."""

from random import Random
from typing import Any

import pytest

from gossamer.ports.partition_store import Family, StoreFull
from gossamer.stages.room import COMMIT_BYTES_MIN, LEASE_BYTES_AGAIN
from gossamer.stages.runner import End
from gossamer.stages.store import FULL_STOP_S, GROUP_MAX, GROUP_WINDOW_S
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_contacts import PLENTY_BYTES
from gossamer.testing.sim_web import Answer, Script, any_page, page, redirect, refusal
from gossamer.testing.world import World

A = "http://a.test/"


def world_of(*seeds: str, **options: Any) -> World:
    settings: dict[str, Any] = {"scope": "any", "delay_s": 0, "delay_factor": 0, "per_address_delay_s": 0}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def many_hosts(count: int) -> list[str]:
    return [f"http://h{n}.test/" for n in range(count)]


def test_what_happens_close_together_is_one_batch() -> None:
    world = world_of(*many_hosts(200), robots="off-for=" + ",".join(f"h{n}.test" for n in range(200)))
    assert world.crawl() is End.COMPLETED
    assert world.partition.commits <= 8  # seeds, answers, pages in groups, end
    assert_accounts(world)


@pytest.mark.slow
def test_no_batch_is_larger_than_its_limit() -> None:
    world = world_of(*many_hosts(3 * GROUP_MAX), concurrency=5_000)
    backlogs: list[int] = []
    for step in range(40):
        world.at(step * 0.01, lambda: backlogs.append(world.life.stages.store.backlog))
    assert world.crawl() is End.COMPLETED
    assert max(backlogs) > GROUP_MAX
    assert world.partition.commits >= 3 * 3
    assert_accounts(world)


def test_a_single_event_waits_for_its_group_and_no_longer() -> None:
    world = world_of(A, robots="off-for=a.test")
    world.web.answers[A] = page(latency_s=1)
    durable: list[bool] = []
    for moment in (1 + 0.9 * GROUP_WINDOW_S, 1 + 1.1 * GROUP_WINDOW_S):
        world.at(moment, lambda: durable.append(world.states()["ready"] == 0))
    assert world.crawl() is End.COMPLETED
    assert durable == [False, True]


def test_records_are_synced_before_the_batch_that_names_them() -> None:
    """`assert_accounts` compares committed and synced lengths, here at every moment of a crawl."""
    world = world_of(*(f"{A}{n}" for n in range(40)), delay_s=0.05)
    for step in range(1, 60):
        world.at(step * 0.037, lambda: _assert_synced(world))
    assert world.crawl() is End.COMPLETED
    assert_accounts(world)


def _assert_synced(world: World) -> None:
    for key, stored in world.partition.scan(Family.META, b"segment:", b"segment:\xff"):
        name = key.removeprefix(b"segment:").decode()
        assert int.from_bytes(stored, "big") <= world.raw.synced[name] <= len(world.raw.files[name])


# A full disk.


@pytest.mark.parametrize("what", ["partition", "raw"], ids=["at the commit", "at the sync"])
def test_a_full_disk_pauses_the_crawl_and_says_so_once(what: str) -> None:
    world = world_of(*(f"{A}{n}" for n in range(10)), delay_s=1)

    def set_full(*, is_full: bool) -> None:
        getattr(world, what).is_full = is_full
        world.disk.free = 0 if is_full else LEASE_BYTES_AGAIN

    world.at(3.02, lambda: set_full(is_full=True)).at(60, lambda: set_full(is_full=False))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 10
    assert not [e for e in world.web.exchanges if 4.1 < e.began_at < 60]
    assert [said.partition(" (")[0] for said in world.said] == ["the disk is full", "the disk has room again"]
    assert_accounts(world)


def test_little_room_stops_leases_and_less_room_stops_commits() -> None:
    world = world_of(f"{A}1", f"{A}2", delay_s=1)
    world.web.answers[f"{A}1"] = page(latency_s=3)
    world.at(2, lambda: setattr(world.disk, "free", COMMIT_BYTES_MIN))
    world.at(20, lambda: setattr(world.disk, "free", COMMIT_BYTES_MIN - 1))
    world.at(40, lambda: setattr(world.disk, "free", PLENTY_BYTES))
    seen: list[str] = []
    world.at(19, lambda: seen.extend(world.fetched()))
    assert world.crawl() is End.COMPLETED
    assert seen == [f"{A}1"]
    assert world.starts(f"{A}2")[0] >= 40
    assert_accounts(world)


@pytest.mark.parametrize("what", ["partition", "raw"])
def test_a_stop_with_a_full_disk_ends_and_loses_nothing(what: str) -> None:
    world = world_of(*(f"{A}{n}" for n in range(6)), delay_s=1)
    world.at(2.02, lambda: setattr(getattr(world, what), "is_full", True)).at(
        2.02, lambda: setattr(world.disk, "free", 0)
    )
    world.at(10, world.stop)
    with pytest.raises(StoreFull, match="disk is full"):
        world.crawl()
    assert world.now_s <= 10 + 2 * FULL_STOP_S
    getattr(world, what).is_full = False
    world.disk.free = PLENTY_BYTES
    assert_accounts(world)
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 6
    assert max(world.requests().values()) <= 2
    assert_accounts(world)


# Kills.


def everything(url: str) -> Script:
    """A little of all that can happen."""
    name = url.rpartition("/")[2]
    if not name.isdigit():
        return Answer(status=404)
    number = int(name)
    nxt = [f"http://h{(number + k) % 3}.test/{number * 2 + k}" for k in (1, 2) if number * 2 + k < 60]
    if number % 7 == 3:
        return redirect(nxt[0] if nxt else "/0")
    if number % 5 == 4:
        return [refusal(503), page(*nxt)]
    return page(*nxt, latency_s=0.05 * (number % 4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_books_are_right_after_a_kill_at_any_moment(seed: int) -> None:
    rng = Random(seed)
    world = world_of("http://h0.test/0", rng=rng, delay_s=0.1, retry_base_s=1, concurrency=4, parsers=2)
    world.web.elsewhere = everything
    world.partition.commit_s, world.parsing.job_s = rng.choice([0.0, 0.01, 0.2]), rng.choice([0.0, 0.03])
    end = None
    for _ in range(25):
        end = world.crawl(kill_at=world.now_s + rng.expovariate(1.5))
        assert_accounts(world)
        if end:
            break
    end = end or world.crawl()
    assert end is End.COMPLETED
    reference = world_of("http://h0.test/0", delay_s=0.1, retry_base_s=1)
    reference.web.elsewhere = everything
    reference.crawl()
    assert {url: row.state for url, row in world.rows.items()} == {
        url: row.state for url, row in reference.rows.items()
    }
    assert_accounts(world)
