"""Traps that only many URLs show: named rules on counts of a host and of a site. What one URL shows is in `traps`.

Endless calendars, filters combined without end, bursts of hosts under one site and of sites behind one site, hosts
that say the same again and again. See docs/traps.md.
"""

from enum import StrEnum
from typing import Final, NamedTuple, Protocol, assert_never

import msgspec

from gossamer.core.patterns import VALUE_BITS, Form

PATTERNS_MAX: Final = 32  # of a host: 0.5 KB in its row
PATTERN_FREE: Final = 50  # URLs of a pattern that lead to one another before it must show something for itself
CALENDAR_MIN: Final = 10  # dated URLs before a pattern counts as a calendar: numbers of threads are years by chance
STRAYS_MAX: Final = 0.1  # of a calendar: other numbers in the place of the date
YEARS_AHEAD_MAX: Final = 2  # what is really planned further ahead is linked from elsewhere, too
# Combinations of filters for each value they are made of. Articles bring a number of their own each, so one for one;
# articles in seven languages are seven. Filters multiply: ten with two values each make 59,000.
COMBINATIONS_PER_VALUE: Final = 8

HOSTS_FREE: Final = 10  # of a site, without any page
TEXTS_PER_HOST: Final = 5  # a farm gives one text a host; www, blog and shop give hundreds

SITES_FREE: Final = 100  # behind a site that a seed's site links to, without any page
TEXTS_PER_SITE: Final = 5  # a farm over many domains gives one text a site, what people write gives dozens

TEXT_CHARS_JUDGED_MIN: Final = 100  # "You need to enable JavaScript to run this app." says nothing about a page
TEXTS_JUDGED_MIN: Final = 20  # before a host may be called repetitive
TEXTS_REMEMBERED_MAX: Final = 1_024  # then both counts are halved: a host is judged by what it gave lately
LEVEL_MAX: Final = 7


class SiteTrap(StrEnum):
    """Why a URL is refused for what its host or site has shown."""

    ENDLESS_CALENDAR = "endless-calendar"
    FAR_DATE = "far-date"
    RECOMBINED_PARAMETERS = "recombined-parameters"
    HOST_BURST = "host-burst"
    SITE_BURST = "site-burst"
    MOSTLY_DUPLICATES = "mostly-duplicates"


class Weighed(NamedTuple):
    """Refused by `trap`, or to be admitted `level` steps behind other URLs of its hop, 0 … LEVEL_MAX."""

    trap: SiteTrap | None = None
    level: int = 0


_LATE: Final = tuple(Weighed(level=level) for level in range(LEVEL_MAX + 1))


# What is kept ---------------------------------------------------------------------------------------------------------


