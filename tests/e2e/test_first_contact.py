"""A crawl is at work within a second, and then waits no longer than it must."""

import pytest
from bench.first_contact import DELAY_S, FirstContact, best, measure

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROUNDS = 3
FIRST_CONTACT_MAX_S = 1.0
PAGE_BEYOND_DELAY_MAX_S = 0.1
CLOCK_S = 0.005


@pytest.fixture(scope="module")
def measured() -> list[FirstContact]:
    return measure(ROUNDS)


def test_robots_txt_is_asked_for_within_a_second_of_the_start(measured: list[FirstContact]) -> None:
    assert best(measured).robots_after_exec_s <= FIRST_CONTACT_MAX_S, measured


def test_the_first_page_follows_the_delay_at_once_and_never_before(measured: list[FirstContact]) -> None:
    assert best(measured).page_beyond_delay_s <= PAGE_BEYOND_DELAY_MAX_S, measured
    assert all(each.page_after_robots_s >= DELAY_S - CLOCK_S for each in measured)
