"""Where each host waits: its one row in FRONT, kept in step with what it has ready."""

from collections.abc import Mapping

from gossamer.core.keys import front_key
from gossamer.core.priority import LEVELS
from gossamer.core.rows import OVER_BUDGET, CrawlRow, TallyRow
from gossamer.ports.partition_store import Family
from gossamer.stages.front_queues import Place
from gossamer.stages.host_queue import HostQueue
from gossamer.stages.posting import Posting
from gossamer.stages.sites import Sites


class HostPlaces:
    """A host with URLs ready has one place: in the front queue of its best URL, unless it rests or is over its budget.

    On the workbench it keeps the row that it came by, so that a crash hands it out again from there.
    """

    def __init__(self, crawl: CrawlRow, bench: Mapping[bytes, HostQueue], sites: Sites) -> None:
        self._crawl = crawl
        self._bench = bench
        self._sites = sites

    def settle(self, posting: Posting, key: bytes, tally: TallyRow) -> None:
        """Write the move that the counts of this batch make necessary, if they do."""
        place = self._place(posting, key, tally)
        if place == (tally.level, tally.order):
            return
        crawl, was_placed = self._crawl, tally.level >= 0
        is_parked, was_parked = place[0] == OVER_BUDGET, tally.level == OVER_BUDGET
        if is_parked != was_parked:
            site = self._sites.of(tally.site)
            site.row.parked += is_parked - was_parked
            posting.sites[site.key] = site
        if was_placed:
            posting.batch.delete(Family.FRONT, front_key(crawl.number, tally.level, tally.order, key))
        tally.level, tally.order = place
        is_placed = tally.level >= 0
        crawl.counters.hosts_ready += is_placed - was_placed
        if is_placed:
            posting.batch.put(Family.FRONT, front_key(crawl.number, tally.level, tally.order, key), b"")
            posting.placed.append(Place(tally.level, tally.order, key))

    def _place(self, posting: Posting, key: bytes, tally: TallyRow) -> tuple[int, int]:
        if not tally.ready:
            return (-1, 0)
        named = posting.left.get(key)
        if named is not None:
            return named
        if key in posting.left or tally.level < 0 or self._is_better(posting, key, tally):
            return tally.best_level, self._crawl.counters.next_sequence()
        return tally.level, tally.order

    def _is_better(self, posting: Posting, key: bytes, tally: TallyRow) -> bool:
        """Whether a host that waits has got a URL of a higher queue, or a sitemap, which costs no budget."""
        if key in self._bench:
            return False
        if tally.level == OVER_BUDGET:
            return key in posting.urgent
        return tally.best_level < tally.level < LEVELS
