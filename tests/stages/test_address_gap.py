"""One address, many hosts: begins lie a gap apart, and those who wait come back one by one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

import gossamer.stages.address_gap as module
from gossamer.stages.address_gap import AddressGap


def test_moments_of_one_address_are_a_gap_apart_and_others_are_free() -> None:
    gap = AddressGap(0.1)
    assert [round(gap.take("a", 10.0), 3) for _ in range(3)] == [10.0, 10.1, 10.2]
    assert gap.take("b", 10.0) == 10.0


def test_who_holds_a_moment_begins_at_it() -> None:
    gap = AddressGap(0.5)
    gap.take("a", 10.0)
    second, third = gap.take("a", 10.0), gap.take("a", 10.0)
    assert gap.take("a", 10.5, second) == 10.5
    assert gap.take("a", 11.0, third) == 11.0
    assert gap.take("a", 11.5) == 11.5


def test_after_a_restart_every_address_is_quiet_for_its_gap() -> None:
    gap = AddressGap(0.5, quiet_until=10.5)
    first, second = gap.take("a", 10.0), gap.take("a", 10.0)
    assert (first, second) == (10.5, 11.0)
    assert gap.take("a", first, first) == first
    assert gap.take("b", 10.6) == 10.6
    assert AddressGap(0.5).take("a", 10.0) == 10.0


def test_a_longer_gap_holds_at_once_for_known_and_forgotten_addresses() -> None:
    gap = AddressGap(0.1)
    gap.take("a", 10.0)
    held = gap.take("a", 10.0)
    gap.change(2.0, 10.05)
    assert gap.take("a", held, held) >= 12.0
    assert gap.take("b", 10.5) == 12.05
    assert gap.take("c", 13.0) == 13.0


def test_a_gap_where_there_was_none_counts_from_the_change() -> None:
    gap = AddressGap(0.5)
    gap.take("a", 10.0)
    gap.change(0.0, 11.0)
    assert [gap.take("a", 20.0), gap.take("a", 20.1)] == [20.0, 20.1]
    gap.change(0.5, 20.2)
    assert gap.take("a", 20.2) == 20.7


def test_a_shorter_gap_holds_from_the_next_contact_on() -> None:
    gap = AddressGap(5.0)
    gap.take("a", 10.0)
    gap.change(1.0, 12.0)
    assert gap.take("a", 15.0) == 15.0
    assert gap.take("a", 16.0) == 16.0


def test_nobody_begins_before_the_moment_that_it_holds() -> None:
    gap = AddressGap(0.1)
    gap.take("a", 10.0)
    held = gap.take("a", 10.0)
    assert gap.take("a", 10.05, held) == held
    assert gap.take("a", held, held) == held


def test_a_late_begin_moves_the_next_one_by_as_much() -> None:
    gap = AddressGap(0.1)
    gap.take("a", 10.0)
    second, third = gap.take("a", 10.0), gap.take("a", 10.0)
    assert gap.take("a", 10.106, second) == 10.106
    moved = gap.take("a", third, third)
    assert round(moved, 6) == 10.206
    assert gap.take("a", moved, moved) == moved


def test_moments_that_a_pause_let_pass_are_dealt_out_again() -> None:
    gap = AddressGap(0.1)
    held = [gap.take("a", 0.0) for _ in range(50)]
    again = sorted(gap.take("a", 60.0, moment) for moment in held)
    assert [round(at, 6) for at in again] == [round(60 + n / 10, 6) for n in range(50)]


def test_without_a_gap_everything_begins_at_once() -> None:
    gap = AddressGap(0.0)
    assert [gap.take("a", 5.0) for _ in range(2)] == [5.0, 5.0]
    assert len(gap) == 0


def test_addresses_whose_gap_is_over_are_forgotten() -> None:
    gap = AddressGap(1.0)
    for number in range(module.ADDRESSES_MAX):
        gap.take(str(number), float(number))
    gap.take("new", 2.0 * module.ADDRESSES_MAX)
    assert len(gap) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 0.3)), max_size=60))
def test_whoever_comes_and_however_late_begins_are_a_gap_apart(arrivals: list[tuple[int, float]]) -> None:
    """Six hosts of one address ask at arbitrary moments, some long after the moment that they hold."""
    gap, now = AddressGap(0.1), 0.0
    held: dict[int, float] = {}
    begins: list[float] = []
    for host, pause_s in arrivals:
        now += pause_s
        at = gap.take("a", now, held.pop(host, None))
        if at <= now:
            begins.append(now)
        else:
            held[host] = at
    assert all(later - earlier >= 0.1 - 1e-9 for earlier, later in pairwise(begins))
    for moment in sorted(held.values()):  # everybody has its turn in the end
        at = moment
        for _ in range(len(held) + 1):
            now = max(now, at)
            at = gap.take("a", now, at)
            if at <= now:
                break
        assert at <= now
