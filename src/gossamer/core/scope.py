"""Which URLs belong to a crawl: around its seeds, minus and plus what the user's expressions say."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, assert_never

from gossamer.core.url import Url, host_of, site_of

HOSTS_REMEMBERED_MAX: Final = 32_768  # about 150 B each


class ScopeKind(StrEnum):
    """How far around a seed. Scheme and, except for PREFIX, port make no difference."""

    HOST = "host"
    SITE = "site"
    PREFIX = "prefix"
    ANY = "any"


class ScopeVerdict(StrEnum):
    """Only INSIDE is crawled."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not-included"


@dataclass(frozen=True, slots=True)
class Scope:
    """`kind` around each of `seeds`, thereof what matches any of `include` (if there are some) and no `exclude`.

    Expressions are searched for anywhere in the normal form of the URL.
    """

    kind: ScopeKind
    seeds: tuple[Url, ...]
    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()
    _areas: dict[str, Url] = field(init=False, repr=False, compare=False)
    _prefix_chars: dict[str, list[int]] = field(init=False, repr=False, compare=False)
    _remembered: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        areas: dict[str, Url] = {}
        for seed in self.seeds:
            areas.setdefault(_area_of(self.kind, seed), seed)
        chars: defaultdict[str, set[int]] = defaultdict(set)
        if self.kind is ScopeKind.PREFIX:
            for area in areas:
                chars[area.partition("/")[0]].add(len(area))
        object.__setattr__(self, "_areas", areas)
        object.__setattr__(self, "_prefix_chars", {authority: sorted(lengths) for authority, lengths in chars.items()})

    def decide(self, url: Url) -> ScopeVerdict:
        """An exclusion wins over everything; a URL outside stays outside whatever `include` says."""
        if self.exclude and any(pattern.search(url) for pattern in self.exclude):
            return ScopeVerdict.EXCLUDED
        if self.kind is not ScopeKind.ANY and not self._is_around_a_seed(url):
            return ScopeVerdict.OUTSIDE
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return ScopeVerdict.NOT_INCLUDED
        return ScopeVerdict.INSIDE

    def reaches(self, origin: str) -> bool:
        """Whether a page of this origin ("https://a.test") could be in scope, whatever the expressions say."""
        if self.kind is ScopeKind.ANY:
            return True
        if self.kind is ScopeKind.PREFIX:
            return origin.partition("://")[2] in self._prefix_chars
        return self._is_around_a_seed(Url(origin + "/"))

    def explain(self, url: Url) -> str:
        """One sentence: the verdict, the rule and the seed or expression that decided."""
        verdict = self.decide(url)
        match verdict:
            case ScopeVerdict.EXCLUDED:
                pattern = next(pattern.pattern for pattern in self.exclude if pattern.search(url))
                return f"excluded: it matches the expression {pattern!r}"
            case ScopeVerdict.OUTSIDE:
                return f"outside: scope {self.kind}, and no seed has {self._wanted(url)}"
            case ScopeVerdict.NOT_INCLUDED:
                return f"not included: {self._reason_inside(url)}, but it matches none of the include expressions"
            case ScopeVerdict.INSIDE:
                return f"inside: {self._reason_inside(url)}"
            case _:
                assert_never(verdict)

    def _is_around_a_seed(self, url: Url) -> bool:
        if self.kind is ScopeKind.PREFIX:
            return self._prefix_of(url) is not None
        authority = url.split("/", 3)[2]
        known = self._remembered.get(authority)
        if known is None:
            if len(self._remembered) >= HOSTS_REMEMBERED_MAX:
                self._remembered.clear()
            known = self._remembered[authority] = _area_of(self.kind, url) in self._areas
        return known

    def _prefix_of(self, url: Url) -> str | None:
        place = url.partition("://")[2]
        for chars in self._prefix_chars.get(place.partition("/")[0], ()):
            if place[:chars] in self._areas:
                return place[:chars]
        return None

    def _reason_inside(self, url: Url) -> str:
        if self.kind is ScopeKind.ANY:
            return "scope any takes every host"
        area = self._prefix_of(url) if self.kind is ScopeKind.PREFIX else _area_of(self.kind, url)
        return f"scope {self.kind}, and {self.kind} {area} is that of the seed {self._areas[area or '']}"

    def _wanted(self, url: Url) -> str:
        if self.kind is ScopeKind.PREFIX:
            return "a folder in which it lies"
        return f"the {self.kind} {_area_of(self.kind, url)}"


def _area_of(kind: ScopeKind, url: Url) -> str:
    """What a URL and its seed share; '' for all. A prefix: the seed without scheme, up to the last '/' of its path."""
    match kind:
        case ScopeKind.HOST:
            return host_of(url)
        case ScopeKind.SITE:
            return site_of(host_of(url))
        case ScopeKind.PREFIX:
            place = url.partition("://")[2].partition("?")[0]
            return place[: place.rfind("/") + 1]
        case ScopeKind.ANY:
            return ""
        case _:
            assert_never(kind)
