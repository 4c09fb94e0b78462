"""What an answer for robots.txt does: follow its redirects, renew the copy, store the body, admit the sitemaps."""

from collections.abc import Sequence

import xxhash

from gossamer.core.breaker import is_parked
from gossamer.core.decoding import DecodedBody, decode_body
from gossamer.core.http_message import field_values
from gossamer.core.outcome import Failed, Outcome, Reason, Redirected, Unreachable
from gossamer.core.robots import BODY_BYTES_MAX, parse_robots
from gossamer.core.robots_copy import UNKNOWN_COPY, Body, Unavailable, after_answer, robots_answer
from gossamer.core.rows import Kind, OriginRow
from gossamer.core.scope import Scope
from gossamer.core.traps import trap_of
from gossamer.core.url import Url, UrlFault, host_of, link_keys, normalize
from gossamer.ports.clock import Clock
from gossamer.ports.web import Response
from gossamer.stages.events import Discovered, HostChanged, Settled
from gossamer.stages.frontier import Frontier
from gossamer.stages.host_queue import HostQueue, RobotsErrand
from gossamer.stages.leases import RobotsLease
from gossamer.stages.store import Store

REDIRECTS_MAX = 5
"""RFC 9309 section 2.3.1.2."""
_NO_CONTROLS = bytes(octet for octet in range(256) if octet >= 32 or octet in b"\t\n\r\f")
DNS_REASONS = frozenset({Reason.DNS_NOT_FOUND, Reason.DNS_FAILED, Reason.DNS_TIMEOUT})


class RobotsFetch:
    """Ends the robots.txt leases of a crawl."""

    def __init__(self, frontier: Frontier, store: Store, clock: Clock, *, sitemaps: Scope | None) -> None:
        self._frontier = frontier
        self._store = store
        self._clock = clock
        self._sitemaps = sitemaps

    def ended(self, lease: RobotsLease, outcome: Outcome, answer: Response | None) -> None:
        """Take in how one contact for robots.txt ended; the asking host goes on, or waits for a redirect's end."""
        errand = lease.errand
        self._store.ledger.crawl.counters.robots_contacts += answer is not None
        self._store.submit(HostChanged(lease.host))
        if isinstance(outcome, Redirected) and errand.hops < REDIRECTS_MAX:
            self._ask_on(errand, outcome.target)
            return
        asker = self._frontier.host(errand.asker, host_of(Url(errand.origin + "/")))
        if _is_no_contact(outcome) and not errand.hops:
            self._charge_head(asker, errand, outcome)
        else:
            self._learn(asker, errand, outcome, answer)
        self._frontier.robots_settled(asker, errand.origin)

    def _ask_on(self, errand: RobotsErrand, target: str) -> None:
        """The next hop is a contact of its own, in the queue of the host it leads to."""
        host = self._frontier.host(link_keys([Url(target)])[0][:8], host_of(Url(target)))
        host.errands.append(RobotsErrand(errand.origin, errand.asker, target, errand.hops + 1, errand.head))
        self._frontier.wake(host)

    def _charge_head(self, asker: HostQueue, errand: RobotsErrand, outcome: Outcome) -> None:
        """No name or no allowed address: robots.txt said nothing, and the URL that wanted it has failed once."""
        if errand.head is None or is_parked(asker.manners):
            return  # a failed probe costs no attempt
        if self._frontier.claim(asker, errand.head):
            self._store.submit(Settled(asker, errand.head, outcome, self._clock.now()))

    def _learn(self, asker: HostQueue, errand: RobotsErrand, outcome: Outcome, answer: Response | None) -> None:
        """The rules that came, or why none did. In force at once, on disk with the next batch."""
        known = asker.row.origins.get(errand.origin) or OriginRow(UNKNOWN_COPY)
        verdict, body_key = robots_answer(outcome), known.body_key
        if isinstance(verdict, Body) and answer is not None:
            decoded = robots_body(answer)
            if decoded.fault and not _is_plain(decoded.body, answer):
                verdict = Unavailable(decoded.fault)  # what can't be read may forbid anything
            else:
                body_key = xxhash.xxh3_128_digest(decoded.body)
                asker.bodies[body_key] = decoded.body
                self._admit_sitemaps(errand.origin, parse_robots(decoded.body).sitemaps)
        asker.remember(errand.origin, OriginRow(after_answer(known.copy, verdict, self._clock.now()), body_key))
        self._store.submit(HostChanged(asker))

    def admit_known_sitemaps(self, host: HostQueue) -> None:
        """Those of a robots.txt fetched before this run, perhaps for another crawl. Known ones change nothing."""
        while host.sitemaps:
            self._admit_sitemaps(*host.sitemaps.popitem())

    def _admit_sitemaps(self, origin: str, sitemaps: Sequence[str]) -> None:
        """Sitemaps may lie on any host; what they list must be in scope.

        A host that is asked only because a sitemap lies there names no more of them: that would have no end.
        """
        if self._sitemaps is None or not self._sitemaps.reaches(origin):
            return
        named = [normalize(name, origin + "/robots.txt") for name in sitemaps]
        urls = [url for url in named if not isinstance(url, UrlFault) and trap_of(url) is None]
        if urls:
            self._store.submit(Discovered(list(urls), b"".join(link_keys(urls)), Kind.SITEMAP, 0, "robots.txt"))


def robots_body(answer: Response) -> DecodedBody:
    """The decoded body, as far as it is read (500 KiB, RFC 9309 section 2.5)."""
    coding = ", ".join(field_values(answer.fields, "content-encoding"))
    return decode_body(answer.payload, coding, BODY_BYTES_MAX)


def _is_plain(body: bytes, answer: Response) -> bool:
    """Text under a label that names no coding, such as "utf-8"; under a real one there would be control characters."""
    return body != b"" and answer.payload.startswith(body) and not body.translate(None, _NO_CONTROLS)


def _is_no_contact(outcome: Outcome) -> bool:
    match outcome:
        case Unreachable(reason=reason):
            return reason in DNS_REASONS
        case Failed(reason=Reason.ADDRESS_NOT_ALLOWED):
            return True
        case _:
            return False
