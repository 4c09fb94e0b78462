"""The rate over the last seconds, and an estimate only where there is one."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.pace import SAMPLES_MAX, WINDOW_S, Pace


def test_nothing_is_said_before_two_counts() -> None:
    pace = Pace()
    assert pace.pages_per_second == 0
    pace.count(100, at=5)
    assert pace.pages_per_second == 0
    assert pace.eta_s(10) is None


def test_the_rate_is_that_of_the_window_and_not_of_the_whole_crawl() -> None:
    pace = Pace()
    for second in range(100):
        pace.count(second * 1_000, at=second)
    for second in range(100, 112):
        pace.count(99_000 + (second - 99) * 5, at=second)
    assert pace.pages_per_second == 5
    assert pace.eta_s(50) == 10


def test_a_crawl_that_stands_still_has_no_end() -> None:
    pace = Pace()
    for second in range(20):
        pace.count(7, at=second)
    assert pace.pages_per_second == 0
    assert pace.eta_s(1) is None


def test_two_counts_at_one_moment_divide_nothing_by_zero() -> None:
    pace = Pace()
    pace.count(1, at=3)
    pace.count(2, at=3)
    assert pace.pages_per_second == 0


@given(st.floats(0.1, 1_000), st.floats(0.2, 2))
def test_a_steady_rate_is_found_at_any_interval_of_looking(rate: float, every_s: float) -> None:
    pace = Pace()
    for tick in range(2 * SAMPLES_MAX):
        pace.count(round(tick * every_s * rate), at=tick * every_s)
    seen_s = min(WINDOW_S, (SAMPLES_MAX - 1) * every_s)
    assert abs(pace.pages_per_second - rate) <= 1.01 / (seen_s - every_s)
