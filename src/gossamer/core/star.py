"""STAR: budgets of sites from how many other sites link to them (Lee et al., IRLbot, 2008, section 6).

A spammer makes pages and hosts without end, but must pay for each registered domain; so only links between sites
count. The RANKED sites of highest in-degree get budgets that fall linearly with their rank, all others the least.
"""

from bisect import bisect_right, insort
from typing import Final

RANKED: Final = 10_000
MOST: Final = 10_000  # pages of the first in rank
LEAST: Final = 10  # of the last in rank, and of all others


def star_budget(rank: int | None) -> int:
    """Pages for the site of this rank; 1 is the highest, None is not ranked."""
    if rank is None or rank > RANKED:
        return LEAST
    return LEAST + (MOST - LEAST) * (RANKED - rank) // (RANKED - 1)


class Ranking:
    """Sites by in-degree, the highest first; of equals the one that got there first. Bounded: RANKED sites."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[int, int, int]] = {}
        self._sorted: list[tuple[int, int, int]] = []
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self._sorted)

    def has_risen(self, site: int, in_degree: int) -> None:
        """A site (its 64-bit key) has this in-degree now."""
        old = self._places.get(site)
        if old is None and len(self._sorted) >= RANKED:
            last = self._sorted[-1]
            if -last[0] >= in_degree:
                return
            self._sorted.pop()
            del self._places[last[2]]
        if old is not None:
            del self._sorted[bisect_right(self._sorted, old) - 1]
        self._arrivals += 1
        place = self._places[site] = (-in_degree, self._arrivals, site)
        insort(self._sorted, place)

    def rank(self, site: int) -> int | None:
        """From 1; None when it is not among the ranked."""
        place = self._places.get(site)
        return None if place is None else bisect_right(self._sorted, place)

    def sites(self) -> list[int]:
        """All ranked sites, the highest first."""
        return [site for _, _, site in self._sorted]
