"""What budgets leave: of a site, of a host, of its day."""

from gossamer.core.budget import Ceilings, day_of
from gossamer.core.keys import LAST, crawl_prefix, site_row_key
from gossamer.core.rows import SiteRow, TallyRow, load
from gossamer.core.site_traps import ceiling_of
from gossamer.core.star import Ranking
from gossamer.core.url import site_key
from gossamer.ports.partition_store import Family, PartitionStore


class SiteBudgets:
    """Rows of sites and their limits. Where limits follow from ranks all sites are read first, 2 µs each."""

    def __init__(self, partition: PartitionStore, crawl: int, ceilings: Ceilings) -> None:
        self._partition = partition
        self._crawl = crawl
        self._ceilings = ceilings
        self._ranking = Ranking()
        if ceilings.is_star:
            prefix = crawl_prefix(crawl)
            for _, stored in partition.scan(Family.SITES, prefix, prefix + LAST):
                row = load(SiteRow, stored)
                if row.in_degree:
                    self._ranking.has_risen(site_key(row.site), row.in_degree)

    def row(self, site: str) -> SiteRow:
        """What is counted of a site."""
        stored = self._partition.get(Family.SITES, site_row_key(self._crawl, site_key(site)))
        return load(SiteRow, stored) if stored else SiteRow(site)

    def ceiling(self, site: str) -> int | None:
        """Pages that the site may have; None without a limit."""
        rank = self._ranking.rank(site_key(site)) if self._ceilings.is_star else None
        return self._ceilings.of_site(rank)

    def left(self, tally: TallyRow, now: float) -> int | None:
        """Pages that the host may still have now, by its own limit, its site's and the day's; None without any."""
        ceilings = self._ceilings
        of_host = ceiling_of(ceilings.pages_per_host, tally.counts.novelty)
        of_site = self.ceiling(tally.site)
        left = [of_host - tally.fetched] if of_host is not None else []
        if of_site is not None:
            left.append(of_site - self.row(tally.site).fetched)
        if ceilings.pages_per_host_day is not None:
            left.append(ceilings.pages_per_host_day - tally.fetched_on(day_of(now)))
        return max(0, min(left)) if left else None
