"""The snapshots of a simulated world's Bloom filter: in memory, each step takes a time, and the disk fills up."""

import asyncio
from collections.abc import Callable, Iterator

from gossamer.ports.segments import DiskFull


class SimSnapshots:
    """See `ports.seen_snapshots.SeenSnapshots`. The bits are read when a write ends, which is the worst moment.

    A kill ends the loop, and with it what was under way; what is written then and not published is never read.
    """

    def __init__(self) -> None:
        self.step_s = 0.0
        self.is_full = False
        self.publications = 0
        self._published: tuple[bytes, ...] = ()
        self._written: tuple[bytes, ...] = ()
        self._is_busy = False
        self._fault: DiskFull | None = None

    def published(self) -> Iterator[bytes]:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        return iter(self._published)

    def write(self, pieces: Iterator[bytes]) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        self._begin(lambda: self._write(pieces))

    def publish(self) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        self._begin(self._publish)

    def is_done(self) -> bool:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault
        return not self._is_busy

    def close(self) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        self._is_busy, self._written, self._fault = False, (), None

    def _begin(self, step: Callable[[], None]) -> None:
        assert not self._is_busy
        self._is_busy = True
        asyncio.get_running_loop().call_later(self.step_s, step)

    def _write(self, pieces: Iterator[bytes]) -> None:
        self._is_busy = False
        if self.is_full:
            self._fault = DiskFull("simulated")
        else:
            self._written = tuple(pieces)

    def _publish(self) -> None:
        self._is_busy = False
        self._published, self._written = self._written, ()
        self.publications += 1
