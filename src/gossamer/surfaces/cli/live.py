"""What a running crawl shows of itself: the status document, from memory, never from a scan."""

from typing import Any

from gossamer.bootstrap import OpenCrawl
from gossamer.core.pace import Pace
from gossamer.ports.clock import Clock
from gossamer.views.status import HostCounts, status_document


class Live:
    """Samples the counters when asked and at each tick of the progress view."""

    def __init__(self, open_: OpenCrawl, clock: Clock) -> None:
        self.open = open_
        self.clock = clock
        self.pace = Pace()
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
        busy, waiting, parked = self.open.stages.frontier.counts()
        return status_document(
            self.open.crawl,
            HostCounts(busy, waiting, parked),
            pages_per_second=self.pace.pages_per_second,
            eta_seconds=self.pace.eta_s(self.left()),
        )
