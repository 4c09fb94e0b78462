"""One contact after another: take a lease, find the address, keep its gap, log, fetch, and say how it ended."""

from asyncio import CancelledError
from collections import deque
from dataclasses import dataclass
from random import Random
from typing import assert_never

from gossamer.core.addresses import AddressRules
from gossamer.core.answers import outcome_of_answer, within_chain
from gossamer.core.backoff import is_transient
from gossamer.core.breaker import is_parked
from gossamer.core.connect_to import ConnectMap
from gossamer.core.http_message import field_values
from gossamer.core.outcome import (
    Denied,
    Failed,
    Fetched,
    Outcome,
    Reason,
    Redirected,
    ServerFailed,
    Throttled,
    Truncation,
    Unreachable,
)
from gossamer.core.robots_copy import UNKNOWN_COPY
from gossamer.core.rows import CaptureKey, FetchFacts
from gossamer.core.scope import Scope
from gossamer.core.url import Url, origin_of, scheme_host_port
from gossamer.ports.clock import Clock
from gossamer.ports.contacts import Contact, ContactEnd, Contacts
from gossamer.ports.dns import Dns, Unresolved
from gossamer.ports.segments import DiskFull
from gossamer.ports.web import Request, Response, Unanswered, Web
from gossamer.stages.address_gap import AddressGap
from gossamer.stages.capture import CaptureWriter
from gossamer.stages.events import HostChanged, Settled
from gossamer.stages.frontier import Frontier
from gossamer.stages.leases import Lease, PageLease, RobotsLease
from gossamer.stages.robots_fetch import RobotsFetch
from gossamer.stages.store import Store

ADDRESS_REFUSED_S = 300.0
"""How long a host whose addresses are all refused is not looked up again."""
VALIDATOR_CHARS_MAX = 1_024
"""Longer ETag or Last-Modified values are not kept."""


@dataclass(frozen=True, slots=True)
class FetchRules:
    """What fetching needs of the configuration."""

    headers: tuple[tuple[str, str], ...]
    addresses: AddressRules
    routes: ConnectMap
    sitemaps: Scope | None
    """The hosts whose robots.txt may name sitemaps; None: none may."""


@dataclass(slots=True)
class Surroundings:
    """The ports and neighbours that a fetch talks to."""

    clock: Clock
    web: Web
    dns: Dns
    contacts: Contacts
    captures: CaptureWriter
    store: Store
    frontier: Frontier
    rng: Random


