import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.html import (
    LINKS_MAX,
    REL_CHARS_MAX,
    HtmlFacts,
    RobotsFacts,
    header_robots,
    html_facts,
    may_follow,
    parse_document,
    refresh_target,
)
from gossamer.core.url import UrlFault, normalize_links

PAGE = "https://example.com/s"


def facts(html: str | bytes, url: str = PAGE, agent: str = "") -> HtmlFacts:
    source = html.decode("utf-8", "replace") if isinstance(html, bytes) else html
    return html_facts(parse_document(source), url, agent)


def hrefs(html: str | bytes, url: str = PAGE) -> list[str]:
    return [link.href for link in facts(html, url).links]


def urls(html: str | bytes, url: str = PAGE) -> list[str]:
    found = facts(html, url)
    normal = normalize_links([link.href for link in found.links], found.base)
    return [target for target in normal if not isinstance(target, UrlFault)]


# Where links lead -----------------------------------------------------------------------------------------------------


def test_the_first_base_counts_and_is_resolved__h_html_01() -> None:
    html = (
        '<head><base href="/forum/"><base href="/other/"></head>'
        '<body><a href="post/9">p</a><a href="/abs">a</a><a href="?q=1">q</a></body>'
    )
    assert urls(html, "https://example.com/forum/view/7/0/") == [
        "https://example.com/forum/post/9",
        "https://example.com/abs",
        "https://example.com/forum/?q=1",
    ]


@pytest.mark.parametrize("rel", ["author", "stylesheet", "search", "icon", "nofollow", "canonical", "next", ""])
def test_a_link_element_hides_no_later_link_to_the_same_address(rel: str) -> None:
    assert "/about" in hrefs(f'<link rel="{rel}" href="/about"><a href="/about#top">about</a>')


def test_the_canonical_address_may_have_been_linked_before() -> None:
    assert facts("<a href=/c>x</a><link rel=next href=/c><link rel=canonical href=/c>").canonical is not None


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href=https://other.example/x/y>", "https://other.example/x/a"),
        ("<base href=//other.example>", "https://other.example/a"),
        ("<base href=' deep/ '>", "https://example.com/d/deep/a"),
        ("<base href='de\nep/'>", "https://example.com/d/deep/a"),
        ("<base href=..>", "https://example.com/a"),
        ("<base href=''>", "https://example.com/d/a"),
        ("<base target=_top><base href=/x/>", "https://example.com/x/a"),
        ("<base href='data:text/html,x'>", "https://example.com/d/a"),
        ("<base href='javascript:1'><base href=/x/>", "https://example.com/d/a"),
        ("<base href='http://[bad'>", "https://example.com/d/a"),
        ("<base href='file:///C:/x/'>", "https://example.com/d/a"),
        ("<base href='?x=1'>", "https://example.com/d/a"),
        ("<base href='/x#f'>", "https://example.com/a"),
        ("<a href=b></a><base href=/late/>", "https://example.com/late/a"),
    ],
)
def test_the_base_of_a_document(base: str, expected: str) -> None:
    assert expected in urls(f"{base}<a href=a>x</a>", "https://example.com/d/p")


def test_character_references_are_decoded_as_in_attributes__h_html_02() -> None:
    html = (
        '<a href="?a=1&amp;b=2">1</a><a href="?a=1&#38;c=2">2</a><a href="?a=1&copy=2&reg=3">3</a>'
        '<a href="?x=1&order=2">4</a><a href="?x=1&#x26;d=2">5</a>'
    )
    assert urls(html) == [
        "https://example.com/s?a=1&b=2",
        "https://example.com/s?a=1&c=2",
        "https://example.com/s?a=1&copy=2&reg=3",
        "https://example.com/s?x=1&order=2",
        "https://example.com/s?x=1&d=2",
    ]


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("?a&lt=1", "?a&lt=1"),
        ("?a&lt;1", "?a<1"),
        ("?a&notit=1", "?a&notit=1"),
        ("/a&#x2F;b", "/a/b"),
        ("/&Eacute;t&eacute;", "/Été"),
        ("/&Eacute-x", "/É-x"),
        ("/a&#0;b", "/a\ufffdb"),
        ("/a&#128;", "/a€"),
        ("/a&amp;amp;b", "/a&amp;b"),
        ("/a&", "/a&"),
        ("/a&unknown;b", "/a&unknown;b"),
    ],
)
def test_neighbours_of_character_references(href: str, expected: str) -> None:
    assert hrefs(f'<a href="{href}">x</a>') == [expected]


