"""The partition store on RocksDB: options of each family, opening, batches. What rows mean is in `core.rows`."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    ColumnFamily,
    DataBlockIndexType,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    RdictIter,
    ReadOptions,
    WriteBatch,
)

from gossamer.ports.partition_store import Batch, Family, Row, StoreCorrupt, StoreFull, StoreLocked

BLOCK_CACHE_BYTES = 128 * 2**20
"""One block cache for all families: memory does not grow with the age of a crawl (docs/architecture.md)."""
WRITE_BUFFER_BYTES = 64 * 2**20
"""Memory of all memtables together; the oldest is flushed when it is reached."""
WAL_BYTES_MAX = 128 * 2**20
"""A longer log forces the flush of the family that holds it back, so reopening replays at most this much."""

NO_ROOM = ("No space left", "NoSpace", "Space limit", "Disk quota exceeded", "File too large")
"""In RocksDB's words; the last two are limits that somebody set and can lift, as for our own files."""


class RocksBatch:
    """Writes for one atomic commit."""

    def __init__(self, handles: dict[Family, ColumnFamily]) -> None:
        self._handles = handles
        self.writes = WriteBatch(raw_mode=True)

    def put(self, family: Family, key: bytes, value: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        self.writes.put(key, value, self._handles[family])

    def delete(self, family: Family, key: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        self.writes.delete(key, self._handles[family])

    def delete_range(self, family: Family, start: bytes, stop: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        if start < stop:  # the engine refuses the whole batch otherwise
            self.writes.delete_range(start, stop, self._handles[family])


class RocksPartitionStore:
    """State of a partition in one directory. `read_only` sees what was committed before it was opened."""

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        _refuse_headless(directory)
        access = AccessType.read_only(error_if_log_file_exist=False) if read_only else AccessType.read_write()
        cache = Cache(BLOCK_CACHE_BYTES)
        with _translated(directory):
            self._db = Rdict(
                str(directory),
                _database_options(),
                column_families={family.value: _family_options(family, cache) for family in Family},
                access_type=access,
            )
            self._families = {family: self._db.get_column_family(family.value) for family in Family}
            self._handles = {family: self._db.get_column_family_handle(family.value) for family in Family}
        self._directory = directory

    def get(self, family: Family, key: bytes) -> bytes | None:
        """See `ports.partition_store.PartitionStore`."""
        try:
            found: bytes | None = self._families[family].get(key)
        except Exception as error:
            raise _fault(self._directory, error) from error
        return found

    def get_many(self, family: Family, keys: Sequence[bytes]) -> list[bytes | None]:
        """See `ports.partition_store.PartitionStore`. About 0.4 µs a key from memory."""
        try:
            found: list[bytes | None] = self._families[family].get(list(keys)) or []
        except Exception as error:
            raise _fault(self._directory, error) from error
        return found

    def contains_many(self, family: Family, keys: Sequence[bytes]) -> list[bool]:
        """See `ports.partition_store.PartitionStore`."""
        return [found is not None for found in self.get_many(family, keys)]

    def scan(self, family: Family, start: bytes, stop: bytes) -> Iterator[Row]:
        """See `ports.partition_store.PartitionStore`. Seeks to `start`: pass a cursor, not the queue's first key."""
        options = ReadOptions()
        options.set_iterate_upper_bound(stop)
        rows = self._families[family].iter(options)
        rows.seek(start)
        while rows.valid():
            yield rows.key(), rows.value()
            rows.next()
        self._check(rows)

    def heads(self, family: Family, ranges: Sequence[tuple[bytes, bytes]], limit: int) -> list[list[Row]]:
        """See `ports.partition_store.PartitionStore`. In the order of their keys one iterator serves all ranges."""
        rows = self._families[family].iter(ReadOptions())
        found: list[list[Row]] = [[] for _ in ranges]
        for at in sorted(range(len(ranges)), key=lambda at: ranges[at]):
            start, stop = ranges[at]
            head = found[at]
            rows.seek(start)
            while len(head) < limit and rows.valid():
                key = rows.key()
                if key >= stop:
                    break
                head.append((key, rows.value()))
                rows.next()
        self._check(rows)
        return found

    def batch(self) -> Batch:
        """See `ports.partition_store.PartitionStore`."""
        return RocksBatch(self._handles)

    async def commit(self, batch: Batch) -> None:
        """See `ports.partition_store.PartitionStore`.

        The write itself holds the interpreter for some 10 µs; the sync of the log, which takes milliseconds,
        happens on a thread and releases it (measured: `write` with sync=True stops every thread).
        """
        assert isinstance(batch, RocksBatch)
        with _translated(self._directory):
            self._db.write(batch.writes)
            import asyncio  # noqa: PLC0415  15 ms that commands that only read need not pay

            await asyncio.get_running_loop().run_in_executor(None, self._db.flush_wal, True)

    def _check(self, rows: RdictIter) -> None:
        try:
            rows.status()  # a damaged block ends the rows just as their end does
        except Exception as error:
            raise _fault(self._directory, error) from error

    def compact(self) -> None:
        """Merge all tables now: what RocksDB does in the background when it has reason to. For measuring."""
        for family in self._families.values():
            family.compact_range(None, None)

    def close(self) -> None:
        """See `ports.partition_store.PartitionStore`."""
        with _translated(self._directory), ExitStack() as closing:
            # Each handle keeps the database, and with it the lock of its directory: a flush that fails leaves none.
            closing.callback(self._db.close)
            closing.callback(self._handles.clear)
            closing.callback(self._families.clear)
            for family in self._families.values():
                closing.callback(family.close)


def _refuse_headless(directory: Path) -> None:
    """RocksDB would start from nothing, and delete the tables, where only the CURRENT file is missing."""
    if directory.is_dir() and not (directory / "CURRENT").exists():
        left = sorted(path.name for pattern in ("*.sst", "MANIFEST-*") for path in directory.glob(pattern))
        if left:
            raise StoreCorrupt(f"{directory}: CURRENT is missing but {left[0]} is there; restore CURRENT from a copy")


@contextmanager
def _translated(directory: Path) -> Iterator[None]:
    """The library raises plain Exception with RocksDB's status as text; here, once, it becomes one of ours."""
    try:
        yield
    except Exception as error:
        raise _fault(directory, error) from error


def _fault(directory: Path, error: Exception) -> StoreFull | StoreLocked | StoreCorrupt:
    text = str(error)
    if any(words in text for words in NO_ROOM):
        return StoreFull(f"{directory}: no space left on the disk")
    if "/LOCK: " in text:
        return StoreLocked(f"{directory} is held by another process")
    return StoreCorrupt(f"{directory}: {text}")


def _database_options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES)
    options.set_max_total_wal_size(WAL_BYTES_MAX)
    options.set_max_background_jobs(2)
    options.set_allow_concurrent_memtable_write(False)  # there is one writer: 3 % less a row
    options.set_keep_log_file_num(4)
    options.set_max_open_files(512)
    # A torn last record is what kill -9 leaves; a bad record before good ones is damage and must be said.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return options


KEYS_ONLY = frozenset({Family.SEEN, Family.LINKERS, Family.TEXTS})
"""Families whose rows are keys: asked whether they are there."""
RESIDENT = KEYS_ONLY | {Family.URLS, Family.READY, Family.FRONT, Family.HOSTS, Family.TALLIES, Family.SITES}
"""Families that every page asks: their indexes and filters stay in memory, at most 1.5 bytes a known URL together.

In the block cache they push each other out: with 2 M URLs a known link cost 6 µs so, and costs 2.8 this way; a row of
URLS 18 and 4.4.
"""


def _family_options(family: Family, cache: Cache) -> Options:
    table = BlockBasedOptions()
    table.set_block_cache(cache)
    if family not in RESIDENT:
        table.set_cache_index_and_filter_blocks(True)
        table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    options = Options(raw_mode=True)
    options.set_write_buffer_size(16 * 2**20)
    if family not in (Family.READY, Family.WAITING, Family.FRONT, Family.CAPTURES):  # these are read in their order
        table.set_bloom_filter(10, block_based=False)
    if family in KEYS_ONLY:
        # Nine of ten links are known, so the Bloom filter does not help: the block's hash index does.
        table.set_data_block_index_type(DataBlockIndexType.binary_and_hash())
        table.set_data_block_hash_ratio(0.75)
        options.set_compression_type(DBCompressionType.none())
    else:
        options.set_compression_type(DBCompressionType.lz4())
    if family in (Family.URLS, Family.HOSTS, Family.TALLIES, Family.SITES):
        options.set_optimize_filters_for_hits(True)  # rows that are asked for are there: none for the lowest level
    if family in RESIDENT:
        # What was written lately is asked for most: a filter spares the walk through the memtable, 17 % of a check.
        options.set_memtable_whole_key_filtering(True)
        options.set_memtable_prefix_bloom_ratio(0.05)
    options.set_block_based_table_factory(table)
    return options
