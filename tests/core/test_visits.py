"""Parameters that name a visit: dropped when two pages have shown it, never before."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.url import Url
from gossamer.core.visits import VISIT_NAMES, VisitNames, after_page, without_visit

SHOP = "https://shop.example.com/"


def item(number: int, value: str, name: str = "sid") -> Url:
    return Url(f"{SHOP}{number}?{name}={value}")


def after(*pages: tuple[str, str]) -> VisitNames:
    """Pages with one value whose ten links carry another."""
    known = VisitNames()
    for value, theirs in pages:
        known = after_page(known, item(0, value), [item(number, theirs) for number in range(10)])
    return known


def test_a_name_that_every_page_renews_is_dropped() -> None:
    assert after(("00000000", "1f00ba12")).dropped == frozenset()
    assert after(("00000000", "1f00ba12"), ("1f00ba12", "9a8b7c6d")).dropped == {"sid"}


def test_a_dropped_name_leaves_the_rest_of_a_url_alone() -> None:
    dropped = frozenset({"sid"})
    assert without_visit(Url(f"{SHOP}a?p=1&SID=9&q"), dropped) == f"{SHOP}a?p=1&q"
    assert without_visit(Url(f"{SHOP}a?sid=9"), dropped) == f"{SHOP}a"
    assert without_visit(Url(f"{SHOP}a?aside=9"), dropped) == f"{SHOP}a?aside=9"
    assert without_visit(Url(f"{SHOP}a"), dropped) == f"{SHOP}a"
    assert without_visit(Url(f"{SHOP}a?sid=9"), frozenset()) == f"{SHOP}a?sid=9"


def test_stories_are_no_visits() -> None:
    known = VisitNames()
    for number in range(100_000, 100_100):
        links = [item(1, str(number + step)) for step in range(1, 10)]
        known = after_page(known, item(1, str(number)), links)
    assert known.dropped == frozenset()


def test_a_page_that_hands_on_its_own_value_takes_the_suspicion_back() -> None:
    known = after(("00000000", "1f00ba12"), ("1f00ba12", "1f00ba12"))
    assert known.renewed == {}


def test_pages_that_all_lead_to_the_same_one_value_prove_nothing() -> None:
    assert after(("100001", "999999"), ("100002", "999999"), ("100003", "999999")).dropped == frozenset()


def test_few_links_short_values_and_words_prove_nothing() -> None:
    known = VisitNames()
    for theirs in ("11111111", "22222222", "33333333"):
        known = after_page(known, item(0, "00000000"), [item(1, theirs), item(2, theirs)])
    assert known == VisitNames()
    assert after(("1", "2"), ("2", "3"), ("3", "4")).dropped == frozenset()
    assert after(("a", "comments"), ("b", "overview")).dropped == frozenset()


def test_links_to_other_hosts_and_other_names_do_not_count() -> None:
    foreign = [Url(f"https://other.example.com/{number}?sid=1f00ba12") for number in range(9)]
    assert after_page(VisitNames(), item(0, "00000000"), foreign) == VisitNames()
    other = [item(number, "1f00ba12", "article") for number in range(9)]
    assert after_page(VisitNames(), item(0, "00000000", "article"), other) == VisitNames()


def test_what_is_known_can_be_stored() -> None:
    known = after(("00000000", "1f00ba12"), ("1f00ba12", "9a8b7c6d"))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=VisitNames) == known


@given(st.lists(st.tuples(st.sampled_from([*VISIT_NAMES, "id"]), st.text(max_size=300), st.text(max_size=300))))
def test_what_is_kept_of_a_host_is_bounded(pages: list[tuple[str, str, str]]) -> None:
    known = VisitNames()
    for name, value, theirs in pages:
        known = after_page(known, item(0, value, name), [item(number, theirs, name) for number in range(4)])
    assert known.dropped | set(known.renewed) <= VISIT_NAMES
    assert not known.dropped & set(known.renewed)
    assert all(len(value) <= 256 for value in known.renewed.values())
