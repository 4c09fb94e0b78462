"""Which URL is next, and whom we may ask: a heap of hosts by next-allowed time, robots.txt before any page.

Nothing here writes: a lease stays in READY on disk until the ledger settles it, so a crash hands it out again.
"""

from dataclasses import dataclass
from random import Random
from typing import assert_never

from gossamer.core.budget import Budget, Ceilings, next_day_at
from gossamer.core.outcome import Outcome, Reason, Unreachable
from gossamer.core.politeness import DelayRules, after_contact, gap_s
from gossamer.core.robots_copy import UnreachableMode
from gossamer.core.rows import OVER_BUDGET
from gossamer.core.url import Url, origin_of, site_key
from gossamer.core.workbench import BOUNDS
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import PartitionStore
from gossamer.stages.budgets import Budgets
from gossamer.stages.debuts import Debuts
from gossamer.stages.front_queues import FrontQueues
from gossamer.stages.host_heap import HostHeap
from gossamer.stages.host_queue import Entry, HostQueue, RobotsErrand, Site
from gossamer.stages.judge import Judge, JudgeRules
from gossamer.stages.leases import Lease, PageLease, RobotsLease, Verdict
from gossamer.stages.posting import Posting
from gossamer.stages.sites import Sites
from gossamer.stages.tallies import Tallies
from gossamer.stages.workbench import BenchRules, Leaver, Workbench

DECISIONS_MAX = 64
"""Hosts looked at in one call of `next_lease`, so that a heap full of closed hosts does not hold the loop."""
SUSPECT_PAUSE_S = 0.25
"""How soon a host whose last contact timed out is looked at again while half of the fetches are held by such hosts."""
SEARCH_RUNS_MAX = 4
"""Runs looked at in one decision, when the URLs in memory are closed and others may not be."""
SEARCH_PAUSE_S = 0.1
"""How soon the search goes on."""
TIMEOUTS = frozenset({Reason.CONNECT_TIMEOUT, Reason.FIRST_BYTE_TIMEOUT, Reason.TOTAL_TIMEOUT, Reason.TOO_SLOW})


@dataclass(frozen=True, slots=True)
class FrontierRules:
    """What the frontier needs of the configuration. `robots_off` names hosts whose operator asked us to ignore it;
    `suspects_max` bounds the fetches in flight to hosts whose last contact timed out; `places` are the fewest and the
    most hosts in memory.
    """

    crawl: int
    agent: str
    delay: DelayRules
    ceilings: Ceilings
    robots_mode: UnreachableMode
    robots_off: frozenset[str]
    suspects_max: int
    places: tuple[int, int] = BOUNDS


