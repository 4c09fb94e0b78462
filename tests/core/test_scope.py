"""Scopes around seeds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core import scope as scope_module
from gossamer.core.scope import Scope, ScopeKind, ScopeVerdict
from gossamer.core.url import Url, UrlFault, normalize

SEED = Url("https://www.example.com/docs/start.html?x=/y")


def scope(kind: ScopeKind, *seeds: Url, include: str = "", exclude: str = "") -> Scope:
    return Scope(
        kind,
        seeds or (SEED,),
        include=tuple(map(re.compile, include.split())),
        exclude=tuple(map(re.compile, exclude.split())),
    )


@pytest.mark.parametrize(
    ("url", "kinds"),
    [
        ("https://www.example.com/docs/a/b", "host site prefix any"),
        ("http://www.example.com/docs/", "host site prefix any"),
        ("https://www.example.com/docs", "host site any"),
        ("https://www.example.com/docsx/a", "host site any"),
        ("https://www.example.com/", "host site any"),
        ("https://www.example.com:8443/docs/a", "host site any"),
        ("https://shop.example.com/docs/", "site any"),
        ("http://example.com/docs/", "site any"),
        ("https://example.org/docs/", "any"),
        ("https://www.example.com.evil.test/docs/", "any"),
        ("https://notexample.com/docs/", "any"),
    ],
)
def test_how_far_each_kind_reaches(url: str, kinds: str) -> None:
    inside = {kind for kind in ScopeKind if scope(kind).decide(Url(url)) is ScopeVerdict.INSIDE}
    assert inside == {ScopeKind(kind) for kind in kinds.split()}
    outside = set(ScopeKind) - inside
    assert all(scope(kind).decide(Url(url)) is ScopeVerdict.OUTSIDE for kind in outside)


@pytest.mark.parametrize(
    ("origin", "kinds"),
    [
        ("https://www.example.com", "host site prefix any"),
        ("http://www.example.com", "host site prefix any"),
        ("https://www.example.com:8443", "host site any"),
        ("https://shop.example.com", "site any"),
        ("https://example.org", "any"),
    ],
)
def test_an_origin_is_reached_where_a_page_of_it_could_be_inside(origin: str, kinds: str) -> None:
    reaching = {kind for kind in ScopeKind if scope(kind, include="/nowhere/", exclude="example").reaches(origin)}
    assert reaching == {ScopeKind(kind) for kind in kinds.split()}


def test_neighbours_on_a_shared_suffix_are_other_sites() -> None:
    around = scope(ScopeKind.SITE, Url("https://alice.github.io/"))
    assert around.decide(Url("https://blog.alice.github.io/")) is ScopeVerdict.INSIDE
    assert around.decide(Url("https://bob.github.io/")) is ScopeVerdict.OUTSIDE


def test_addresses_are_their_own_host_and_site() -> None:
    for kind in (ScopeKind.HOST, ScopeKind.SITE):
        around = scope(kind, Url("http://127.0.0.1:8000/"), Url("http://[::1]/"))
        assert around.decide(Url("http://127.0.0.1:9000/")) is ScopeVerdict.INSIDE
        assert around.decide(Url("http://[::1]:9000/")) is ScopeVerdict.INSIDE
        assert around.decide(Url("http://126.0.0.1/")) is ScopeVerdict.OUTSIDE


def test_every_seed_counts() -> None:
    around = scope(ScopeKind.PREFIX, Url("https://a.test/x/1"), Url("https://a.test/y/z/"), Url("http://b.test/"))
    urls = ["https://a.test/x/2", "https://a.test/y/z/9", "https://a.test/y/9", "https://b.test/q", "https://c.test/"]
    assert [around.decide(Url(url)).value for url in urls] == ["inside", "inside", "outside", "inside", "outside"]


def test_a_crawl_without_seeds_is_outside_of_everything_but_any() -> None:
    assert Scope(ScopeKind.SITE, ()).decide(SEED) is ScopeVerdict.OUTSIDE
    assert Scope(ScopeKind.ANY, ()).decide(SEED) is ScopeVerdict.INSIDE


def test_exclusion_wins_then_the_seed_then_inclusion() -> None:
    around = scope(ScopeKind.HOST, include=r"/docs/ /help/", exclude=r"\.pdf$ logout")
    decided = {
        "https://www.example.com/docs/a": ScopeVerdict.INSIDE,
        "https://www.example.com/help/": ScopeVerdict.INSIDE,
        "https://www.example.com/docs/a.pdf": ScopeVerdict.EXCLUDED,
        "https://www.example.com/blog/": ScopeVerdict.NOT_INCLUDED,
        "https://other.test/docs/": ScopeVerdict.OUTSIDE,
        "https://other.test/docs/logout": ScopeVerdict.EXCLUDED,
    }
    assert {url: around.decide(Url(url)) for url in decided} == decided


@pytest.mark.parametrize(
    ("kind", "url", "words"),
    [
        (ScopeKind.HOST, "http://www.example.com/x", ["inside", "host", "www.example.com", SEED]),
        (ScopeKind.SITE, "http://a.example.com/x", ["inside", "site", "example.com", SEED]),
        (ScopeKind.PREFIX, "http://www.example.com/docs/x", ["inside", "prefix", "www.example.com/docs/", SEED]),
        (ScopeKind.PREFIX, "http://www.example.com/x", ["outside", "prefix"]),
        (ScopeKind.ANY, "http://b.test/x", ["inside", "any"]),
        (ScopeKind.HOST, "http://b.test/x", ["outside", "host", "b.test"]),
        (ScopeKind.SITE, "http://a.b.test/x", ["outside", "site", "b.test"]),
        (ScopeKind.ANY, "http://b.test/x.pdf", ["excluded", r"\\.pdf$"]),
        (ScopeKind.ANY, "http://b.test/no", ["not included", "include"]),
    ],
)
def test_the_explanation_names_the_rule_and_the_seed(kind: ScopeKind, url: str, words: list[str]) -> None:
    sentence = scope(kind, include="x", exclude=r"\.pdf$").explain(Url(url))
    assert all(word in sentence for word in words), sentence
    assert "\n" not in sentence


def test_what_is_remembered_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_module, "HOSTS_REMEMBERED_MAX", 3)
    around = scope(ScopeKind.SITE, Url("http://a.test/"))
    urls = [Url(f"http://h{n}.{name}.test/") for n in range(9) for name in "ab"]
    assert [around.decide(url) is ScopeVerdict.INSIDE for url in urls * 2] == [True, False] * 18
    assert len(around._remembered) <= 3


def test_equal_scopes_stay_equal_whatever_they_remember() -> None:
    one, other = scope(ScopeKind.SITE), scope(ScopeKind.SITE)
    assert one.decide(Url("http://b.test/")) is ScopeVerdict.OUTSIDE
    assert one == other
    assert hash(one) == hash(other)
    assert "_remembered" not in repr(one)


@given(st.text(max_size=30), st.sampled_from(list(ScopeKind)))
def test_a_seed_is_inside_its_own_scope(path: str, kind: ScopeKind) -> None:
    seed = normalize("http://a.test/" + path)
    assert not isinstance(seed, UrlFault)
    assert scope(kind, seed).decide(seed) is ScopeVerdict.INSIDE
    assert scope(kind, seed).explain(seed).startswith("inside")
