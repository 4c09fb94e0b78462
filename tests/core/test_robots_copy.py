"""The life of a copy of robots.txt: what holds, what happens in an outage, when it is asked again."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from gossamer.core.robots_copy import (
    UNKNOWN_COPY,
    Absent,
    Body,
    Permission,
    RobotsAnswer,
    RobotsCopy,
    RobotsState,
    Unavailable,
    UnreachableMode,
    after_answer,
    permission,
    robots_answer,
)

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
REFUSED = Unreachable(Reason.CONNECT_REFUSED)
RFC, GOOGLE = UnreachableMode.RFC, UnreachableMode.GOOGLE
ASK, BY_RULES, ALLOW_ALL, CLOSED = Permission


@dataclass
class Origin:
    """A copy and a clock: `at(t).answers(outcome)`, `at(t).expect(permission)`."""

    mode: UnreachableMode = RFC
    copy: RobotsCopy = UNKNOWN_COPY
    now: float = field(default=0.0)

    def at(self, now: float) -> "Origin":
        self.now = now
        return self

    def answers(self, outcome: Outcome) -> "Origin":
        self.copy = after_answer(self.copy, robots_answer(outcome), self.now)
        return self

    def expect(self, wished: Permission) -> "Origin":
        assert permission(self.copy, self.now, self.mode) is wished, f"at {self.now} of {self.copy}"
        return self

    def fails_until(self, end: float) -> "Origin":
        """An outage: robots.txt is asked whenever it is due, and never answers."""
        while (due := max(self.now, self.copy.next_try_at)) <= end:
            self.at(due).expect(ASK).answers(REFUSED)
        return self.at(end)


@pytest.mark.parametrize(
    ("outcome", "page_is_requested"),
    [
        pytest.param(Failed(404), True, id="h-robots-04-a"),
        pytest.param(ServerFailed(500), False, id="h-robots-04-b"),
        pytest.param(Unreachable(Reason.CONNECT_REFUSED), False, id="h-robots-04-c"),
        pytest.param(Unreachable(Reason.FIRST_BYTE_TIMEOUT), False, id="h-robots-04-d"),
        pytest.param(Fetched(200), True, id="h-robots-04-e"),
        pytest.param(Throttled(429, 60.0), False, id="h-robots-04-f"),
    ],
)
@pytest.mark.parametrize("mode", UnreachableMode)
def test_an_outage_closes_and_a_4xx_opens_worked_example_7(
    outcome: Outcome, page_is_requested: bool, mode: UnreachableMode
) -> None:
    origin = Origin(mode).at(5).expect(ASK).answers(outcome).at(6)
    assert permission(origin.copy, origin.now, mode) in ((BY_RULES, ALLOW_ALL) if page_is_requested else (CLOSED,))


def test_a_closed_host_opens_with_the_next_answer_h_robots_04_g() -> None:
    origin = Origin().at(0).expect(ASK).answers(Throttled(503)).at(59.9).expect(CLOSED)
    origin.at(60).expect(ASK).answers(Fetched(200)).expect(BY_RULES)
    assert origin.copy.failing_since is None
    assert origin.copy.attempts == 0


@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        (Fetched(200), Body()),
        (Fetched(204), Body()),
        (Fetched(200, Truncation.LENGTH), Body()),
        (Fetched(200, Truncation.DISCONNECT), Unavailable("truncated-disconnect")),
        (Fetched(200, Truncation.TIME), Unavailable("truncated-time")),
        (Failed(400), Absent(400)),
        (Failed(401), Absent(401)),
        (Failed(403), Absent(403)),
        (Failed(410), Absent(410)),
        (Failed(499), Absent(499)),
        (Failed(429), Unavailable("429")),
        (Failed(304), Unavailable("304")),
        (Failed(302, Reason.REDIRECT_CHAIN_TOO_LONG), Unavailable("redirect-chain-too-long")),
        (Failed(301, Reason.BAD_LOCATION), Unavailable("bad-location")),
        (Failed(799, Reason.STATUS_UNKNOWN), Unavailable("status-unknown")),
        (Redirected(301, "https://b.test/robots.txt"), Unavailable("301")),
        (Throttled(429, 60.0), Unavailable("429", 60.0)),
        (Throttled(503), Unavailable("503")),
        (ServerFailed(500), Unavailable("500")),
        (Unreachable(Reason.DNS_NOT_FOUND), Unavailable("dns-not-found")),
        (Unreachable(Reason.TLS_FAILED), Unavailable("tls-failed")),
        (Denied(Reason.ADDRESS_NOT_ALLOWED), Unavailable("address-not-allowed")),
    ],
)
def test_every_end_of_a_robots_fetch_has_a_meaning(outcome: Outcome, answer: RobotsAnswer) -> None:
    assert robots_answer(outcome) == answer


@pytest.mark.parametrize(("outcome", "holds"), [(Fetched(200), BY_RULES), (Failed(404), ALLOW_ALL)])
@pytest.mark.parametrize("mode", UnreachableMode)
def test_an_answer_holds_for_24_hours(outcome: Outcome, holds: Permission, mode: UnreachableMode) -> None:
    origin = Origin(mode).at(1000).answers(outcome).expect(holds)
    origin.at(1000 + DAY - 1).expect(holds).at(1000 + DAY).expect(ASK)
    assert origin.copy.expires_at == 1000 + DAY


def test_an_answer_from_the_future_is_asked_again() -> None:
    Origin().at(10 * DAY).answers(Fetched(200)).at(2 * DAY).expect(ASK)


def test_a_young_copy_serves_through_an_outage_under_rfc() -> None:
    origin = Origin().at(0).answers(Fetched(200)).at(23 * HOUR).answers(REFUSED).expect(BY_RULES)
    origin.fails_until(DAY - 1).expect(BY_RULES).fails_until(DAY + HOUR + 1).expect(CLOSED)


def test_a_copy_of_24_hours_serves_to_the_last_instant() -> None:
    origin = Origin().at(0).answers(Fetched(200)).at(DAY - 30).answers(REFUSED)
    origin.at(DAY).expect(BY_RULES).at(DAY + 1).expect(CLOSED)


def test_an_old_copy_closes_under_rfc_until_thirty_days_have_passed() -> None:
    began = DAY + 1
    origin = Origin().at(0).answers(Fetched(200)).at(began).expect(ASK).answers(REFUSED).expect(CLOSED)
    origin.fails_until(began + 30 * DAY - 1).expect(CLOSED)
    origin.fails_until(began + 30 * DAY + HOUR + 1).expect(BY_RULES)
    assert origin.copy.failing_since == began


def test_without_a_copy_the_host_stays_closed_under_rfc() -> None:
    Origin().at(0).answers(REFUSED).fails_until(90 * DAY + 1).expect(CLOSED)


def test_a_404_that_replaced_the_rules_is_no_copy() -> None:
    origin = Origin().at(0).answers(Fetched(200)).at(DAY).answers(Failed(404)).expect(ALLOW_ALL)
    assert origin.copy.last_good_at is None
    origin.at(DAY + HOUR).answers(REFUSED).expect(ALLOW_ALL)  # an answer holds its 24 h
    origin.fails_until(40 * DAY).expect(CLOSED)


def test_google_closes_for_12_hours_then_the_last_copy_serves_for_30_days() -> None:
    origin = Origin(GOOGLE).at(0).answers(Fetched(200)).at(HOUR).answers(ServerFailed(500)).expect(CLOSED)
    origin.fails_until(13 * HOUR - 1).expect(CLOSED)
    origin.fails_until(14 * HOUR + 1).expect(BY_RULES)
    origin.fails_until(30 * DAY).expect(BY_RULES)
    origin.fails_until(30 * DAY + 3 * HOUR).expect(ALLOW_ALL)


def test_google_without_a_copy_allows_all_after_12_hours() -> None:
    origin = Origin(GOOGLE).at(0).answers(REFUSED)
    origin.fails_until(12 * HOUR - 1).expect(CLOSED)
    origin.fails_until(13 * HOUR + 1).expect(ALLOW_ALL)


def test_robots_txt_is_tried_again_after_a_minute_doubling_to_an_hour() -> None:
    origin = Origin().at(0)
    waits = []
    for _ in range(9):
        origin.at(origin.copy.next_try_at).answers(REFUSED)
        waits.append(origin.copy.next_try_at - origin.now)
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert origin.copy.attempts == 9


def test_the_hosts_wish_is_a_floor_for_the_next_try() -> None:
    assert Origin().at(100).answers(Throttled(429, 900.0)).copy.next_try_at == 1000
    assert Origin().at(100).answers(Throttled(503, 5.0)).copy.next_try_at == 160
    assert Origin().at(100).answers(Throttled(503, 2 * DAY)).copy.next_try_at == 100 + 2 * DAY


def test_the_reason_and_the_epoch_tell_what_held() -> None:
    origin = Origin()
    assert (origin.copy.reason(0), origin.copy.epoch) == ("unknown", 0)
    origin.at(0).answers(Fetched(200))
    assert (origin.copy.reason(1), origin.copy.epoch) == ("fresh", 1)
    assert origin.copy.reason(DAY) == "expired"
    origin.at(DAY).answers(REFUSED)
    assert (origin.copy.reason(DAY), origin.copy.epoch) == ("outage", 1)
    origin.at(DAY + 60).answers(Failed(404))
    assert (origin.copy.reason(DAY + 61), origin.copy.epoch) == ("absent", 2)


@given(
    history=st.lists(
        st.tuples(st.sampled_from([Body(), Absent(404), Unavailable("500")]), st.floats(0, 40 * DAY)), max_size=30
    ),
    later=st.floats(0, 40 * DAY),
    mode=st.sampled_from(UnreachableMode),
)
def test_rules_are_never_asked_for_that_were_never_had(
    history: list[tuple[RobotsAnswer, float]], later: float, mode: UnreachableMode
) -> None:
    copy, now = UNKNOWN_COPY, 0.0
    for answer, wait_s in history:
        now += wait_s
        copy = after_answer(copy, answer, now)
    verdict = permission(copy, now + later, mode)
    if verdict is BY_RULES:
        assert copy.last_good_at is not None
    if verdict is CLOSED:
        assert copy.next_try_at > now + later
    if copy.state is RobotsState.UNREACHABLE and mode is RFC and verdict is ALLOW_ALL:
        assert copy.fetched_at is not None
        assert now + later <= copy.fetched_at + DAY
