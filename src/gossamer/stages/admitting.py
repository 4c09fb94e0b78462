"""How a URL comes into the crawl: new to the seen set, no trap by what its host has shown, then into a back queue."""

from gossamer.core.budget import Ceilings
from gossamer.core.keys import ready_key, sitemap_key, url_row_key
from gossamer.core.patterns import Form, form_of
from gossamer.core.priority import FIRST, Signals, Wishes, priority_of
from gossamer.core.rows import CrawlRow, Kind, State, TallyRow, UrlRow, dump
from gossamer.core.site_traps import (
    HostCounts,
    SiteTrap,
    count_admitted,
    count_host,
    family_of,
    is_host_burst,
    is_site_burst,
    weigh,
)
from gossamer.core.url import Url
from gossamer.ports.partition_store import Family
from gossamer.stages.events import Discovered
from gossamer.stages.host_accounts import HostAccounts
from gossamer.stages.host_queue import Site
from gossamer.stages.posting import Posting
from gossamer.stages.seen import Seen

FORMLESS = Form(None)


class Admitting:
    """Writes SEEN, URLS and READY. Scope and the traps of a URL's own form were looked at where it was found."""

    def __init__(self, seen: Seen, accounts: HostAccounts, crawl: CrawlRow, ceilings: Ceilings, wishes: Wishes) -> None:
        self._seen = seen
        self._accounts = accounts
        self._crawl = crawl
        self._ceilings = ceilings
        self._wishes = wishes

    def admit(self, posting: Posting, event: Discovered) -> None:
        """Those of the URLs that are new."""
        if not event.urls:
            return
        counters = self._crawl.counters
        if not self._ceilings.allows_hop(event.hop):
            counters.refuse("too-many-hops", len(event.urls))
            return
        keys = [event.keys[at : at + 16] for at in range(0, len(event.keys), 16)]
        if event.kind is Kind.SITEMAP:
            keys = [sitemap_key(key) for key in keys]
        source = form_of(Url(event.page)) if event.page else None
        for at in self._seen.unknown(keys):
            key, url = keys[at], event.urls[at]
            tally = self._accounts.look(posting, key, url)
            if event.kind is Kind.SITEMAP:
                self._take(posting, (key, url), event, tally)
                continue
            kin = source if key[:8] == event.via[:8] else None
            form = form_of(Url(url)) if kin is not None else FORMLESS  # nobody asks for it without a page of its host
            weighed = weigh(tally.counts, kin, form, posting.year)
            trap = weighed.trap if tally.has_urls else self._burst(posting, key, event, tally) or weighed.trap
            if trap is not None:
                counters.refuse(trap.value)
            elif self._take(posting, (key, url), event, tally, weighed.level):
                count_admitted(tally.counts, kin, form)

    def _burst(self, posting: Posting, key: bytes, event: Discovered, tally: TallyRow) -> SiteTrap | None:
        """Whether a host without any URL has to wait."""
        if event.how == "seed":
            return None
        site = self._accounts.site(posting, key[:8], tally)
        if site.row.hosts:
            return SiteTrap.HOST_BURST if is_host_burst(site.row, self._leading(posting, site, event)) else None
        head = self._accounts.head(self._accounts.site_of_page(event.page)) if event.page else None
        return SiteTrap.SITE_BURST if head is not None and is_site_burst(head.row) else None

    def _leading(self, posting: Posting, site: Site, event: Discovered) -> HostCounts | None:
        """The counts of the host whose page leads here, where that is of the same site; to be changed."""
        if not event.page or self._accounts.site_of_page(event.page) is not site:
            return None
        return self._accounts.tally(posting, event.via, event.page).counts

    def _take(
        self, posting: Posting, new: tuple[bytes, str], event: Discovered, tally: TallyRow, late: int = 0
    ) -> bool:
        """False when the batch has it already. `new`: key and URL."""
        key, url = new
        if not self._seen.add(posting.batch, key):
            return False
        row = UrlRow(url, State.READY, event.kind, event.hop, event.via, event.how, posting.at, 0, 0, event.redirects)
        posting.tallies[key[:8]] = tally
        if not tally.has_urls:
            tally.has_urls = True
            self._count_host(posting, self._accounts.site(posting, key[:8], tally), event)
        counters = self._crawl.counters
        if event.kind is Kind.PAGE:
            counters.states[State.READY] += 1
            tally.states[State.READY] += 1
        else:
            counters.sitemaps += 1
            counters.sitemaps_open += 1
        self.place(posting, tally, key, row, late=late)
        return True

    def _count_host(self, posting: Posting, site: Site, event: Discovered) -> None:
        """A site has one more host; with its first one it comes to a family."""
        posting.sites[site.key] = site
        if event.how == "seed":
            site.row.family = ""
        elif event.page and not site.row.hosts:
            site.row.family = family_of(self._accounts.site_of_page(event.page).row.family, site.row.site)
            head = self._accounts.head(site)
            if head is not None and head is not site:
                head.row.kin += 1
                posting.sites[head.key] = head
        count_host(site.row, None if event.how == "seed" else self._leading(posting, site, event))

    def place(self, posting: Posting, tally: TallyRow, key: bytes, row: UrlRow, *, late: int = 0) -> None:
        """A URL goes to the back queue of its host, `late` hops behind others like it."""
        crawl = self._crawl
        if row.kind is Kind.SITEMAP:
            row.priority = FIRST
            posting.urgent.add(key[:8])
        else:
            site = self._accounts.site(posting, key[:8], tally)
            row.priority = priority_of(_signals(row, tally, site, late), self._wishes.nudge(row.url))
        row.sequence = crawl.counters.next_sequence()
        place = ready_key(crawl.number, key[:8], row.priority, row.sequence)
        posting.batch.put(Family.READY, place, key)
        posting.batch.put(Family.URLS, url_row_key(crawl.number, key), dump(row))
        tally.place(row.priority, 1)
        posting.found.append((place, row.url))


def _signals(row: UrlRow, tally: TallyRow, site: Site, late: int) -> Signals:
    bad = tally.states[State.FAILED] + tally.states[State.DEAD]
    return Signals(row.hop + late, site.row.in_degree, good=tally.fetched, bad=bad)
