"""The paths of a lab host: from a kind and a number to a path and back, by arithmetic: no table grows with the web."""

import re
from enum import StrEnum
from typing import NamedTuple

from gossamer.testing.lab_words import ENGLISH


class Kind(StrEnum):
    """What a URL of a lab host is."""

    PAGE = "page"
    PRIVATE = "private"
    ALLOWED = "allowed"
    ORPHAN = "orphan"
    LANDING = "landing"  # reached by a redirect only
    GONE = "gone"
    REDIRECT = "redirect"
    HOP = "hop"  # inside a chain of redirects: number = 10 × redirect + hops left
    LOOP = "loop"
    IMAGE = "image"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    SITEMAP_PART = "sitemap-part"


class Route(NamedTuple):
    kind: Kind
    number: int


_SECTIONS = ("docs", "news", "guide", "notes")
_PREFIXES: tuple[tuple[str, Kind], ...] = (
    ("/private/open/", Kind.ALLOWED),
    ("/private/", Kind.PRIVATE),
    ("/orphan/", Kind.ORPHAN),
    ("/landing/", Kind.LANDING),
    ("/gone/", Kind.GONE),
    ("/go/", Kind.REDIRECT),
    ("/hop/", Kind.HOP),
    ("/loop/", Kind.LOOP),
    ("/img/", Kind.IMAGE),
)
_PREFIX_OF = {kind: prefix for prefix, kind in _PREFIXES}
_SUFFIX_OF = {Kind.REDIRECT: "", Kind.HOP: "", Kind.LOOP: "", Kind.IMAGE: ".png"}
_FIXED = {
    "/": Route(Kind.PAGE, 0),
    "/robots.txt": Route(Kind.ROBOTS, 0),
    "/sitemap.xml": Route(Kind.SITEMAP, 0),
    "/sitemap-1.xml.gz": Route(Kind.SITEMAP_PART, 0),
}
_FIXED_PATH = {route: path for path, route in _FIXED.items()}
_NUMBER = re.compile(r"(?<!\d)(\d{1,9})(?:\.html|\.png|/|&view=full)?\Z", re.ASCII)


def path_of(route: Route) -> str:
    """The path and query of a route, percent-encoded as it must be requested."""
    fixed = _FIXED_PATH.get(route)
    if fixed is not None:
        return fixed
    if route.kind is Kind.PAGE:
        return _page_path(route.number)
    return f"{_PREFIX_OF[route.kind]}{route.number}{_SUFFIX_OF.get(route.kind, '.html')}"


def route_of(target: str) -> Route | None:
    """The route of a request target; None where no host could have it."""
    fixed = _FIXED.get(target)
    if fixed is not None:
        return fixed
    found = _NUMBER.search(target)
    if found is None:
        return None
    kind = next((kind for prefix, kind in _PREFIXES if target.startswith(prefix)), Kind.PAGE)
    route = Route(kind, int(found[1]))
    return route if path_of(route) == target else None


def _page_path(number: int) -> str:
    """Six shapes of paths as real sites have them, taken in turn."""
    section = _SECTIONS[number % len(_SECTIONS)]
    slug = f"{ENGLISH[number * 7 % len(ENGLISH)]}-{ENGLISH[number * 13 % len(ENGLISH)]}"
    match number % 6:
        case 0:
            return f"/{section}/{slug}-{number}.html"
        case 1:
            return f"/{section}/{slug}-{number}/"
        case 2:
            return f"/{section}/{slug}-{number}"
        case 3:
            return f"/item.php?id={number}&view=full"
        case 4:
            return f"/caf%C3%A9/{slug}-{number}.html"
        case _:
            return f"/archive/{2000 + number % 25}/{1 + number % 12:02d}/{slug}-{number}.html"
