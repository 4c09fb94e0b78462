"""The composition root of looking: a data directory opened to read. Nothing of the crawler is here: it starts fast."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.files.segments import SegmentReader
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.core.rows import LAST, CrawlRow, load
from gossamer.ports.partition_store import Family, PartitionStore


class NothingThere(Exception):
    """The directory holds no crawl, or not the one that was asked for; the message says which there are."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A data directory opened for looking: a view as of now, also while a crawl is running in it."""

    directory: DataDirectory
    partition: PartitionStore
    crawls: tuple[CrawlRow, ...]

    def crawl(self, crawl_id: str | None) -> CrawlRow:
        """The crawl of that id, by default the newest. Raises NothingThere."""
        for row in reversed(self.crawls):
            if crawl_id in (None, row.crawl_id):
                return row
        known = ", ".join(row.crawl_id for row in self.crawls) or "none"
        raise NothingThere(f"no crawl {crawl_id or ''} in {self.directory.root}; there is: {known}")

    def raw(self, crawl: CrawlRow) -> SegmentReader:
        """Reads WARC records of a crawl; close it after use."""
        return SegmentReader(self.directory.raw(crawl.crawl_id))

    def text(self, crawl: CrawlRow) -> SegmentReader:
        """Reads text records of a crawl; close it after use."""
        return SegmentReader(self.directory.text(crawl.crawl_id))


@contextmanager
def open_reading(data: Path) -> Iterator[Reading]:
    """Open `data` for looking. Raises NothingThere, StoreCorrupt."""
    directory = DataDirectory(data.absolute())
    if not directory.has_state:
        raise NothingThere(f"no crawl in {data}")
    partition = RocksPartitionStore(directory.state, read_only=True)
    try:
        yield Reading(directory, partition, crawls_in(partition))
    finally:
        partition.close()


def crawls_in(partition: PartitionStore) -> tuple[CrawlRow, ...]:
    """All crawls of an installation, oldest first."""
    rows = partition.scan(Family.META, b"crawl:", b"crawl:" + LAST)
    return tuple(load(CrawlRow, stored) for _, stored in rows)
