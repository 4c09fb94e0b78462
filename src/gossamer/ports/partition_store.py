"""The state of a partition: ordered families of byte keys, read directly, written in atomic batches."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Protocol


class Family(StrEnum):
    """Column families; what each is for: docs/architecture.md. Layout of keys and values: `core.rows`."""

    SEEN = "seen"
    URLS = "urls"
    READY = "ready"
    FRONT = "front"
    WAITING = "waiting"
    HOSTS = "hosts"
    TALLIES = "tallies"
    SITES = "sites"
    LINKERS = "linkers"
    TEXTS = "texts"
    CAPTURES = "captures"
    PAGES = "pages"
    LINKS = "links"
    ROBOTS = "robots"
    META = "meta"


Row = tuple[bytes, bytes]
"""Key and value."""


class Batch(Protocol):
    """Writes that become visible and durable together, in the order they were added."""

    def put(self, family: Family, key: bytes, value: bytes) -> None:
        """Set `key`; the last put or delete of a key in the batch wins."""

    def delete(self, family: Family, key: bytes) -> None:
        """Remove `key`; absent keys are fine."""

    def delete_range(self, family: Family, start: bytes, stop: bytes) -> None:
        """Remove every start <= key < stop that was committed or is in the batch already, however many there are."""


class PartitionStore(Protocol):
    """One writer. Readers see whole batches only."""

    def get(self, family: Family, key: bytes) -> bytes | None:
        """The value, or None."""

    def get_many(self, family: Family, keys: Sequence[bytes]) -> list[bytes | None]:
        """Values in the order of `keys`."""

    def contains_many(self, family: Family, keys: Sequence[bytes]) -> list[bool]:
        """Presence, exact, in the order of `keys`. The cheap way to ask SEEN."""

    def scan(self, family: Family, start: bytes, stop: bytes) -> Iterator[Row]:
        """Rows with start <= key < stop in key order, from a consistent view, lazily."""

    def heads(self, family: Family, ranges: Sequence[tuple[bytes, bytes]], limit: int) -> list[list[Row]]:
        """The first `limit` rows of each range (start <= key < stop), all from one consistent view.

        For many short reads: cheaper than as many scans.
        """

    def batch(self) -> Batch:
        """An empty batch."""

    async def commit(self, batch: Batch) -> None:
        """Apply atomically; on return it survives a power cut. Raises StoreFull (nothing applied) without room."""

    def close(self) -> None:
        """Flush and release the directory, that in any case. Raises StoreFull without room for the flush.

        Nothing committed is lost then: the next opening reads it from the log.
        """


class StoreFull(Exception):
    """The disk has no room; the batch was not applied and may be committed again."""


class StoreCorrupt(Exception):
    """The state on disk cannot be read; the message says which file and why."""


class StoreLocked(Exception):
    """Another process holds the directory; the message names it."""
