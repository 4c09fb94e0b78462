"""Traps that show in a URL."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.traps import PARAMETERS_MAX, PATH_SEGMENTS_MAX, URL_CHARS_MAX, Trap, explain_trap, trap_of
from gossamer.core.url import Url, UrlFault, normalize, target_of

HOST = "https://example.com/"


def growth(link: str) -> list[Url]:
    """What a crawler requests when every page below HOST answers and carries the relative `link`, until a trap is seen."""
    requested = [Url(HOST)]
    for _ in range(100):
        url = normalize(link, requested[-1])
        assert not isinstance(url, UrlFault)
        if url == requested[-1] or trap_of(url):
            return requested
        requested.append(url)
    raise AssertionError("grows without end")


@pytest.mark.parametrize(
    "link",
    [
        "www.example.org/partners/",
        "x/",
        "a/b/c/",
        "a/b.html/",
        "a/index.php/b",
        "x/y.html",
        "7/",
        "a//",
        "./a/./b/",
        "%C3%A9/b/",
    ],
    ids=lambda link: f"h-trap-01-{link}",
)
def test_a_relative_link_that_grows_is_refused_at_its_third_occurrence(link: str) -> None:
    requested = growth(link)
    assert len(requested) <= 5


def test_a_login_page_that_links_to_itself_for_afterwards_ends() -> None:
    requested = [Url(f"{HOST}login?return=%2Fa")]
    while trap_of(requested[-1]) is None:
        requested.append(Url(f"{HOST}login?return={quote(target_of(requested[-1]), safe='')}"))
    assert trap_of(requested[-1]) is Trap.NESTED_ENCODING
    assert len(requested) <= 5


def test_the_reported_pattern_h_trap_01() -> None:
    one = "www.example.org/partners/"
    assert growth(one) == [HOST, HOST + one, HOST + one * 2], "h-trap-01"
    assert trap_of(Url(HOST + one * 3)) is Trap.REPEATED_SEGMENTS
    assert all(trap_of(Url(f"{HOST}real/{n}")) is None for n in range(1, 11))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "2024/01/01/",
        "2011/11/11/11",  # a day at eleven
        "tiles/1/1/1",
        "tiles/0/0/0.png",
        "a/a/",
        "a/a/b/a",
        "a/b/a/b/",
        "a/b/a/b/a/",
        "search/colour/any/size/any/price/any",
        "wiki/A/B/A/B/C",
        "web/20200101000000/http://example.org/a",
        "src/main/java/org/apache/lucene/analysis/standard/package/org/x.html",
        "a//b//c",
        "p?u=http://a/a/a/a&v=1&w=1",
        "list?f=1&f=2&f=3&f=4",
        "login?return=%2Fwiki%2F100%2525",  # back to a page named "100%"
        "login?return=%2Flogin%3Freturn%3D%252Fa",
        "?" + "&".join(f"p{n}" for n in range(PARAMETERS_MAX)),
        "/".join(str(n) for n in range(PATH_SEGMENTS_MAX)) + "/",
        "x" * (URL_CHARS_MAX - len(HOST)),
    ],
)
def test_honest_urls_pass(path: str) -> None:
    assert trap_of(Url(HOST + path)) is None


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("a/a/a", Trap.REPEATED_SEGMENTS),
        ("x/a/a/a/y", Trap.REPEATED_SEGMENTS),
        ("a/b/a/b/a/b", Trap.REPEATED_SEGMENTS),
        ("x/a/b/c/a/b/c/a/b/c/y", Trap.REPEATED_SEGMENTS),
        ("a/b/x/a/b/y/a/b", Trap.REPEATED_SEGMENTS),
        ("a/b/c/d/e/f/a/b/c/d/e/f/a/b/c/d/e/f", Trap.REPEATED_SEGMENTS),
        ("1/1/1/1", Trap.REPEATED_SEGMENTS),
        ("1/2/1/2/1/2", Trap.REPEATED_SEGMENTS),
        ("a////b", Trap.REPEATED_SEGMENTS),
        ("a/a/a?b=/c", Trap.REPEATED_SEGMENTS),
        ("/".join(str(n) for n in range(PATH_SEGMENTS_MAX + 1)), Trap.PATH_TOO_DEEP),
        ("?" + "&".join(f"p{n}" for n in range(PARAMETERS_MAX + 1)), Trap.TOO_MANY_PARAMETERS),
        ("?" + "&" * 500, Trap.TOO_MANY_PARAMETERS),
        ("list?page=2&x&page=2&page=2", Trap.REPEATED_PARAMETERS),
        ("login?return=%2Flogin%3Freturn%3D%252Flogin%253Freturn%253D%25252525", Trap.NESTED_ENCODING),
        ("x" * (URL_CHARS_MAX - len(HOST) + 1), Trap.URL_TOO_LONG),
        ("a/" * 900, Trap.PATH_TOO_DEEP),
    ],
)
def test_traps_are_named(path: str, trap: Trap) -> None:
    assert trap_of(Url(HOST + path)) is trap


@given(
    st.lists(st.sampled_from(["a", "b", "c1", "www.x.test"]), min_size=1, max_size=5),
    st.lists(st.integers(0, 9).map(str), max_size=3),
)
def test_any_run_three_times_in_a_row_is_refused(run: list[str], before: list[str]) -> None:
    path = "/".join([*before, *run * 3])
    assert trap_of(Url(HOST + path)) is Trap.REPEATED_SEGMENTS


@given(st.lists(st.integers().map(str), unique=True, max_size=PATH_SEGMENTS_MAX))
def test_no_path_of_distinct_segments_is_refused(segments: list[str]) -> None:
    assert trap_of(Url(HOST + "/".join(segments))) is None


@given(st.text())
def test_nothing_raises(text: str) -> None:
    assert trap_of(Url(HOST + text)) in {None, *Trap}


@pytest.mark.parametrize("trap", list(Trap))
def test_every_trap_is_explained(trap: Trap) -> None:
    assert len(explain_trap(trap).split()) > 4
