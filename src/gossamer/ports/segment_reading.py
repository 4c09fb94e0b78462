"""Stored records by their keys."""

from typing import Protocol

from gossamer.core.rows import CaptureKey


class SegmentReading(Protocol):
    """Reads from segments that others may still be writing."""

    def read(self, key: CaptureKey) -> bytes:
        """The gzip member(s) at `key`. Raises OSError when the file or a part of it is gone."""
