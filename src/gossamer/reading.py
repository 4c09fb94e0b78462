"""The composition root of looking: a data directory opened to read. Nothing of the crawler is here: it starts fast."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.core.keys import LAST, counters_meta_key, split_crawl_meta_key
from gossamer.core.rows import CrawlRow, crawl_of
from gossamer.ports.partition_store import Family, PartitionStore

if TYPE_CHECKING:
    from gossamer.adapters.files.segments import SegmentReader

NEIGHBOURS_MAX = 1_000
NEIGHBOURS_SHOWN_MAX = 3


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
        if not self.crawls:
            raise NothingThere(_nothing_in(self.directory.root))
        known = ", ".join(row.crawl_id for row in self.crawls)
        raise NothingThere(f"no crawl {crawl_id} in {self.directory.root}; there is: {known}")

    def seen_snapshot(self, crawl: CrawlRow) -> Iterator[bytes]:
        """The octets of the filter of known URLs, as it was saved last; none where there is none."""
        from gossamer.adapters.files.seen_snapshots import octets_of  # noqa: PLC0415  `verify` alone reads it

        return octets_of(self.directory.seen(crawl.crawl_id))

    def raw(self, crawl: CrawlRow) -> "SegmentReader":
        """Reads WARC records of a crawl; close it after use."""
        return _segment_reader(self.directory.raw(crawl.crawl_id))

    def text(self, crawl: CrawlRow) -> "SegmentReader":
        """Reads text records of a crawl; close it after use."""
        return _segment_reader(self.directory.text(crawl.crawl_id))


def _segment_reader(directory: Path) -> "SegmentReader":
    from gossamer.adapters.files.segments import SegmentReader  # noqa: PLC0415  10 ms that lists need not pay

    return SegmentReader(directory)


@contextmanager
def open_reading(data: Path) -> Iterator[Reading]:
    """Open `data` for looking. Raises NothingThere, StoreCorrupt."""
    directory = DataDirectory(data.absolute())
    if not directory.has_state:
        raise NothingThere(_nothing_in(data))
    partition = RocksPartitionStore(directory.state, read_only=True)
    try:
        yield Reading(directory, partition, crawls_in(partition))
    finally:
        partition.close()


def _nothing_in(data: Path) -> str:
    """With the data directories that lie in it or beside it, for those who look in the wrong place."""
    places: list[Path] = []
    for around in (data, data.parent):
        with suppress(OSError):
            near = sorted(islice(around.iterdir(), NEIGHBOURS_MAX))
            places += [place for place in near if place != data and DataDirectory(place).has_state]
    if not places:
        return f"no crawl in {data}"
    shown = ", ".join(map(str, places[:NEIGHBOURS_SHOWN_MAX]))
    return f"no crawl in {data}; data of crawls is in {shown}: say --data {places[0]}"


def crawls_in(partition: PartitionStore) -> tuple[CrawlRow, ...]:
    """All crawls of an installation, oldest first."""
    rows = partition.scan(Family.META, b"crawl:", b"crawl:" + LAST)
    numbers = [(split_crawl_meta_key(key), stored) for key, stored in rows]
    return tuple(crawl_of(stored, partition.get(Family.META, counters_meta_key(number))) for number, stored in numbers)
