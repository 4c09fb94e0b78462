"""The filter of known URLs over lives and crashes: it knows every URL that was admitted, and none that was not."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from gossamer.core.bloom_saved import BloomPlan, load_mark, mark_key, split_journal_key
from gossamer.core.keys import LAST, crawl_prefix, url_row_key
from gossamer.ports.partition_store import Family
from gossamer.stages.bloom_seen import SNAPSHOT_BYTES_PER_KEY_MAX, BloomRules, BloomSeen
from gossamer.stages.bloom_start import load_bloom_seen
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_loop import simulate
from gossamer.testing.sim_partition import SimPartitionStore
from gossamer.testing.sim_snapshots import SimSnapshots
from gossamer.testing.sim_web import page
from gossamer.testing.world import World

PLAN = BloomPlan(500, 1e-6)  # so seldom wrong that a key known by chance would be news
KEYS_MIN = 8
ROUND_KEYS = 3
ROUNDS = 14
A, B, C = (letter * 16 for letter in (b"a", b"b", b"c"))


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


class Disk:
    """What outlives a process."""

    def __init__(self, plan: BloomPlan = PLAN) -> None:
        self.store = SimPartitionStore()
        self.snapshots = SimSnapshots()
        self.rules = BloomRules(plan, KEYS_MIN)
        self.said: list[str] = []
        self.committed: set[bytes] = set()

    def born(self) -> BloomSeen:
        self.snapshots.close()
        return load_bloom_seen(self.store, 1, self.snapshots, self.rules, self.said.append)

    def journal(self) -> list[bytes]:
        return [row for row, _ in self.store.scan(Family.SEEN, crawl_prefix(1), crawl_prefix(1) + LAST)]

    async def admit(self, seen: BloomSeen, keys: list[bytes], *, open_s: float = 0.0) -> None:
        """A batch as the ledger makes one, open for a while; it is over when this returns."""
        seen.turn()
        batch = self.store.batch()
        for each in keys:
            if seen.add(batch, each):
                batch.put(Family.URLS, url_row_key(1, each), b"")
        await asyncio.sleep(open_s)
        await self.store.commit(batch)
        self.committed.update(keys)

    def assert_whole(self, seen: BloomSeen, keys_ever: int) -> None:
        asked = [key(number) for number in range(keys_ever)]
        unknown = {asked[at] for at in seen.unknown(asked)}
        assert unknown == set(asked) - self.committed


def rounds() -> list[list[bytes]]:
    return [[key(number * ROUND_KEYS + each) for each in range(ROUND_KEYS)] for number in range(ROUNDS)]


async def live(disk: Disk) -> BloomSeen:
    seen = disk.born()
    for keys in rounds():
        await disk.admit(seen, keys, open_s=1.0)
    return seen


def live_until(disk: Disk, killed_at: float) -> None:
    """A kill: what was under way is never heard of again."""

    async def life() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(live(disk), killed_at)

    simulate(life())


# One life.


def test_a_key_is_new_once_within_a_batch_and_afterwards() -> None:
    disk = Disk()
    seen, batch = disk.born(), disk.store.batch()
    assert seen.unknown([A, B, A]) == [0, 1, 2]
    assert [seen.add(batch, each) for each in (A, B, A)] == [True, True, False]
    assert seen.unknown([A, C, B]) == [1]


def test_the_journal_is_emptied_by_snapshots_and_holds_what_came_since() -> None:
    disk = Disk()
    seen = simulate(live(disk))
    assert disk.snapshots.publications >= 3
    assert len(disk.journal()) <= KEYS_MIN + 3 * ROUND_KEYS  # a write and a publication take a round each
    mark = load_mark(disk.store.get(Family.META, mark_key(1)))
    assert mark > 0
    assert all(split_journal_key(row)[0] > mark for row in disk.journal())
    disk.assert_whole(seen, 3 * ROUNDS)


def test_a_short_journal_is_not_worth_a_snapshot() -> None:
    disk = Disk()
    simulate(disk.admit(disk.born(), [key(number) for number in range(KEYS_MIN - 1)]))
    simulate(disk.admit(disk.born(), [A]))
    assert (disk.snapshots.publications, len(disk.journal())) == (0, KEYS_MIN)


def test_a_large_filter_waits_until_its_snapshot_is_worth_its_octets() -> None:
    disk = Disk(BloomPlan(10_000, 0.01))

    async def lives() -> None:
        seen = disk.born()
        for number in range(60):
            await disk.admit(seen, [key(number)], open_s=1.0)

    simulate(lives())
    assert 10_000 * 9.585 / 8 / SNAPSHOT_BYTES_PER_KEY_MAX > 46  # keys
    assert disk.snapshots.publications == 1
    assert 9 < len(disk.journal()) <= 14


def test_a_full_disk_costs_a_snapshot_and_no_key() -> None:
    disk = Disk()
    disk.snapshots.is_full = True
    simulate(live(disk))
    assert disk.snapshots.publications == 0
    assert len(disk.journal()) == 3 * ROUNDS
    disk.snapshots.is_full = False
    more = [[key(3 * ROUNDS + number)] for number in range(KEYS_MIN)]

    async def further() -> BloomSeen:
        seen = disk.born()
        for keys in more:
            await disk.admit(seen, keys, open_s=1.0)
        return seen

    disk.assert_whole(simulate(further()), 3 * ROUNDS + KEYS_MIN)
    assert disk.snapshots.publications == 1


# Crashes.


@pytest.mark.parametrize("step_s", [0.0, 0.4, 2.5])
@pytest.mark.parametrize("commit_s", [0.0, 0.7])
def test_after_a_kill_at_any_moment_it_knows_what_was_committed_and_nothing_else(
    step_s: float, commit_s: float
) -> None:
    """The batch is open while the snapshot is written: bits of keys that nobody will admit get into it."""
    for moment in range(1, 48):
        disk = Disk()
        disk.snapshots.step_s, disk.store.commit_s = step_s, commit_s
        live_until(disk, moment * 0.5 + 0.01)
        found = {row[4:] for row, _ in disk.store.scan(Family.URLS, crawl_prefix(1), crawl_prefix(1) + LAST)}
        assert disk.committed <= found  # readers see a batch before its log is synced
        disk.committed = found
        disk.assert_whole(disk.born(), 3 * ROUNDS)
        disk.assert_whole(simulate(live(disk)), 3 * ROUNDS)
        disk.assert_whole(disk.born(), 3 * ROUNDS)
        assert disk.said == []
        assert len(disk.committed) == len({split_journal_key(row)[1] for row in disk.journal()} | disk.committed)


def test_a_kill_after_the_publication_leaves_rows_that_the_next_batch_takes() -> None:
    disk = Disk()

    async def life() -> None:
        seen = disk.born()
        for keys in rounds()[:4]:
            await disk.admit(seen, keys, open_s=1.0)
        for _ in range(2):
            seen.turn()
            await asyncio.sleep(1)

    simulate(life())
    assert disk.snapshots.publications == 1
    assert len(disk.journal()) == 4 * ROUND_KEYS
    simulate(disk.admit(disk.born(), [A]))
    assert len(disk.journal()) == ROUND_KEYS + 1  # the round that came during the write, and this key


def test_two_kinds_of_crawl_in_a_store_do_not_meet() -> None:
    disk = Disk()
    simulate(live(disk))
    other = SimSnapshots()
    assert load_bloom_seen(disk.store, 2, other, disk.rules).unknown([key(0)]) == [0]


# When the snapshot can't be used.


def test_a_snapshot_that_is_gone_is_made_anew_from_all_urls_and_told() -> None:
    disk = Disk()
    simulate(live(disk))
    disk.snapshots = SimSnapshots()
    seen = disk.born()
    assert disk.said == [
        "the filter of known URLs is made anew from all URLs, because its snapshot can't be used: it is gone"
    ]
    disk.assert_whole(seen, 3 * ROUNDS)

    async def further() -> BloomSeen:
        for number in range(3):
            await disk.admit(seen, [key(900 + number)], open_s=1.0)
        return seen

    simulate(further())
    assert disk.snapshots.publications == 1  # at once: another start should not take as long
    disk.said.clear()
    disk.assert_whole(disk.born(), 1_000)
    assert disk.said == []


def test_another_size_is_made_anew_and_going_back_finds_everything_too() -> None:
    disk = Disk()
    simulate(live(disk))
    for number, items in enumerate((5_000, 500, 7_000), 1):
        disk.rules = BloomRules(BloomPlan(items, 1e-6), KEYS_MIN)
        simulate(disk.admit(disk.born(), [key(100 + number)]))
        assert len(disk.said) == (0 if items == 500 else 1), items
        disk.said.clear()
        disk.assert_whole(disk.born(), 200)
        disk.said.clear()


def test_a_filter_made_anew_counts_on_from_the_snapshot_that_it_could_not_use() -> None:
    disk = Disk()
    simulate(live(disk))
    disk.snapshots = SimSnapshots()

    async def nothing_comes() -> None:
        seen = disk.born()
        for _ in range(3):
            seen.turn()
            await asyncio.sleep(1)

    simulate(nothing_comes())
    assert disk.snapshots.publications == 1  # of a generation without rows, and no batch has marked it
    disk.rules = BloomRules(BloomPlan(5_000, 1e-6), KEYS_MIN)
    batch = disk.store.batch()
    assert disk.born().add(batch, A)
    simulate(disk.store.commit(batch))
    disk.rules = BloomRules(PLAN, KEYS_MIN)
    assert disk.born().unknown([A, B]) == [1]


# A whole crawl.


def world_of(**options: Any) -> World:
    """Sixty pages, each linked from many others."""
    settings: dict[str, Any] = {
        "delay_s": 0.05,
        "delay_factor": 0,
        "per_address_delay_s": 0,
        "robots": "off-for=a.test",
    }
    world = World("http://a.test/0", **settings, **options)
    for number in range(60):
        links = [f"/{(number * each + each) % 60}" for each in (1, 2, 3, 7)]
        world.web.answers[f"http://a.test/{number}"] = page(*links, f"/{(number + 1) % 60}")
    return world


def bloom_world() -> World:
    world = world_of(seen="bloom", seen_urls=1_000, seen_error=1e-6)
    world.journal_keys_min, world.snapshots.step_s, world.partition.commit_s = 5, 0.02, 0.01
    return world


def test_a_crawl_finds_what_the_exact_set_finds() -> None:
    world, exact = bloom_world(), world_of()
    assert world.crawl() is exact.crawl() is End.COMPLETED
    assert world.fetched() == exact.fetched()
    assert len(exact.fetched()) == 60
    assert world.snapshots.publications > 2
    assert_accounts(world)


@pytest.mark.slow
def test_killed_every_tenth_of_a_second_it_finds_the_same() -> None:
    """Each life takes a few pages further; together the kills fall on every step of a snapshot."""
    for shift in range(12):
        world = bloom_world()
        for life in range(30):
            if world.crawl(kill_at=world.now_s + 0.1 + 0.011 * shift + 0.003 * life) is not None:
                break
            assert_accounts(world)
        world.crawl()
        assert_accounts(world)
        assert len(world.fetched()) == 60
        assert world.said == []


@pytest.mark.slow
def test_a_disk_that_fills_up_in_the_middle_of_a_snapshot_hides_no_url_after_a_kill() -> None:
    """The batch waits for room with its keys in the filter while the snapshot is written; then the process dies."""
    for moment in range(4, 30):
        world = bloom_world()
        world.snapshots.step_s = 0.1

        def fill(world: World = world) -> None:
            world.partition.is_full = True

        world.at(moment * 0.1, fill)
        world.crawl(kill_at=moment * 0.1 + 0.6)
        world.partition.is_full = False
        world.crawl()
        assert len(world.fetched()) == 60, moment
        assert_accounts(world)
