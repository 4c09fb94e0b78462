"""Room on the disk: stop asking for pages while enough is left to save what is in flight, go on when space is back."""

from collections.abc import Callable

from gossamer.ports.clock import Clock
from gossamer.ports.disk import Disk

LEASE_BYTES_MIN = 64 * 2**20
"""Below this nothing new is leased: what is in flight, and a flush of RocksDB's buffers, still fit."""
LEASE_BYTES_AGAIN = 96 * 2**20
"""Leasing begins again above this, so that it does not flicker."""
COMMIT_BYTES_MIN = 8 * 2**20
"""Below this commits wait too: a RocksDB that met a full disk refuses writes until it is opened again."""
LOOK_EVERY_S = 0.5


class Room:
    """Asks the disk at most twice a second; `say` gets one sentence when it fills up and one when it has room again."""

    def __init__(self, disk: Disk, clock: Clock, say: Callable[[str], None]) -> None:
        self._disk = disk
        self._clock = clock
        self._say = say
        self._looked_at = float("-inf")
        self._free = 0
        self._is_low = False

    @property
    def for_leases(self) -> bool:
        """Whether pages may be asked for."""
        self._look()
        return not self._is_low

    @property
    def for_commits(self) -> bool:
        """Whether a batch may be written."""
        self._look()
        return self._free >= COMMIT_BYTES_MIN

    def is_full(self) -> None:
        """A write met a full disk, whatever the last look said."""
        self._looked_at = self._clock.monotonic()
        self._free = 0
        self._mark()

    def _look(self) -> None:
        now = self._clock.monotonic()
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            self._free = self._disk.free_bytes()
            self._mark()

    def _mark(self) -> None:
        if not self._is_low and self._free < LEASE_BYTES_MIN:
            self._is_low = True
            self._say(f"the disk is full ({self._free // 2**20} MiB free): waiting for space, nothing is lost")
        elif self._is_low and self._free >= LEASE_BYTES_AGAIN:
            self._is_low = False
            self._say(f"the disk has room again ({self._free // 2**20} MiB free): going on")
