"""The file of a filter's snapshot: written aside, put in place whole, and a full disk leaves what was there."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.full_disk import no_file_beyond

from gossamer.adapters.files.seen_snapshots import SYNC_EVERY_BYTES, SeenFile
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.core.bloom_saved import BloomPlan
from gossamer.ports.segments import DiskFull
from gossamer.stages.bloom_seen import BloomRules
from gossamer.stages.bloom_start import load_bloom_seen

PATIENCE_S = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "seen-c1.bloom"


def until_done(file: SeenFile) -> None:
    ends_at = time.monotonic() + PATIENCE_S
    while not file.is_done():
        assert time.monotonic() < ends_at


def save(file: SeenFile, *pieces: bytes) -> None:
    file.write(iter(pieces))
    until_done(file)
    file.publish()
    until_done(file)


def read(file: SeenFile) -> bytes:
    return b"".join(file.published())


def test_what_is_written_is_not_published_and_what_is_published_is_whole(path: Path) -> None:
    file = SeenFile(path)
    assert read(file) == b""
    save(file, b"old", b"er")
    file.write(iter([b"new", b"", b"er"]))
    until_done(file)
    assert read(file) == b"older"
    file.publish()
    until_done(file)
    assert read(file) == b"newer"
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    file.close()


def test_a_large_one_comes_back(path: Path) -> None:
    file = SeenFile(path)
    save(file, *[bytes([number]) * (SYNC_EVERY_BYTES // 4) for number in range(10)])
    assert path.stat().st_size == 10 * SYNC_EVERY_BYTES // 4
    assert {octets[:1] for octets in file.published()} == {bytes([number]) for number in range(10)}
    file.close()


def test_pieces_are_taken_on_a_thread_and_nobody_waits_for_them(path: Path) -> None:
    threads, go_on = list[int](), threading.Event()

    def pieces() -> Iterator[bytes]:
        threads.append(threading.get_ident())
        yield b"one"
        assert go_on.wait(PATIENCE_S)
        yield b"two"

    file = SeenFile(path)
    file.write(pieces())
    assert not file.is_done()
    go_on.set()
    until_done(file)
    assert threads != [threading.get_ident()]
    file.close()


def test_closing_gives_up_what_is_under_way_and_leaves_what_was_published(path: Path) -> None:
    file, began = SeenFile(path), threading.Event()
    save(file, b"older")

    def endless() -> Iterator[bytes]:
        while True:
            began.set()
            yield bytes(2**16)

    file.write(endless())
    assert began.wait(PATIENCE_S)
    file.close()
    assert read(file) == b"older"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_full_disk_is_told_once_and_leaves_what_was_published(path: Path) -> None:
    file = SeenFile(path)
    save(file, b"older")
    with no_file_beyond(1_000):
        file.write(iter([b"x" * 600] * 3))
        with pytest.raises(DiskFull):
            until_done(file)
    assert file.is_done()
    assert read(file) == b"older"
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    save(file, b"newer")
    assert read(file) == b"newer"
    file.close()


def test_a_filter_lives_in_a_real_store_and_a_real_file(tmp_path: Path) -> None:
    """Lives that end without a word: each finds what those before it admitted."""
    rules, made = BloomRules(BloomPlan(2_000, 1e-6), 100), [number.to_bytes(16, "big") for number in range(1_500)]

    async def life(keys: list[bytes]) -> None:
        store, file = RocksPartitionStore(tmp_path / "db"), SeenFile(tmp_path / "seen.bloom")
        seen = load_bloom_seen(store, 1, file, rules)
        assert seen.unknown(made) == list(range(made.index(keys[0]), len(made)))
        for at in range(0, len(keys), 50):
            seen.turn()
            batch = store.batch()
            assert all(seen.add(batch, key) for key in keys[at : at + 50])
            await store.commit(batch)
            until_done(file)
        file.close()
        store.close()

    for at in range(0, 1_500, 300):
        asyncio.run(life(made[at : at + 300]))
    assert (tmp_path / "seen.bloom").stat().st_size > 2_000 * 28.7 / 8


def test_a_directory_that_is_gone_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    file = SeenFile(tmp_path / "gone" / "seen.bloom")
    file.write(iter([b"x"]))
    with pytest.raises(FileNotFoundError):
        until_done(file)
    file.close()
