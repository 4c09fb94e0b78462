"""Hosts that wait for a place on the workbench: a queue a priority level, one of hosts at rest, one over their budgets.

They are rows of FRONT, one for each host with URLs ready, written by the ledger; a host on the workbench keeps its row,
so that a crash loses no host. Here is how far each queue was read. Reading goes on from a cursor: from the first key it
would cost milliseconds once thousands of rows have been deleted there.
"""

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from gossamer.core.keys import LAST, front_key, split_front_key
from gossamer.core.priority import LEVELS, draw_level
from gossamer.core.rows import OVER_BUDGET, RESTING
from gossamer.ports.partition_store import Family, PartitionStore

DRAWN = (*range(LEVELS), OVER_BUDGET)
"""Queues from which hosts are drawn; those at rest come by the clock."""
REST_GRAIN_MS = 5
"""A rest is worked out from two clocks."""
READ_MAX = 64
"""Hosts of a queue read at once."""


class Place(NamedTuple):
    """Where a host waits. `order`: a sequence; for RESTING milliseconds since 1970; for OVER_BUDGET the site's hash."""

    level: int
    order: int
    host: bytes


class FrontQueues:
    """Of one crawl. `draw` gives a place once, and again only after it was placed anew, released or looked at again."""

    def __init__(self, store: PartitionStore, crawl: int, rng: Random) -> None:
        self._store = store
        self._crawl = crawl
        self._rng = rng
        self._read: list[deque[Place]] = [deque() for _ in range(OVER_BUDGET + 1)]
        self._cursors = [front_key(crawl, level, 0) for level in range(OVER_BUDGET + 1)]
        self._has_more = [False] * (OVER_BUDGET + 1)
        self._rests_until = float("inf")

    def __repr__(self) -> str:
        return f"<FrontQueues {[len(read) for read in self._read]} read>"

    def load(self) -> None:
        """Take up what a former process left. Budgets may have grown: those over theirs get one more look."""
        for level in DRAWN:
            self._has_more[level] = True
        self._rests_until = 0.0

    def placed(self, place: Place) -> None:
        """This row is durable now."""
        if place.level == RESTING:
            self._cursors[RESTING] = min(self._cursors[RESTING], front_key(self._crawl, RESTING, place.order))
            self._rests_until = min(self._rests_until, place.order / 1000)
        elif place.level < LEVELS:
            self._has_more[place.level] = True

    def release(self, site: int) -> None:
        """The budget of a site has grown: its hosts may be drawn again."""
        start = front_key(self._crawl, OVER_BUDGET, site)
        self._read[OVER_BUDGET].extend(place for _, place in self._scan(start, start + LAST))

    def look_again(self, rested_at: float) -> None:
        """Ceilings have changed: one more look at those over their budgets or at rest until then (wall time).

        One that comes too early keeps its next-allowed time, and goes back to rest.
        """
        self._read[OVER_BUDGET].clear()
        self._cursors[OVER_BUDGET], self._has_more[OVER_BUDGET] = front_key(self._crawl, OVER_BUDGET, 0), True
        order = int(1000 * rested_at)
        start, stop = (front_key(self._crawl, RESTING, order + ms) for ms in (-REST_GRAIN_MS, REST_GRAIN_MS))
        self._read[LEVELS - 1].extend(place for _, place in self._scan(start, stop))

    def has_some(self, now: float) -> bool:
        """Whether a host may wait for a place now (wall time). It may turn out that none does."""
        return any(self._has_more) or any(self._read) or self._rests_until <= now

    def next_rested_at(self) -> float:
        """Wall time when the first host at rest may be contacted again."""
        return self._rests_until

    def draw(self, count: int, now: float) -> list[Place]:
        """At most `count` hosts: first those whose rest is over, then at random, the higher levels more often."""
        drawn = self._rested(count, now)
        while len(drawn) < count:
            levels = [level for level in DRAWN if self._fill(level)]
            if not levels:
                break
            level = draw_level(levels, self._rng.random())
            drawn.append(self._read[level].popleft())
        return drawn

    def _fill(self, level: int) -> bool:
        read = self._read[level]
        if not read and self._has_more[level]:
            self._has_more[level] = False
            for stored, place in self._scan(self._cursors[level], front_key(self._crawl, level + 1, 0)):
                if len(read) >= READ_MAX:
                    self._has_more[level] = True
                    break
                read.append(place)
                self._cursors[level] = stored + b"\x00"
        return bool(read)

    def _rested(self, count: int, now: float) -> list[Place]:
        if self._rests_until > now:
            return []
        drawn: list[Place] = []
        self._rests_until = float("inf")
        for stored, place in self._scan(self._cursors[RESTING], front_key(self._crawl, RESTING + 1, 0)):
            if len(drawn) >= count or place.order / 1000 > now:
                self._rests_until = place.order / 1000
                break
            drawn.append(place)
            self._cursors[RESTING] = stored + b"\x00"
        return drawn

    def _scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Place]]:
        for stored, _ in self._store.scan(Family.FRONT, start, stop):
            yield stored, Place(*split_front_key(stored))
