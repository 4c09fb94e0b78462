"""What every partition store promises, held against the one in memory and the one on RocksDB."""

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.adapters.full_disk import no_file_beyond

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.ports.partition_store import Family, PartitionStore, StoreCorrupt, StoreFull, StoreLocked

Writes = list[tuple[Family, bytes, bytes | None]]
EVERYTHING = (b"", b"\xff" * 40)


@pytest.fixture(params=["memory", "rocksdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PartitionStore]:
    opened: PartitionStore
    opened = MemoryPartitionStore() if request.param == "memory" else RocksPartitionStore(tmp_path / "state")
    yield opened
    opened.close()


@pytest.fixture
def rocks(tmp_path: Path) -> Iterator[RocksPartitionStore]:
    opened = RocksPartitionStore(tmp_path / "state")
    yield opened
    opened.close()


def commit(store: PartitionStore, writes: Writes) -> None:
    batch = store.batch()
    for family, key, value in writes:
        if value is None:
            batch.delete(family, key)
        else:
            batch.put(family, key, value)
    asyncio.run(store.commit(batch))


def put(store: PartitionStore, family: Family, **rows: bytes) -> None:
    commit(store, [(family, key.encode(), value) for key, value in rows.items()])


# Reading.


def test_what_was_put_is_read_and_what_was_not_is_none(store: PartitionStore) -> None:
    put(store, Family.URLS, a=b"1", empty=b"")
    assert store.get(Family.URLS, b"a") == b"1"
    assert store.get(Family.URLS, b"empty") == b""
    assert store.get(Family.URLS, b"b") is None


def test_families_do_not_see_each_other(store: PartitionStore) -> None:
    for number, family in enumerate(Family):
        put(store, family, key=bytes([number]))
    assert [store.get(family, b"key") for family in Family] == [bytes([number]) for number in range(len(Family))]


def test_many_are_read_in_the_order_asked_also_twice_and_none(store: PartitionStore) -> None:
    put(store, Family.URLS, a=b"1", b=b"2", e=b"")
    assert store.get_many(Family.URLS, [b"b", b"x", b"a", b"b", b"e"]) == [b"2", None, b"1", b"2", b""]
    assert store.get_many(Family.URLS, []) == []


@pytest.mark.parametrize("family", [Family.SEEN, Family.URLS, Family.READY])
def test_presence_is_exact_also_of_empty_values(store: PartitionStore, family: Family) -> None:
    rng = Random(1)
    keys = [rng.randbytes(20) for _ in range(500)]
    commit(store, [(family, key, b"") for key in keys[::2]])
    assert store.contains_many(family, keys) == [at % 2 == 0 for at in range(500)]
    assert store.contains_many(family, []) == []


# Scanning.


def test_a_scan_gives_rows_in_the_order_of_their_octets(store: PartitionStore) -> None:
    keys = [b"\x00", b"\x00\x00", b"\x01", b"a", b"a\x00", b"ab", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]
    shuffled = Random(3).sample(keys, len(keys))
    commit(store, [(Family.READY, key, key) for key in shuffled])
    assert list(store.scan(Family.READY, *EVERYTHING)) == [(key, key) for key in sorted(keys)]


@pytest.mark.parametrize(
    ("start", "stop", "found"),
    [
        (b"b", b"d", [b"b", b"c"]),
        (b"b\x00", b"d\x00", [b"c", b"d"]),
        (b"", b"b", [b"a"]),
        (b"d", b"\xff", [b"d"]),
        (b"c", b"c", []),
        (b"d", b"b", []),
        (b"x", b"z", []),
    ],
)
def test_a_scan_includes_its_start_and_not_its_stop(
    store: PartitionStore, start: bytes, stop: bytes, found: list[bytes]
) -> None:
    put(store, Family.READY, a=b"", b=b"", c=b"", d=b"")
    assert [key for key, _ in store.scan(Family.READY, start, stop)] == found


def test_a_scan_under_way_does_not_see_what_is_written_meanwhile(store: PartitionStore) -> None:
    put(store, Family.READY, a=b"1", b=b"2", c=b"3")
    rows = store.scan(Family.READY, *EVERYTHING)
    first = next(rows)
    commit(store, [(Family.READY, b"b", None), (Family.READY, b"bb", b"new"), (Family.READY, b"c", b"changed")])
    assert [first, *rows] == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]


def test_heads_are_the_first_rows_of_each_range_in_the_order_asked(store: PartitionStore) -> None:
    put(store, Family.READY, a1=b"1", a2=b"2", a3=b"3", b1=b"4", d1=b"5")
    ranges = [(b"b", b"c"), (b"a", b"b"), (b"c", b"d"), (b"a2", b"a3"), (b"d", b"\xff"), (b"a", b"z"), (b"d", b"b")]
    assert store.heads(Family.READY, ranges, 2) == [
        [(b"b1", b"4")],
        [(b"a1", b"1"), (b"a2", b"2")],
        [],
        [(b"a2", b"2")],
        [(b"d1", b"5")],
        [(b"a1", b"1"), (b"a2", b"2")],
        [],
    ]
    assert store.heads(Family.READY, [], 2) == []


def test_a_scan_that_is_left_early_does_no_harm(store: PartitionStore) -> None:
    put(store, Family.READY, a=b"1", b=b"2")
    for _ in range(50):
        assert next(store.scan(Family.READY, *EVERYTHING)) == (b"a", b"1")
    put(store, Family.READY, a=b"2")
    assert store.get(Family.READY, b"a") == b"2"


def test_a_scan_can_go_on_from_a_cursor_behind_the_last_key(store: PartitionStore) -> None:
    keys = [bytes([one, two]) for one in range(4) for two in range(4)]
    commit(store, [(Family.READY, key, b"") for key in keys])
    cursor, seen = b"", list[bytes]()
    while rows := [key for key, _ in _first(store.scan(Family.READY, cursor, b"\xff"), 3)]:
        seen += rows
        cursor = rows[-1] + b"\x00"
    assert seen == keys


def _first(rows: Iterator[tuple[bytes, bytes]], count: int) -> list[tuple[bytes, bytes]]:
    return [row for row, _ in zip(rows, range(count), strict=False)]


# Writing.


def test_nothing_of_a_batch_is_there_before_its_commit(store: PartitionStore) -> None:
    batch = store.batch()
    batch.put(Family.URLS, b"a", b"1")
    assert store.get(Family.URLS, b"a") is None
    asyncio.run(store.commit(batch))
    assert store.get(Family.URLS, b"a") == b"1"


@pytest.mark.parametrize(
    ("writes", "value"),
    [
        ([b"1", b"2"], b"2"),
        ([b"1", None], None),
        ([None, b"1"], b"1"),
        ([b"1", None, b"3", None, b"5"], b"5"),
        ([None, None], None),
    ],
)
def test_the_last_write_of_a_key_in_a_batch_wins(
    store: PartitionStore, writes: list[bytes | None], value: bytes | None
) -> None:
    put(store, Family.URLS, key=b"before")
    commit(store, [(Family.URLS, b"key", written) for written in writes])
    assert store.get(Family.URLS, b"key") == value
    assert store.contains_many(Family.URLS, [b"key"]) == [value is not None]
    assert [row for _, row in store.scan(Family.URLS, *EVERYTHING)] == ([] if value is None else [value])


def test_absent_keys_may_be_deleted_and_batches_be_empty(store: PartitionStore) -> None:
    commit(store, [(Family.URLS, b"never there", None)])
    commit(store, [])
    assert list(store.scan(Family.URLS, *EVERYTHING)) == []


def test_a_range_goes_from_its_start_to_before_its_stop_in_its_family_alone(store: PartitionStore) -> None:
    for family in (Family.SEEN, Family.URLS):
        put(store, family, a=b"", b=b"", bb=b"", c=b"", d=b"")
    batch = store.batch()
    batch.delete_range(Family.SEEN, b"b", b"c")
    assert store.get(Family.SEEN, b"b") == b""
    asyncio.run(store.commit(batch))
    assert [key for key, _ in store.scan(Family.SEEN, *EVERYTHING)] == [b"a", b"c", b"d"]
    assert store.contains_many(Family.SEEN, [b"b", b"bb", b"c"]) == [False, False, True]
    assert len(list(store.scan(Family.URLS, *EVERYTHING))) == 5


@pytest.mark.parametrize(("start", "stop"), [(b"a", b"a"), (b"b", b"a"), (b"x", b"z")])
def test_an_empty_range_is_fine(store: PartitionStore, start: bytes, stop: bytes) -> None:
    put(store, Family.SEEN, a=b"", b=b"")
    batch = store.batch()
    batch.delete_range(Family.SEEN, start, stop)
    batch.put(Family.SEEN, b"c", b"")
    asyncio.run(store.commit(batch))
    assert [key for key, _ in store.scan(Family.SEEN, *EVERYTHING)] == [b"a", b"b", b"c"]


def test_a_range_takes_what_the_batch_put_before_it_and_nothing_after_it(store: PartitionStore) -> None:
    put(store, Family.SEEN, old=b"")
    batch = store.batch()
    for key in (b"new", b"z"):
        batch.put(Family.SEEN, key, b"")
    batch.delete_range(Family.SEEN, b"a", b"p")
    batch.put(Family.SEEN, b"newer", b"")
    batch.delete_range(Family.SEEN, b"x", b"zz")
    batch.put(Family.SEEN, b"y", b"")
    asyncio.run(store.commit(batch))
    assert [key for key, _ in store.scan(Family.SEEN, *EVERYTHING)] == [b"newer", b"y"]


def test_a_batch_over_all_families_is_one(store: PartitionStore) -> None:
    commit(store, [(family, b"key", family.value.encode()) for family in Family])
    commit(store, [(family, b"key", None) for family in Family])
    assert [store.get(family, b"key") for family in Family] == [None] * len(Family)


def test_large_values_come_back_whole(store: PartitionStore) -> None:
    body = Random(5).randbytes(2**20)
    put(store, Family.ROBOTS, body=body)
    assert store.get(Family.ROBOTS, b"body") == body


_keys = st.binary(min_size=1, max_size=3)
_writes = st.lists(
    st.tuples(st.sampled_from([Family.READY, Family.SEEN]), _keys, st.none() | st.binary(max_size=3)), max_size=10
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(_writes, max_size=5), start=_keys, stop=_keys)
def test_any_batches_leave_what_a_dictionary_would_hold(
    store: PartitionStore, batches: list[Writes], start: bytes, stop: bytes
) -> None:
    for family in (Family.READY, Family.SEEN):
        commit(store, [(family, key, None) for key, _ in store.scan(family, *EVERYTHING)])
    model: dict[tuple[Family, bytes], bytes] = {}
    for writes in batches:
        commit(store, writes)
        for family, key, value in writes:
            model.pop((family, key), None)
            if value is not None:
                model[family, key] = value
    for family in (Family.READY, Family.SEEN):
        rows = {key: value for (of, key), value in model.items() if of is family}
        assert dict(store.scan(family, *EVERYTHING)) == rows
        assert [key for key, _ in store.scan(family, start, stop)] == sorted(k for k in rows if start <= k < stop)
        assert store.get_many(family, [start, stop]) == [rows.get(start), rows.get(stop)]


# On disk.


def live_once(state: Path, writes: Writes) -> list[bytes]:
    """A process's life: open, look, write, close. Returns the keys of URLS that it found."""
    store = RocksPartitionStore(state)
    try:
        found = [key for key, _ in store.scan(Family.URLS, *EVERYTHING)]
        commit(store, writes)
        return found
    finally:
        store.close()


def test_a_range_is_gone_after_reopening_too(tmp_path: Path) -> None:
    live_once(tmp_path / "state", [(Family.URLS, bytes([number]), b"x") for number in range(5)])
    store = RocksPartitionStore(tmp_path / "state")
    batch = store.batch()
    batch.delete_range(Family.URLS, b"\x01", b"\x04")
    asyncio.run(store.commit(batch))
    store.close()
    assert live_once(tmp_path / "state", []) == [b"\x00", b"\x04"]


def test_what_was_committed_is_there_after_reopening(tmp_path: Path) -> None:
    for number in range(3):
        key = bytes([number])
        found = live_once(tmp_path / "state", [(Family.URLS, key, b"x"), (Family.SEEN, key, b"")])
        assert found == [bytes([before]) for before in range(number)]


def test_what_was_committed_is_there_without_any_close(tmp_path: Path) -> None:
    """The files as a kill would leave them, copied while the writer still runs."""
    store = RocksPartitionStore(tmp_path / "state")
    put(store, Family.URLS, a=b"1")
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    store.close()
    copy = RocksPartitionStore(tmp_path / "copy")
    assert copy.get(Family.URLS, b"a") == b"1"
    copy.close()


def test_a_second_opener_is_refused_by_name(rocks: RocksPartitionStore, tmp_path: Path) -> None:
    with pytest.raises(StoreLocked, match="state"):
        RocksPartitionStore(tmp_path / "state")
    put(rocks, Family.URLS, a=b"1")
    assert rocks.get(Family.URLS, b"a") == b"1"


def test_a_closed_directory_may_be_opened_again(tmp_path: Path) -> None:
    RocksPartitionStore(tmp_path / "state").close()
    RocksPartitionStore(tmp_path / "state").close()
    assert (tmp_path / "state" / "CURRENT").exists()


def test_a_close_without_room_says_so_and_loses_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    store = RocksPartitionStore(state)
    commit(store, [(family, b"key", b"x" * 1_000) for family in Family])
    with no_file_beyond(10), pytest.raises(StoreFull, match=r"state: no space left on the disk$"):
        store.close()
    again = RocksPartitionStore(state)  # the lock was given back
    assert all(again.get(family, b"key") == b"x" * 1_000 for family in Family)
    again.close()


def _remove_current(state: Path) -> None:
    (state / "CURRENT").unlink()


def _garble_current(state: Path) -> None:
    (state / "CURRENT").write_bytes(b"MANIFEST-999999\n")


def _empty_current(state: Path) -> None:
    (state / "CURRENT").write_bytes(b"")


def _remove_table(state: Path) -> None:
    next(iter(sorted(state.glob("*.sst")))).unlink()


def _garble_manifest(state: Path) -> None:
    manifest = next(iter(sorted(state.glob("MANIFEST-*"))))
    manifest.write_bytes(b"\xff" * 100)


@pytest.mark.parametrize("harm", [_remove_current, _garble_current, _empty_current, _remove_table, _garble_manifest])
@pytest.mark.parametrize("read_only", [False, True], ids=["writing", "looking"])
def test_a_damaged_directory_is_told_in_a_sentence_and_left_alone(
    tmp_path: Path, harm: Callable[[Path], None], *, read_only: bool
) -> None:
    state = tmp_path / "state"
    for _ in range(2):  # the log of the first life becomes a table when the second one opens
        live_once(state, [(Family.URLS, b"key", b"x" * 1_000)])
    assert list(state.glob("*.sst"))
    harm(state)
    before = {path.name for path in state.glob("*.sst")}
    with pytest.raises(StoreCorrupt) as caught:
        RocksPartitionStore(state, read_only=read_only)
    assert str(state) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {path.name for path in state.glob("*.sst")} == before


def test_a_directory_in_the_way_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    with pytest.raises(StoreCorrupt):
        RocksPartitionStore(tmp_path / "state")


def test_a_reader_sees_what_was_committed_before_it_came_while_the_writer_goes_on(
    rocks: RocksPartitionStore, tmp_path: Path
) -> None:
    put(rocks, Family.URLS, a=b"1")
    reader = RocksPartitionStore(tmp_path / "state", read_only=True)
    put(rocks, Family.URLS, a=b"2", b=b"3")
    assert dict(reader.scan(Family.URLS, *EVERYTHING)) == {b"a": b"1"}
    later = RocksPartitionStore(tmp_path / "state", read_only=True)
    assert dict(later.scan(Family.URLS, *EVERYTHING)) == {b"a": b"2", b"b": b"3"}
    later.close()
    reader.close()


def test_reading_works_from_other_threads(store: PartitionStore) -> None:
    put(store, Family.URLS, a=b"1")
    found: list[bytes | None] = []
    thread = threading.Thread(target=lambda: found.append(store.get(Family.URLS, b"a")))
    thread.start()
    thread.join()
    assert found == [b"1"]


def test_commits_leave_the_loop_to_others_while_they_sync(rocks: RocksPartitionStore) -> None:
    async def main() -> int:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counter = asyncio.ensure_future(count())
        for number in range(20):
            batch = rocks.batch()
            batch.put(Family.URLS, bytes([number]), b"x")
            await rocks.commit(batch)
        counter.cancel()
        return turns

    assert asyncio.run(main()) >= 20