def test_a_nul_ends_nothing__h_html_03() -> None:
    body = bytes.fromhex(
        "3c6120687265663d222f6f6e6500223e313c2f613e003c703e74650078743c2f703e3c6120687265663d222f74776f223e323c2f613e"
        "3c6120687265663d222f7468726565223e333c2f613e"
    )
    found = urls(body, "https://example.com/")
    assert found[1:] == ["https://example.com/two", "https://example.com/three"]
    assert found[0] in {"https://example.com/one%EF%BF%BD", "https://example.com/one"}


@pytest.mark.parametrize(
    "html", ["<a\0href=/x>", "<a href=/x\0>", "<!--\0--><a href=/x>", "<a href=/x>\0", "\0<a href=/x>"]
)
def test_a_nul_anywhere_leaves_the_links_after_it(html: str) -> None:
    assert hrefs(html + "</a><a href=/after>b</a>")[-1] == "/after"


def test_bad_hosts_cost_no_other_link__h_url_02() -> None:
    html = (
        "<a href='http://my_shop.example.com/x'>1</a><a href='http://r3---sn-ab.example.com/'>2</a>"
        f"<a href='http://{'a' * 64}.example.com/'>3</a><a href='http://a..example.com/'>4</a>"
        "<a href='http://exa mple.com/'>5</a><a href='/last'>6</a>"
    )
    assert urls(html, "https://example.com/") == [
        "http://my_shop.example.com/x",
        "http://r3---sn-ab.example.com/",
        "https://example.com/last",
    ]


# Which elements link --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "source"),
    [
        ("<a href=/x>", "a"),
        ("<A HREF=/x>", "a"),
        ("<map><area href=/x></map>", "area"),
        ("<frameset><frame src=/x></frameset>", "frame"),
        ("<iframe src=/x></iframe>", "iframe"),
        ("<link rel=next href=/x>", "link-next"),
        ("<link rel='x PREV' href=/x>", "link-prev"),
        ("<link rel=canonical href=/x>", "link-canonical"),
        ("<link rel=alternate hreflang=de href=/x>", "link-alternate"),
        ("<body><p><link rel=next href=/x>", "link-next"),
        ("<meta http-equiv=Refresh content='0; url=/x'>", "meta-refresh"),
        ("<noscript><a href=/x>y</a></noscript>", "a"),
        ("<table><a href=/x>", "a"),
        ("<svg><a href=/x></a></svg>", "a"),
        ("<p hidden><a href=/x></p>", "a"),
        ("<a href=/x", None),
        ("<!-- <a href=/x> -->", None),
        ("<script>'<a href=/x>'</script>", None),
        ("<template><a href=/x></template>", None),
        ("<textarea><a href=/x></textarea>", None),
        ("<title><a href=/x></title>", None),
        ("<a data-href=/x>", None),
        ("<a>", None),
        ("<link rel=stylesheet href=/x>", None),
        ("<link rel='alternate stylesheet' href=/x>", None),
        ("<link rel=icon href=/x>", None),
        ("<link href=/x>", None),
        ("<img src=/x>", None),
        ("<script src=/x></script>", None),
        ("<iframe srcdoc='<a href=/x>'></iframe>", None),
    ],
)
def test_what_links(html: str, source: str | None) -> None:
    assert [(link.href, link.source) for link in facts(html).links] == ([("/x", source)] if source else [])


@pytest.mark.parametrize(
    "href",
    [
        "#",
        "#top",
        " #top",
        "javascript:void(0)",
        "JavaScript:x",
        " java\nscript:x",
        "\x01javascript:x",
        "mailto:a@b.c",
        "tel:+1",
        "data:text/html,x",
        "ftp://a/",
        "about:blank",
        "blob:x",
        "whatsapp://send",
        "",
        "  ",
    ],
)
def test_what_leads_nowhere_is_left_out(href: str) -> None:
    assert hrefs(f'<a href="{href}">x</a><a href=/y>y</a>') == ["/y"]


@pytest.mark.parametrize(
    ("href", "kept"),
    [
        (" /a ", "/a"),
        ("/a\n/b", "/a/b"),
        ("/a#b", "/a"),
        ("?q", "?q"),
        ("//h/p", "//h/p"),
        ("HTTP://H/", "HTTP://H/"),
        ("1:2", "1:2"),
        ("a/b:c", "a/b:c"),
        ("/a b", "/a b"),
        ("\\a", "\\a"),
    ],
)
def test_what_is_kept_of_an_href(href: str, kept: str) -> None:
    assert hrefs(f'<a href="{href}">x</a>') == [kept]


