"""May a URL be asked for, as far as robots.txt goes: its copy, its rules, and the delay that the host asks for.

The one order of these questions, for those who act on it and those who explain it. How long a copy holds is in
`robots_copy`, what rules say in `robots`; who reads and keeps them is a stage.
"""

from dataclasses import dataclass
from typing import NamedTuple, assert_never

from gossamer.core.outcome import Reason
from gossamer.core.politeness import DelayRules, crawl_delay_too_long
from gossamer.core.robots import RobotsRules
from gossamer.core.robots_copy import Permission, RobotsCopy, UnreachableMode, permission


@dataclass(frozen=True, slots=True)
class GateRules:
    """What the gate needs of the configuration."""

    delay: DelayRules
    robots_mode: UnreachableMode


class KnownRobots(NamedTuple):
    """What is known of an origin: its copy, and the rules in the stored body, None when there is no body.

    `host_crawl_delay_s` is the longest that an origin of its host asks for: http and https are one machine to it.
    """

    copy: RobotsCopy
    rules: RobotsRules | None
    host_crawl_delay_s: float | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Not before robots.txt has been fetched (again)."""


@dataclass(frozen=True, slots=True)
class ClosedUntil:
    """Nothing of the origin may be fetched; robots.txt is due `at` (wall seconds)."""

    at: float


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Not to be fetched: CRAWL_DELAY_TOO_LONG, or ROBOTS_DISALLOWED with the rule and its line."""

    reason: Reason
    rule: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """May be fetched, by this rule; None where no rule matched."""

    rule: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Unruled:
    """May be fetched: no rules are in force."""


Verdict = Forbidden | Allowed | Unruled
Gate = Ask | ClosedUntil | Verdict


def gate(known: KnownRobots, gate_rules: GateRules, url: str, now: float) -> Gate:
    """Whether `url` may be asked for at `now` (wall seconds).

    Rules that should be there and are not are asked for: a lost body must not read as "all is allowed".
    """
    match permission(known.copy, now, gate_rules.robots_mode):
        case Permission.ASK_ROBOTS:
            return Ask()
        case Permission.CLOSED:
            return ClosedUntil(known.copy.next_try_at)
        case Permission.ALLOW_ALL:
            return _by_delay(known, gate_rules.delay) or Unruled()
        case Permission.BY_RULES:
            return Ask() if known.rules is None else by_rules(known, gate_rules.delay, url)
        case left:
            assert_never(left)


def by_rules(known: KnownRobots, delay: DelayRules, url: str) -> Verdict:
    """What the rules say of `url`, however old they are; None is no rules, which allow all. The host's delay first."""
    refusal = _by_delay(known, delay)
    if refusal is not None:
        return refusal
    if known.rules is None:
        return Unruled()
    decision = known.rules.decide(url)
    if decision.allowed:
        return Allowed(decision.rule, decision.line)
    return Forbidden(Reason.ROBOTS_DISALLOWED, decision.rule, decision.line)


def _by_delay(known: KnownRobots, delay: DelayRules) -> Forbidden | None:
    too_long = crawl_delay_too_long(delay, known.host_crawl_delay_s)
    return Forbidden(Reason.CRAWL_DELAY_TOO_LONG) if too_long else None
