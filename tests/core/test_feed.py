"""The pages that RSS and Atom feeds announce."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.feed import rfc822_date, w3c_date
from gossamer.core.sitemap import Sitemap, SitemapKind, parse_sitemap

HERE = "https://example.com/feed"


def parse(text: str) -> Sitemap:
    return parse_sitemap(text.encode(), HERE)


def rss(*items: str) -> Sitemap:
    return parse(
        '<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>https://example.com/</link>'
        '<atom:link rel="self" href="https://example.com/feed"/><image><url>https://example.com/i.png</url>'
        f"<link>https://example.com/image</link></image>{''.join(items)}</channel></rss>"
    )


def atom(*entries: str, root: str = 'feed xmlns="http://www.w3.org/2005/Atom"') -> Sitemap:
    return parse(
        f'<{root}><link rel="alternate" href="https://example.com/"/><id>https://example.com/id</id>'
        f"{''.join(entries)}</feed>"
    )


def test_only_items_of_rss_are_entries_and_their_dates_become_utc() -> None:
    found = rss(
        "<item><title>a</title><link> https://example.com/a?x=1&amp;y=2\n</link>"
        "<pubDate>Tue, 10 Jun 2003 04:00:00 -0500</pubDate></item>",
        "<item><link><![CDATA[https://example.com/b?x=1&y=2]]></link></item>",
        "<item><link>/relative</link><source url='https://example.com/s'>s</source></item>",
    )
    assert found.kind is SitemapKind.RSS
    assert found.entries == (
        ("https://example.com/a?x=1&y=2", "2003-06-10T09:00:00Z"),
        ("https://example.com/b?x=1&y=2", None),
        ("https://example.com/relative", None),
    )
    assert found.problems == ()


@pytest.mark.parametrize(
    ("item", "urls"),
    [
        ("<guid>https://example.com/g</guid>", ["https://example.com/g"]),
        ('<guid isPermaLink="true">https://example.com/g</guid>', ["https://example.com/g"]),
        ('<guid isPermaLink="false">https://example.com/g</guid>', []),
        ("<guid>tag:example.com,2024:1</guid>", []),
        ("<guid>https://example.com/g</guid><link>https://example.com/l</link>", ["https://example.com/l"]),
        ("<link/><guid>https://example.com/g</guid>", ["https://example.com/g"]),
        ('<link href="https://example.com/l"/>', ["https://example.com/l"]),
        ('<atom:link href="https://example.com/l"/>', []),
        ("<media:content><link>https://example.com/m</link></media:content>", []),
        ("<title>only</title>", []),
    ],
)
def test_a_guid_stands_in_for_a_missing_link(item: str, urls: list[str]) -> None:
    assert [entry.url for entry in rss(f"<item>{item}</item>").entries] == urls


def test_rss_1_has_its_items_beside_the_channel_and_dublin_core_dates() -> None:
    found = parse(
        '<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel><link>https://example.com/</link></channel>'
        '<item rdf:about="x"><link>https://example.com/a</link><dc:date>2024-01-01T10:00+01:00</dc:date></item></rdf:RDF>'
    )
    assert found.kind is SitemapKind.RSS
    assert found.entries == (("https://example.com/a", "2024-01-01T10:00+01:00"),)


def test_an_entry_of_atom_is_its_alternate_link() -> None:
    found = atom(
        '<entry><link rel="self" href="https://example.com/self"/><link rel="edit" href="/edit"/>'
        '<link href="https://example.com/a"/><updated>2003-12-13T18:30:02.25+01:00</updated></entry>',
        '<entry><link rel="alternate" type="application/json" href="/b.json"/><link type="text/html" href="/b"/>'
        "<published>2024-01-02</published></entry>",
        '<entry><link rel="enclosure" href="/c.mp3"/><id>https://example.com/c</id></entry>',
        '<entry><source><link href="/not"/></source><link rel="alternate" href="d?x=1&amp;y=2"/></entry>',
    )
    assert found.kind is SitemapKind.ATOM
    assert found.entries == (
        ("https://example.com/a", "2003-12-13T18:30:02.25+01:00"),
        ("https://example.com/b", "2024-01-02"),
        ("https://example.com/d?x=1&y=2", None),
    )


def test_links_of_atom_are_relative_to_the_innermost_base() -> None:
    found = atom(
        '<entry xml:base="blog/"><link href="a"/></entry><entry><link xml:base="/x/y/" href="b"/></entry>',
        '<entry xml:base="http://["><link href="c"/></entry>',
        root='feed xml:base="https://other.test/root/"',
    )
    assert [entry.url for entry in found.entries] == [
        "https://other.test/root/blog/a",
        "https://other.test/x/y/b",
        "https://other.test/root/c",
    ]


def test_prefixed_atom_is_atom() -> None:
    found = parse('<a:feed xmlns:a="x"><a:entry><a:link href="https://example.com/a"/></a:entry></a:feed>')
    assert [entry.url for entry in found.entries] == ["https://example.com/a"]


@pytest.mark.parametrize(
    "text",
    [
        "<rss><channel><item><link>https://example.com/a</link><description>cut he",
        "<feed><entry><link href='https://example.com/a'/><summary>cut he",
    ],
)
def test_a_feed_cut_behind_a_link_still_gives_it(text: str) -> None:
    found = parse(text)
    assert [entry.url for entry in found.entries] == ["https://example.com/a"]
    assert found.problems


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("06 Nov 1994 08:49 UT", "1994-11-06T08:49:00Z"),
        ("Sun, 6 November 94 08:49:37 EST", "1994-11-06T13:49:37Z"),
        ("Wed, 31 Dec 2008 23:59:60 +0000", "2008-12-31T23:59:59Z"),
        ("Mon, 01 Jan 2024 00:30:00 +0530", "2023-12-31T19:00:00Z"),
        ("Mon, 01 Jan 2024 00:30:00 PDT (summer)", "2024-01-01T07:30:00Z"),
        ("Mon, 01 Jan 2024 00:30:00", "2024-01-01T00:30:00Z"),
        ("Fri, 1 Jan 0999 00:00:00 Z", "0999-01-01T00:00:00Z"),
    ],
)
def test_dates_of_rss_become_rfc_3339_in_utc(written: str, meant: str) -> None:
    assert rfc822_date(written) == meant


@pytest.mark.parametrize(
    "written",
    ["", "Mon, 32 Jan 2024 00:00:00 GMT", "Mon, 01 Foo 2024 00:00:00 GMT", "01 Jan 0001 00:00 +2359", "1" * 100],
)
def test_what_is_no_date_of_rss_is_none(written: str) -> None:
    assert rfc822_date(written) is None


def test_a_date_that_cannot_be_read_is_a_problem() -> None:
    found = rss("<item><link>https://example.com/a</link><pubDate>soon</pubDate></item>")
    assert found.entries == (("https://example.com/a", None),)
    assert found.problems == ("not a date: 'soon'",)


@given(st.datetimes())
def test_every_instant_is_a_w3c_date(instant: object) -> None:
    written = f"{instant}Z"
    assert w3c_date(written) == written.replace(" ", "T")


@given(st.text(max_size=40))
def test_dates_of_any_text_are_none_or_start_with_a_year(text: str) -> None:
    for found in (w3c_date(text), rfc822_date(text)):
        assert found is None or found[:4].isdigit()