def test_a_link_is_given_once_whatever_its_fragment() -> None:
    html = "<a href=/a>1</a><a href=/a#x>2</a><a href=' /a'>3</a><area href=/a#y><a href=/b>4</a><a href=/a>5</a>"
    assert [(link.href, link.source) for link in facts(html).links] == [("/a", "a"), ("/b", "a")]


@pytest.mark.parametrize(
    "rel", ["nofollow", "NoFollow", "ugc nofollow", "noopener\tNOFOLLOW", "nofollow,ugc", " nofollow "]
)
def test_nofollow_forbids_following(rel: str) -> None:
    assert not may_follow(rel)


@pytest.mark.parametrize(
    "rel", ["", "ugc", "sponsored", "UGC Sponsored", "xnofollow", "nofollowx", "nofollow-x", "no follow", "noopener"]
)
def test_nothing_else_forbids_following(rel: str) -> None:
    assert may_follow(rel)


def test_nofollow_is_found_behind_any_number_of_other_tokens() -> None:
    many = " ".join(f"t{number}" for number in range(1_000))
    (link,) = facts(f"<a rel='{many} nofollow' href=/a>1</a>").links
    assert not may_follow(link.rel)
    assert len(link.rel) <= REL_CHARS_MAX


def test_a_rel_is_cut_between_tokens() -> None:
    """A part of a word is another word."""
    (link,) = facts(f"<a rel='{'x' * (REL_CHARS_MAX - 9)} nofollower' href=/a>1</a>").links
    assert may_follow(link.rel)


@pytest.mark.parametrize("rel", ["ugc", "sponsored", "xnofollow"])
def test_a_repeated_link_keeps_its_first_rel_where_both_may_be_followed(rel: str) -> None:
    (link,) = facts(f"<a rel='{rel}' href=/a>1</a><a rel=noopener href=/a>2</a>").links
    assert link.rel == rel


def test_rel_is_a_fact_and_one_free_link_frees_its_twins() -> None:
    html = (
        "<a rel='NoFollow  UGC' href=/a>1</a><a rel=nofollow href=/b>2</a><a rel=noopener href=/b#x>3</a>"
        "<a href=/c>4</a><a rel=nofollow href=/c>5</a><a rel=sponsored href=/d>6</a><a rel=nofollow href=/d>7</a>"
    )
    assert sorted((link.href, link.rel) for link in facts(html).links) == [
        ("/a", "nofollow ugc"),
        ("/b", "noopener"),
        ("/c", ""),
        ("/d", "sponsored"),
    ]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5; url=/x", "/x"),
        ("5;url='/x'", "/x"),
        ('0;URL="/x" junk', "/x"),
        ("0, url = /x", "/x"),
        ("5 url=/x", "/x"),
        ("5 /x", "/x"),
        ("5;/x", "/x"),
        ("  1.5 ; url=/x y", "/x y"),
        (".5; url=/x", "/x"),
        ("0;url='/x", "/x"),
        ("0;urlx", "urlx"),
        ("0;url=", ""),
        ("5", ""),
        ("5;", ""),
        ("url=/x", ""),
        ("5url=/x", ""),
        ("", ""),
        ("-1; url=/x", ""),
    ],
)
def test_the_target_of_a_refresh(content: str, target: str) -> None:
    assert refresh_target(content) == target


# What the page says of itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n B&amp;C </title>", "A B&C"),
        ("<title>a</title><title>b</title>", "a"),
        ("<svg><title>icon</title></svg><title>page</title>", "page"),
        ("<body><svg><g><title>icon</title></g></svg>", ""),
        ("<title></title>", ""),
        ("<title>unclosed", "unclosed"),
        ("<title><b>x</b></title>", "<b>x</b>"),
        ("<p>x", ""),
        ("", ""),
    ],
)
def test_the_title(html: str, title: str) -> None:
    assert facts(html).title == title


def test_a_title_has_a_limit() -> None:
    assert facts(f"<title>{'ab ' * 1_000_000}</title>").title == "ab " * 333 + "a"


