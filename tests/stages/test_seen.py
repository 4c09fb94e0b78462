"""The exact set of admitted URLs: what is new is new once, before and after the commit, and with the cache forgotten."""

import asyncio

from gossamer.stages.recent_keys import RecentKeys
from gossamer.stages.seen import ExactSeen
from gossamer.testing.sim_partition import SimPartitionStore

A, B, C = (letter * 16 for letter in (b"a", b"b", b"c"))


def test_a_key_is_new_once_within_a_batch() -> None:
    store = SimPartitionStore()
    seen, batch = ExactSeen(store, 1), store.batch()
    assert seen.unknown([A, B, A]) == [0, 1, 2]
    assert [seen.add(batch, key) for key in (A, B, A)] == [True, True, False]
    assert seen.unknown([A, C, B]) == [1]


def test_another_process_knows_what_was_committed_and_nothing_else() -> None:
    store = SimPartitionStore()
    batch, lost = store.batch(), store.batch()
    seen = ExactSeen(store, 1)
    assert seen.add(batch, A)
    assert seen.add(lost, B)
    asyncio.run(store.commit(batch))
    assert ExactSeen(store, 1).unknown([A, B]) == [1]


def test_each_crawl_has_a_set_of_its_own() -> None:
    store = SimPartitionStore()
    batch = store.batch()
    ExactSeen(store, 1).add(batch, A)
    asyncio.run(store.commit(batch))
    assert ExactSeen(store, 2).unknown([A]) == [0]


def test_a_known_key_is_read_from_disk_once() -> None:
    store = SimPartitionStore()
    batch = store.batch()
    ExactSeen(store, 1).add(batch, A)
    asyncio.run(store.commit(batch))
    recent = RecentKeys()
    recent.remember([A])
    assert recent.unknown([A, B]) == [1]
