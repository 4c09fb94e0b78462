"""What a sitemap body names, whatever was done to it on the way."""

import codecs
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.core.sitemap import ENTRIES_MAX, SITEMAP_BYTES_MAX, Sitemap, SitemapKind, parse_sitemap

HERE = "https://example.com/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def parse(body: bytes | str, url: str = HERE) -> Sitemap:
    return parse_sitemap(body.encode() if isinstance(body, str) else body, url)


def urls(body: bytes | str, url: str = HERE) -> list[str]:
    return [entry.url for entry in parse(body, url).entries]


def urlset(*inner: str, root: str = f'urlset xmlns="{NAMESPACE}"') -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root}>{"".join(inner)}</{root.split(maxsplit=1)[0]}>'


def location(text: str, rest: str = "") -> str:
    return f"<url><loc>{text}</loc>{rest}</url>"


CASE_01 = (
    '\n \n<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>\n'
    "   https://example.com/a\n  </loc></url><url><loc>https://example.com/s?y=2024&amp;mm=07&amp;dd=11</loc></url>"
    "<url><loc><![CDATA[https://example.com/c?x=1&y=2]]></loc></url></urlset>"
)


def test_blank_lines_white_space_and_escapes_cost_no_url__h_sitemap_01() -> None:
    found = parse(CASE_01)
    assert found.kind is SitemapKind.URLSET
    assert [entry.url for entry in found.entries] == [
        "https://example.com/a",
        "https://example.com/s?y=2024&mm=07&dd=11",
        "https://example.com/c?x=1&y=2",
    ]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://example.com/a?x=1&#38;y=2", "https://example.com/a?x=1&y=2"),
        ("https://example.com/a?x=1&#x26;y=2", "https://example.com/a?x=1&y=2"),
        ("https://example.com/it&apos;s&quot;", "https://example.com/it's%22"),
        ("https://example.com/&lt;b&gt;", "https://example.com/%3Cb%3E"),
        ("<![CDATA[\n https://example.com/c\n]]>", "https://example.com/c"),
        ("\n<![CDATA[https://example.com/a?b=1&amp;c=2]]>", "https://example.com/a?b=1&amp;c=2"),
        ("https://example.com/<![CDATA[x&y]]>/z", "https://example.com/x&y/z"),
        ("https://example.com/a<!-- not here -->b", "https://example.com/ab"),
        ("\u00a0https://example.com/nbsp\u200b", "https://example.com/nbsp"),
        ("https://example.com/a\n/b", "https://example.com/a/b"),
        ("https://example.com/ü", "https://example.com/%C3%BC"),
        ("/relative", "https://example.com/relative"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example/kept", "http://other.example/kept"),
        ("https://example.com/a?x=1&y=2", "https://example.com/a?x=1&y=2"),
        ("https://example.com/a?x=1&copy=2&lt=3", "https://example.com/a?x=1&copy=2&lt=3"),
        ("https://example.com/a&nbsp;b", "https://example.com/a&nbsp;b"),
    ],
)
def test_a_location_is_read_as_it_was_meant(written: str, meant: str) -> None:
    assert urls(urlset(location(written))) == [meant]


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\n\n",
        b"\xef\xbb\xbf\r\n \t",
        b"<!-- made by hand -->",
        b"warning: something\n",
        b"\x00\x00",
        b'<?xml-stylesheet type="text/xsl" href="/s.xsl"?>',
        b"<!DOCTYPE urlset>",
        b'<!DOCTYPE urlset SYSTEM "http://evil.test/x.dtd" [<!ENTITY a "b>c"> ]>',
    ],
)
def test_nothing_in_front_of_the_root_hides_it(before: bytes) -> None:
    assert urls(before + urlset(location("https://example.com/a")).encode()) == ["https://example.com/a"]