class Frontier:
    """All hosts with something to fetch."""

    def __init__(self, store: PartitionStore, clock: Clock, rules: FrontierRules, budget: Budget, rng: Random) -> None:
        self._clock = clock
        self.rules = rules
        self._front = FrontQueues(store, rules.crawl, rng)
        self._bench = Workbench(
            store, clock, BenchRules(rules.crawl, rules.ceilings, rules.delay, rules.places), self._front
        )
        self._judge = Judge(store, clock, JudgeRules(rules.agent, rules.delay, rules.robots_mode, rules.robots_off))
        self._heap = HostHeap()
        self._debuts = Debuts()
        self.budget = budget
        self.budgets = Budgets(budget, rules.ceilings, clock)
        self.in_flight = 0
        self.suspects_in_flight = 0

    def __repr__(self) -> str:
        return f"<Frontier {len(self.hosts)} hosts in memory, {len(self._heap)} queued, {self.in_flight} in flight>"

    @property
    def hosts(self) -> dict[bytes, HostQueue]:
        """Hosts in memory by key."""
        return self._bench.hosts

    @property
    def places(self) -> int:
        """How many hosts memory holds now, at most."""
        return self._bench.places

    @property
    def leavers(self) -> list[Leaver]:
        """Hosts that give up their places; whoever takes them off the list has the ledger write it."""
        return self._bench.leavers

    @property
    def tallies(self) -> Tallies:
        """Those of all hosts, in memory or not."""
        return self._bench.tallies

    @property
    def sites(self) -> Sites:
        """All sites, in memory or not."""
        return self._bench.sites

    def change(self, rules: FrontierRules) -> None:
        """Other delays and ceilings from now on; whatever else there is in the rules stays as it was.

        A longer rest is owed to every host at once, from the end of its last contact; a shorter one after contacts that
        begin from now on. Leases whose contact has not begun come back, for they were handed out by the old rules.
        """
        self.rules = rules
        self._judge.change(rules.delay)
        self.budgets.change(rules.ceilings)
        self._bench.change(rules.ceilings, rules.delay)
        for host in self.hosts.values():
            host.is_recalled, host.closed_until = host.in_flight, 0.0
            self._plan(host, host.manners.owed_until(rules.delay, host.row.crawl_delay_s))
            self._feed(host.site)
            self.wake(host)

    def load(self, *, rest_until: float) -> None:
        """Take up the front queues that a former process left.

        `rest_until` (monotonic) is 0 after an orderly end. Otherwise no host is contacted before it, nor before the
        host's own gap has passed, where that is longer than the usual delay.
        """
        if rest_until:
            self._bench.killed_at = rest_until - self.rules.delay.delay_s
        self._front.load()
        self.sites.load()

    def host(self, key: bytes, name: str) -> HostQueue:
        """The host in memory, read from disk or made when it is not there."""
        return self._bench.host(key, name)

    def next_lease(self) -> Lease | Verdict | None:
        """Something whose time has come, or None. The caller ends every lease with `contact_ended` or `postpone`."""
        now = self._clock.monotonic()
        if self._bench.may_join and not self.budget.is_spent:
            for joined in self._bench.join():
                self.wake(joined)
        for _ in range(0 if self.budget.is_spent else DECISIONS_MAX):
            host = self._heap.pop_due(now)
            if host is None:
                fed = self.budgets.fed()
                if fed is None:
                    return None
                self.wake(fed)
                continue
            if host.in_flight or host.is_leaving or not host.has_work:
                self._bench.forget_if_idle(host)
                continue
            if not host.has_debut:
                host.has_debut = True
                host.next_at = max(host.next_at, self._debuts.take(now, len(self.hosts), self.rules.delay.delay_s))
            if host.next_at > now:  # its debut is later, or it learned of a crawl-delay after it was queued
                self.wake(host)
                continue
            if host.timed_out and self.suspects_in_flight >= self.rules.suspects_max:
                self.wake(host, not_before=now + SUSPECT_PAUSE_S)
                continue
            decision = self._decide(host)
            if isinstance(decision, Verdict):
                self.wake(host)
                return decision
            if decision is not None:
                host.in_flight, host.suspect, host.delay = True, host.timed_out, self.rules.delay
                self.in_flight += 1
                self.suspects_in_flight += host.suspect
                return decision
        return None

    @property
    def wake_at(self) -> float | None:
        """Monotonic time of the next possible lease; None when no host waits."""
        if self.budget.is_spent:
            return None
        if self.budgets.may_feed or self._bench.may_join:
            return self._clock.monotonic()
        next_at = min(self._heap.next_at, self._bench.next_join_at)
        return next_at if next_at < float("inf") else None

    def wake(self, host: HostQueue, *, not_before: float = 0.0) -> None:
        """Queue a host that may have work, at its next-allowed time or later."""
        if host.in_flight or host.is_leaving or not host.has_work:
            return
        self._heap.push(host, max(host.next_at, not_before))

    # How leases end.

    def contact_ended(self, host: HostQueue, outcome: Outcome, *, began_at: float, u: float) -> None:
        """The lease is over now; `began_at` is when the contact began, `u` the jitter. Sets when the next may begin."""
        ended_at = self._clock.monotonic()
        gap_s = self._gap_s(host, began_at)
        host.manners = after_contact(host.manners, outcome, ended_at, gap_s, u)
        self._bench.measured(ended_at - began_at, gap_s)
        host.timed_out = isinstance(outcome, Unreachable) and outcome.reason in TIMEOUTS
        self._rest(host, host.manners.next_allowed_at, ended_at - began_at)

    def contact_dropped(self, lease: Lease, *, began_at: float) -> None:
        """We broke the contact off: the host rests as after any other, the same work is handed out again."""
        self._put_back(lease)
        now = self._clock.monotonic()
        self._rest(lease.host, now + self._gap_s(lease.host, began_at), now - began_at)

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

    def claim(self, host: HostQueue, entry: Entry) -> bool:
        """Take an entry to settle it without a lease of its own; False when a budget forbids or it is gone."""
        if not (self.budgets.has_room(host, entry) and self._bench.take(host, entry)):
            return False
        self.budgets.reserve(host, entry)
        return True

    def robots_settled(self, asker: HostQueue, origin: str) -> None:
        """The asking for `origin` is over: what is known of it now is in the row. The host goes on."""
        asker.asking.discard(origin)
        asker.just_asked.add(origin)
        asker.rules.pop(origin, None)
        self._judge.renew_delay(asker)
        if not asker.in_flight and asker.row.crawl_delay_s:
            # Another host gave the answer: when ours had its last contact, nobody knew of its crawl-delay.
            self._plan(asker, self._clock.monotonic() + asker.row.crawl_delay_s)
        self.wake(asker)

    def settled(self, posting: Posting) -> None:
        """The batch is durable: READY entries went and came, hosts found their places in the front queues.

        Those that leave the workbench and those without work are forgotten.
        """
        for host, place in posting.released:
            host.taken.discard(place)
            self.wake(host)
        for place, url in posting.found:
            at_hand = self.hosts.get(place[4:12])
            if at_hand is not None:
                at_hand.saw(origin_of(Url(url)))
                at_hand.found(place)
                self.wake(at_hand)
        for key in posting.left:
            stays = self._bench.left(key)
            if stays is not None:
                self.wake(stays)
        for site in posting.sites.values():
            self._feed(site)
        for site_order in posting.grown:
            self._front.release(site_order)
        for waiting in posting.placed:
            if waiting.host not in self.hosts:
                self._bench.placed(waiting, posting.tallies[waiting.host])
        for host in posting.hosts.values():
            self._bench.forget_if_idle(host)

    def counts(self, hosts_ready: int) -> tuple[int, int, int]:
        """Hosts busy, waiting for their next-allowed time or a place, and parked (closed by robots.txt or asking).

        `hosts_ready`: how many have URLs ready, in memory or not.
        """
        now = self._clock.monotonic()
        with_work = [host for host in self.hosts.values() if host.in_flight or host.has_work]
        busy = sum(host.in_flight for host in with_work)
        parked = sum(not host.in_flight and (bool(host.asking) or host.closed_until > now) for host in with_work)
        return busy, max(len(with_work), hosts_ready) - busy - parked, parked

    # The decision about one host.

    def _decide(self, host: HostQueue) -> Lease | Verdict | None:
        if host.errands:
            return RobotsLease(host, host.errands.popleft())
        if self.budgets.day_is_spent(host):
            self._sleep(host, next_day_at(self._clock.now()))
            return None
        for _ in range(SEARCH_RUNS_MAX):
            if not host.run and not self._bench.read_run(host):
                return None
            decision = self._from_run(host)
            if not isinstance(decision, float):
                host.search = None
                return decision
            reopens_at = self._bench.look_on(host, decision)
            if reopens_at is not None:
                self._sleep(host, reopens_at)
                return None
        self.wake(host, not_before=self._clock.monotonic() + SEARCH_PAUSE_S)
        return None

    def _sleep(self, host: HostQueue, reopens_at: float) -> None:
        """Until a wall time; for ever where only the answer that others wait for can wake it."""
        if reopens_at < float("inf"):
            host.closed_until = self._clock.monotonic() + max(0.0, reopens_at - self._clock.now())
            self._bench.give_way(host)
            self.wake(host, not_before=host.closed_until)

    def _from_run(self, host: HostQueue) -> Lease | Verdict | float | None:
        """The first URL of the run about which something can be done; None when only budgets stand against it.

        A number: all are closed, the first of them until then (wall time).
        """
        closed_until, is_starved = float("inf"), False
        for entry in host.run:
            if not self.budgets.has_room(host, entry):
                is_starved = True
                continue
            judgement = self._judge.judge(host, entry)
            if isinstance(judgement, float):
                closed_until = min(closed_until, judgement)
                continue
            if isinstance(judgement, RobotsErrand):
                host.asking.add(judgement.origin)
                return RobotsLease(host, judgement)
            self.budgets.reserve(host, entry)
            host.run.remove(entry)
            if judgement is not None:
                return Verdict(host, entry, judgement)
            host.just_asked.clear()
            return PageLease(host, entry)
        if not is_starved:
            return closed_until
        self._starve(host)
        return None

    # Budgets and rests.

    def _starve(self, host: HostQueue) -> None:
        """Budgets forbid what is in its run: it leaves, or waits for a unit that a lease in transit may give back."""
        if self.budgets.is_over(host):
            self._bench.leave(host, (OVER_BUDGET, site_key(host.row.site)))
        else:
            self.budgets.wait(host)

    def _feed(self, site: Site | None) -> None:
        """A unit of the site's budget may have come back."""
        while site is not None and (fed := self.budgets.fed(site)) is not None:
            self.wake(fed)

    def _put_back(self, lease: Lease) -> None:
        match lease:
            case PageLease(host=host, entry=entry):
                host.run.appendleft(entry)
                host.just_asked.add(origin_of(Url(entry.row.url)))  # it has had no contact since
                self.budgets.give_back(host, entry)
                self._feed(host.site)
            case RobotsLease(host=host, errand=errand):
                host.errands.appendleft(errand)
            case _:
                assert_never(lease)

    def _gap_s(self, host: HostQueue, began_at: float) -> float:
        return gap_s(host.delay, host.row.crawl_delay_s, self._clock.monotonic() - began_at)

    def _rest(self, host: HostQueue, until: float, took_s: float) -> None:
        """A contact is over."""
        host.manners = host.manners.ended(self._clock.monotonic(), took_s)
        self._plan(host, max(until, host.manners.owed_until(self.rules.delay, host.row.crawl_delay_s)))
        host.is_unsaved = True
        self._free(host)

    def _plan(self, host: HostQueue, until: float) -> None:
        """No contact before. The row has the moment too, in wall time, from the next batch that writes it."""
        host.next_at = max(host.next_at, until)
        ahead_s = self._clock.now() - self._clock.monotonic()
        host.row.manners = host.manners.at(host.next_at + ahead_s, ahead_s)

    def _free(self, host: HostQueue) -> None:
        host.in_flight = host.is_recalled = False
        self.in_flight -= 1
        self.suspects_in_flight -= host.suspect
        host.suspect = False
        self._bench.give_way(host)
        self.wake(host)
