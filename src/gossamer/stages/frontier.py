"""Which URL is next, and whom we may ask: hosts in memory, a heap by next-allowed time, robots.txt before any page.

Nothing here writes: a lease stays in READY on disk until the ledger settles it, so a crash hands it out again.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import assert_never

from gossamer.core.budget import Budget, Ceilings
from gossamer.core.outcome import Denied, Failed, Outcome, Reason, Unreachable
from gossamer.core.politeness import DelayRules, after_contact, crawl_delay_too_long, gap_s
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import Permission, UnreachableMode, permission
from gossamer.core.rows import (
    LAST,
    HostRow,
    Kind,
    OriginRow,
    State,
    TallyRow,
    UrlRow,
    load,
    ready_key,
    tally_key,
    url_row_key,
)
from gossamer.core.url import Url, origin_of, site_of
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.host_queue import RUN_MAX, Entry, HostQueue, RobotsErrand

DECISIONS_MAX = 64
"""Hosts looked at in one call of `next_lease`, so that a heap full of closed hosts does not hold the loop."""
SUSPECT_PAUSE_S = 0.25
"""How soon a host whose last contact timed out is looked at again while half of the fetches are held by such hosts."""
TIMEOUTS = frozenset({Reason.CONNECT_TIMEOUT, Reason.FIRST_BYTE_TIMEOUT, Reason.TOTAL_TIMEOUT, Reason.TOO_SLOW})


@dataclass(frozen=True, slots=True)
class FrontierRules:
    """What the frontier needs of the configuration. `robots_off` names hosts whose operator asked us to ignore it;
    `suspects_max` bounds the fetches in flight to hosts whose last contact timed out.
    """

    crawl: int
    agent: str
    delay: DelayRules
    ceilings: Ceilings
    robots_mode: UnreachableMode
    robots_off: frozenset[str]
    suspects_max: int


@dataclass(slots=True)
class PageLease:
    """A URL handed out (page or sitemap). The host is taken until the contact ends."""

    host: HostQueue
    entry: Entry


@dataclass(slots=True)
class RobotsLease:
    """A contact for robots.txt handed out."""

    host: HostQueue
    errand: RobotsErrand


@dataclass(slots=True)
class Verdict:
    """A URL that ends without any contact."""

    host: HostQueue
    entry: Entry
    outcome: Outcome


Lease = PageLease | RobotsLease
Place = tuple[HostQueue, bytes]


class Frontier:
    """All hosts with something to fetch."""

    def __init__(self, store: PartitionStore, clock: Clock, rules: FrontierRules, budget: Budget) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules
        self._heap: list[tuple[float, int, HostQueue]] = []
        self._order = count()
        self.budget = budget
        self.hosts: dict[bytes, HostQueue] = {}
        self.in_flight = 0
        self.suspects_in_flight = 0
        self._is_starved = False

    def __repr__(self) -> str:
        return f"<Frontier {len(self.hosts)} hosts in memory, {len(self._heap)} queued, {self.in_flight} in flight>"

    def load(self, *, rest_until: float) -> None:
        """Bring the hosts of the crawl that have URLs ready back to memory; none is contacted before `rest_until`."""
        prefix = tally_key(self._rules.crawl, b"")
        for key, stored in self._store.scan(Family.TALLIES, prefix, prefix + LAST):
            tally = load(TallyRow, stored)
            if tally.ready:
                host = self._open(key[4:], tally.host, tally)
                host.next_at = max(host.next_at, rest_until)
                self.wake(host)

    def host(self, key: bytes, name: str) -> HostQueue:
        """The host in memory, read from disk or made when it is not there."""
        found = self.hosts.get(key)
        if found is None:
            stored = self._store.get(Family.TALLIES, tally_key(self._rules.crawl, key))
            found = self._open(key, name, load(TallyRow, stored) if stored else TallyRow(name, [0] * len(State)))
        return found

    def next_lease(self) -> Lease | Verdict | None:
        """Something whose time has come, or None. The caller ends every lease with `contact_ended` or `postpone`."""
        now = self._clock.monotonic()
        for _ in range(DECISIONS_MAX):
            if not self._heap or self._heap[0][0] > now:
                return None
            at, _, host = heapq.heappop(self._heap)
            if host.queued_at != at:
                continue  # an older entry of a host that was queued again since
            host.queued_at = None
            if host.in_flight or not host.has_work:
                continue
            if host.timed_out and self.suspects_in_flight >= self._rules.suspects_max:
                self.wake(host, not_before=now + SUSPECT_PAUSE_S)
                continue
            decision = self._decide(host)
            if isinstance(decision, Verdict):
                self.wake(host)
                return decision
            if decision is not None:
                host.in_flight, host.suspect = True, host.timed_out
                self.in_flight += 1
                self.suspects_in_flight += host.suspect
                return decision
        return None

    @property
    def wake_at(self) -> float | None:
        """Monotonic time of the next possible lease; None when no host waits."""
        while self._heap and self._heap[0][2].queued_at != self._heap[0][0]:
            heapq.heappop(self._heap)  # an older entry of a host that was queued again since
        return self._heap[0][0] if self._heap else None

    def wake(self, host: HostQueue, *, not_before: float = 0.0) -> None:
        """Queue a host that may have work, at its next-allowed time or later."""
        if host.in_flight or not host.has_work:
            return
        at = max(host.next_at, not_before)
        if host.queued_at is None or at < host.queued_at:
            host.queued_at = at
            heapq.heappush(self._heap, (at, next(self._order), host))

    def wake_all(self) -> None:
        """After a budget got room again, or a pause ended."""
        for host in self.hosts.values():
            self.wake(host)

    def contact_ended(self, host: HostQueue, outcome: Outcome, *, began_at: float, u: float) -> None:
        """The lease is over now; `began_at` is when the contact began, `u` the jitter. Sets when the next may begin."""
        ended_at = self._clock.monotonic()
        gap = gap_s(self._rules.delay, host.row.crawl_delay_s, ended_at - began_at)
        host.manners = after_contact(host.manners, outcome, ended_at, gap, u)
        host.next_at = max(host.next_at, host.manners.next_allowed_at)
        host.row.manners = replace(host.manners, next_allowed_at=self._clock.now() + host.next_at - ended_at)
        host.timed_out = isinstance(outcome, Unreachable) and outcome.reason in TIMEOUTS
        self._free(host)

    def claim(self, host: HostQueue, entry: Entry) -> bool:
        """Take an entry out of the run to settle it without a lease of its own; False when a budget forbids."""
        if entry not in host.run or not self._reserve(host, entry):
            return False
        host.run.remove(entry)
        return True

    def _free(self, host: HostQueue) -> None:
        host.in_flight = False
        self.in_flight -= 1
        self.suspects_in_flight -= host.suspect
        host.suspect = False
        self.wake(host)

    def give_back(self, lease: Lease, outcome: Outcome, *, began_at: float, u: float) -> None:
        """The contact was made but can't be kept (no disk): the host rests, the same work is handed out again."""
        self._put_back(lease)
        self.contact_ended(lease.host, outcome, began_at=began_at, u=u)

    def postpone(self, lease: Lease, until: float) -> None:
        """No contact was made, the address must rest: the same work is handed out again at `until`."""
        host = lease.host
        self._put_back(lease)
        host.next_at = max(host.next_at, until)
        self._free(host)

    def robots_settled(self, asker: HostQueue, origin: str, rules: RobotsRules | None) -> None:
        """The asking for `origin` is over: `rules` came, or (None) what is stored is read again. The host goes on."""
        asker.asking.discard(origin)
        asker.rules.pop(origin, None)
        if rules is not None:
            self._hold_rules(asker, origin, rules)
        self.wake(asker)

    def settled(self, released: Iterable[Place], found: Iterable[Place], touched: Iterable[HostQueue]) -> None:
        """The batch with these READY entries gone and those come is durable; idle hosts leave the memory."""
        for host, place in released:
            host.taken.discard(place)
            self.wake(host)
        for host, place in found:
            host.found(place)
            self.wake(host)
        for host in touched:
            if host.is_idle and host.queued_at is None:
                self.hosts.pop(host.key, None)
        if self._is_starved and self.budget.has_room:
            self._is_starved = False
            self.wake_all()

    def counts(self) -> tuple[int, int, int]:
        """Hosts busy, waiting for their next-allowed time, and parked (closed by robots.txt or asking for it)."""
        now = self._clock.monotonic()
        with_work = [host for host in self.hosts.values() if host.in_flight or host.has_work]
        busy = sum(host.in_flight for host in with_work)
        parked = sum(not host.in_flight and (bool(host.asking) or host.closed_until > now) for host in with_work)
        return busy, len(with_work) - busy - parked, parked

    def _put_back(self, lease: Lease) -> None:
        match lease:
            case PageLease(host=host, entry=entry):
                host.run.appendleft(entry)
                self._unreserve(host, entry)
            case RobotsLease(host=host, errand=errand):
                host.errands.appendleft(errand)
            case _:
                assert_never(lease)

    # The decision about one host.

    def _decide(self, host: HostQueue) -> Lease | Verdict | None:
        if host.errands:
            return RobotsLease(host, host.errands.popleft())
        if not host.run:
            self._read_run(host)
        now, closed_until = self._clock.now(), float("inf")
        for entry in tuple(host.run):
            origin = origin_of(Url(entry.row.url))
            verdict = self._judge(host, entry, origin, now)
            if isinstance(verdict, float):
                closed_until = min(closed_until, verdict)
                continue
            if isinstance(verdict, RobotsErrand):
                host.asking.add(origin)
                return RobotsLease(host, verdict)
            if not self._reserve(host, entry):
                return None  # woken again by the ledger when a reserved unit comes back
            host.run.remove(entry)
            return PageLease(host, entry) if verdict is None else Verdict(host, entry, verdict)
        if closed_until < float("inf"):
            host.closed_until = self._clock.monotonic() + max(0.0, closed_until - now)
            self.wake(host, not_before=host.closed_until)
        return None

    def _judge(self, host: HostQueue, entry: Entry, origin: str, now: float) -> Outcome | RobotsErrand | float | None:
        """None: go. An outcome: ends here. An errand: ask robots.txt first. A number: closed until then (wall time)."""
        if host.address_refused_until > self._clock.monotonic():
            return Failed(0, Reason.ADDRESS_NOT_ALLOWED)
        if host.row.host in self._rules.robots_off:
            return None
        if origin in host.asking:
            return float("inf")
        row = host.row.origins.get(origin)
        match permission(row.copy, now, self._rules.robots_mode) if row else Permission.ASK_ROBOTS:
            case Permission.ASK_ROBOTS:
                return RobotsErrand(origin, host.key, origin + "/robots.txt", head=entry)
            case Permission.CLOSED:
                assert row is not None
                return row.copy.next_try_at
            case Permission.ALLOW_ALL:
                return None
            case Permission.BY_RULES:
                assert row is not None
                return self._by_rules(host, entry, origin, row)

    def _by_rules(self, host: HostQueue, entry: Entry, origin: str, row: OriginRow) -> Outcome | None:
        rules = host.rules.get(origin)
        if rules is None:
            rules = self._hold_rules(host, origin, self.robots_rules(row))
        if crawl_delay_too_long(self._rules.delay, rules.crawl_delay_s):
            return Denied(Reason.CRAWL_DELAY_TOO_LONG)
        return None if rules.decide(entry.row.url).allowed else Denied(Reason.ROBOTS_DISALLOWED)

    @staticmethod
    def _hold_rules(host: HostQueue, origin: str, rules: RobotsRules) -> RobotsRules:
        """The longest crawl-delay of a host's origins holds for the host: http and https are one machine to it."""
        host.rules[origin] = rules
        delays = [held.crawl_delay_s for held in host.rules.values() if held.crawl_delay_s is not None]
        host.row.crawl_delay_s = max(delays, default=None)
        return rules

    def robots_rules(self, row: OriginRow) -> RobotsRules:
        """The stored robots.txt of an origin, read for our agent."""
        body = self._store.get(Family.ROBOTS, row.body_key) or b""
        return parse_robots(body).rules_for(self._rules.agent)

    def _reserve(self, host: HostQueue, entry: Entry) -> bool:
        if entry.row.kind is not Kind.PAGE:
            return True
        if not (self.budget.has_room and host.budget.has_room):
            self._is_starved = self._is_starved or not self.budget.has_room
            return False
        self.budget.reserve()
        host.budget.reserve()
        return True

    def _unreserve(self, host: HostQueue, entry: Entry) -> None:
        if entry.row.kind is Kind.PAGE:
            self.budget.give_back()
            host.budget.give_back()

    # Memory and disk.

    def _open(self, key: bytes, name: str, tally: TallyRow) -> HostQueue:
        stored = self._store.get(Family.HOSTS, key)
        row = load(HostRow, stored) if stored else HostRow(name, site_of(name))
        budget = Budget(self._rules.ceilings.pages_per_host, spent=tally.fetched)
        host = HostQueue(key, row, tally, budget)
        rest_s = row.manners.next_allowed_at - self._clock.now()
        host.next_at = self._clock.monotonic() + max(0.0, rest_s)
        host.manners = replace(row.manners, next_allowed_at=host.next_at)
        self.hosts[key] = host
        return host

    def _read_run(self, host: HostQueue) -> None:
        start = host.cursor or ready_key(self._rules.crawl, host.key, 0, 0)
        stop = ready_key(self._rules.crawl, host.key, 255, 2**64 - 1)
        places: list[tuple[bytes, bytes]] = []
        for place, key in self._store.scan(Family.READY, start, stop):
            if place not in host.taken:
                places.append((place, key))
                if len(places) >= RUN_MAX:
                    break
        if not places:
            return
        rows = self._store.get_many(Family.URLS, [url_row_key(self._rules.crawl, key) for _, key in places])
        for (place, key), stored in zip(places, rows, strict=True):
            assert stored is not None, f"READY names a URL without a row: {key.hex()}"
            host.run.append(Entry(place, key, load(UrlRow, stored)))
            host.taken.add(place)
        host.cursor = places[-1][0] + b"\x00"
