"""May a host be asked for a URL now? robots.txt of its origin first, then the wishes of the whole host.

What robots.txt means is `core`'s; here its rules are kept at hand, and read again from the store when they are not.
"""

from dataclasses import dataclass
from math import nextafter
from typing import assert_never

from gossamer.core.breaker import is_dead
from gossamer.core.outcome import Denied, Failed, Outcome, Reason
from gossamer.core.politeness import DelayRules
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import RobotsCopy, RobotsState, UnreachableMode
from gossamer.core.robots_gate import Allowed, Ask, ClosedUntil, Forbidden, GateRules, KnownRobots, Unruled, gate
from gossamer.core.rows import OriginRow
from gossamer.core.url import Url, origin_of
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.host_queue import Entry, HostQueue, RobotsErrand

Judgement = Outcome | RobotsErrand | float | None
"""None: go. An outcome: the URL ends here. An errand: ask robots.txt first. A number: closed until then (wall time)."""


@dataclass(frozen=True, slots=True)
class JudgeRules:
    """What judging needs of the configuration. `robots_off`: hosts whose operator asked us to ignore robots.txt."""

    agent: str
    delay: DelayRules
    robots_mode: UnreachableMode
    robots_off: frozenset[str]


class Judge:
    """Reads what is known of hosts; changes nothing but the rules that it holds for them."""

    def __init__(self, store: PartitionStore, clock: Clock, rules: JudgeRules) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules
        self._gate_rules = GateRules(rules.delay, rules.robots_mode)

    def change(self, delay: DelayRules) -> None:
        """Other delays: they decide which crawl-delay is too long."""
        self._gate_rules = GateRules(delay, self._rules.robots_mode)

    def judge(self, host: HostQueue, entry: Entry) -> Judgement:
        """What is to be done about the URL now."""
        if is_dead(host.manners, self._clock.monotonic()):
            return Denied(Reason.HOST_DEAD)
        if host.address_refused_until > self._clock.monotonic():
            return Failed(0, Reason.ADDRESS_NOT_ALLOWED)
        if host.row.host in self._rules.robots_off:
            return None
        origin = origin_of(Url(entry.row.url))
        if origin in host.asking:
            return float("inf")  # whoever asks wakes the host when the answer is there
        row = host.row.origins.get(origin)
        errand = RobotsErrand(origin, host.key, origin + "/robots.txt", head=entry)
        if row is None:
            return errand
        # First the rules: reading them renews the crawl-delay of the host.
        rules = self.rules(host, origin, row) if row.copy.last_good_at is not None else None
        known = KnownRobots(row.copy, rules, host.row.crawl_delay_s)
        answer = gate(known, self._gate_rules, entry.row.url, self._moment(host, origin, row.copy))
        match answer:
            case Ask():
                return errand
            case ClosedUntil(at=at):
                return at if at > self._clock.now() else errand
            case Forbidden(reason=reason):
                return Denied(reason)
            case Allowed() | Unruled():
                return None
            case _:
                assert_never(answer)

    def _moment(self, host: HostQueue, origin: str, copy: RobotsCopy) -> float:
        """Now; but where robots.txt was asked in vain just before, the moment before its next try was due.

        A failing host rests as long as the next try of its robots.txt takes to be due (an hour). What an outage allows
        comes first then, or such a host would have no other contact for ever.
        """
        now = self._clock.now()
        is_vain = copy.state is RobotsState.UNREACHABLE and origin in host.just_asked and now >= copy.next_try_at
        return nextafter(copy.next_try_at, 0.0) if is_vain else now

    def rules(self, host: HostQueue, origin: str, row: OriginRow) -> RobotsRules | None:
        """The stored robots.txt of an origin, read for our agent; None when it is not there."""
        is_held = origin in host.rules
        rules = self._held(host, origin, row)
        if rules is not None and not is_held:
            self.renew_delay(host)
        return rules

    def renew_delay(self, host: HostQueue) -> None:
        """The longest crawl-delay of a host's origins holds for the host: http and https are one machine to it."""
        copies = [(origin, row) for origin, row in host.row.origins.items() if row.copy.last_good_at is not None]
        rules = [self._held(host, origin, row) for origin, row in copies]
        wishes = [held.crawl_delay_s for held in rules if held is not None and held.crawl_delay_s is not None]
        host.row.crawl_delay_s = max(wishes, default=None)

    def _held(self, host: HostQueue, origin: str, row: OriginRow) -> RobotsRules | None:
        held = host.rules.get(origin)
        if held is not None:
            return held
        body = host.bodies.get(row.body_key)
        is_from_store = body is None
        if body is None:
            body = self._store.get(Family.ROBOTS, row.body_key)
        if body is None:
            return None
        file = parse_robots(body)
        if is_from_store:
            host.sitemaps[origin] = file.sitemaps
        rules = host.rules[origin] = file.rules_for(self._rules.agent)
        return rules
