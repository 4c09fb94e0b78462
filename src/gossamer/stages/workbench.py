"""Hosts in memory, as many as the fetches need: drawn from the front queues, with runs of URLs from their back queues,
forgotten when all they know is on disk. When a host's turn comes is the frontier's.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gossamer.core.budget import Budget, Ceilings, next_day_at
from gossamer.core.keys import ready_key, url_row_key
from gossamer.core.politeness import DelayRules
from gossamer.core.rows import OVER_BUDGET, RESTING, HostRow, TallyRow, UrlRow, load
from gossamer.core.site_traps import ceiling_of
from gossamer.core.url import Url, origin_of
from gossamer.core.workbench import places
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import Family, PartitionStore, Row
from gossamer.stages.front_queues import FrontQueues, Place
from gossamer.stages.host_queue import RUN_MAX, Entry, HostQueue, Search, Site
from gossamer.stages.sites import Sites
from gossamer.stages.tallies import Tallies

JOIN_MAX = 32
"""Hosts brought to memory in one go: their rows are read together."""
STRIDE = 0.05
"""Weight of the last contact in the means of fetch time and gap."""
REST_ELSEWHERE_S = 60.0
"""A host that rests longer leaves the workbench where others wait."""
LOOK_S = 5.0
"""How often the number of places is set anew."""


@dataclass(frozen=True, slots=True)
class BenchRules:
    """What the workbench needs of the configuration."""

    crawl: int
    ceilings: Ceilings
    delay: DelayRules
    places: tuple[int, int]


class Leaver(NamedTuple):
    """A host that gives up its place, and where it waits then: None is the level of its best URL."""

    host: HostQueue
    place: tuple[int, int] | None


class Workbench:
    """The hosts of one crawl. Reads the store, never writes."""

    def __init__(self, store: PartitionStore, clock: Clock, rules: BenchRules, front: FrontQueues) -> None:
        self._store = store
        self._clock = clock
        self._crawl = rules.crawl
        self._ceilings = rules.ceilings
        self._delay = rules.delay
        self._bounds = rules.places
        self._front = front
        self._fetch_s = self._gap_s = 0.0
        self._contacts = 0
        self._looked_at = clock.monotonic()
        self.hosts: dict[bytes, HostQueue] = {}
        self.tallies = Tallies(store, rules.crawl, self.hosts)
        self.sites = Sites(store, rules.crawl, rules.ceilings)
        self.places = rules.places[0]
        self.leavers: list[Leaver] = []
        self.killed_at = float("-inf")
        """After a kill: no host is contacted before its gap has passed from then on."""

    def change(self, ceilings: Ceilings, delay: DelayRules) -> None:
        """Other ceilings and delays; hosts that were over their budgets get one more look."""
        self._ceilings, self._delay = ceilings, delay
        self.sites.change(ceilings)
        for host in self.hosts.values():
            host.budget.ceiling = self._ceiling(host.tally)
            if host.site is None and (site := self._site(host.row.site)) is not None:
                host.site = site
                site.budget.reserved += host.budget.reserved
        self._front.look_again(next_day_at(self._clock.now()))

    def host(self, key: bytes, name: str) -> HostQueue:
        """The host in memory, read from disk or made when it is not there."""
        found = self.hosts.get(key)
        return found or self._open(key, self.tallies.of(key, name), self._store.get(Family.HOSTS, key))

    @property
    def is_full(self) -> bool:
        """Whether a host has to leave before another comes."""
        return len(self.hosts) >= self.places

    @property
    def _others_wait(self) -> bool:
        return self.is_full and self._front.has_some(self._clock.now())

    @property
    def may_join(self) -> bool:
        """Whether there is room for a host, and perhaps one that waits for it."""
        return not self.is_full and self._front.has_some(self._clock.now())

    @property
    def next_join_at(self) -> float:
        """Monotonic time when the next host that rests elsewhere may come back; infinity for none."""
        return float("inf") if self.is_full else self._monotonic(self._front.next_rested_at())

    def join(self) -> list[HostQueue]:
        """The next hosts of the front queues, at most JOIN_MAX, now in memory."""
        room = min(JOIN_MAX, self.places - len(self.hosts))
        # A host may be drawn twice: once more for each time that the budget of its site has grown.
        by_host = {place.host: place for place in self._front.draw(room, self._clock.now())}
        drawn = [place for host, place in by_host.items() if host not in self.hosts]
        keys = [place.host for place in drawn]
        tallies = self.tallies.of_many(keys)
        # A row that a batch has moved meanwhile comes again from where it is now.
        joins = [
            (place.host, tally)
            for place, tally in zip(drawn, tallies, strict=True)
            if tally is not None and (tally.level, tally.order) == place[:2] and self._may_join(tally)
        ]
        rows = self._store.get_many(Family.HOSTS, [key for key, _ in joins])
        hosts = [self._open(key, tally, row) for (key, tally), row in zip(joins, rows, strict=True)]
        self._read_first_runs(hosts)
        return hosts

    def placed(self, place: Place, tally: TallyRow) -> None:
        """The row of a host that waits elsewhere is durable; its budget may have grown while that was written."""
        self._front.placed(place)
        if place.level == OVER_BUDGET and self._may_join(tally):
            self._front.release(place.order)

    def _may_join(self, tally: TallyRow) -> bool:
        if tally.level != OVER_BUDGET:
            return True
        ceiling = self._ceiling(tally)
        site = self._site(tally.site)
        return (ceiling is None or tally.fetched < ceiling) and (site is None or not site.budget.is_spent)

    def _ceiling(self, tally: TallyRow) -> int | None:
        return ceiling_of(self._ceilings.pages_per_host, tally.counts.novelty)

    def _site(self, name: str) -> Site | None:
        return self.sites.of(name) if self._ceilings.has_site_budgets else None

    def measured(self, fetch_s: float, gap_s: float) -> None:
        """A contact took that long, and its host rests that long; the places follow what the crawl needs."""
        self._contacts += 1
        self._fetch_s += (fetch_s - self._fetch_s) * STRIDE
        self._gap_s += (gap_s - self._gap_s) * STRIDE
        now = self._clock.monotonic()
        if now >= self._looked_at + LOOK_S:
            self.places = places(self._contacts / (now - self._looked_at), self._fetch_s, self._gap_s, self._bounds)
            self._contacts, self._looked_at = 0, now

    def forget_if_idle(self, host: HostQueue) -> None:
        """Nothing is lost by it."""
        if host.is_idle and self.hosts.get(host.key) is host:
            del self.hosts[host.key]

    def give_way(self, host: HostQueue) -> None:
        """Where others wait, a host leaves when its run is used, and when it may not be contacted for long."""
        if not (host.is_free and host.has_work and self._others_wait):
            return
        rests_until = max(host.next_at, host.closed_until)
        rest_s = rests_until - self._clock.monotonic()
        if rest_s > REST_ELSEWHERE_S:
            self.leave(host, (RESTING, int(1000 * (self._clock.now() + rest_s))))
        elif not host.run:
            self.leave(host)

    def leave(self, host: HostQueue, place: tuple[int, int] | None = None) -> None:
        """Give up the place of a host that nobody works for, to wait at `place` (level and order in FRONT)."""
        host.put_run_back()
        host.is_leaving, host.is_starved, host.queued_at = True, False, None
        self.leavers.append(Leaver(host, place))

    def left(self, key: bytes) -> HostQueue | None:
        """Its row in FRONT is written. It stays when meanwhile somebody asked it for the robots.txt of another."""
        host = self.hosts[key]
        host.is_leaving = False
        if not host.is_free:
            return host
        del self.hosts[key]
        return None

    def read_run(self, host: HostQueue) -> bool:
        """Take up the next URLs behind the cursor, or those that were put back; False when there are none."""
        if self._read_on(host):
            return True
        if not host.has_put_back:
            return False
        host.cursor, host.has_put_back = b"", False
        return self._read_on(host)

    def look_on(self, host: HostQueue, closed_until: float) -> float | None:
        """Put a run back that is closed until then (wall time) and read the next one: other origins may be open.

        A number: it has been round the whole back queue, nothing opens earlier.
        """
        if (host.is_surveyed and not host.is_mixed) or host.tally.ready <= len(host.taken):
            return closed_until
        search = host.search = host.search or Search(host.run[0].ready_key)
        search.reopens_at = min(search.reopens_at, closed_until)
        host.put_run_back()
        if not self._read_on(host):
            host.cursor, search.is_second_half = b"", True
            self._read_on(host)
        if search.is_second_half and (not host.run or host.run[0].ready_key >= search.began_at):
            host.search, host.is_surveyed = None, True
            return search.reopens_at
        return None

    def _read_first_runs(self, hosts: list[HostQueue]) -> None:
        """Those of several hosts together: 24 µs each, where one by one they cost 31."""
        places = self._store.heads(Family.READY, [self._unread(host) for host in hosts], RUN_MAX)
        keys = [key for run in places for _, key in run]
        rows = iter(self._store.get_many(Family.URLS, [url_row_key(self._crawl, key) for key in keys]))
        for host, run in zip(hosts, places, strict=True):
            self._take_up(host, run, [next(rows) for _ in run])

    def _read_on(self, host: HostQueue) -> bool:
        start, stop = self._unread(host)
        places: list[Row] = []
        for row in self._store.scan(Family.READY, start, stop):
            if row[0] not in host.taken:
                places.append(row)
                if len(places) >= RUN_MAX:
                    break
        rows = self._store.get_many(Family.URLS, [url_row_key(self._crawl, key) for _, key in places])
        self._take_up(host, places, rows)
        return bool(places)

    def _unread(self, host: HostQueue) -> tuple[bytes, bytes]:
        start = host.cursor or ready_key(self._crawl, host.key, 0, 0)
        return start, ready_key(self._crawl, host.key, 255, 2**64 - 1)

    def _take_up(self, host: HostQueue, places: list[Row], rows: list[bytes | None]) -> None:
        for (place, key), stored in zip(places, rows, strict=True):
            assert stored is not None, f"READY names a URL without a row: {key.hex()}"
            row = load(UrlRow, stored)
            host.saw(origin_of(Url(row.url)))
            host.run.append(Entry(place, key, row))
            host.taken.add(place)
        if places:
            host.cursor = places[-1][0] + b"\x00"

    def take(self, host: HostQueue, entry: Entry) -> bool:
        """Take an entry out of the run, or off the disk when the run was put back; False when it is gone."""
        if entry in host.run:
            host.run.remove(entry)
            return True
        is_there = entry.ready_key not in host.taken and self._store.get(Family.READY, entry.ready_key) is not None
        if is_there:
            host.taken.add(entry.ready_key)
        return is_there

    def _open(self, key: bytes, tally: TallyRow, stored: bytes | None) -> HostQueue:
        row = load(HostRow, stored) if stored else HostRow(tally.host, tally.site)
        host = HostQueue(key, row, tally, Budget(self._ceiling(tally), spent=tally.fetched), self._site(row.site))
        host.is_surveyed = not tally.ready  # then every URL comes by
        host.next_at = max(self._clock.monotonic(), self._monotonic(row.manners.next_allowed_at))
        # What was in flight at the kill may have ended just then.
        own_gap_s = max(row.crawl_delay_s or 0.0, row.manners.gap_s, self._delay.delay_s)
        ahead_s = self._clock.monotonic() - self._clock.now()
        host.manners = row.manners.at(max(host.next_at, self.killed_at + own_gap_s), ahead_s)
        # The delays were others, perhaps, when its last contact ended.
        host.next_at = max(host.manners.next_allowed_at, host.manners.owed_until(self._delay, row.crawl_delay_s))
        self.hosts[key] = host
        return host

    def _monotonic(self, wall: float) -> float:
        return self._clock.monotonic() + wall - self._clock.now()
