"""The lab web: many host names computed from a seed, and the independent truth about them. Pure; lab_server serves."""

import random
import zlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from gossamer.testing.lab_hosts import Fate, HostPlan, LabConfig, Profile, Sitemap, Trap, plan_hosts
from gossamer.testing.lab_links import LinkGraph, url_of
from gossamer.testing.lab_pages import PNG, error_html, gzipped, page_html, robots_txt, sitemap_index_xml, urlset_xml
from gossamer.testing.lab_paths import Kind, Route, route_of
from gossamer.testing.lab_traps import trap_at, trap_entry, trap_html, trap_page

TARGET_CHARS_MAX = 8_000  # longer request targets get 414, as nginx gives them
RETRY_AFTER_S = 2  # what a throttled host asks for
LAST_MODIFIED = "Wed, 01 May 2024 12:00:00 GMT"
_REDIRECTS = frozenset({Kind.REDIRECT, Kind.HOP, Kind.LOOP})
_HTML = "text/html"

Headers = tuple[tuple[str, str], ...]


class Behaviour(NamedTuple):
    """What the server does around the answer: wait, reset the connection, or never answer."""

    fate: Fate = Fate.ANSWERS
    latency_s: float = 0.0


class LabResponse(NamedTuple):
    """An answer without Content-Length and Connection, which belong to the server."""

    status: int
    headers: Headers
    body: bytes
    behaviour: Behaviour = Behaviour()


class LabRequest(NamedTuple):
    """A request; `visit` counts earlier ones for the same URL, so that a throttled host can relent and stay pure."""

    host: str
    target: str
    headers: Mapping[str, str]  # names in lower case
    visit: int = 0


@dataclass(frozen=True, slots=True)
class Reachable:
    """What an honest crawl from the seeds meets, computed from the graph and not from the pages.

    URLs are in normal form, without port. An honest crawl stays within the sites of the lab, obeys robots.txt,
    follows redirects and walks into no trap.
    """

    pages: frozenset[str]  # answer 200 with HTML: all must be fetched
    missing: frozenset[str]  # answer 404 or 410
    redirects: frozenset[str]  # answer 3xx
    disallowed: frozenset[str]  # linked, and refused by robots.txt
    external: frozenset[str]  # linked, and outside the lab
    unreachable: frozenset[str]  # on hosts that are dead or stalling
    traps: frozenset[str]  # the doors of endless spaces


