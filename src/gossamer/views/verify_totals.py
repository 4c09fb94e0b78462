"""Counts against rows: each host's tally, the crawl's counters; and robots.txt bodies that rules rest on."""

from dataclasses import dataclass, field

import msgspec

from gossamer.core.keys import LAST, front_key, tally_key
from gossamer.core.rows import OPEN_STATES, CrawlRow, HostRow, Kind, State, TallyRow, UrlRow, load
from gossamer.core.url import Url, host_of
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.problems import Problems

_NEVER_A_KEY = b"\xff" * 64


@dataclass(slots=True)
class Totals:
    """Counted from rows: pages by state, stored 2xx pages, READY entries (sitemaps too), sitemaps."""

    states: list[int] = field(default_factory=lambda: [0] * len(State))
    fetched: int = 0
    ready: int = 0
    sitemaps: int = 0
    sitemaps_open: int = 0
    hosts_ready: int = 0

    @property
    def is_contacted(self) -> bool:
        """Whether a page has left its first state: that takes a contact, or the knowledge that none is allowed."""
        return sum(self.states) > self.states[State.READY]

    def add(self, row: UrlRow) -> None:
        """Count one more URL."""
        self.ready += row.state is State.READY
        if row.kind is Kind.SITEMAP:
            self.sitemaps += 1
            self.sitemaps_open += row.state in OPEN_STATES
            return
        self.states[row.state] += 1
        self.fetched += row.fetch is not None and 200 <= row.fetch.status < 300


class HostTotals:
    """Takes rows in the order of their keys, host by host, and holds each host's counts against its tally."""

    def __init__(self, partition: PartitionStore, crawl: int, problems: Problems) -> None:
        self._partition = partition
        self._problems = problems
        self._crawl = crawl
        prefix = tally_key(crawl, b"")
        self._tallies = partition.scan(Family.TALLIES, prefix, prefix + LAST)
        self._next = next(self._tallies, (_NEVER_A_KEY, b""))
        self._key = b""
        self._host = ""
        self._counted = Totals()
        self.totals = Totals()

    def add(self, key: bytes, row: UrlRow) -> None:
        """One more row; its key is not below that of the row before."""
        if key[:8] != self._key:
            self._close_host()
            self._key, self._host, self._counted = key[:8], host_of(Url(row.url)), Totals()
        self._counted.add(row)
        self.totals.add(row)

    def finish(self) -> None:
        """No more rows."""
        self._close_host()
        while self._next[0] != _NEVER_A_KEY:
            self._take_empty()

    def _close_host(self) -> None:
        if not self._key:
            return
        while self._next[0][4:] < self._key:
            self._take_empty()
        key, stored = self._next
        if key == _NEVER_A_KEY or key[4:] != self._key:
            self._problems.add(f"{self._host}: it has URLs, but no tally")
            return
        self._next = next(self._tallies, (_NEVER_A_KEY, b""))
        self._compare(stored, self._counted, self._host)
        self.totals.hosts_ready += self._counted.ready > 0
        if self._counted.is_contacted and self._partition.get(Family.HOSTS, self._key) is None:
            self._problems.add(f"{self._host}: it has URLs, but no HOSTS row, so nobody knows when it may be contacted")

    def _take_empty(self) -> None:
        """A tally of a host without URLs: fine as long as it counts nothing."""
        key, stored = self._next
        self._next = next(self._tallies, (_NEVER_A_KEY, b""))
        self._compare(stored, Totals(), f"host {key[4:].hex()}")

    def _compare(self, stored: bytes, counted: Totals, host: str) -> None:
        try:
            tally = load(TallyRow, stored)
        except msgspec.MsgspecError as error:
            self._problems.add(f"{host}: its tally can't be read: {error}")
            return
        for what, said, is_so in (
            *_by_state(tally.states, counted.states),
            ("fetched", tally.fetched, counted.fetched),
            ("ready entries", tally.ready, counted.ready),
        ):
            if said != is_so:
                self._problems.add(f"{host}: its tally says {said} {what}, its rows say {is_so}")
        self._check_place(tally, host)

    def _check_place(self, tally: TallyRow, host: str) -> None:
        if sum(tally.ready_by_level) != tally.ready:
            self._problems.add(f"{host}: its levels count {sum(tally.ready_by_level)} ready entries, not {tally.ready}")
        if not tally.ready:
            return
        place = front_key(self._crawl, max(0, tally.level), tally.order, self._key)
        if tally.level < 0 or self._partition.get(Family.FRONT, place) is None:
            self._problems.add(f"{host}: it has URLs ready, but no place in a front queue")


def check_counters(crawl: CrawlRow, totals: Totals, problems: Problems) -> None:
    """The crawl's counters against all rows."""
    counters = crawl.counters
    for what, said, is_so in (
        *_by_state(counters.states, totals.states),
        ("fetched", counters.fetched, totals.fetched),
        ("sitemaps", counters.sitemaps, totals.sitemaps),
        ("open sitemaps", counters.sitemaps_open, totals.sitemaps_open),
        ("hosts with URLs ready", counters.hosts_ready, totals.hosts_ready),
    ):
        if said != is_so:
            problems.add(f"crawl {crawl.crawl_id}: its counters say {said} {what}, its rows say {is_so}")


def check_robots(partition: PartitionStore, problems: Problems) -> None:
    """Every body that an origin's rules rest on is there: without it the rules would read as 'all is allowed'."""
    for key, stored in partition.scan(Family.HOSTS, b"", LAST):
        try:
            row = load(HostRow, stored)
        except msgspec.MsgspecError as error:
            problems.add(f"HOSTS {key.hex()}: the row can't be read: {error}")
            continue
        for origin, held in row.origins.items():
            if held.body_key and partition.get(Family.ROBOTS, held.body_key) is None:
                problems.add(f"{origin}: its robots.txt is gone from ROBOTS")


def _by_state(said: list[int], is_so: list[int]) -> list[tuple[str, int, int]]:
    return [(state.label, said[state] if state < len(said) else 0, is_so[state]) for state in State]
