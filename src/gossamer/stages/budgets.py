"""What a page is counted against: the budgets of the crawl, of its host, of its site, and of its host and day.

A lease reserves a unit of each; its end spends them or gives them back. A host for which no unit is left, but one may
come back from a lease in transit, waits here.
"""

from collections import deque

from gossamer.core.budget import Budget, Ceilings, day_of
from gossamer.core.rows import Kind
from gossamer.ports.clock import Clock
from gossamer.stages.host_queue import Entry, HostQueue, Site


class Budgets:
    """Sitemaps are counted against none of them."""

    def __init__(self, crawl: Budget, ceilings: Ceilings, clock: Clock) -> None:
        self._ceilings = ceilings
        self._clock = clock
        self._starved: deque[HostQueue] = deque()
        self.crawl = crawl

    def change(self, ceilings: Ceilings) -> None:
        """Other ceilings. Those of hosts and sites are the workbench's to change."""
        self._ceilings = ceilings
        self.crawl.ceiling = ceilings.pages

    def of(self, host: HostQueue) -> tuple[Budget, ...]:
        """All that a page of the host is counted against, but for the day's."""
        return (self.crawl, host.budget) if host.site is None else (self.crawl, host.budget, host.site.budget)

    def has_room(self, host: HostQueue, entry: Entry) -> bool:
        """Whether a lease of the URL may be handed out."""
        if entry.row.kind is not Kind.PAGE:
            return True
        site = host.site
        return self.crawl.has_room and host.budget.has_room and (site is None or site.budget.has_room)

    def reserve(self, host: HostQueue, entry: Entry) -> None:
        """For a lease."""
        if entry.row.kind is Kind.PAGE:
            for budget in self.of(host):
                budget.reserve()

    def give_back(self, host: HostQueue, entry: Entry) -> None:
        """The lease was not made after all."""
        if entry.row.kind is Kind.PAGE:
            for budget in self.of(host):
                budget.give_back()

    def day_is_spent(self, host: HostQueue) -> bool:
        """Whether the host has had all its pages of the day; what is in transit counts."""
        ceiling = self._ceilings.pages_per_host_day
        if ceiling is None:
            return False
        return host.tally.fetched_on(day_of(self._clock.now())) + host.budget.reserved >= ceiling

    def is_over(self, host: HostQueue) -> bool:
        """Whether nothing in transit can give the host a unit again."""
        return host.budget.is_spent or (host.site is not None and host.site.budget.is_spent)

    def wait(self, host: HostQueue) -> None:
        """Until a unit comes back."""
        if host.is_starved:
            return
        if not self.crawl.has_room:
            host.is_starved = True
            self._starved.append(host)
        elif host.site is not None and not host.site.budget.has_room:
            host.is_starved = True
            host.site.starved.append(host)

    @property
    def may_feed(self) -> bool:
        """Whether a host waits for the crawl's budget, and may go on."""
        return bool(self._starved) and self.crawl.has_room

    def fed(self, site: Site | None = None) -> HostQueue | None:
        """A host that may go on: of those that wait for this site's budget, or for the crawl's."""
        starved = self._starved if site is None else site.starved
        budget = self.crawl if site is None else site.budget
        while starved and budget.has_room:
            host = starved.popleft()
            if host.is_starved:  # no longer where it has left the workbench since
                host.is_starved = False
                return host
        return None
