"""How long a host rests: the gap, the wish, the doubling, and the slow way back."""

import math

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
from gossamer.core.politeness import (
    BACKOFF_MAX_S,
    DelayRules,
    HostManners,
    after_contact,
    crawl_delay_too_long,
    gap_s,
)

OK = Fetched(200)
TIMEOUT = Unreachable(Reason.FIRST_BYTE_TIMEOUT)


@pytest.mark.parametrize(
    ("crawl_delay_s", "last_download_s", "expected_s"),
    [
        (None, 0.0, 1.0),
        (None, 0.05, 1.0),
        (None, 0.4, 4.0),
        (None, 30.0, 60.0),
        (5.0, 0.1, 5.0),
        (5.0, 2.0, 20.0),
        (0.0, 0.0, 1.0),
        (0.2, 0.0, 1.0),
        (60.0, 0.0, 60.0),
    ],
)
def test_the_gap_is_the_largest_of_three(
    crawl_delay_s: float | None, last_download_s: float, expected_s: float
) -> None:
    assert gap_s(DelayRules(), crawl_delay_s, last_download_s) == pytest.approx(expected_s)


def test_a_delay_beyond_ours_is_not_shortened_but_left_alone() -> None:
    rules = DelayRules(delay_max_s=60.0)
    assert not crawl_delay_too_long(rules, None)
    assert not crawl_delay_too_long(rules, 60.0)
    assert crawl_delay_too_long(rules, 60.5)
    assert gap_s(rules, 90.0, 0.0) == 90.0


def test_six_fetches_with_a_gap_of_ten_downloads_end_at_5_worked_example_1() -> None:
    rules = DelayRules(delay_s=0.0, delay_factor=10.0, delay_max_s=60.0)
    queues = {"a": [0.4, 0.4], "b": [0.2, 0.2, 0.2], "c": [1.0]}
    manners = dict.fromkeys(queues, HostManners())
    now, trace = 0.0, []
    while any(queues.values()):
        host = min((name for name in queues if queues[name]), key=lambda name: (manners[name].next_allowed_at, name))
        began = max(now, manners[host].next_allowed_at)
        download_s = queues[host].pop()
        now = began + download_s
        manners[host] = after_contact(manners[host], OK, now, gap_s(rules, None, download_s))
        trace.append((host, round(began, 9), round(now, 9)))
    assert trace == [
        ("a", 0.0, 0.4),
        ("b", 0.4, 0.6),
        ("c", 0.6, 1.6),
        ("b", 2.6, 2.8),
        ("a", 4.4, 4.8),
        ("b", 4.8, 5.0),
    ]
    assert manners["c"].next_allowed_at == pytest.approx(11.6)


@pytest.mark.parametrize(("outcome_of_c", "gap_of_c"), [(Throttled(503, 4.0), 1.0), (Throttled(503), 2.0)])
def test_three_hosts_stand_in_order_of_their_next_contact_worked_example_2(
    outcome_of_c: Outcome, gap_of_c: float
) -> None:
    a = after_contact(HostManners(), OK, 1.0, 1.0)
    b = after_contact(HostManners(), OK, 0.3, gap_s(DelayRules(), 2.0, 0.0))
    c = after_contact(HostManners(), outcome_of_c, 1.6, gap_of_c)
    assert [round(host.next_allowed_at, 9) for host in (a, b, c)] == [2.0, 2.3, 5.6]
    assert after_contact(a, OK, 2.0, 1.0).next_allowed_at == 3.0


@pytest.mark.parametrize("outcome", [TIMEOUT, ServerFailed(500), Throttled(503), Throttled(429)])
def test_each_transient_end_doubles_the_rest_until_the_tenth_parks_the_host(outcome: Outcome) -> None:
    host, rests = HostManners(), []
    for _ in range(14):
        began = host.next_allowed_at
        host = after_contact(host, outcome, began, 1.0)
        rests.append(host.next_allowed_at - began)
    assert rests == [2, 4, 8, 16, 32, 64, 128, 256, 512, 3600, 3600, 3600, 3600, 3600]
    assert host.failures == 14


@pytest.mark.parametrize(
    "outcome",
    [OK, Fetched(200, Truncation.LENGTH), Redirected(301, "http://a.test/"), Failed(404), Failed(403), Failed(304)],
)
def test_any_answer_below_500_resets_the_count(outcome: Outcome) -> None:
    host = after_contact(HostManners(failures=7, refusals=3), outcome, 100.0, 1.0)
    assert (host.failures, host.refusals) == (0, 0)
    assert host.next_allowed_at == 101.0


def test_an_unknown_status_neither_counts_nor_clears() -> None:
    host = after_contact(HostManners(failures=7), Failed(799, Reason.STATUS_UNKNOWN), 100.0, 1.0)
    assert host.failures == 7
    assert host.next_allowed_at == 101.0


def test_a_denial_was_no_contact() -> None:
    host = HostManners(next_allowed_at=9.0, failures=3, refusals=1, slow_s=8.0)
    assert after_contact(host, Denied(Reason.ROBOTS_DISALLOWED), 100.0, 1.0) == host


