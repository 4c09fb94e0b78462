"""May a host be asked for a URL now? robots.txt of its origin first, then the wishes of the whole host.

What robots.txt means is `core`'s; here its rules are kept at hand, and read again from the store when they are not.
"""

from dataclasses import dataclass
from math import nextafter

from gossamer.core.breaker import is_dead
from gossamer.core.outcome import Denied, Failed, Outcome, Reason
from gossamer.core.politeness import DelayRules, crawl_delay_too_long
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import Permission, RobotsState, UnreachableMode, permission
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
        match self._permission(host, origin, row) if row else Permission.ASK_ROBOTS:
            case Permission.ASK_ROBOTS:
                return errand
            case Permission.CLOSED:
                assert row is not None
                return row.copy.next_try_at
            case Permission.ALLOW_ALL:
                return self._unless_left_alone(host, None)
            case Permission.BY_RULES:
                assert row is not None
                rules = self.rules(host, origin, row)
                if rules is None:
                    return errand  # no body, no rules: that must not read as "all is allowed"
                denied = None if rules.decide(entry.row.url).allowed else Denied(Reason.ROBOTS_DISALLOWED)
                return self._unless_left_alone(host, denied)

    def _permission(self, host: HostQueue, origin: str, row: OriginRow) -> Permission:
        """As robots.txt's life has it; but where it was asked in vain just before, what an outage allows comes first.

        A failing host rests as long as the next try of its robots.txt takes to be due (an hour), so it would have no
        other contact for ever.
        """
        mode = self._rules.robots_mode
        found = permission(row.copy, self._clock.now(), mode)
        is_outage = row.copy.state is RobotsState.UNREACHABLE
        if found is Permission.ASK_ROBOTS and is_outage and origin in host.just_asked:
            before = permission(row.copy, nextafter(row.copy.next_try_at, 0.0), mode)
            return found if before is Permission.CLOSED else before
        return found

    def rules(self, host: HostQueue, origin: str, row: OriginRow) -> RobotsRules | None:
        """The stored robots.txt of an origin, read for our agent; None when it is not there."""
        held = host.rules.get(origin)
        if held is None:
            body = host.bodies.get(row.body_key)
            is_old = body is None
            if body is None:
                body = self._store.get(Family.ROBOTS, row.body_key)
            if body is None:
                return None
            file = parse_robots(body)
            if is_old:
                host.sitemaps[origin] = file.sitemaps
            held = host.rules[origin] = file.rules_for(self._rules.agent)
            self.renew_delay(host)
        return held

    def renew_delay(self, host: HostQueue) -> None:
        """The longest crawl-delay of a host's origins holds for the host: http and https are one machine to it."""
        copies = [(origin, row) for origin, row in host.row.origins.items() if row.copy.last_good_at is not None]
        rules = [self.rules(host, origin, row) for origin, row in copies]
        wishes = [held.crawl_delay_s for held in rules if held is not None and held.crawl_delay_s is not None]
        host.row.crawl_delay_s = max(wishes, default=None)

    def _unless_left_alone(self, host: HostQueue, denied: Outcome | None) -> Outcome | None:
        if crawl_delay_too_long(self._rules.delay, host.row.crawl_delay_s):
            return Denied(Reason.CRAWL_DELAY_TOO_LONG)
        return denied
