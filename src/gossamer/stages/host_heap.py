"""Hosts in memory by the moment of their next contact."""

import heapq
from itertools import count

from gossamer.stages.host_queue import HostQueue


class HostHeap:
    """A host stands in it once that counts: `HostQueue.queued_at` is the moment of the entry in force.

    Times are monotonic seconds; of hosts with the same moment the one queued first comes first.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, HostQueue]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, host: HostQueue, at: float) -> None:
        """Queue a host, or bring it forward; a later moment than the one in force changes nothing."""
        if host.queued_at is None or at < host.queued_at:
            host.queued_at = at
            heapq.heappush(self._heap, (at, next(self._order), host))

    def pop_due(self, now: float) -> HostQueue | None:
        """A host whose moment has come."""
        while self._heap and self._heap[0][0] <= now:
            at, _, host = heapq.heappop(self._heap)
            if host.queued_at == at:
                host.queued_at = None
                return host
        return None

    @property
    def next_at(self) -> float:
        """The first moment in force; infinity when no host is queued."""
        while self._heap and self._heap[0][2].queued_at != self._heap[0][0]:
            heapq.heappop(self._heap)  # an older entry of a host that was queued again since
        return self._heap[0][0] if self._heap else float("inf")
