"""One outcome in, the next state out: nothing ends nowhere, and nothing is tried for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.backoff import RetryRules
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
from gossamer.core.rows import State
from gossamer.core.url_life import NextState, next_state

RETRY = RetryRules(attempts_max=5, base_s=60)
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Fetched, st.integers(200, 299), st.none() | st.sampled_from(Truncation)),
    st.builds(Redirected, st.sampled_from([301, 302, 307]), st.just("http://a.test/")),
    st.builds(Failed, st.integers(300, 499), st.none() | st.sampled_from(Reason)),
    st.builds(Throttled, st.sampled_from([429, 503]), st.none() | st.floats(0, 1e6)),
    st.builds(ServerFailed, st.integers(500, 599)),
    st.builds(Unreachable, st.sampled_from(Reason)),
    st.builds(Denied, st.sampled_from(Reason)),
)


@pytest.mark.parametrize(
    ("outcome", "state", "reason"),
    [
        (Fetched(200), State.CAPTURED, ""),
        (Fetched(200, Truncation.LENGTH), State.CAPTURED, ""),
        (Redirected(301, "http://b.test/"), State.REDIRECTED, "to http://b.test/"),
        (Failed(404), State.FAILED, "status 404"),
        (Failed(302, Reason.BAD_LOCATION), State.FAILED, "bad-location"),
        (Denied(Reason.ROBOTS_DISALLOWED), State.DENIED, "robots-disallowed"),
        (Throttled(429, 5), State.WAITING, "status 429"),
        (ServerFailed(502), State.WAITING, "status 502"),
        (Unreachable(Reason.DNS_TIMEOUT), State.WAITING, "dns-timeout"),
    ],
)
def test_where_a_first_outcome_leads(outcome: Outcome, state: State, reason: str) -> None:
    following = next_state(outcome, 0, at=1_000, retry=RETRY, u=0)
    assert (following.state, following.reason) == (state, reason)


def test_a_failing_url_waits_longer_each_time_and_is_given_up_at_the_fifth() -> None:
    attempts, waits = 0, []
    while True:
        following = next_state(ServerFailed(500), attempts, at=0, retry=RETRY, u=0)
        attempts = following.attempts
        if following.state is not State.WAITING:
            break
        waits.append(following.due_at)
    assert waits == [60, 120, 240, 480]
    assert following == NextState(State.DEAD, "status 500", 5)


@pytest.mark.parametrize("cut", [Truncation.TIME, Truncation.DISCONNECT])
def test_a_body_cut_by_the_way_is_tried_again_and_kept_at_last(cut: Truncation) -> None:
    assert next_state(Fetched(200, cut), 0, 0, RETRY, 0).state is State.WAITING
    last = next_state(Fetched(200, cut), RETRY.attempts_max - 1, 0, RETRY, 0)
    assert last.state is State.CAPTURED
    assert cut.value in last.reason


@given(OUTCOMES, st.integers(0, 10), st.floats(0, 2e9), st.floats(0, 1, exclude_max=True))
def test_every_outcome_has_a_next_state_and_only_waiting_has_a_moment(
    outcome: Outcome, attempts: int, at: float, u: float
) -> None:
    following = next_state(outcome, attempts, at, RETRY, u)
    assert following.state not in (State.READY, State.FETCHED)
    assert (following.due_at > 0) == (following.state is State.WAITING)
    if following.state is State.WAITING:
        assert following.due_at >= at + RETRY.base_s
        assert attempts < following.attempts < RETRY.attempts_max
    if following.state not in (State.CAPTURED, State.REDIRECTED):
        assert following.reason