@pytest.mark.parametrize(
    "root",
    [
        "urlset",
        'urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9"',
        'urlset xmlns="http://www.google.com/schemas/sitemap/0.84"',
        "urlset xmlns='x' xsi:schemaLocation='a > b'",
        'urlset xmlns="unbalanced" quote"',
        "URLSET",
    ],
)
def test_the_namespace_does_not_decide(root: str) -> None:
    assert urls(urlset(location("https://example.com/a"), root=root)) == ["https://example.com/a"]


def test_prefixes_upper_case_and_missing_parents_are_met() -> None:
    prefixed = '<s:urlset xmlns:s="x"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>'
    assert urls(prefixed) == ["https://example.com/a"]
    assert urls("<UrlSet><URL><LOC>https://example.com/b</LOC></URL></UrlSet>") == ["https://example.com/b"]


def test_images_videos_and_news_are_no_pages() -> None:
    body = urlset(
        "<url><image:image><image:loc>https://example.com/i.png</image:loc></image:image>"
        "<image:loc>https://example.com/j.png</image:loc>"
        "<loc>https://example.com/page</loc>"
        "<video:video><video:player_loc>https://example.com/v</video:player_loc><loc>https://example.com/w</loc></video:video>"
        '<xhtml:link rel="alternate" href="https://example.com/de"/><news:loc>https://example.com/n</news:loc></url>'
    )
    assert urls(body) == ["https://example.com/page"]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_declared_and_marked_encodings_are_decoded(charset: str) -> None:
    body = f'<?xml version="1.0" encoding="{charset}"?><urlset><url><loc>https://example.com/é</loc></url></urlset>'
    assert urls(body.encode(charset)) == ["https://example.com/%C3%A9"]


def test_an_utf_16_document_may_say_it_is_utf_8_and_the_other_way_round() -> None:
    assert urls(codecs.BOM_UTF16_LE + urlset(location("https://example.com/a")).encode("utf-16-le"))
    body = b'<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>https://example.com/a</loc></url></urlset>'
    assert urls(body) == ["https://example.com/a"]


@pytest.mark.parametrize("label", ["unicode_escape", "zip", "idna", "x-unknown", "rot13"])
def test_an_encoding_that_is_no_charset_is_named_and_not_used(label: str) -> None:
    found = parse(
        f'<?xml version="1.0" encoding="{label}"?><urlset><url><loc>https://example.com/a</loc></url></urlset>'
    )
    assert [entry.url for entry in found.entries] == ["https://example.com/a"]
    assert any("encoding" in problem for problem in found.problems)


@pytest.mark.parametrize(
    "broken",
    [
        urlset(location("https://example.com/1"), location("https://example.com/2"), "<url><loc>https://exam")[:-9],
        f"<urlset>{location('https://example.com/1')}{location('https://example.com/2')}<url><lo",
        f"<urlset>{location('https://example.com/1')}<url><loc>https://example.com/2</loc><lastmod>20",
        f"<urlset>{location('https://example.com/1')}<b></url>{location('https://example.com/2')}</urlset>",
        f"<urlset>{location('https://example.com/1')}<url><loc>https://example.com/2</url></urlset>",
        f"<urlset><url><loc>https://example.com/1</loc>{location('https://example.com/2')}</urlset>",
        f"<urlset>{location('https://example.com/1')}< & {location('https://example.com/2')}</urlset>",
        f"<urlset>{location('https://example.com/1')}</urlset></urlset><url>{location('https://example.com/2')}",
    ],
)
def test_broken_xml_keeps_what_can_be_read_and_says_so(broken: str) -> None:
    found = parse(broken)
    assert [entry.url for entry in found.entries] == ["https://example.com/1", "https://example.com/2"]
    assert found.problems


def test_invalid_octets_cost_no_other_entry() -> None:
    body = b"<urlset><url><loc>https://example.com/\xff\xfe</loc></url><url><loc>https://example.com/b</loc></url></urlset>"
    found = parse(body)
    assert found.entries[-1].url == "https://example.com/b"
    assert any("not valid utf-8" in problem for problem in found.problems)


