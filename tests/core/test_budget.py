"""Ceilings that are exact: a lease holds its unit until it is known how it ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.budget import Budget, Ceilings


def test_without_a_ceiling_there_is_always_room_and_it_is_never_spent() -> None:
    budget = Budget(None, spent=10**12)
    assert budget.has_room
    assert not budget.is_spent


def test_a_reserved_unit_is_nobody_elses_and_comes_back_when_nothing_was_stored() -> None:
    budget = Budget(1)
    budget.reserve()
    assert not budget.has_room
    assert not budget.is_spent, "the lease may still fail"
    budget.give_back()
    assert budget.has_room
    budget.reserve()
    budget.spend()
    assert budget.is_spent


def test_a_ceiling_below_what_is_spent_already_leaves_no_room() -> None:
    assert Budget(5, spent=9).is_spent
    assert not Budget(5, spent=9).has_room


@given(st.integers(1, 20), st.lists(st.booleans(), max_size=200))
def test_never_more_is_spent_than_the_ceiling_however_leases_end(ceiling: int, ends: list[bool]) -> None:
    budget = Budget(ceiling)
    for is_stored in ends:
        if budget.has_room:
            budget.reserve()
        elif budget.reserved and is_stored:
            budget.spend()
        elif budget.reserved:
            budget.give_back()
        assert budget.spent + budget.reserved <= ceiling
    assert budget.is_spent == (budget.spent == ceiling)


@pytest.mark.parametrize(
    ("hops", "hop", "allowed"), [(None, 10**6, True), (0, 0, True), (0, 1, False), (3, 3, True), (3, 4, False)]
)
def test_the_ceiling_of_hops_includes_itself(hops: int | None, hop: int, allowed: bool) -> None:
    assert Ceilings(hops=hops).allows_hop(hop) is allowed


def test_a_budget_shows_itself() -> None:
    assert repr(Budget(5, 2, 1)) == "<Budget 2 spent, 1 reserved of 5>"
    assert "no limit" in repr(Budget(None))
