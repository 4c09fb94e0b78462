"""Which URL comes first, and which host."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.priority import LEVELS, PRIORITY_MAX, Signals, Wishes, draw_level, level_of, priority_of

signals = st.builds(
    Signals,
    hop=st.integers(0, 10_000),
    in_degree=st.integers(0, 10**9),
    good=st.integers(0, 10**9),
    bad=st.integers(0, 10**9),
)


@given(signals, st.integers(-1_000, 1_000))
def test_a_priority_is_a_level_and_never_that_of_sitemaps(what: Signals, nudge: int) -> None:
    number = priority_of(what, nudge)
    assert 1 <= number <= PRIORITY_MAX
    assert 0 <= level_of(number) < LEVELS


def test_near_famous_and_healthy_comes_first() -> None:
    far, near = Signals(hop=3), Signals(hop=2)
    assert priority_of(near) < priority_of(far)
    assert priority_of(Signals(hop=3, in_degree=4)) < priority_of(far)
    assert priority_of(far) < priority_of(Signals(hop=3, good=1, bad=9))
    assert priority_of(far, nudge=-40) < priority_of(near)


@pytest.mark.parametrize(("sites", "hops"), [(0, 0), (1, 0.5), (3, 1), (15, 2), (10**9, 4)])
def test_each_doubling_of_linking_sites_is_worth_half_a_hop_up_to_four(sites: int, hops: float) -> None:
    assert priority_of(Signals(hop=8)) - priority_of(Signals(hop=8, in_degree=sites)) == 16 * hops


def test_a_first_failure_is_no_verdict_on_a_host() -> None:
    assert priority_of(Signals(hop=1, bad=1)) - priority_of(Signals(hop=1)) < 16
    assert priority_of(Signals(hop=1, bad=10**6)) - priority_of(Signals(hop=1)) == 63


def test_the_operators_wish_is_worth_two_levels() -> None:
    wishes = Wishes(prefer=(re.compile("/news/"),), defer=(re.compile(r"\?page="),))
    assert [wishes.nudge(f"http://a.test{path}") for path in ("/news/1", "/", "/?page=2", "/news/?page=2")] == [
        -64,
        0,
        64,
        0,
    ]
    far = Signals(hop=9)
    assert level_of(priority_of(far)) - level_of(priority_of(far, wishes.nudge("http://a.test/news/1"))) == 2


def test_each_level_is_drawn_twice_as_often_as_the_next() -> None:
    rng = Random(4)
    drawn = Counter(draw_level([0, 1, 2, 7], rng.random()) for _ in range(100_000))
    assert drawn[0] / drawn[1] == pytest.approx(2, rel=0.05)
    assert drawn[1] / drawn[2] == pytest.approx(2, rel=0.05)
    assert drawn[2] / drawn[7] == pytest.approx(32, rel=0.2)


@given(st.sets(st.integers(0, LEVELS), min_size=1), st.floats(0, 1, exclude_max=True))
def test_only_levels_with_hosts_are_drawn(levels: set[int], u: float) -> None:
    assert draw_level(sorted(levels), u) in levels
