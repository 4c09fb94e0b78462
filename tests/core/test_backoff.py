"""The ladder of one URL."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.backoff import RetryRules, is_transient, retry_at
from gossamer.core.outcome import (
    Denied,
    Failed,
    Fetched,
    Outcome,
    Reason,
    Redirected,
    ServerFailed,
    Throttled,
    Unreachable,
)


def test_a_url_that_always_times_out_is_tried_at_0_1_3_7_15_minutes_worked_example_3() -> None:
    now: float | None = 0.0
    tried_at_min = []
    while now is not None:
        tried_at_min.append(now / 60)
        now = retry_at(len(tried_at_min), now, 0.0, RetryRules())
    assert tried_at_min == [0, 1, 3, 7, 15]


def test_the_draw_stretches_a_wait_by_up_to_a_tenth() -> None:
    assert retry_at(1, 100.0, 0.5, RetryRules()) == pytest.approx(163.0)
    assert retry_at(3, 0.0, 0.999, RetryRules(base_s=10.0)) == pytest.approx(43.996)


@pytest.mark.parametrize(("attempts", "attempts_max"), [(5, 5), (6, 5), (1, 1), (1, 0)])
def test_spent_attempts_are_a_dead_letter(attempts: int, attempts_max: int) -> None:
    assert retry_at(attempts, 0.0, 0.0, RetryRules(attempts_max=attempts_max)) is None


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Throttled(429), True),
        (Throttled(503, 1.0), True),
        (ServerFailed(500), True),
        (Unreachable(Reason.DNS_TIMEOUT), True),
        (Fetched(200), False),
        (Redirected(301, "http://a.test/"), False),
        (Failed(404), False),
        (Failed(410), False),
        (Denied(Reason.ROBOTS_DISALLOWED), False),
    ],
)
def test_only_transient_ends_are_tried_again(outcome: Outcome, expected: bool) -> None:
    assert is_transient(outcome) is expected


@given(
    attempts=st.integers(-5, 10**6),
    now=st.floats(0, 4e9),
    u=st.floats(0, 1, exclude_max=True),
    base_s=st.floats(0.001, 1e5),
)
def test_a_wait_is_finite_and_never_below_the_base(attempts: int, now: float, u: float, base_s: float) -> None:
    due = retry_at(attempts, now, u, RetryRules(attempts_max=10**7, base_s=base_s))
    assert due is not None
    assert math.isfinite(due)
    assert due >= now + base_s * 0.999 - 1e-6
