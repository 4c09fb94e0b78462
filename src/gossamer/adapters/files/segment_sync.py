"""fdatasync of segments by name, on a thread: the writers may be in other processes."""

import asyncio
import os
from collections.abc import Collection
from pathlib import Path

from gossamer.adapters.files.durable import translated


class LocalSegmentSync:
    """See `ports.segments.SegmentSync`. Texts and raw segments are told apart by their names."""

    def __init__(self, raw: Path, text: Path) -> None:
        self._raw = raw
        self._text = text

    async def sync(self, segments: Collection[str]) -> None:
        """See `ports.segments.SegmentSync`."""
        if segments:
            await asyncio.get_running_loop().run_in_executor(None, self._sync_all, tuple(segments))

    def _sync_all(self, segments: tuple[str, ...]) -> None:
        for name in segments:
            directory = self._text if name.endswith(".warc.wet.gz") else self._raw
            fd = os.open(directory / name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fdatasync(fd)
            except OSError as error:
                raise translated(error, directory / name) from error
            finally:
                os.close(fd)