@pytest.mark.parametrize(
    "bad",
    ["", "   ", "javascript:alert(1)", "mailto:a@b.test", "http://[", "https://example.com:99999/", "ftp://a.test/"],
)
def test_a_location_that_is_no_url_is_a_problem_and_the_next_one_counts(bad: str) -> None:
    found = parse(urlset(location(bad), location("https://example.com/b")))
    assert [entry.url for entry in found.entries] == ["https://example.com/b"]
    assert found.problems


def test_an_index_gives_its_sitemaps_itself_included__h_sitemap_02() -> None:
    index = "https://example.com/index.xml"
    body = (
        "<sitemapindex><sitemap><loc>/index.xml</loc></sitemap><sitemap><loc>/child.xml</loc>"
        "<lastmod>2024-01-01</lastmod></sitemap><sitemap><loc>https://example.com/moved.xml</loc></sitemap></sitemapindex>"
    )
    found = parse(body, index)
    assert found.kind is SitemapKind.INDEX
    assert found.sitemaps == (index, "https://example.com/child.xml", "https://example.com/moved.xml")
    assert found.entries == ()


@pytest.mark.parametrize(
    "body",
    [
        b"Sitemap: https://example.com/robots.txt\nSitemap: https://example.com/index.xml",
        b"User-agent: *\nDisallow: /\n",
        b"<!DOCTYPE html><html><body><a href='https://example.com/a'>a</a></body></html>",
        b"<html><head><url><loc>https://example.com/</loc></url></head></html>",
        b'{"urls": ["https://example.com/a"]}',
        b"",
        b" \r\n ",
        b"\x00",
        b"\x89PNG\r\n\x1a\n",
        b"<",
        b"<!--",
        b"<?xml version='1.0'?>",
        b"\x1f\x8b",
        b"\xff\xfe",
    ],
)
def test_what_is_no_sitemap_is_unknown_and_names_nothing__h_sitemap_02(body: bytes) -> None:
    found = parse(body, "https://example.com/robots.txt")
    assert (found.kind, found.entries, found.sitemaps) == (SitemapKind.UNKNOWN, (), ())
    assert found.problems


def test_an_urlset_without_entries_is_no_problem() -> None:
    assert parse("<urlset/>") == Sitemap(SitemapKind.URLSET, (), (), ())


def test_a_gzipped_sitemap_is_unpacked_by_its_magic_number() -> None:
    plain = urlset(location("https://example.com/a")).encode()
    assert urls(gzip.compress(plain)) == ["https://example.com/a"]
    assert urls(gzip.compress(gzip.compress(plain))) == ["https://example.com/a"]
    cut = parse(gzip.compress(urlset(*(location(f"https://example.com/{n}") for n in range(2000))).encode())[:-500])
    assert cut.entries[0].url == "https://example.com/0"
    assert cut.problems


@pytest.mark.slow
def test_a_gzip_bomb_is_cut_at_the_protocols_limit() -> None:
    found = parse(gzip.compress(b"<urlset>" + b" " * (SITEMAP_BYTES_MAX + 1_000_000)))
    assert found.entries == ()
    assert any(str(SITEMAP_BYTES_MAX) in problem for problem in found.problems)


@pytest.mark.slow
def test_entries_beyond_the_protocols_limit_are_not_read() -> None:
    found = parse("\n".join(f"https://example.com/{number}" for number in range(ENTRIES_MAX + 5)))
    assert found.kind is SitemapKind.TEXT
    assert len(found.entries) == ENTRIES_MAX
    assert found.is_cut
    assert not parse("https://example.com/1").is_cut
    assert any("50000" in problem for problem in found.problems)


