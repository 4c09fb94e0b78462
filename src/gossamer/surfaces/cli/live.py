"""What a running crawl shows of itself: the status document, from memory, never from a scan."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from gossamer.bootstrap import OpenCrawl
from gossamer.core.pace import Pace
from gossamer.core.politeness import DelayRules, gap_s
from gossamer.ports.clock import Clock
from gossamer.stages.host_queue import HostQueue
from gossamer.views.status import HostCounts, status_document

ETA_AFTER_S: Final = 5.0
"""Before, a rate says nothing."""
SLOWEST_EVERY_S: Final = 2.0
HOSTS_LOOKED_AT_MAX: Final = 10_000
"""For the slowest host: some 5 ms each time."""


class Live:
    """Samples the counters when asked and at each tick of the progress view."""

    def __init__(self, open_: OpenCrawl, clock: Clock) -> None:
        self.open = open_
        self.clock = clock
        self.pace = Pace()
        self._started_at = clock.monotonic()
        self._slowest: tuple[float, float] = (0.0, self._started_at)
        self.tick()

    def tick(self) -> None:
        """Take a sample for the rate."""
        self.pace.count(self.open.crawl.counters.fetched, self.clock.monotonic())

    def left(self) -> int:
        """Pages that may still come: what is queued, or what the budget leaves of it."""
        counters, budget = self.open.crawl.counters, self.open.stages.frontier.budget
        room = counters.unsettled if budget.ceiling is None else max(0, budget.ceiling - budget.spent)
        return min(counters.unsettled, room)

    def document(self) -> dict[str, Any]:
        """As `gossamer status --json`."""
        self.tick()
        busy, waiting, parked = self.open.stages.frontier.counts(self.open.crawl.counters.hosts_ready)
        return status_document(
            self.open.crawl,
            HostCounts(busy, waiting, parked),
            pages_per_second=self.pace.pages_per_second,
            eta_seconds=self.eta_s(),
        )

    def eta_s(self) -> float | None:
        """Seconds until the end, as far as it is known: a polite crawl ends with its slowest host."""
        if self.clock.monotonic() - self._started_at < ETA_AFTER_S:
            return None
        left = self.left()
        by_pace = self.pace.eta_s(left)
        if left < self.open.crawl.counters.unsettled:
            return by_pace  # the budget ends it, and the other hosts spend that
        return max(by_pace or 0.0, self._slowest_s()) or None

    def _slowest_s(self) -> float:
        frontier, now = self.open.stages.frontier, self.clock.monotonic()
        seconds, good_until = self._slowest
        if now >= good_until:
            seconds = slowest_s(islice(frontier.hosts.values(), HOSTS_LOOKED_AT_MAX), frontier.rules.delay, now)
            self._slowest = seconds, now + SLOWEST_EVERY_S
        return seconds


def slowest_s(hosts: Iterable[HostQueue], rules: DelayRules, now: float) -> float:
    """Seconds that the host with the longest way to go needs for its queue, at the gap that it has now."""
    return max((_way_s(host, rules, now) for host in hosts), default=0.0)


def _way_s(host: HostQueue, rules: DelayRules, now: float) -> float:
    budget = host.budget
    room = host.tally.ready if budget.ceiling is None else max(0, budget.ceiling - budget.spent)
    queued = min(host.tally.ready, room)
    if not queued:
        return 0.0
    gap = max(gap_s(rules, host.row.crawl_delay_s, 0.0), host.manners.gap_s, host.manners.slow_s)
    return max(0.0, host.next_at - now) + (queued - 1) * gap
