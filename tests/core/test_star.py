"""Budgets of sites by in-degree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.star import LEAST, MOST, RANKED, Ranking, star_budget


def test_worked_example_11_ten_thousand_sites_are_interpolated_linearly_from_ten_to_ten_thousand() -> None:
    assert (RANKED, LEAST, MOST) == (10_000, 10, 10_000)
    assert star_budget(1) == 10_000
    assert star_budget(10_000) == 10
    assert star_budget(10_001) == star_budget(None) == 10
    assert star_budget(5_000) + star_budget(5_001) == pytest.approx(10_010, abs=2)
    steps = {star_budget(rank) - star_budget(rank + 1) for rank in range(1, RANKED)}
    assert steps == {0, 1}  # 9,990 pages over 9,999 ranks


def test_the_site_of_highest_in_degree_comes_first_and_of_equals_the_earlier() -> None:
    ranking = Ranking()
    for site, in_degree in ((7, 1), (8, 2), (9, 1), (7, 2), (10, 5)):
        ranking.has_risen(site, in_degree)
    assert ranking.sites() == [10, 8, 7, 9]
    assert [ranking.rank(site) for site in (10, 8, 7, 9, 11)] == [1, 2, 3, 4, None]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=60))
def test_the_ranking_is_that_of_a_sorted_list(raises: list[tuple[int, int]]) -> None:
    ranking, in_degrees = Ranking(), dict[int, int]()
    reached: dict[int, int] = {}
    for moment, (site, more) in enumerate(raises):
        in_degrees[site] = in_degrees.get(site, 0) + more
        reached[site] = moment
        ranking.has_risen(site, in_degrees[site])
    assert ranking.sites() == sorted(in_degrees, key=lambda site: (-in_degrees[site], reached[site]))


def test_only_as_many_sites_as_have_budgets_are_held() -> None:
    ranking = Ranking()
    for site in range(RANKED + 500):
        ranking.has_risen(site, 1)
    ranking.has_risen(RANKED + 200, 2)
    assert len(ranking) == RANKED
    assert ranking.rank(RANKED + 200) == 1
    assert ranking.rank(RANKED - 1) is None  # the last of equals made room
