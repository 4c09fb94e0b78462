"""What URLs have in common, and the dates that they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.patterns import YEAR_MAX, YEAR_MIN, form_of, pattern_of
from gossamer.core.url import Url

HOST = "https://example.com/"


def form(path: str) -> object:
    return form_of(Url(HOST + path))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("", None),
        ("wiki/Some_title", None),
        ("caf%C3%A9/", None),  # the digits of an encoded octet are no number
        ("%E6%97%A51/", "/%E6%97%A5#/"),
        ("calendar/2024/1/", "/calendar/#/#/"),
        ("calendar/9999/12/", "/calendar/#/#/"),
        ("news/title-17.html", "/news/title-#.html"),
        ("show/deadbeef01/", "/show/#/"),  # a hash is one number
        ("(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/(#)/a.aspx"),
        ("item.php?id=7&view=full", "/item.php?id,view"),
        ("item.php?view=full&id=8", "/item.php?id,view"),
        ("list?a=1&b=2&c=3", "/list?*"),
        ("list?a=1&b=2&c=3&d=4", "/list?*"),
        ("list?a1=1&a1=2&a2=3", "/list?a#,a#"),
        ("index.php?option=cal&year=2026&month=1", "/index.php?month,option,year"),  # dates are never a combination
        ("?page", "/?page"),
    ],
)
def test_a_pattern_is_the_url_without_what_is_counted(path: str, pattern: str | None) -> None:
    assert pattern_of(Url(HOST + path)) == pattern
    assert (form_of(Url(HOST + path)).pattern is None) == (pattern is None)


@pytest.mark.parametrize(
    ("path", "year"),
    [
        ("calendar/2024/1/", 2024),
        ("calendar/2024/01/31/", 2024),
        ("archive/2005/06/title.html", 2005),
        ("events/2031-05/", 2031),
        ("strip/1999-12-31", 1999),
        ("cal?y=2026&m=1", 2026),
        ("cal?month=3&year=2026", 2026),
        ("cal?calYear=2026", 2026),
        ("events?tribe-bar-date=2027-02-01", 2027),
        ("events?from=20270201&x=1", 2027),
        ("events?t=2027-02-01T10%3A00", 2027),
        # what only looks like a date
        ("calendar/99999/1/", None),
        ("calendar/2024/13/", None),
        ("doc/2024", None),
        ("tiles/12/2031/2012", None),
        ("tiles?z=12&x=2031&y=2012", None),
        ("item?id=20270201", None),
        ("item?part=2027-99", None),
        ("thread/1234/5", None),
        ("a/2024/1x/", None),
    ],
)
def test_a_date_is_known_by_its_place_or_its_name(path: str, year: int | None) -> None:
    assert form_of(Url(HOST + path)).year == year


def test_only_combinations_of_filters_have_values() -> None:
    assert form_of(Url(f"{HOST}list?a=1&b=2")).values == 0
    assert form_of(Url(f"{HOST}list?a=1&b=2&c=3")).values.bit_count() == 3
    assert form("list?a=1&b=2&c=3") == form("list?c=3&a=1&b=2")


def test_kin_are_of_one_pattern_or_both_dated() -> None:
    month, day, doc = (form_of(Url(HOST + path)) for path in ("c/2024/1/", "c/2024/1/9/", "doc/9"))
    home, about = form_of(Url(HOST)), form_of(Url(f"{HOST}about"))
    assert day.is_kin(month)
    assert month.is_kin(day)
    assert doc.is_kin(doc)
    assert not doc.is_kin(month)
    assert not doc.is_kin(home)
    assert not about.is_kin(home), "pages without numbers are no space to count through"


@given(st.integers(YEAR_MIN, YEAR_MAX), st.integers(1, 12), st.integers(1, 31))
def test_all_days_of_a_calendar_are_one_pattern(year: int, month: int, day: int) -> None:
    for shape in (
        "c/{}/{}/{}/",
        "c/{}-{}-{}",
        "c?year={}&month={}&day={}",
        "c?y={}&m={}&d={}",
        "c?when={}-{:02}-{:02}",
    ):
        one = form_of(Url(HOST + shape.format(year, month, day)))
        assert one.year == year
        assert one.pattern == form_of(Url(HOST + shape.format(2024, 1, 1))).pattern


@given(st.text())
def test_nothing_raises(text: str) -> None:
    assert form_of(Url(HOST + text)) == form_of(Url(HOST + text))