def test_the_wish_is_a_floor_and_no_ceiling() -> None:
    assert after_contact(HostManners(), Throttled(429, 30.0), 2.0, 1.0).next_allowed_at == 32.0
    assert after_contact(HostManners(), Throttled(429, 0.0), 2.0, 1.0).next_allowed_at == 4.0
    assert after_contact(HostManners(), Throttled(503, 7200.0), 2.0, 1.0).next_allowed_at == 7202.0
    assert after_contact(HostManners(failures=5), Throttled(503, 3.0), 2.0, 1.0).next_allowed_at == 66.0
    assert after_contact(HostManners(), Throttled(503, 3.0), 2.0, 50.0).next_allowed_at == 102.0


def test_jitter_stretches_only_waits_that_nobody_named() -> None:
    assert after_contact(HostManners(), Throttled(429), 0.0, 1.0, 0.5).next_allowed_at == pytest.approx(2.1)
    assert after_contact(HostManners(), Throttled(429, 5.0), 0.0, 1.0, 0.5).next_allowed_at == 5.0
    assert after_contact(HostManners(), TIMEOUT, 0.0, 1.0, 0.5).next_allowed_at == 2.0
    assert after_contact(HostManners(failures=40), Throttled(429), 0.0, 1.0, 0.99).next_allowed_at == BACKOFF_MAX_S


def test_a_later_contact_does_not_undo_a_wish() -> None:
    resting = after_contact(HostManners(), Throttled(429, 600.0), 10.0, 1.0)
    assert after_contact(resting, OK, 12.0, 1.0).next_allowed_at == 610.0


def test_a_gap_beyond_an_hour_is_kept() -> None:
    assert after_contact(HostManners(), TIMEOUT, 0.0, 7200.0).next_allowed_at == 7200.0


def test_the_rate_climbs_back_step_by_step_after_refusals() -> None:
    host = HostManners()
    for _ in range(3):
        host = after_contact(host, Throttled(429), host.next_allowed_at, 1.0)
    rests = []
    for _ in range(12):
        began = host.next_allowed_at
        host = after_contact(host, OK, began, 1.0)
        rests.append(round(host.next_allowed_at - began, 6))
    assert rests == [6.4, 5.12, 4.096, 3.2768, 2.62144, 2.097152, 1.677722, 1.342177, 1.073742, 1, 1, 1]


def test_a_timeout_leaves_no_slow_phase_behind() -> None:
    host = after_contact(HostManners(), TIMEOUT, 0.0, 1.0)
    assert after_contact(host, OK, 10.0, 1.0).next_allowed_at == 11.0


def test_scattered_refusals_do_not_pile_up() -> None:
    host = HostManners()
    for _ in range(200):
        host = after_contact(host, Throttled(503), host.next_allowed_at, 1.0)
        host = after_contact(host, OK, host.next_allowed_at, 1.0)
    assert host.slow_s <= 2.0


def test_a_quick_refusal_of_a_slow_host_does_not_speed_us_up() -> None:
    rules = DelayRules()
    host = after_contact(HostManners(), OK, 0.0, gap_s(rules, None, 5.0))
    assert host.next_allowed_at == 50.0
    refused = after_contact(host, Throttled(503, 1.0), 50.01, gap_s(rules, None, 0.01))
    assert refused.next_allowed_at - 50.01 >= 50.0
    again = after_contact(refused, OK, 200.0, gap_s(rules, None, 0.01))
    assert again.next_allowed_at - 200.0 >= 50.0


outcomes = st.sampled_from(
    [OK, Failed(404), TIMEOUT, ServerFailed(500), Throttled(429), Throttled(503, 0.0), Throttled(503, 100.0)]
)


@given(history=st.lists(st.tuples(outcomes, st.floats(0.0, 100.0), st.floats(0.0, 1.0, exclude_max=True)), max_size=60))
def test_the_gap_and_the_wish_are_always_kept(history: list[tuple[Outcome, float, float]]) -> None:
    host, now = HostManners(), 0.0
    for outcome, gap, u in history:
        after = after_contact(host, outcome, now, gap, u)
        rest_s = after.next_allowed_at - now
        named = (outcome.retry_after_s or 0.0) if isinstance(outcome, Throttled) else 0.0
        slack = 1e-6 + math.ulp(now)
        assert rest_s >= max(gap, named) - slack
        assert rest_s <= max(BACKOFF_MAX_S, gap, named) + slack
        assert rest_s >= after.slow_s - slack
        host, now = after, after.next_allowed_at


@given(
    refusals=st.integers(1, 2_000),
    gap=st.floats(0.1, 60.0),
    answers=st.integers(0, 100),
)
def test_after_a_refusal_nobody_is_contacted_faster_than_before_and_the_rate_rises_evenly(
    refusals: int, gap: float, answers: int
) -> None:
    host = after_contact(HostManners(), OK, 0.0, gap)
    for _ in range(min(refusals, 40)):
        host = after_contact(host, Throttled(503), host.next_allowed_at, gap)
    last_rest_s = math.inf
    for _ in range(answers):
        began = host.next_allowed_at
        host = after_contact(host, OK, began, gap)
        rest_s = host.next_allowed_at - began
        assert gap - 1e-6 <= rest_s <= last_rest_s + 1e-6
        last_rest_s = rest_s


def test_thousands_of_failures_are_only_a_number() -> None:
    host = after_contact(HostManners(failures=100_000, refusals=100_000), Throttled(503), 0.0, 1.0)
    assert host.next_allowed_at == BACKOFF_MAX_S