@pytest.mark.parametrize(
    ("attributes", "language"),
    [
        ("lang=en", "en"),
        ("lang=' EN-us '", "en-US"),
        ("lang=pt_BR", "pt-BR"),
        ("lang=zh-hant-tw", "zh-Hant-TW"),
        ("lang=de-1996", "de-1996"),
        ("xml:lang=fr", "fr"),
        ("lang='' xml:lang=fr", "fr"),
        ("lang='en, de'", ""),
        ("lang='{{ lang }}'", ""),
        ("lang=" + "a" * 50, ""),
        ("", ""),
    ],
)
def test_the_language(attributes: str, language: str) -> None:
    assert facts(f"<html {attributes}><p>x").language == language


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/c#x>", "https://example.com/c"),
        ("<base href=/b/><link rel=canonical href=c>", "https://example.com/b/c"),
        ("<link rel='x CANONICAL' href='HTTP://Example.com:80'>", "http://example.com/"),
        ("<link rel=canonical href=/1><link rel=canonical href=/2>", "https://example.com/1"),
        ("<link rel=canonical href='mailto:x'>", None),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonical>", None),
        ("<a rel=canonical href=/c>", None),
    ],
)
def test_the_canonical_address(html: str, canonical: str | None) -> None:
    assert facts(html).canonical == canonical


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ("<meta name=robots content=noindex>", True, False),
        ("<META NAME=ROBOTS CONTENT='NoFollow, NoArchive'>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=robots content='noindex nofollow'>", True, True),
        ("<meta name=robots content='index,follow'>", False, False),
        ("<meta name=robots content=all><meta name=gossamer content=noindex>", True, False),
        ("<meta name=otherbot content=none>", False, False),
        ("<meta name=robots content=noindexed>", False, False),
        ("<meta name=description content=noindex>", False, False),
        ("<meta name=robots>", False, False),
        ("<body><meta name=robots content=noindex>", True, False),
    ],
)
def test_robots_in_a_meta(html: str, noindex: bool, nofollow: bool) -> None:
    assert facts(html, agent="Gossamer").robots == RobotsFacts(noindex, nofollow)


@pytest.mark.parametrize(
    ("values", "noindex", "nofollow"),
    [
        (["noindex"], True, False),
        (["NOINDEX, nofollow"], True, True),
        (["none"], True, True),
        (["all", "nofollow"], False, True),
        (["googlebot: noindex"], False, False),
        (["gossamer: noindex"], True, False),
        (["Gossamer:noindex, nofollow"], True, True),
        (["googlebot: noindex, gossamer: nofollow"], False, True),
        (["googlebot: noindex", "nofollow"], False, True),
        (["*: noindex"], True, False),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], True, False),
        (["max-snippet: 20, nofollow"], False, True),
        (["otherbot: max-snippet: 20, noindex"], False, False),
        ([""], False, False),
        ([], False, False),
        ([":,::,noindex:"], False, False),
    ],
)
def test_robots_in_the_header(values: list[str], noindex: bool, nofollow: bool) -> None:
    assert header_robots(values, "gossamer") == RobotsFacts(noindex, nofollow)


# Hostile pages --------------------------------------------------------------------------------------------------------


def test_the_links_of_a_page_are_bounded_and_the_cut_is_told() -> None:
    many = facts("".join(f"<a href=/{number}>" for number in range(LINKS_MAX + 1)))
    assert (len(many.links), many.links_cut) == (LINKS_MAX, True)
    assert not facts("<a href=/x>" * 20_000).links_cut


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<a href=/{}>", "<a href=/x>", "<link rel=next href=/{}>", "<base href=/{}>"])
def test_half_a_million_of_anything_is_survived(piece: str) -> None:
    found = facts("".join(piece.format(number) for number in range(500_000)))
    assert len(found.links) <= LINKS_MAX


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["div", "a", "b", "table", "svg", "template", "select", "x-y"])
def test_a_hundred_thousand_nested_elements_are_survived(tag: str) -> None:
    assert hrefs(f"<{tag}>" * 100_000 + "<p>x")[:1] in ([], ["/x"])


def test_a_huge_attribute_does_no_harm() -> None:
    assert len(facts(f"<a href='/{'x' * 10_000_000}'>y</a><a href=/z>").links) == 2


@given(st.text(alphabet="<>/='\" ahrefmetblinks#&;:\0\t\n.\ud7ff", max_size=200))
def test_no_markup_raises(html: str) -> None:
    found = facts(html.encode("utf-8", "replace"))
    assert all(link.href and "#" not in link.href for link in found.links)
