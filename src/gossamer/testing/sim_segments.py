"""Segments in memory, with what a disk does to them: it fills up, and a kill leaves a tail that nobody committed."""

from collections.abc import Collection, Mapping

from gossamer.core.cdxj import CdxEntry
from gossamer.core.rows import CaptureKey
from gossamer.ports.segments import DiskFull

SEGMENT_BYTES_MAX = 256 * 1024
"""Small, so that even short scenarios roll over."""


class SimSegments:
    """See `ports.segments` (Segments and SegmentSync) and `ports.segment_reading`. Writers share one set of `files`."""

    def __init__(self, suffix: str, files: dict[str, bytearray] | None = None) -> None:
        self.files: dict[str, bytearray] = {} if files is None else files
        self.synced: dict[str, int] = {}
        self.is_full = False
        self.fault: OSError | None = None
        self.unreadable: OSError | None = None
        self._suffix = suffix
        self._open = ""

    def append(self, record: bytes, *, entry: CdxEntry | None = None) -> CaptureKey:  # noqa: ARG002  no index here
        """See `ports.segments.Segments`."""
        if self.is_full:
            raise DiskFull("simulated")
        if self.fault is not None:
            raise self.fault
        if not self._open or len(self.files[self._open]) + len(record) > SEGMENT_BYTES_MAX:
            self._open = f"sim-{len(self.files):05d}{self._suffix}"
            self.files[self._open] = bytearray()
        content = self.files[self._open]
        key = CaptureKey(self._open, len(content), len(record))
        content += record
        return key

    def read(self, key: CaptureKey) -> bytes:
        """See `ports.segment_reading.SegmentReading`."""
        if self.unreadable is not None:
            raise self.unreadable
        content = self.files.get(key.segment)
        if content is None or len(content) < key.offset + key.length:
            raise OSError(f"{key} is not there")
        return bytes(content[key.offset : key.offset + key.length])

    async def sync(self, segments: Collection[str]) -> None:
        """See `ports.segments.SegmentSync`."""
        if self.is_full:
            raise DiskFull("simulated")
        for name in segments:
            self.synced[name] = len(self.files[name])

    def close(self) -> None:
        """See `ports.segments.Segments`: the next record begins another file."""
        self._open = ""

    def cut(self, committed: Mapping[str, int]) -> None:
        """What the start after a kill does: every file ends where the last batch said."""
        for name, content in self.files.items():
            del content[committed.get(name, 0) :]
        self.close()