class LabWeb:
    """Answers requests; equal configs give equal bytes in every process."""

    def __init__(self, config: LabConfig) -> None:
        self.config = config
        self.plans = plan_hosts(config)
        self._by_name = {plan.name: plan for plan in self.plans}
        self._graph = LinkGraph(config, self.plans)

    @property
    def hosts(self) -> list[str]:
        return [plan.name for plan in self.plans]

    @property
    def seeds(self) -> list[str]:
        """One home page a site; in the polite profile every host is a site."""
        first = {plan.site: plan.name for plan in reversed(self.plans)}
        return [url_of(first[site], Route(Kind.PAGE, 0)) for site in sorted(first)]

    def plan(self, host: str) -> HostPlan | None:
        return self._by_name.get(host)

    def trap(self, url: str) -> Trap | None:
        """The trap that `url` lies in, if any."""
        parts = urlsplit(url)
        host = parts.netloc
        return self._trap_at(host, f"{parts.path}?{parts.query}" if parts.query else parts.path)

    def _trap_at(self, host: str, target: str) -> Trap | None:
        if self.config.profile is not Profile.TRAPS:
            return None
        plan = self._by_name.get(host)
        return None if plan is not None and plan.trap is None else trap_at(host, target, plan.trap if plan else None)

    # -- answers

    def respond(self, request: LabRequest) -> LabResponse:
        """The answer to any request whatever, without side effects."""
        plan = self._by_name.get(request.host)
        if len(request.target) > TARGET_CHARS_MAX:
            return _error(414, "the address is too long")
        trap = self._trap_at(request.host, request.target)
        if trap is not None:
            return self._trapped(trap, request)
        if plan is None:
            return _error(404, "no host of this lab has that name")
        behaviour = self._behaviour(plan, request)
        if behaviour.fate is not Fate.ANSWERS:
            return LabResponse(0, (), b"", behaviour)
        route = route_of(request.target)
        if route is None or not self._graph.exists(plan, route):
            gone = route is not None and route.kind is Kind.GONE and route.number % 2 == 1
            return _error(410 if gone else 404, "no such page")._replace(behaviour=behaviour)
        if plan.is_throttled and route.kind is Kind.PAGE and route.number % 4 == 1 and request.visit == 0:
            refused = _error(429, "slow down")
            return refused._replace(
                headers=(*refused.headers, ("Retry-After", str(RETRY_AFTER_S))), behaviour=behaviour
            )
        return _negotiated(self._found(plan, route), plan, request.headers)._replace(behaviour=behaviour)

    def _behaviour(self, plan: HostPlan, request: LabRequest) -> Behaviour:
        if plan.latency_max_s == 0:
            return Behaviour(plan.fate)
        rng = random.Random(f"{self.config.seed}|latency|{plan.name}|{request.target}|{request.visit}")
        return Behaviour(plan.fate, rng.uniform(plan.latency_min_s, plan.latency_max_s))

    def _trapped(self, trap: Trap, request: LabRequest) -> LabResponse:
        page = trap_page(trap, request.host, request.target, self.config.seed)
        if page.location is not None:
            return LabResponse(302, (("Location", page.location), ("Content-Type", _HTML)), b"")
        body = trap_html(trap, request.target, page.hrefs).encode()
        return LabResponse(200, (("Content-Type", "text/html; charset=utf-8"),), body)

    def _found(self, plan: HostPlan, route: Route) -> LabResponse:
        match route.kind:
            case Kind.ROBOTS:
                return _ok("text/plain; charset=utf-8", robots_txt(plan))
            case Kind.SITEMAP if plan.sitemap is Sitemap.INDEX_GZIP:
                return _ok("application/xml", sitemap_index_xml(plan))
            case Kind.SITEMAP:
                return _ok("application/xml", urlset_xml(self._graph.sitemap_urls(plan)))
            case Kind.SITEMAP_PART:
                return _ok("application/gzip", gzipped(urlset_xml(self._graph.sitemap_urls(plan))))
            case Kind.IMAGE:
                return _ok("image/png", PNG)
            case Kind.REDIRECT | Kind.HOP | Kind.LOOP:
                status, location = self._graph.redirect_target(plan, route)
                return LabResponse(
                    status, (("Location", location), ("Content-Type", _HTML)), error_html(status, "see there")
                )
            case _:
                links, rng = self._graph.links(plan, route), self._graph.rng(plan, route, "page")
                media = f"{_HTML}; charset={plan.charset}" if plan.charset_in_header else _HTML
                return _ok(media, page_html(plan, url_of(plan.name, route), links, rng))

    # -- the truth

    def page_total(self) -> int:
        """How many pages an honest crawl fetches: `len(reachable().pages)`, at once where hosts are uniform."""
        if self.config.profile is Profile.POLITE:
            return sum(plan.pages for plan in self.plans if plan.fate is Fate.ANSWERS)
        return len(self.reachable().pages)

    def reachable(self, *, with_sitemaps: bool = True) -> Reachable:
        """Walks the graph from the seeds; its cost is that of the links, about 30 µs a page."""
        found: dict[str, set[str]] = {name: set() for name in Reachable.__dataclass_fields__}
        waiting, known = deque(self.seeds), set(self.seeds)
        greeted: set[str] = set()
        while waiting:  # ends: the lab's URLs outside traps are finite
            url = waiting.popleft()
            state, targets = self._visit(url)
            found[state].add(url)
            plan = self._by_name.get(urlsplit(url).netloc)
            if plan is not None and plan.name not in greeted and state not in {"unreachable", "traps"}:
                greeted.add(plan.name)
                if with_sitemaps and plan.sitemap is not Sitemap.NONE:
                    targets = [*targets, *self._graph.sitemap_urls(plan)]
            fresh = [target for target in dict.fromkeys(targets) if target not in known]
            known.update(fresh)
            waiting.extend(fresh)
        return Reachable(**{name: frozenset(urls) for name, urls in found.items()})

    def _visit(self, url: str) -> tuple[str, list[str]]:
        """The field of `Reachable` that `url` belongs to, and where it leads."""
        host, target = _split(url)
        plan = self._by_name.get(host)
        if self._trap_at(host, target) is not None:
            return "traps", []
        if plan is None:
            return "external", []
        if plan.fate is not Fate.ANSWERS:
            return "unreachable", []
        route = route_of(target)
        if route is not None and route.kind is Kind.PRIVATE and plan.private:
            return "disallowed", []
        if route is None or not self._graph.exists(plan, route):
            return "missing", []
        if route.kind in _REDIRECTS:
            return "redirects", [self._graph.redirect_target(plan, route)[1]]
        return "pages", self._graph.links(plan, route)

    def trap_doors(self) -> list[str]:
        return [trap_entry(plan.trap, plan.site) for plan in self.plans if plan.trap is not None]


def _split(url: str) -> tuple[str, str]:
    host, slash, rest = url.removeprefix("http://").partition("/")
    return host, slash + rest


def _ok(media: str, body: bytes) -> LabResponse:
    return LabResponse(200, (("Content-Type", media),), body)


def _error(status: int, words: str) -> LabResponse:
    return LabResponse(status, (("Content-Type", "text/html; charset=utf-8"),), error_html(status, words))


def _negotiated(response: LabResponse, plan: HostPlan, headers: Mapping[str, str]) -> LabResponse:
    """Validators, 304 and gzip, for what was found."""
    if response.status != 200:
        return response
    etag = f'"{zlib.crc32(response.body):08x}"'
    added: Headers = (("ETag", etag), ("Last-Modified", LAST_MODIFIED))
    if headers.get("if-none-match") == etag:
        return LabResponse(304, added, b"")
    is_text = response.headers[0][1].startswith(("text/", "application/xml"))
    if plan.is_gzipped and is_text and "gzip" in headers.get("accept-encoding", ""):
        added += (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
        return LabResponse(200, response.headers + added, gzipped(response.body))
    return LabResponse(200, response.headers + added, response.body)
