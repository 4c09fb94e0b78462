"""Traps that a URL shows by itself: named rules on its shape. What a host's pages show is judged elsewhere."""

from collections import Counter
from enum import StrEnum
from itertools import pairwise
from typing import Final, assert_never

from gossamer.core.url import Url


class Trap(StrEnum):
    """Why a URL is refused unseen."""

    URL_TOO_LONG = "url-too-long"
    PATH_TOO_DEEP = "path-too-deep"
    TOO_MANY_PARAMETERS = "too-many-parameters"
    REPEATED_SEGMENTS = "repeated-segments"
    REPEATED_PARAMETERS = "repeated-parameters"
    NESTED_ENCODING = "nested-encoding"


URL_CHARS_MAX: Final = 2_000  # what browsers and sitemaps (2,048) agree to carry; honest pages rarely pass 500
PATH_SEGMENTS_MAX: Final = 20  # the deepest honest trees, Java sources and archives of archives, end near 15
PARAMETERS_MAX: Final = 32  # ordinary search forms end near 25; beyond are report builders, which have no last page
# '/a/a/' is a page named as its folder; a third time it is a link that grows. Heritrix (PathologicalPathDecideRule) and
# Nutch (regex-urlfilter) wait for the third as well, and a maze of two names has 36 URLs then.
OCCURRENCES_MAX: Final = 2
# '?return=' with an address that has a '?return=' itself: a percent sign is encoded once more at each turn. An honest
# '100%' in such an address is '%2525'.
_NESTED: Final = "%252525"

_SLASHES_PLAIN = 4  # 'https://h/a/b': two segments, a run cannot stand there three times


def trap_of(url: Url) -> Trap | None:
    """The first rule that refuses `url`, or None. Costs 0.2 µs where there is nothing to look at."""
    if len(url) > URL_CHARS_MAX:
        return Trap.URL_TOO_LONG
    if url.count("/") > _SLASHES_PLAIN:
        trap = _trap_of_path(url)
        if trap is not None:
            return trap
    if _NESTED in url:
        return Trap.NESTED_ENCODING
    if url.count("&") >= OCCURRENCES_MAX:
        return _trap_of_query(url)
    return None


def _trap_of_path(url: Url) -> Trap | None:
    parts = (url.partition("?")[0] if "?" in url else url).split("/")
    if len(parts) <= PATH_SEGMENTS_MAX and len(parts) - len(set(parts)) < OCCURRENCES_MAX:
        return None  # most paths: no part stands there three times
    segments = parts[3:] if parts[-1] else parts[3:-1]  # a final slash opens no segment
    if len(segments) > PATH_SEGMENTS_MAX:
        return Trap.PATH_TOO_DEEP
    return Trap.REPEATED_SEGMENTS if _has_grown(segments) else None


def _has_grown(segments: list[str]) -> bool:
    """Whether a run of segments stands in the path for the third time.

    A run of one must be consecutive ('a/b/a/c/a' may be facets), and a number may stand three times: a date, a tile.
    Any longer run contains a pair of neighbours, so counting pairs finds it, consecutive ('a/b/a/b/a/b') or not.
    """
    for one, two, three in zip(segments, segments[1:], segments[2:], strict=False):
        if one == two == three and not one.isdecimal():
            return True
    pairs = Counter(pairwise(segments))
    return max(pairs.values(), default=0) > OCCURRENCES_MAX


def _trap_of_query(url: Url) -> Trap | None:
    fields = url.partition("?")[2].split("&")
    if len(fields) > PARAMETERS_MAX:
        return Trap.TOO_MANY_PARAMETERS
    if len(fields) - len(set(fields)) >= OCCURRENCES_MAX and max(Counter(fields).values()) > OCCURRENCES_MAX:
        return Trap.REPEATED_PARAMETERS
    return None


def explain_trap(trap: Trap) -> str:
    """One sentence for people: what was seen and the limit."""
    match trap:
        case Trap.URL_TOO_LONG:
            return f"the URL is longer than {URL_CHARS_MAX:,} characters"
        case Trap.PATH_TOO_DEEP:
            return f"the path has more than {PATH_SEGMENTS_MAX} segments"
        case Trap.TOO_MANY_PARAMETERS:
            return f"the query has more than {PARAMETERS_MAX} parameters"
        case Trap.REPEATED_SEGMENTS:
            return "a run of path segments occurs for the third time, as when a relative link grows with every fetch"
        case Trap.REPEATED_PARAMETERS:
            return "the same parameter with the same value occurs for the third time, as when a link adds itself again"
        case Trap.NESTED_ENCODING:
            return "an address within an address within an address, as when a login page links to itself for afterwards"
        case _:
            assert_never(trap)
