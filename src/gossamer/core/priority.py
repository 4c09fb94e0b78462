"""Which URL and which host come first: one number from what is known of a URL, and the levels of waiting hosts.

Smaller comes first. Whom we may ask now is politeness, and stands elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import Final, NamedTuple

LEVELS: Final = 8  # front queues; each is drawn twice as often as the next
FIRST: Final = 0  # sitemaps: they name what is worth fetching
PRIORITY_MAX: Final = 255
HOP_STEP: Final = 16  # two hops are a level
HOPS_MAX: Final = 12  # farther is all the same
FAME_STEP: Final = 8  # each doubling of the sites that link to a site is worth half a hop
FAME_MAX: Final = 64
QUALITY_SPAN: Final = 64  # a host that never answers well is four hops behind its like
NUDGE: Final = 64  # two levels: what the operator wants comes before four hops of what the crawl found
PATIENCE: Final = 4  # good answers that a host is taken to have given before any


class Signals(NamedTuple):
    """What is known when a URL is admitted.

    `hop`: links from a seed. `in_degree`: distinct other sites that link to its site. `good` and `bad`: pages of its
    host that were stored, and those that ended in a failure or whose text was known already.
    """

    hop: int
    in_degree: int = 0
    good: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator wants first and last: patterns that are searched in the normalised URL."""

    prefer: tuple[re.Pattern[str], ...] = ()
    defer: tuple[re.Pattern[str], ...] = ()

    def nudge(self, url: str) -> int:
        """What to add to its priority: NUDGE levels up, or down; where both match, nothing."""
        if not (self.prefer or self.defer):
            return 0
        is_preferred = any(pattern.search(url) for pattern in self.prefer)
        is_deferred = any(pattern.search(url) for pattern in self.defer)
        return NUDGE * (is_deferred - is_preferred)


@lru_cache(4_096)
def priority_of(signals: Signals, nudge: int = 0) -> int:
    """A number from 1 to 255; `nudge` is the operator's, added at the end."""
    fame = min(FAME_MAX, int(FAME_STEP * log2(1 + signals.in_degree))) if signals.in_degree else 0
    blemish = QUALITY_SPAN * signals.bad // (signals.good + signals.bad + PATIENCE) if signals.bad else 0
    return max(1, min(PRIORITY_MAX, HOP_STEP * min(signals.hop, HOPS_MAX) + blemish - fame + nudge + 1))


def level_of(priority: int) -> int:
    """The front queue of a host whose best URL has this priority: 0 is the highest."""
    return priority * LEVELS >> 8


def draw_level(levels: Sequence[int], u: float) -> int:
    """One of the `levels` that have hosts waiting, in rising order; each twice as likely as the next one down.

    Every level has its share, however busy the higher ones are, so nothing starves. `u` in [0, 1) is the draw.
    """
    weights = [2.0**-level for level in levels]
    mark = u * sum(weights)
    for level, weight in zip(levels, weights, strict=True):
        mark -= weight
        if mark < 0:
            return level
    return levels[-1]