class Fetch:
    """Turns leases into settled outcomes. Every contact is logged before its first byte."""

    def __init__(self, around: Surroundings, rules: FetchRules, gap: AddressGap) -> None:
        self._around = around
        self._rules = rules
        self.gap = gap
        self._unlogged: deque[ContactEnd] = deque()  # at most one for each contact in flight
        self._robots = RobotsFetch(around.frontier, around.store, around.clock, sitemaps=rules.sitemaps)

    async def contact(self, lease: Lease) -> None:
        """Carry out one lease to its end; afterwards the host is free again."""
        url = lease.entry.row.url if isinstance(lease, PageLease) else lease.errand.url
        if lease.host.sitemaps:
            self._robots.admit_known_sitemaps(lease.host)
        _, host, port = scheme_host_port(Url(url))
        routed, connect_port = self._rules.routes.route(host, port)
        address = await self._address(lease, routed or host)
        now = self._around.clock.monotonic()
        if not isinstance(address, str):
            self._end(lease, address, now)  # no contact, so nothing whose length would stretch the gap
            return
        if lease.host.is_recalled:
            self._around.frontier.postpone(lease, now)
            return
        start_at = self._slot(lease, address, now)
        number = self._begin(self._contact_of(lease, url, (address, connect_port), now)) if start_at <= now else None
        if number is None:
            self._around.frontier.postpone(lease, start_at)
            return
        lease.host.row.address = address
        request = Request(url=url, address=address, connect_port=connect_port, headers=self._rules.headers)
        answer = await self._exchange(lease, request, number)
        match answer:
            case Unanswered(reason=reason):
                self._end(lease, Unreachable(reason), answer.began_at)
            case Response():
                self._answered(lease, url, address, answer)
            case _:
                assert_never(answer)

    # Where to.

    async def _address(self, lease: Lease, name: str) -> str | Outcome:
        """The address to connect to, or how the lease ends because there is none."""
        try:
            found = await self._around.dns.resolve(name)
        except CancelledError:  # a stop that waited long enough; nobody was contacted
            self._around.frontier.postpone(lease, self._around.clock.monotonic())
            raise
        if isinstance(found, Unresolved):
            return Unreachable(found.reason)
        allowed = [address for address in found.addresses if self._rules.addresses.is_allowed(address)]
        if not allowed:
            lease.host.address_refused_until = self._around.clock.monotonic() + ADDRESS_REFUSED_S
            return Failed(0, Reason.ADDRESS_NOT_ALLOWED)
        # Another address of the same name at each attempt; IPv4 first, since not every machine has a way to IPv6.
        allowed.sort(key=lambda address: ":" in address)
        return allowed[lease.host.manners.failures % len(allowed)]

    def _slot(self, lease: Lease, address: str, now: float) -> float:
        """When this contact may begin: now, or at a moment of the address that the host holds until then."""
        held = lease.host.slot[1] if lease.host.slot is not None and lease.host.slot[0] == address else None
        start_at = self.gap.take(address, now, held)
        lease.host.slot = (address, start_at) if start_at > now else None
        return start_at

    # The exchange.

    def _begin(self, contact: Contact) -> int | None:
        """The number of the contact in the log. None: the log has no room, so the contact must not be made."""
        contacts = self._around.contacts
        try:
            while self._unlogged:
                contacts.end(self._unlogged[0])
                self._unlogged.popleft()
            number = contacts.begin(contact)
        except DiskFull:
            self._around.store.room.is_full()
            return None
        self._around.store.ledger.crawl.counters.contacts += 1
        return number

    async def _exchange(self, lease: Lease, request: Request, number: int) -> Response | Unanswered:
        clock, began_at = self._around.clock, self._around.clock.monotonic()
        try:
            answer = await self._around.web.fetch(request)
        except CancelledError:  # a stop that waited long enough
            now = clock.monotonic()
            self._log_end(ContactEnd(number, "dropped", 0, "", clock.now(), now, now - began_at))
            self._around.frontier.contact_dropped(lease, began_at=began_at)
            self._around.store.submit(HostChanged(lease.host))
            raise
        outcome, status, asked = "answered", 0, [""]
        match answer:
            case Response():
                status, asked = answer.status, field_values(answer.fields, "retry-after") or [""]
            case Unanswered():
                outcome = answer.reason.value
            case _:
                assert_never(answer)
        duration_s = answer.ended_at - answer.began_at
        self._log_end(ContactEnd(number, outcome, status, asked[0][:64], clock.now(), answer.ended_at, duration_s))
        return answer

    def _log_end(self, end: ContactEnd) -> None:
        """What a full disk keeps out of the log is written before the next contact begins."""
        try:
            self._around.contacts.end(end)
        except DiskFull:
            self._unlogged.append(end)
            self._around.store.room.is_full()

    def _contact_of(self, lease: Lease, url: str, at: tuple[str, int], monotonic_s: float) -> Contact:
        host, (address, port) = lease.host, at
        origin = host.row.origins.get(origin_of(Url(url)))
        copy = origin.copy if origin else UNKNOWN_COPY
        now = self._around.clock.now()
        return Contact(
            host=host.row.host,
            address=address,
            port=port,
            url=url,
            purpose="robots" if isinstance(lease, RobotsLease) else lease.entry.row.kind.name.lower(),
            robots_epoch=copy.epoch,
            robots_reason=copy.reason(now),
            robots_body=origin.body_key.hex() if origin and copy.last_good_at is not None else "",
            robots_fetched_at=copy.fetched_at,
            robots_for=lease.errand.origin if isinstance(lease, RobotsLease) else "",
            delay=self._around.frontier.rules.delay,
            gap_s=host.manners.gap_s,
            crawl_delay_s=host.row.crawl_delay_s,
            per_address_delay_s=self.gap.gap_s,
            wall_s=now,
            monotonic_s=monotonic_s,
        )

    # What came of it.

    def _answered(self, lease: Lease, url: str, address: str, answer: Response) -> None:
        now = self._around.clock.now()
        outcome = outcome_of_answer(answer.status, answer.fields, answer.truncated, url, now)
        if isinstance(lease, PageLease):
            outcome = within_chain(outcome, lease.entry.row.redirects)
        facts = None
        if self._is_kept(lease, outcome):
            try:
                key = self._around.captures.append(url, address, now, answer)
            except DiskFull:
                # The answer is not kept, so nothing is settled: the URL stays in READY and is asked for again.
                self._around.store.room.is_full()
                self._around.frontier.give_back(lease, outcome, began_at=answer.began_at, u=self._around.rng.random())
                return
            facts = facts_of(answer, outcome, key, now)
        self._end(lease, outcome, answer.began_at, answer, facts)

    def _is_kept(self, lease: Lease, outcome: Outcome) -> bool:
        """Refusals and server errors are repeated and say nothing of the page; a cut body only when it is final."""
        match outcome:
            case Fetched(truncated=Truncation.DISCONNECT | Truncation.TIME):
                retry = self._around.store.ledger.retry
                return isinstance(lease, RobotsLease) or lease.entry.row.attempts + 1 >= retry.attempts_max
            case Fetched() | Redirected() | Failed():
                return True
            case Throttled() | ServerFailed() | Unreachable() | Denied():
                return False
            case _:
                assert_never(outcome)

    def _end(
        self,
        lease: Lease,
        outcome: Outcome,
        began_at: float,
        answer: Response | None = None,
        facts: FetchFacts | None = None,
    ) -> None:
        frontier, store = self._around.frontier, self._around.store
        if isinstance(lease, PageLease) and is_parked(lease.host.manners) and is_transient(outcome):
            # A failed probe costs its URL no attempt: it stays at the head of its queue.
            frontier.give_back(lease, outcome, began_at=began_at, u=self._around.rng.random())
            store.submit(HostChanged(lease.host))
            return
        match lease:
            case PageLease(host=host, entry=entry):
                store.submit(Settled(host, entry, outcome, self._around.clock.now(), facts))
            case RobotsLease(host=host):
                self._robots.ended(lease, outcome, answer)
            case _:
                assert_never(lease)
        frontier.contact_ended(host, outcome, began_at=began_at, u=self._around.rng.random())


def facts_of(answer: Response, outcome: Outcome, key: CaptureKey, now: float) -> FetchFacts:
    """What the row of a URL keeps of an answer. A truncated copy is never validated against (RFC 9111 3.3)."""
    fields = dict(reversed(answer.fields))  # the first of repeated fields wins
    is_whole = answer.truncated is None
    return FetchFacts(
        status=answer.status,
        fetched_at=now,
        duration_s=answer.ended_at - answer.began_at,
        wire_bytes=len(answer.head) + len(answer.wire_body),
        content_type=fields.get("content-type", "")[:200],
        raw_key=key,
        truncated=answer.truncated.value if answer.truncated else "",
        redirect_to=outcome.target if isinstance(outcome, Redirected) else "",
        etag=_validator(fields.get("etag", "")) if is_whole else "",
        last_modified=_validator(fields.get("last-modified", "")) if is_whole else "",
    )


def _validator(value: str) -> str:
    return value if len(value) <= VALIDATOR_CHARS_MAX else ""
