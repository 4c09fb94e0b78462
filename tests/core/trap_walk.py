"""A crawl of nothing but rules: what a ledger will do with the counts of a host and a site, on one screen, in memory."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gossamer.core.patterns import Form, form_of
from gossamer.core.site_traps import (
    HostCounts,
    SiteTrap,
    count_admitted,
    count_host,
    count_text,
    family_of,
    is_host_burst,
    is_site_burst,
    weigh,
)
from gossamer.core.traps import trap_of
from gossamer.core.url import Url, host_of, key_form, site_of
from gossamer.core.visits import VisitNames, after_page, without_visit

YEAR = 2026
REDIRECTS_MAX = 10


@dataclass(frozen=True)
class Seen:
    """What a page shows: its links in normal form and a text (None: nothing to judge); or where it redirects to."""

    links: Sequence[Url] = ()
    text: object = None
    location: Url | None = None


@dataclass
class SiteCounts:
    hosts: int = 0
    texts: int = 0
    family: str = ""
    kin: int = 0
    kin_texts: int = 0


@dataclass
class Host:
    counts: HostCounts = field(default_factory=HostCounts)
    visits: VisitNames = field(default_factory=VisitNames)


@dataclass
class TrapWalk:
    """Breadth first with `level` steps of delay; `steps` fetches at most. Repeated URLs and texts are known."""

    web: Callable[[Url], Seen]
    fetched: list[Url] = field(default_factory=list)
    levels: dict[Url, int] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    waiting: list[tuple[int, int, int, int, Url]] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    sites: dict[str, SiteCounts] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    texts: set[object] = field(default_factory=set)

    def seed(self, *urls: str) -> "TrapWalk":
        for url in urls:
            self._admit(Url(url), None, 0, 0)
        return self

    def walk(self, steps: int) -> "TrapWalk":
        while self.waiting and len(self.fetched) < steps:
            _, _, hop, redirects, url = heapq.heappop(self.waiting)
            self.fetched.append(url)
            seen = self.web(url)
            if seen.location is not None:
                if redirects < REDIRECTS_MAX:
                    self._admit(seen.location, url, hop, redirects + 1)
                continue
            self._parsed(url, seen, hop)
        return self

    def _parsed(self, url: Url, seen: Seen, hop: int) -> None:
        host = self.hosts[host_of(url)]
        if seen.text is not None:
            is_new = seen.text not in self.texts
            self.texts.add(seen.text)
            count_text(host.counts, form_of(url), is_new=is_new)
            self._count_text(self.sites[site_of(host_of(url))], is_new=is_new)
        host.visits = after_page(host.visits, url, seen.links)
        for link in seen.links:
            self._admit(link, url, hop + 1, 0)

    def _admit(self, url: Url, page: Url | None, hop: int, redirects: int) -> None:
        name = host_of(url)
        if name in self.hosts:
            url = without_visit(url, self.hosts[name].visits.dropped)
        trap = trap_of(url)
        if trap is not None:
            self.refused[trap] += 1
            return
        if key_form(url) in self.known:
            return
        if name not in self.hosts:
            burst = self._host(name, page)
            if burst is not None:
                self.refused[burst] += 1
                return
        counts, form = self.hosts[name].counts, form_of(url)
        source: Form | None = form_of(page) if page is not None and host_of(page) == name else None
        weighed = weigh(counts, source, form, YEAR)
        if weighed.trap is not None:
            self.refused[weighed.trap] += 1
            return
        self.known.add(key_form(url))
        count_admitted(counts, source, form)
        self.levels[url] = weighed.level
        heapq.heappush(self.waiting, (hop + weighed.level, len(self.known), hop, redirects, url))

    def _host(self, name: str, page: Url | None) -> SiteTrap | None:
        """Take up a new host, unless there are too many."""
        site, linking, leading = self.sites.setdefault(site_of(name), SiteCounts()), SiteCounts(), None
        if page is not None:
            linking = self.sites[site_of(host_of(page))]
            leading = self.hosts[host_of(page)].counts if linking is site else None
            if site.hosts and is_host_burst(site, leading):
                return SiteTrap.HOST_BURST
            if not site.hosts and linking.family and is_site_burst(self.sites[linking.family]):
                return SiteTrap.SITE_BURST
            if not site.hosts:
                site.family = family_of(linking.family, site_of(name))
                self.sites[site.family].kin += site.family != site_of(name)
        count_host(site, leading)
        self.hosts[name] = Host()
        return None

    def _count_text(self, site: SiteCounts, *, is_new: bool) -> None:
        site.texts += is_new
        if site.family and self.sites[site.family] is not site:
            self.sites[site.family].kin_texts += is_new
