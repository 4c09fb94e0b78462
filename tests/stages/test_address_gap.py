"""One address, many hosts: the gap between begins."""

from gossamer.stages.address_gap import AddressGap


def test_moments_of_one_address_are_a_gap_apart_and_others_are_free() -> None:
    gap = AddressGap(0.1)
    assert [round(gap.reserve("a", 10.0), 3) for _ in range(3)] == [10.0, 10.1, 10.2]
    assert gap.reserve("b", 10.0) == 10.0


def test_a_late_begin_moves_the_next_one() -> None:
    gap = AddressGap(0.1)
    first, second = gap.reserve("a", 10.0), gap.reserve("a", 10.0)
    assert gap.begin("a", first, 10.006) <= 10.006
    assert round(gap.begin("a", second, 10.1), 6) == 10.106
    assert gap.begin("a", second, 10.107) <= 10.107
    assert round(gap.begin("a", 10.2, 10.2), 6) == 10.207


def test_nobody_begins_before_the_reserved_moment() -> None:
    gap = AddressGap(0.1)
    gap.reserve("a", 10.0)
    reserved = gap.reserve("a", 10.0)
    assert gap.begin("a", reserved, 10.05) == reserved
    assert gap.begin("a", reserved, reserved) == reserved


def test_without_a_gap_everything_begins_at_once() -> None:
    gap = AddressGap(0.0)
    assert [gap.begin("a", gap.reserve("a", 5.0), 5.0) for _ in range(2)] == [5.0, 5.0]
