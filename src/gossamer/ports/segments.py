"""Append-only files of gzip members: WARC records and texts. What the records say is `core.warc`."""

from collections.abc import Collection
from typing import Protocol

from gossamer.core.cdxj import CdxEntry
from gossamer.core.rows import CaptureKey


class DiskFull(Exception):
    """No room for the record; the segment is as it was before."""


class Segments(Protocol):
    """One writer's segments, rolled by size. A record may be read as soon as `append` has returned."""

    def append(self, record: bytes, *, entry: CdxEntry | None = None) -> CaptureKey:
        """Add gzip members at the end of the open segment; the key covers all of them.

        `entry` is what the index will say of the first (offset and filename are filled in). Raises DiskFull, leaving
        no partial record.
        """

    def close(self) -> None:
        """Close the open segment and write its index."""


class SegmentSync(Protocol):
    """Durability of segments, whoever writes them."""

    async def sync(self, segments: Collection[str]) -> None:
        """Make all that was appended to these segments so far survive a power cut."""
