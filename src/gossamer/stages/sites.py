"""Sites in memory: what is counted of them, the budget that their hosts share, and who links to whom."""

from collections.abc import Iterable
from weakref import WeakValueDictionary

from gossamer.core.budget import Budget, Ceilings
from gossamer.core.keys import LAST, crawl_prefix, linker_keys, site_row_key
from gossamer.core.rows import SiteRow, load
from gossamer.core.star import Ranking
from gossamer.core.url import site_key
from gossamer.ports.partition_store import Batch, Family, PartitionStore
from gossamer.stages.host_queue import Site
from gossamer.stages.seen import ExactSeen

KEPT_MAX = 10_000
"""Sites kept because they came by lately: about 5 MB."""


class Sites:
    """One object a site, as long as a host in memory or an open batch needs it."""

    def __init__(self, store: PartitionStore, crawl: int, ceilings: Ceilings) -> None:
        self._store = store
        self._crawl = crawl
        self._ceilings = ceilings
        self._linkers = ExactSeen(store, crawl, Family.LINKERS)
        self._sites: WeakValueDictionary[int, Site] = WeakValueDictionary()
        self._kept: dict[int, Site] = {}
        self._ranking = Ranking()

    def load(self) -> None:
        """The ranking of what a former process left; about 2 µs a site, and only where budgets follow from it."""
        if self._ceilings.is_star:
            prefix = crawl_prefix(self._crawl)
            for _, stored in self._store.scan(Family.SITES, prefix, prefix + LAST):
                row = load(SiteRow, stored)
                if row.in_degree:
                    self._ranking.has_risen(site_key(row.site), row.in_degree)

    def change(self, ceilings: Ceilings) -> None:
        """Other ceilings. While there were none, pages went by the budgets: they are counted anew."""
        self._ceilings = ceilings
        for key, site in list(self._sites.items()):
            site.budget.ceiling, site.budget.spent = self._ceiling(key), site.row.fetched

    def turn(self) -> None:
        """Forget the sites that nobody needs; to be called when no batch is open."""
        self._linkers.turn()
        if len(self._kept) >= KEPT_MAX:
            self._kept = {}

    def of(self, name: str) -> Site:
        """The site of that name."""
        key = site_key(name)
        site = self._sites.get(key)
        if site is None:
            row = self._row(key) or SiteRow(name)
            site = self._sites[key] = Site(key, row, Budget(self._ceiling(key), spent=row.fetched))
            self._kept[key] = site
        return site

    def link(self, batch: Batch, source: str, targets: Iterable[str]) -> list[Site]:
        """Pages of `source` link to these other sites; gives back those to which it had not linked before.

        Their budgets follow at once, and no other budget can grow by it: who rises in rank passes others.
        """
        linking = site_key(source)
        keys = {linker_keys(site_key(target), linking): target for target in targets if target != source}
        pairs = list(keys)
        new = [pairs[at] for at in self._linkers.unknown(pairs)]
        raised = [self.of(keys[pair]) for pair in new if self._linkers.add(batch, pair)]
        for site in raised:
            site.row.in_degree += 1
            if self._ceilings.is_star:
                self._ranking.has_risen(site.key, site.row.in_degree)
                site.budget.ceiling = self._ceiling(site.key)
        return raised

    def _ceiling(self, key: int) -> int | None:
        return self._ceilings.of_site(self._ranking.rank(key) if self._ceilings.is_star else None)

    def _row(self, key: int) -> SiteRow | None:
        stored = self._store.get(Family.SITES, site_row_key(self._crawl, key))
        return load(SiteRow, stored) if stored else None