class PatternCount(msgspec.Struct, array_like=True):
    """Admitted URLs of one pattern that a page of their own kind linked to (`Form.is_kin`).

    admitted: all of them, and `floor` for those of other patterns that had this place before. dated: those that name a
    date. values: bits of the fields of combined filters. texts: fetched pages of this pattern with a text new to the
    crawl. led: new URLs of other kinds that its pages were the first to link to.
    """

    admitted: int = 0
    floor: int = 0
    dated: int = 0
    texts: int = 0
    led: int = 0
    values: bytes = b""

    @property
    def own(self) -> int:
        """At least so many are of this pattern."""
        return self.admitted - self.floor

    @property
    def is_calendar(self) -> bool:
        """Whether its numbers are dates, and not by chance."""
        return self.dated >= CALENDAR_MIN and self.own - self.dated <= STRAYS_MAX * self.dated

    def recombines(self, form: Form) -> bool:
        """Whether `form` combines nothing but known values, of which there are few and have been many combinations."""
        known = int.from_bytes(self.values, "big")
        count = known.bit_count()
        is_told = 0 < count <= VALUE_BITS // 2 and self.own >= max(PATTERN_FREE, COMBINATIONS_PER_VALUE * count)
        return is_told and form.values | known == known

    @property
    def level(self) -> int:
        """How far behind: one step for PATTERN_FREE URLs with nothing to show for them, then one for each doubling."""
        unproven = max(0, self.own - self.texts - self.led)
        return min(LEVEL_MAX, (unproven // PATTERN_FREE).bit_length())


class Novelty(msgspec.Struct, array_like=True, frozen=True):
    """Pages of a host lately parsed: with a text new to the crawl, and with one that was known."""

    new: int = 0
    known: int = 0

    @property
    def level(self) -> int:
        """0 while new texts prevail or too little is judged; 1 at as many known as new, one more for each doubling."""
        if self.new + self.known < TEXTS_JUDGED_MIN:
            return 0
        return min(LEVEL_MAX, (self.known // max(1, self.new)).bit_length())


class HostCounts(msgspec.Struct, array_like=True):
    """What is kept of a host in one crawl: at most PATTERNS_MAX patterns, by `Form.pattern`.

    texts: pages with a text new to the crawl. hosts_led: hosts of its site, beyond HOSTS_FREE, that its pages were the
    first to lead to.
    """

    patterns: dict[int, PatternCount] = msgspec.field(default_factory=dict)
    novelty: Novelty = Novelty()
    texts: int = 0
    hosts_led: int = 0


class SiteCounts(Protocol):
    """What must be known of a site in one crawl: hosts with an admitted URL, and pages with a text new to the crawl."""

    hosts: int
    texts: int


class FamilyCounts(Protocol):
    """What must be known of the head of a family (`family_of`): its pages with a text new to the crawl, how many sites
    its family has besides, and their pages with such a text.
    """

    texts: int
    kin: int
    kin_texts: int


# Rules ----------------------------------------------------------------------------------------------------------------


def weigh(counts: HostCounts, page: Form | None, form: Form, year_now: int) -> Weighed:
    """What becomes of a new URL of `form`. `page` links to it; None for a seed, a sitemap, or a page of another host.

    Only what leads to its own kind is held back: whatever a seed, a sitemap or another kind of page names is welcome,
    so '/doc/1' to '/doc/100000' of a table of contents never meet a rule.
    """
    repetitive = counts.novelty.level
    if page is None:
        return _LATE[repetitive]
    if repetitive == LEVEL_MAX:
        return Weighed(SiteTrap.MOSTLY_DUPLICATES)
    count = None if form.pattern is None else counts.patterns.get(form.pattern)
    if count is None or not form.is_kin(page):
        return _LATE[repetitive]
    if form.year is not None and count.is_calendar:
        if form.year > year_now + YEARS_AHEAD_MAX:
            return Weighed(SiteTrap.FAR_DATE)
        if count.own >= PATTERN_FREE + count.led:
            return Weighed(SiteTrap.ENDLESS_CALENDAR)
    if form.values and count.recombines(form):
        return Weighed(SiteTrap.RECOMBINED_PARAMETERS)
    return _LATE[min(LEVEL_MAX, repetitive + count.level)]


def is_host_burst(site: SiteCounts, page: HostCounts | None) -> bool:
    """Whether one more host of the site has to wait. Of seeds never asked. `page`: of the host that leads there, None
    where that is of another site.

    A host answers for those that it leads to, for the texts of a rich site would feed a farm in its name. A refusal is
    not remembered: the next page that links to the host asks again, and by then more may be allowed.
    """
    if site.hosts < HOSTS_FREE:
        return False
    if page is not None and page.hosts_led >= page.texts // TEXTS_PER_HOST:
        return True
    return site.hosts >= HOSTS_FREE + site.texts // TEXTS_PER_HOST


def family_of(linking: str, site: str) -> str:
    """The family of a new site; `linking`: that of the site whose page led there, empty for seeds' sites.

    A seed's site belongs to nobody. Each site that it leads to is the head of a family, named after it, to which
    belongs whatever is found through it, however far from there.
    """
    return linking or site


def is_site_burst(head: FamilyCounts) -> bool:
    """Whether one more site of a family has to wait. Heads and seeds are never asked. Not remembered, as above.

    By who led there first and not by in-degree, because the sites of a farm may link to one another.
    """
    return head.kin >= SITES_FREE + (head.texts + head.kin_texts) // TEXTS_PER_SITE


def ceiling_of(ceiling: int | None, novelty: Novelty) -> int | None:
    """Pages that a host may have of its `ceiling`: half for each level, but never fewer than it is judged by."""
    if ceiling is None:
        return None
    return max(ceiling >> novelty.level, min(ceiling, TEXTS_JUDGED_MIN))


def explain_site_trap(trap: SiteTrap) -> str:
    """One sentence for people: what was seen and the limit."""
    match trap:
        case SiteTrap.ENDLESS_CALENDAR:
            return (
                f"more than {PATTERN_FREE} dates of this pattern led to one another, beyond one for each other new "
                "page that they were the first to link to"
            )
        case SiteTrap.FAR_DATE:
            return f"a page of a calendar leads to a date more than {YEARS_AHEAD_MAX} years ahead"
        case SiteTrap.RECOMBINED_PARAMETERS:
            return (
                f"its parameters, all seen before, were combined more than {COMBINATIONS_PER_VALUE} times for each of "
                "their values, as filters of a list are"
            )
        case SiteTrap.HOST_BURST:
            return (
                f"the site has {HOSTS_FREE} hosts, and the host that led there has led to one more for each "
                f"{TEXTS_PER_HOST} pages with new text on it"
            )
        case SiteTrap.SITE_BURST:
            return (
                f"{SITES_FREE} sites were found behind the site that a seed led to, and one more for each "
                f"{TEXTS_PER_SITE} pages with new text on them"
            )
        case SiteTrap.MOSTLY_DUPLICATES:
            return f"of {2 ** (LEVEL_MAX - 1)} pages and more of this host, none or hardly one had a text of its own"
        case _:
            assert_never(trap)


# Counting -------------------------------------------------------------------------------------------------------------


def count_admitted(counts: HostCounts, page: Form | None, form: Form) -> None:
    """A URL was admitted, new and by `weigh` with the same arguments. Changes `counts`.

    The first of its pattern speaks for the page that led to it, dated or not: '/2024/5/a-title' is an article,
    '/2024/5/export' is one only once.
    """
    if page is None:
        return
    is_first = True
    if form.pattern is not None and form.is_kin(page):
        count = _place(counts.patterns, form.pattern)
        count.admitted += 1
        count.dated += form.year is not None
        if form.values:
            values = int.from_bytes(count.values, "big") | form.values
            count.values = values.to_bytes(VALUE_BITS // 8, "big")
        is_first = count.own == 1
    if is_first and form.pattern != page.pattern and page.pattern in counts.patterns:
        counts.patterns[page.pattern].led += 1


def count_host(site: SiteCounts, page: HostCounts | None) -> None:
    """A host was admitted, by `is_host_burst` with the same arguments or as a seed. Changes both."""
    if page is not None and site.hosts >= HOSTS_FREE:
        page.hosts_led += 1
    site.hosts += 1


def count_text(counts: HostCounts, form: Form, *, is_new: bool) -> None:
    """A page was parsed, and its text was new to the crawl or known. Changes `counts`.

    Not for texts of fewer than TEXT_CHARS_JUDGED_MIN characters: the pages of a site that is all script are not copies.
    """
    counts.novelty = _lately(counts.novelty, is_new=is_new)
    counts.texts += is_new
    if is_new and form.pattern in counts.patterns:
        counts.patterns[form.pattern].texts += 1


def _place(patterns: dict[int, PatternCount], pattern: int) -> PatternCount:
    """The count of a pattern, at the cost of the rarest when all places are taken.

    Space-saving (Metwally et al. 2005): a pattern with more than 1 in PATTERNS_MAX of a host's URLs is never lost, and
    `floor` says by how much a count may be too high, so that the slugs of a big site are not taken for one pattern.
    """
    count = patterns.get(pattern)
    if count is None:
        floor = 0
        if len(patterns) >= PATTERNS_MAX:
            rarest = min(patterns, key=lambda other: patterns[other].admitted)
            floor = patterns.pop(rarest).admitted
        count = patterns[pattern] = PatternCount(floor, floor)
    return count


def _lately(novelty: Novelty, *, is_new: bool) -> Novelty:
    new, known = novelty.new + is_new, novelty.known + (not is_new)
    if new + known >= TEXTS_REMEMBERED_MAX:
        return Novelty(new // 2, known // 2)
    return Novelty(new, known)
