"""The order in which robots.txt, its rules and the host's delay are asked."""

import pytest

from gossamer.core.outcome import Reason
from gossamer.core.politeness import DelayRules
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import (
    GOOGLE_CLOSED_S,
    OUTAGE_LONG_S,
    RETRY_FIRST_S,
    UNKNOWN_COPY,
    VALID_S,
    Absent,
    Body,
    RobotsAnswer,
    RobotsCopy,
    Unavailable,
    UnreachableMode,
    after_answer,
)
from gossamer.core.robots_gate import (
    Allowed,
    Ask,
    ClosedUntil,
    Forbidden,
    Gate,
    GateRules,
    KnownRobots,
    Unruled,
    by_rules,
    gate,
)

RFC = GateRules(DelayRules(delay_max_s=60), UnreachableMode.RFC)
GOOGLE = GateRules(DelayRules(delay_max_s=60), UnreachableMode.GOOGLE)
PRIVATE = "http://a.test/private"
OPEN = "http://a.test/private/open"


def rules(delay: str = "") -> RobotsRules:
    body = f"User-agent: *\nDisallow: /private\nAllow: /private/open\n{delay}".encode()
    return parse_robots(body).rules_for("gossamer")


def copy_of(*answers: RobotsAnswer, at: float = 0.0) -> RobotsCopy:
    copy = UNKNOWN_COPY
    for answer in answers:
        copy = after_answer(copy, answer, at)
    return copy


def asked(
    copy: RobotsCopy, url: str, now: float = 1.0, *, held: RobotsRules | None = None, host_s: float | None = None
) -> Gate:
    return gate(KnownRobots(copy, held, host_s), RFC, url, now)


def test_rules_decide_and_are_named() -> None:
    good = copy_of(Body())
    assert asked(good, PRIVATE, held=rules()) == Forbidden(Reason.ROBOTS_DISALLOWED, "Disallow: /private", 2)
    assert asked(good, OPEN, held=rules()) == Allowed("Allow: /private/open", 3)
    assert asked(good, "http://a.test/", held=rules()) == Allowed()


@pytest.mark.parametrize(
    "copy", [UNKNOWN_COPY, copy_of(Body()), copy_of(Absent(404))], ids=["unknown", "old", "absent"]
)
def test_what_is_not_known_or_no_longer_valid_is_asked(copy: RobotsCopy) -> None:
    assert asked(copy, OPEN, VALID_S, held=rules(), host_s=600) == Ask()


def test_rules_that_are_lost_are_asked_for_before_anything_else() -> None:
    assert asked(copy_of(Body()), OPEN) == Ask()
    assert asked(copy_of(Body()), OPEN, host_s=600) == Ask()


def test_no_robots_txt_allows_all_whatever_rules_were_held_before() -> None:
    assert asked(copy_of(Body(), Absent(404)), PRIVATE, held=rules()) == Unruled()


@pytest.mark.parametrize("answer", [Body(), Absent(404)])
@pytest.mark.parametrize("url", [PRIVATE, OPEN])
def test_a_host_that_asks_for_too_long_a_delay_is_left_alone_on_all_its_origins(answer: RobotsAnswer, url: str) -> None:
    assert asked(copy_of(answer), url, held=rules(), host_s=60.5) == Forbidden(Reason.CRAWL_DELAY_TOO_LONG)
    assert asked(copy_of(answer), OPEN, held=rules(), host_s=60.0) in (Unruled(), Allowed("Allow: /private/open", 3))


def test_an_outage_closes_until_the_next_try() -> None:
    out = copy_of(Unavailable("503"))
    assert asked(out, OPEN, RETRY_FIRST_S - 1, host_s=600) == ClosedUntil(RETRY_FIRST_S)
    assert asked(out, OPEN, RETRY_FIRST_S) == Ask()


def test_an_outage_leaves_a_young_copy_in_force() -> None:
    young = copy_of(Body(), Unavailable("503"))
    assert asked(young, OPEN, held=rules()) == Allowed("Allow: /private/open", 3)
    assert asked(young, PRIVATE, held=rules()) == Forbidden(Reason.ROBOTS_DISALLOWED, "Disallow: /private", 2)
    assert asked(young, OPEN) == Ask()


def test_an_outage_means_what_the_mode_says() -> None:
    out = after_answer(copy_of(Unavailable("503")), Unavailable("503"), OUTAGE_LONG_S)
    known, now = KnownRobots(out, None, None), OUTAGE_LONG_S + 1
    assert gate(known, RFC, OPEN, now) == ClosedUntil(out.next_try_at)
    assert gate(known, GOOGLE, OPEN, now) == Unruled()
    assert gate(known._replace(rules=rules()), GOOGLE, PRIVATE, now) == Unruled()
    assert gate(known._replace(host_crawl_delay_s=61.0), GOOGLE, OPEN, now) == Forbidden(Reason.CRAWL_DELAY_TOO_LONG)
    assert GOOGLE_CLOSED_S < OUTAGE_LONG_S


def test_old_rules_still_tell_what_they_said() -> None:
    known = KnownRobots(copy_of(Body()), rules(), None)
    assert by_rules(known, RFC.delay, PRIVATE) == Forbidden(Reason.ROBOTS_DISALLOWED, "Disallow: /private", 2)
