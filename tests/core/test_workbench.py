"""How many hosts must be in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.workbench import BOUNDS, HEADROOM, hosts_busy, places


def test_worked_example_5_a_gap_of_ten_fetch_times_takes_eleven_hosts_a_fetch() -> None:
    assert hosts_busy(600, 0.5, 5.0) == 3_300
    in_flight = 600 * 0.5
    assert in_flight == 300
    assert hosts_busy(600, 0.5, 5.0) / in_flight == pytest.approx(11)


def test_a_rate_that_the_workbench_holds_down_finds_more_places_at_the_next_look() -> None:
    """Full and busy, its hosts serve places ÷ (fetch time + gap) pages a second."""
    now, fetch_s, gap_s = BOUNDS[0], 0.2, 1.0
    assert places(now / (fetch_s + gap_s), fetch_s, gap_s) == HEADROOM * now


@given(st.floats(0, 1e6), st.floats(0, 1e3), st.floats(0, 1e5), st.integers(1, 100), st.integers(100, 10_000))
def test_places_stay_within_their_bounds(rate: float, fetch_s: float, gap_s: float, fewest: int, most: int) -> None:
    assert fewest <= places(rate, fetch_s, gap_s, (fewest, most)) <= most
