import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.fingerprint import content_hash
from gossamer.core.page import Page, PageKind, ParseOptions, TextKind, kind_of, outlinks, parse_page

URL = "https://example.com/d/p"


def page_of(body: bytes, options: ParseOptions | None = None, **fields: str) -> Page:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return parse_page(body, URL, {"content-type": "text/html"} | named, options or ParseOptions())


def test_a_page_is_told_in_one_go() -> None:
    body = (
        "<html lang=de><title>Über uns</title><base href=/b/><link rel=canonical href=c>"
        "<meta name=robots content=nofollow><body><h1>Grüße</h1><a href=x rel=nofollow>Wort</a>"
    ).encode("cp1252")
    page = page_of(body, content_type="text/html; charset=latin1", x_robots_tag="noindex")
    assert page == Page(
        kind=PageKind.HTML,
        base="https://example.com/b/",
        charset="windows-1252",
        title="Über uns",
        language="de",
        canonical="https://example.com/b/c",
        noindex=True,
        nofollow=True,
        links=page.links,
        text="Grüße\n\nWort",
        content_hash=content_hash("Grüße Wort"),
    )
    assert outlinks(page) == [
        ("https://example.com/b/c", "canonical", "link-canonical"),
        ("https://example.com/b/x", "nofollow", "a"),
    ]


def test_two_spellings_of_a_url_are_one_link_and_follow_if_one_does() -> None:
    page = page_of(b"<a rel=nofollow href=/a>1</a><a href=http://bad..host/>2</a><a href=../%61?>3</a><a href=/b>4</a>")
    assert outlinks(page) == [("https://example.com/a", "", "a"), ("https://example.com/b", "", "a")]


@pytest.mark.parametrize(
    ("kind", "text", "main"),
    [(TextKind.FULL, True, False), (TextKind.MAIN, True, True), (TextKind.NONE, False, False)],
)
def test_the_text_asked_for_is_kept_and_the_hash_is_always_that_of_the_full_text(
    kind: TextKind, text: bool, main: bool
) -> None:
    page = page_of(b"<p>some text that is there</p>", ParseOptions(kind))
    assert (bool(page.text), bool(page.main_text)) == (text, main)
    assert page.content_hash == content_hash("some text that is there")


def test_a_plain_text_is_its_own_text_and_has_no_links() -> None:
    page = page_of("<a href=/x>ж".encode("koi8_r"), content_type="text/plain; charset=koi8-r")
    assert (page.kind, page.text, page.charset, page.links) == (PageKind.TEXT, "<a href=/x>ж", "KOI8-R", ())


def test_what_is_no_page_has_facts_of_its_header_only() -> None:
    page = page_of(b"%PDF-1.7", content_type="application/pdf", x_robots_tag="gossamer: noindex")
    assert page == Page(PageKind.OTHER, URL, noindex=True)


def test_repeated_robots_fields_are_told_apart_by_newlines() -> None:
    assert page_of(b"x", x_robots_tag="googlebot: noindex\nnofollow").nofollow
    assert not page_of(b"x", x_robots_tag="googlebot: noindex\nnofollow").noindex


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"", PageKind.HTML),
        ("TEXT/HTML ; charset=x", b"hello", PageKind.HTML),
        ("application/xhtml+xml", b"<html>", PageKind.HTML),
        ("text/html, text/html", b"x", PageKind.HTML),
        ("text/html", b"%PDF-1.4 ...", PageKind.OTHER),
        ("text/html", b"\x89PNG\r\n", PageKind.OTHER),
        ("text/plain", b"<!doctype html><a href=/x>", PageKind.TEXT),
        (None, b"  <!DOCTYPE html><p>", PageKind.HTML),
        (None, b"\xef\xbb\xbf<!-- c --><html>", PageKind.HTML),
        (None, b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>", PageKind.HTML),
        (None, b"<h1>x", PageKind.HTML),
        (None, b"<h12>x", PageKind.TEXT),
        (None, b"just words", PageKind.TEXT),
        (None, b"\xff\xfea\0", PageKind.TEXT),
        (None, b"\0\1\2", PageKind.OTHER),
        (None, b"", PageKind.OTHER),
        ("", b"<html >", PageKind.HTML),
        ("application/octet-stream", b"<!doctype html>", PageKind.HTML),
        ("application/octet-stream", b"words", PageKind.OTHER),
        ("application/json", b"{}", PageKind.OTHER),
        ("text/xml", b"<?xml version='1.0'?><rss>", PageKind.OTHER),
        ("text/xml", b"<?xml version='1.0'?><html xmlns='x'>", PageKind.HTML),
        ("image/png", b"<htmlx>", PageKind.OTHER),
        ("text/css", b"p {}", PageKind.OTHER),
        ("nonsense", b"<html>", PageKind.HTML),
    ],
)
def test_what_a_body_is(content_type: str | None, body: bytes, kind: PageKind) -> None:
    assert kind_of(body, content_type) is kind


@given(st.binary(max_size=300), st.sampled_from(["text/html", "text/plain", "", "image/png", "\ud800;;,"]))
def test_no_body_raises(body: bytes, content_type: str) -> None:
    page = page_of(body, content_type=content_type, x_robots_tag=content_type)
    assert all(link.url.startswith("http") for link in outlinks(page))


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("nofollow", "xnofollow", "xnofollow"),
        ("xnofollow", "", "xnofollow"),
        ("ugc", "", "ugc"),
        ("nofollow", "ugc", "ugc"),
        ("ugc", "nofollow", "ugc"),
    ],
)
def test_of_two_spellings_the_one_that_may_be_followed_counts(first: str, second: str, kept: str) -> None:
    page = page_of(f"<a rel='{first}' href=/%61>1</a><a rel='{second}' href=/a>2</a>".encode())
    assert [(link.url, link.rel) for link in outlinks(page)] == [("https://example.com/a", kept)]