def test_entities_are_neither_defined_nor_fetched() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = (
        f'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "https://example.com/ha">{laughs}'
        '<!ENTITY file SYSTEM "file:///etc/passwd">]>'
        f"<urlset>{location('&l9;')}{location('https://example.com/&file;')}{location('https://example.com/b')}</urlset>"
    )
    found = parse(body)
    assert [entry.url for entry in found.entries][-2:] == ["https://example.com/&file;", "https://example.com/b"]
    assert all("ha" not in entry.url and "root" not in entry.url for entry in found.entries)
    assert any("document type" in problem for problem in found.problems)


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<a>",
        "<?",
        "<?a>",
        "<!a>",
        "<!--",
        "<![CDATA[",
        '<a b="',
        "&",
        "</a>",
        "<url><loc>",
        "&#x0;",
        "<!DOCTYPE [",
    ],
)
def test_repeated_openings_take_linear_time_and_few_problems(unit: str) -> None:
    found = parse("<urlset>" + unit * (60_000 // len(unit)))
    assert len(found.problems) <= 50
    assert found.kind is SitemapKind.URLSET


@pytest.mark.parametrize(
    "date", ["2024", "2024-02", "2024-02-29", "2024-02-29T23:59Z", "2024-02-29T23:59:60.123+14:00"]
)
def test_dates_of_the_w3c_profile_are_kept_as_written(date: str) -> None:
    found = parse(urlset(location("https://example.com/a", f"<lastmod>\n {date} </lastmod>")))
    assert found.entries[0].lastmod == date
    assert found.problems == ()


@pytest.mark.parametrize(
    "date",
    [
        "2024-13",
        "2023-02-29",
        "2024-02-29T24:00Z",
        "2024-01-01T00:00:00",
        "yesterday",
        "0000-01-01",
        "01/02/2024",
        "２０２４",
    ],
)
def test_what_is_no_date_is_a_problem_and_the_entry_stays(date: str) -> None:
    found = parse(urlset(location("https://example.com/a", f"<lastmod>{date}</lastmod>")))
    assert found.entries == (("https://example.com/a", None),)
    assert any("not a date" in problem for problem in found.problems)


def test_the_order_of_loc_and_lastmod_does_not_matter_and_an_empty_date_is_just_absent() -> None:
    body = urlset(
        "<url><lastmod>2024-01-01</lastmod><loc>https://example.com/a</loc></url>", location("/b", "<lastmod/>")
    )
    assert parse(body).entries == (("https://example.com/a", "2024-01-01"), ("https://example.com/b", None))
    assert parse(body).problems == ()


def test_a_text_sitemap_has_one_url_a_line() -> None:
    found = parse(
        "\ufeffhttps://example.com/a\r\n\r\n  https://other.test/b?x=1&y=2  \rnot a url\nHTTP://EXAMPLE.com/c"
    )
    assert found.kind is SitemapKind.TEXT
    assert [entry.url for entry in found.entries] == [
        "https://example.com/a",
        "https://other.test/b?x=1&y=2",
        "http://example.com/c",
    ]
    assert len(found.problems) == 1


@given(st.binary(max_size=300))
def test_any_octets_are_read_without_an_error(body: bytes) -> None:
    assert isinstance(parse(body), Sitemap)


@given(st.text(alphabet="<>/!?[]-&;\"'= urlsetocCDATA#x\n", max_size=200))
def test_any_markup_is_read_without_an_error(text: str) -> None:
    found = parse(f"<urlset>{text}")
    assert found.kind is SitemapKind.URLSET


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[a-z0-9&<>'\"]{1,12}", fullmatch=True), max_size=8))
def test_what_was_escaped_comes_back(paths: list[str]) -> None:
    escaped = [p.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for p in paths]
    plain = parse("\n".join(["https://example.com/", *(f"https://example.com/{p}" for p in paths)]))
    marked = parse(urlset(*(location(f"https://example.com/{p}") for p in ["", *escaped])))
    assert marked.entries == plain.entries
