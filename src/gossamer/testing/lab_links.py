"""The graph of the lab web: which URL leads to which, as absolute normal URLs. Not here: how a link is written."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from gossamer.testing.lab_hosts import HostPlan, LabConfig, Profile, Sitemap
from gossamer.testing.lab_paths import Kind, Route, path_of
from gossamer.testing.lab_traps import trap_entry

CHILDREN = 4  # pages of a host form a tree of this width, so that each is reachable; the other links are decoration
SITEMAP_PAGES_MAX = 1_000
ELSEWHERE = 20  # names outside the lab that pages link to

HOME = Route(Kind.PAGE, 0)
_EXTRA_KINDS = (Kind.PRIVATE, Kind.ALLOWED, Kind.GONE, Kind.REDIRECT)
_CHAINED, _LANDED = 2, 3  # redirects by number modulo 5: the ones through a chain, the ones straight to a landing page


def url_of(host: str, route: Route) -> str:
    return f"http://{host}{path_of(route)}"


def count_of(plan: HostPlan, kind: Kind) -> int:
    """How many numbers of `kind` the host answers; some of them may still be missing (see `LinkGraph.exists`)."""
    counts = {
        Kind.PAGE: plan.pages,
        Kind.PRIVATE: plan.private,
        Kind.ALLOWED: plan.allowed,
        Kind.ORPHAN: plan.orphans if plan.sitemap is not Sitemap.NONE else 0,
        Kind.REDIRECT: plan.redirects,
        Kind.LANDING: plan.redirects,
        Kind.HOP: 10 * plan.redirects,
        Kind.LOOP: 2 if plan.redirects else 0,
        Kind.IMAGE: plan.pages,
        Kind.ROBOTS: int(plan.has_robots),
        Kind.SITEMAP: int(plan.sitemap is not Sitemap.NONE),
        Kind.SITEMAP_PART: int(plan.sitemap is Sitemap.INDEX_GZIP),
    }
    return counts.get(kind, 0)


class LinkGraph:
    """Links, redirects and sitemaps of all hosts, computed where they are asked for."""

    def __init__(self, config: LabConfig, plans: Sequence[HostPlan]) -> None:
        self._config = config
        self._plans = plans
        self._by_site: defaultdict[str, list[HostPlan]] = defaultdict(list)
        for plan in plans:
            self._by_site[plan.site].append(plan)

    def exists(self, plan: HostPlan, route: Route) -> bool:
        if route.number >= count_of(plan, route.kind):
            return False
        match route.kind:
            case Kind.LANDING:
                return route.number % 5 in {_CHAINED, _LANDED}
            case Kind.HOP:
                number, left = divmod(route.number, 10)
                return number % 5 == _CHAINED and 1 <= left <= 2
            case _:
                return True

    def rng(self, plan: HostPlan, route: Route, purpose: str) -> random.Random:
        """A generator that depends on the seed and the URL alone."""
        return random.Random(f"{self._config.seed}|{purpose}|{plan.name}|{route.kind}|{route.number}")

    def links(self, plan: HostPlan, route: Route) -> list[str]:
        """Absolute URLs that the page at `route` links to, in the order of the page, repeats included."""
        rng = self.rng(plan, route, "links")
        if route.kind is not Kind.PAGE:
            return [url_of(plan.name, HOME), url_of(plan.name, Route(Kind.PAGE, rng.randrange(plan.pages)))]
        return [*self._within(plan, route.number, rng), *self._across(plan, route.number, rng)]

    def _within(self, plan: HostPlan, number: int, rng: random.Random) -> Iterator[str]:
        for page in range(min(4, plan.pages)):  # navigation
            yield url_of(plan.name, Route(Kind.PAGE, page))
        for child in range(CHILDREN * number + 1, CHILDREN * number + 1 + CHILDREN):
            if child < plan.pages:
                yield url_of(plan.name, Route(Kind.PAGE, child))
        for _ in range(rng.randint(2, 6)):
            yield url_of(plan.name, Route(Kind.PAGE, rng.randrange(plan.pages)))
        for kind in _EXTRA_KINDS:
            count = plan.gone if kind is Kind.GONE else count_of(plan, kind)
            for extra in range(number, count, plan.pages):  # extra j hangs on page j modulo pages
                yield url_of(plan.name, Route(kind, extra))
        if number == 0 and plan.redirects:
            yield url_of(plan.name, Route(Kind.LOOP, 0))

    def _across(self, plan: HostPlan, number: int, rng: random.Random) -> Iterator[str]:
        siblings = [other for other in self._by_site[plan.site] if other.name != plan.name]
        for sibling in siblings:
            page = 0 if number == 0 else rng.randrange(sibling.pages)
            yield url_of(sibling.name, Route(Kind.PAGE, page))
        for _ in range(rng.randint(1, 2)):
            other = self._plans[rng.randrange(len(self._plans))]
            yield url_of(other.name, Route(Kind.PAGE, rng.randrange(other.pages)))
        if number % 4 == 0 and self._config.profile is not Profile.POLITE:
            yield f"http://elsewhere-{rng.randrange(ELSEWHERE)}.test/"
        if number == 0 and plan.trap is not None:
            yield trap_entry(plan.trap, plan.site)

    def redirect_target(self, plan: HostPlan, route: Route) -> tuple[int, str]:
        """Status and absolute Location of a REDIRECT, HOP or LOOP."""
        number = route.number
        match route.kind:
            case Kind.LOOP:
                return 302, url_of(plan.name, Route(Kind.LOOP, 1 - number))
            case Kind.HOP:
                last = number % 10 == 1
                return 301, url_of(
                    plan.name, Route(Kind.LANDING, number // 10) if last else Route(Kind.HOP, number - 1)
                )
            case _:
                return self._first_hop(plan, number)

    def _first_hop(self, plan: HostPlan, number: int) -> tuple[int, str]:
        match number % 5:
            case 0:
                return 301, url_of(plan.name, Route(Kind.PAGE, (number + 1) % plan.pages))
            case 1:
                others = [other for other in self._by_site[plan.site] if other.name != plan.name] or [plan]
                return 302, url_of(others[0].name, HOME)
            case n if n == _CHAINED:
                return 307, url_of(plan.name, Route(Kind.HOP, 10 * number + 2))
            case n if n == _LANDED:
                return 308, url_of(plan.name, Route(Kind.LANDING, number))
            case _:
                return 303, f"http://elsewhere-{number % ELSEWHERE}.test/"

    def sitemap_urls(self, plan: HostPlan) -> list[str]:
        """What the sitemap of the host names: its first pages and those that no page links to."""
        pages = [Route(Kind.PAGE, n) for n in range(min(plan.pages, SITEMAP_PAGES_MAX))]
        return [url_of(plan.name, r) for r in (*pages, *(Route(Kind.ORPHAN, n) for n in range(plan.orphans)))]
