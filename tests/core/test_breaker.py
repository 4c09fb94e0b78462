from itertools import pairwise

import pytest

from gossamer.core.breaker import DEAD_S, PROBES_MAX, is_dead, is_parked
from gossamer.core.outcome import Fetched, Outcome, Reason, ServerFailed, Throttled, Unreachable
from gossamer.core.politeness import FAILURES_MAX, PARKED_S, HostManners, after_contact

DOWN = Unreachable(Reason.CONNECT_TIMEOUT)


def after(*outcomes: Outcome, gap_s: float = 1.0) -> HostManners:
    """Each contact begins as soon as it may and takes no time."""
    manners = HostManners()
    for outcome in outcomes:
        manners = after_contact(manners, outcome, manners.next_allowed_at, gap_s)
    return manners


def test_the_tenth_failure_in_a_row_parks_the_host_for_an_hour() -> None:
    nine, ten = after(*[DOWN] * 9), after(*[DOWN] * 10)
    assert not is_parked(nine)
    assert is_parked(ten)
    assert ten.next_allowed_at - nine.next_allowed_at == PARKED_S == 3600


def test_then_it_is_probed_once_an_hour_until_a_probe_succeeds() -> None:
    times = [after(*[DOWN] * count).next_allowed_at for count in range(10, 20)]
    assert [later - earlier for earlier, later in pairwise(times)] == [3600] * 9
    healed = after(*[DOWN] * 15, Fetched(200))
    assert not is_parked(healed)
    assert healed.failures == 0


@pytest.mark.parametrize("failure", [DOWN, ServerFailed(500), Throttled(503), Throttled(429, 30.0)])
def test_every_kind_of_failure_counts(failure: Outcome) -> None:
    assert is_parked(after(*[DOWN] * 9, failure))


def test_a_longer_wish_of_the_host_is_kept_while_it_is_parked() -> None:
    before = after(*[DOWN] * 9)
    assert after(*[DOWN] * 9, Throttled(503, 7200.0)).next_allowed_at == before.next_allowed_at + 7200


def test_after_24_failed_probes_the_host_is_given_up_for_a_day() -> None:
    almost = after(*[DOWN] * (FAILURES_MAX + PROBES_MAX - 1))
    assert not is_dead(almost, almost.next_allowed_at)
    dead = after(*[DOWN] * (FAILURES_MAX + PROBES_MAX))
    gave_up_at = dead.next_allowed_at - PARKED_S
    assert is_dead(dead, gave_up_at)
    assert is_dead(dead, gave_up_at + DEAD_S - 1)
    assert not is_dead(dead, gave_up_at + DEAD_S)
