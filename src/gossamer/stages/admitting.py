"""How a URL comes into the crawl: new to the seen set, no trap by what its host has shown, then into a back queue."""

from gossamer.core.budget import Ceilings
from gossamer.core.keys import ready_key, sitemap_key, url_row_key
from gossamer.core.patterns import Form, form_of
from gossamer.core.priority import FIRST, Signals, priority_of
from gossamer.core.rows import CrawlRow, Kind, State, TallyRow, UrlRow, dump
from gossamer.core.site_traps import SiteTrap, Weighed, count_admitted, is_host_burst, weigh
from gossamer.core.url import Url
from gossamer.ports.partition_store import Family
from gossamer.stages.events import Discovered
from gossamer.stages.host_accounts import HostAccounts
from gossamer.stages.host_queue import Site
from gossamer.stages.posting import Posting
from gossamer.stages.seen import Seen

WELCOME = Weighed()


class Admitting:
    """Writes SEEN, URLS and READY. Scope and the traps of a URL's own form were looked at where it was found."""

    def __init__(self, seen: Seen, accounts: HostAccounts, crawl: CrawlRow, ceilings: Ceilings) -> None:
        self._seen = seen
        self._accounts = accounts
        self._crawl = crawl
        self._ceilings = ceilings

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
            if event.kind is Kind.SITEMAP:
                self._take(posting, key, event, url, WELCOME)
                continue
            form = form_of(Url(url))
            kin = source if key[:8] == event.via[:8] else None
            weighed = self._weigh(posting, event, (key, url), (kin, form))
            if weighed.trap is not None:
                counters.refuse(weighed.trap.value)
            elif self._take(posting, key, event, url, weighed):
                count_admitted(self._accounts.look(posting, key, url).counts, kin, form)

    def _weigh(
        self, posting: Posting, event: Discovered, new: tuple[bytes, str], forms: tuple[Form | None, Form]
    ) -> Weighed:
        tally = self._accounts.look(posting, *new)
        if not tally.has_urls and event.how != "seed":
            site = self._accounts.site(posting, new[0][:8], tally)
            if is_host_burst(site.row):
                return Weighed(SiteTrap.HOST_BURST)
        return weigh(tally.counts, *forms, posting.year)

    def _take(self, posting: Posting, key: bytes, event: Discovered, url: str, weighed: Weighed) -> bool:
        """False when the batch has it already."""
        if not self._seen.add(posting.batch, key):
            return False
        row = UrlRow(
            url, State.READY, event.kind, event.hop, event.via, event.how, posting.at, 0, 0, redirects=event.redirects
        )
        tally = self._accounts.tally(posting, key, url)
        site = self._accounts.site(posting, key[:8], tally)
        if not tally.has_urls:
            site.row.hosts += 1
            posting.sites[site.key] = site
        counters = self._crawl.counters
        if event.kind is Kind.PAGE:
            counters.states[State.READY] += 1
            tally.states[State.READY] += 1
        else:
            counters.sitemaps += 1
            counters.sitemaps_open += 1
        self.place(posting, tally, key, row, late=weighed.level)
        return True

    def place(self, posting: Posting, tally: TallyRow, key: bytes, row: UrlRow, *, late: int = 0) -> None:
        """A URL goes to the back queue of its host, `late` hops behind others like it."""
        crawl = self._crawl
        if row.kind is Kind.SITEMAP:
            row.priority = FIRST
            posting.urgent.add(key[:8])
        else:
            row.priority = priority_of(_signals(row, tally, self._accounts.site(posting, key[:8], tally), late))
        row.sequence = crawl.counters.next_sequence()
        place = ready_key(crawl.number, key[:8], row.priority, row.sequence)
        posting.batch.put(Family.READY, place, key)
        posting.batch.put(Family.URLS, url_row_key(crawl.number, key), dump(row))
        tally.place(row.priority, 1)
        posting.found.append((place, row.url))


def _signals(row: UrlRow, tally: TallyRow, site: Site, late: int) -> Signals:
    bad = tally.states[State.FAILED] + tally.states[State.DEAD]
    return Signals(row.hop + late, site.row.in_degree, good=tally.fetched, bad=bad)
