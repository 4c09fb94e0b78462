"""A partition store in memory, the twin of the RocksDB one for tests and simulated worlds; it ends with the process."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import islice

from gossamer.ports.partition_store import Batch, Family, Row


class MemoryBatch:
    """Writes in the order they were added."""

    def __init__(self) -> None:
        self.writes: list[tuple[Family, bytes, bytes | None]] = []
        self.ranges: list[tuple[int, Family, bytes, bytes]] = []  # each after so many writes

    def put(self, family: Family, key: bytes, value: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        self.writes.append((family, key, value))

    def delete(self, family: Family, key: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        self.writes.append((family, key, None))

    def delete_range(self, family: Family, start: bytes, stop: bytes) -> None:
        """See `ports.partition_store.Batch`."""
        self.ranges.append((len(self.writes), family, start, stop))


class MemoryPartitionStore:
    """Families as dictionaries with a sorted list of keys beside each."""

    def __init__(self) -> None:
        self._rows: dict[Family, dict[bytes, bytes]] = {family: {} for family in Family}
        self._keys: dict[Family, list[bytes]] = {family: [] for family in Family}

    def get(self, family: Family, key: bytes) -> bytes | None:
        """See `ports.partition_store.PartitionStore`."""
        return self._rows[family].get(key)

    def get_many(self, family: Family, keys: Sequence[bytes]) -> list[bytes | None]:
        """See `ports.partition_store.PartitionStore`."""
        rows = self._rows[family]
        return [rows.get(key) for key in keys]

    def contains_many(self, family: Family, keys: Sequence[bytes]) -> list[bool]:
        """See `ports.partition_store.PartitionStore`."""
        rows = self._rows[family]
        return [key in rows for key in keys]

    def scan(self, family: Family, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
        """See `ports.partition_store.PartitionStore`. The view is the keys at the first step, copied."""
        keys, rows = self._keys[family], self._rows[family]
        view = [(key, rows[key]) for key in keys[bisect_left(keys, start) : bisect_left(keys, stop)]]
        yield from view

    def heads(self, family: Family, ranges: Sequence[tuple[bytes, bytes]], limit: int) -> list[list[Row]]:
        """See `ports.partition_store.PartitionStore`."""
        return [list(islice(self.scan(family, start, stop), limit)) for start, stop in ranges]

    def batch(self) -> Batch:
        """See `ports.partition_store.PartitionStore`."""
        return MemoryBatch()

    async def commit(self, batch: Batch) -> None:
        """See `ports.partition_store.PartitionStore`."""
        assert isinstance(batch, MemoryBatch)
        done = 0
        for after, ranged, start, stop in batch.ranges:
            self._apply_all(batch.writes[done:after])
            keys = self._keys[ranged]
            self._apply_all([(ranged, key, None) for key in keys[bisect_left(keys, start) : bisect_left(keys, stop)]])
            done = after
        self._apply_all(batch.writes[done:])

    def close(self) -> None:
        """Nothing to release."""

    def _apply_all(self, writes: list[tuple[Family, bytes, bytes | None]]) -> None:
        for family, key, value in writes:
            self._apply(family, key, value)

    def _apply(self, family: Family, key: bytes, value: bytes | None) -> None:
        rows, keys = self._rows[family], self._keys[family]
        if value is None:
            if rows.pop(key, None) is not None:
                del keys[bisect_left(keys, key)]
            return
        if key not in rows:
            insort(keys, key)
        rows[key] = value
