"""One tally a host in memory, whoever asks, and a bounded number of them."""

import asyncio

import pytest

import gossamer.stages.tallies as module
from gossamer.core.budget import Budget
from gossamer.core.keys import tally_key
from gossamer.core.rows import HostRow, dump, new_tally
from gossamer.ports.partition_store import Family
from gossamer.stages.host_queue import HostQueue
from gossamer.stages.tallies import Tallies
from gossamer.testing.sim_partition import SimPartitionStore

A, B = b"a" * 8, b"b" * 8


def stored(*hosts: bytes) -> SimPartitionStore:
    store = SimPartitionStore()
    batch = store.batch()
    for host in hosts:
        tally = new_tally(host.decode(), "site.test")
        tally.fetched = 3
        batch.put(Family.TALLIES, tally_key(1, host), dump(tally))
    asyncio.run(store.commit(batch))
    return store


def test_a_host_has_one_tally_however_it_is_asked_for() -> None:
    tallies = Tallies(stored(A), 1, {})
    one = tallies.of(A, "a.test")
    assert one.fetched == 3
    assert tallies.of_many([A, B]) == [one, None]
    assert tallies.of_many([A])[0] is one
    assert tallies.of(B, "b.test") is tallies.of(B, "b.test")


def test_the_tally_of_a_host_on_the_workbench_is_the_one_it_has_there() -> None:
    tally = new_tally("a.test", "a.test")
    bench = {A: HostQueue(A, HostRow("a.test", "a.test"), tally, Budget(None))}
    assert Tallies(stored(A), 1, bench).of(A, "a.test") is tally


def test_what_has_not_come_by_for_two_generations_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GENERATION_MAX", 2)
    tallies = Tallies(SimPartitionStore(), 1, {})
    for number in range(50):
        tallies.turn()
        tallies.of(number.to_bytes(8, "big"), "x")
        kept = tallies.of(A, "a.test")
        kept.fetched += 1
    assert len(tallies) <= 6
    assert tallies.of(A, "a.test").fetched == 50
