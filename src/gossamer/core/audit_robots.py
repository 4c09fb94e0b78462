"""The contact log against robots.txt: nothing disallowed, nothing by rules older than a day, no host that is closed.

How old rules are is taken from the contacts for robots.txt in the log itself, and from what the begin says of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gossamer.core.audit_pace import DROPPED, Violation, Wrong
from gossamer.core.contacts import BeginContact, EndContact, Moment, RunFacts
from gossamer.core.politeness import crawl_delay_too_long
from gossamer.core.robots import RobotsRules
from gossamer.core.robots_copy import GOOGLE_CLOSED_S, OUTAGE_LONG_S, VALID_S, UnreachableMode
from gossamer.core.url import Url, origin_of

AGE_SLACK_S: Final = 60.0
"""Between the decision that rules are young enough and the begin lies a look-up of the name; the rules expire in it."""

RulesOf = Callable[[str, str], RobotsRules | None]
"""The rules in the body with that key, for that agent; None when there is no such body."""


@dataclass(slots=True)
class _Origin:
    """`learned`: the last answer for its robots.txt that settles what holds. `failing`: the first failure since."""

    learned: Moment | None = None
    failing: Moment | None = None


class RobotsAudit:
    """Takes the records in the order of the log. Memory: two moments an origin."""

    def __init__(self, rules_of: RulesOf) -> None:
        self._rules_of = rules_of
        self._origins: dict[str, _Origin] = {}

    def __repr__(self) -> str:
        return f"<RobotsAudit {len(self._origins)} origins>"

    def crawl_delay_s(self, begin: BeginContact, facts: RunFacts) -> float:
        """What robots.txt asks of the host, by the log and by the rules that were obeyed; 0 for nothing."""
        if begin.host in facts.robots_off:
            return 0.0
        rules = self._rules_of(begin.rule_body, facts.agent) if begin.rule_body else None
        return max(begin.delays.crawl_delay_s or 0.0, (rules.crawl_delay_s if rules else None) or 0.0)

    def begin(self, begin: BeginContact, facts: RunFacts) -> Iterator[Violation]:
        """What is wrong with a contact for a page or a sitemap. That for robots.txt itself needs no leave."""
        if begin.purpose == "robots" or begin.host in facts.robots_off:
            return
        crawl_delay_s = self.crawl_delay_s(begin, facts)
        if crawl_delay_too_long(begin.delays.rules, crawl_delay_s):
            detail = f"robots.txt asks for {crawl_delay_s:g} s, the longest delay is {begin.delays.delay_max_s:g} s"
            yield Violation(Wrong.LEFT_ALONE, begin, detail=detail)
        known, mode = self._origins.get(origin_of(Url(begin.url)), _Origin()), facts.robots_unreachable
        outage_s = known.failing.until(begin.at) if known.failing is not None else 0.0
        yield from _age(begin, known, mode, outage_s)
        if mode is UnreachableMode.GOOGLE and begin.rule_reason == "outage" and outage_s >= OUTAGE_LONG_S:
            return  # without robots.txt for so long, all is allowed
        yield from self._disallowed(begin, facts.agent)

    def end(self, begin: BeginContact, end: EndContact) -> None:
        """Take in an answer for robots.txt. A redirect counts as a failure until what it leads to has answered."""
        if not begin.rules_for or end.outcome == DROPPED:
            return
        known, status = self._origins.setdefault(begin.rules_for, _Origin()), end.status or 0
        if 200 <= status < 300 or (400 <= status < 500 and status != 429):
            known.learned, known.failing = end.ended(begin), None
        elif known.failing is None:
            known.failing = end.ended(begin)

    def _disallowed(self, begin: BeginContact, agent: str) -> Iterator[Violation]:
        if not begin.rule_body:
            if begin.rule_reason == "fresh":
                yield Violation(Wrong.ROBOTS_MISSING, begin, detail="the log does not name the rules that were obeyed")
            return
        rules = self._rules_of(begin.rule_body, agent)
        if rules is None:
            yield Violation(Wrong.ROBOTS_MISSING, begin, detail=f"no robots.txt {begin.rule_body} is stored")
            return
        decision = rules.decide(begin.url)
        if not decision.allowed:
            yield Violation(Wrong.DISALLOWED, begin, detail=f"{decision.rule} (line {decision.line})")


def _age(begin: BeginContact, known: _Origin, mode: UnreachableMode, outage_s: float) -> Iterator[Violation]:
    """RFC 9309 2.4, and docs/politeness.md for the time of an outage."""
    age_s = _age_s(begin, known)
    is_young = age_s is not None and age_s <= VALID_S + AGE_SLACK_S
    if begin.rule_reason == "outage" and known.failing is not None:
        if mode is UnreachableMode.GOOGLE:
            if outage_s < GOOGLE_CLOSED_S:
                yield Violation(Wrong.ROBOTS_OUTAGE, begin, GOOGLE_CLOSED_S, outage_s, "robots.txt can't be had")
        elif not is_young and not (begin.rule_body and outage_s >= OUTAGE_LONG_S):
            yield Violation(Wrong.ROBOTS_OUTAGE, begin, OUTAGE_LONG_S, outage_s, "robots.txt can't be had")
    elif age_s is None:
        yield Violation(Wrong.ROBOTS_AGE, begin, detail="robots.txt of its origin had not been asked for")
    elif not is_young:
        yield Violation(Wrong.ROBOTS_AGE, begin, VALID_S, age_s)


def _age_s(begin: BeginContact, known: _Origin) -> float | None:
    """The greater of what the log shows and of what the begin says; None when either is missing."""
    if known.learned is None or begin.rule_fetched_at is None:
        return None
    said_s = (begin.wall_time - begin.rule_fetched_at).total_seconds()
    return max(known.learned.until(begin.at), said_s)
