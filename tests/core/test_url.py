"""URLs: normal form, identity, hosts and sites."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.core.url import (
    HOST_CHARS_MAX,
    URL_CHARS_MAX,
    Url,
    UrlFault,
    host_key,
    host_of,
    key_form,
    link_keys,
    normalize,
    normalize_links,
    normalize_location,
    origin_of,
    scheme_host_port,
    site_of,
    target_of,
    url_key,
)

BASE = "https://example.com/docs/guide/page.html?v=1"

# Arbitrary text, lone surrogates included, and text made of what matters in a URL.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
PIECES = (
    "http:// https:// HTTP: // / \\ ? # & = ; : @ % %% %4 %41 %2e %2E %2f %25 %7e %C3%A9 . .. ../ ./ /../ a b A é 日 \x00 \t \n"
    " utm_source=x gclid PHPSESSID=1 ;jsessionid=9 ;jsessionid= sid=0123456789abcdef0123456789abcdef jsessionid"
    " example.com example.com. a.test:80 :443 [::1] 127.1 0x7f.1 \ud800 \ufeff ' \" < | ^ * + , ~ _ -"
)
URL_PIECES = st.sampled_from(PIECES.split(" "))
URL_TEXT = st.lists(URL_PIECES, max_size=12).map("".join)
TEXT = ANY_TEXT | URL_TEXT
ABSOLUTE = st.tuples(
    st.sampled_from(["http://example.com", "https://EXAMPLE.com.", "http://a_b--c.test:8080", "https://[::1]:443"]),
    TEXT,
).map("/".join)


def norm(raw: str, base: str | None = None) -> Url:
    url = normalize(raw, base)
    assert not isinstance(url, UrlFault), (raw, url)
    return url


# Public cases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "base", "expected"),
    [
        ("https://example.com/a%20b%23c%2520?x=%26y#frag", None, "https://example.com/a%20b%23c%2520?x=%26y"),
        ("https://example.com/q%3Fz/%2Fp", None, "https://example.com/q%3Fz/%2Fp"),
        ("https://example.com/a/./b/../c/%2e%2e/d", None, "https://example.com/a/d"),
        ("../../../../files/x.jpg", "https://example.com/web/page", "https://example.com/files/x.jpg"),
    ],
    ids=["h-url-01-a", "h-url-01-b", "h-url-01-c", "h-url-01-d"],
)
def test_reserved_octets_stay_and_dots_go(raw: str, base: str | None, expected: str) -> None:
    assert norm(raw, base) == expected
    assert norm(expected) == expected
    assert normalize_links([raw], base or "https://example.com/") == [expected]


def test_odd_hosts_live_and_one_bad_link_costs_no_other_h_url_02() -> None:
    hrefs = [
        "http://my_shop.example.com/x",
        "http://r3---sn-ab.example.com/",
        f"http://{'a' * 64}.example.com/",
        "http://a..example.com/",
        "http://exa mple.com/",
        "/last",
    ]
    assert normalize_links(hrefs, "https://example.com/") == [
        "http://my_shop.example.com/x",
        "http://r3---sn-ab.example.com/",
        UrlFault.HOST_INVALID,
        UrlFault.HOST_INVALID,
        UrlFault.HOST_INVALID,
        "https://example.com/last",
    ], "h-url-02"


@pytest.mark.parametrize(
    ("octets_hex", "expected"),
    [
        ("2f6e2fd8a7d8b9", "http://example.com/n/%D8%A7%D8%B9"),
        ("2f6e2fe9", "http://example.com/n/%E9"),  # Latin-1, kept as received
        ("2f6e2f254438", "http://example.com/n/%D8"),  # already encoded: not twice
        ("2f3fc3a9", "http://example.com/?%C3%A9"),
        ("687474703a2f2f6dc3bc6e6368656e2e64652f", "http://xn--mnchen-3ya.de/"),
        ("2f6ea0", "http://example.com/n%A0"),  # no space that strip() may take
        ("2f6e8520", "http://example.com/n%85"),
    ],
    ids=["h-redirect-01", "latin-1", "encoded", "query", "host", "nbsp", "c1-control"],
)
def test_raw_octets_of_a_location_are_encoded_as_received(octets_hex: str, expected: str) -> None:
    field = bytes.fromhex(octets_hex).decode("latin-1")
    assert normalize_location(field, "http://example.com/fa/1") == expected


def test_a_location_that_is_no_latin_1_is_still_a_value() -> None:
    assert normalize_location("/\u65e5\ud800", "http://example.com/") == "http://example.com/%E6%97%A5%ED%A0%80"
    assert normalize_location("/" + "\xe9" * 100_000, "http://example.com/") is UrlFault.TOO_LONG
    assert normalize_location("http://\xff.example.com/", "http://example.com/") is UrlFault.HOST_INVALID


def test_one_page_has_one_identity_h_dedup_01() -> None:
    links = ["#a", "/", "http://EXAMPLE.com", "http://example.com:80/#b", "/p", "/p#x", "/p?"]
    seed = norm("http://example.com")
    urls = normalize_links(links, seed)
    assert set(urls) == {"http://example.com/", "http://example.com/p"}
    assert seed == "http://example.com/"
    assert {host_of(Url(url)) for url in urls} == {"example.com"}


def test_worked_example_6_one_key_with_sorted_queries() -> None:
    one, other = norm("HTTP://Example.com:80/a?b=2&a=1#top"), norm("http://example.com/a?a=1&b=2")
    assert one == "http://example.com/a?b=2&a=1"
    assert key_form(one) == key_form(other) == "http://example.com/a?a=1&b=2"
    assert url_key(one) == url_key(other)


# Normal form ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("http://h/%7euser/%41%2D%5f%2E%30", "http://h/~user/A-_.0"),  # unreserved: decoded
        ("http://h/%c3%a9%2f%3a%5b%21%2a", "http://h/%C3%A9%2F%3A%5B%21%2A"),  # reserved: upper case only
        ("http://h/a%20b%22%3c%7c", "http://h/a%20b%22%3C%7C"),  # neither: stays encoded
        ('http://h/a b"<>`{}', "http://h/a%20b%22%3C%3E%60%7B%7D"),
        ("http://h/?q=%7e%41%26%3d%23%2b+%20", "http://h/?q=~A%26%3D%23%2B+%20"),
        ("http://h/é?é", "http://h/%C3%A9?%C3%A9"),
        ("http://h/100%", "http://h/100%"),
        ("http://h/%zz%4", "http://h/%zz%4"),
        ("http://h/%az%a%c3", "http://h/%az%a%C3"),
        ("http://h/%%34%31", "http://h/%%34%31"),  # decoded it would read '%41', another path
        ("http://h/%4%31", "http://h/%4%31"),
        ("http://h/%2541", "http://h/%2541"),
        ("http://h/%25%34%31", "http://h/%2541"),
        ("http://h", "http://h/"),
        ("http://h?q", "http://h/?q"),
        ("http://h/?", "http://h/"),
        ("http://h/a//b", "http://h/a//b"),
        ("http://h/..", "http://h/"),
        ("http://h/a/.%2e/%2E./.%2E/%2e/b", "http://h/b"),
        ("http://h/...", "http://h/..."),
        ("http://h/.well-known/x", "http://h/.well-known/x"),
        ("http:\\\\h\\a\\b", "http://h/a/b"),
        ("http:///h/a", "http://h/a"),
        (" \t\n\x00\x1fhttp://h/a \r\n\x0b", "http://h/a"),
        ("ht\ntp://h/a\tb\r\nc", "http://h/abc"),
        ("http://h/a\x00b", "http://h/a%00b"),
        ("http://h/\ud800", "http://h/%EF%BF%BD"),
        ("http://h/\ud83d\ude00", "http://h/%F0%9F%98%80"),
        ("http://h/?q=\udfff#\ud800", "http://h/?q=%EF%BF%BD"),
        ("http://h/a#b#c?d", "http://h/a"),
        ("http://h/a?b?c/d#", "http://h/a?b?c/d"),
        ("http://h/?b=1&&a=&b=0&", "http://h/?b=1&&a=&b=0&"),
        ("https://h:443/", "https://h/"),
        ("http://h:443/", "http://h:443/"),
        ("http://h:080/", "http://h/"),
        ("http://h:/", "http://h/"),
    ],
)
def test_normal_form(raw: str, expected: str) -> None:
    assert norm(raw) == expected
    assert norm(expected) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("http://EXAMPLE.Com./", "http://example.com/"),
        ("http://example.com.:8080/", "http://example.com:8080/"),
        ("http://ex%41mple%2ecom/", "http://example.com/"),
        ("http://münchen.de/", "http://xn--mnchen-3ya.de/"),
        ("http://MÜNCHEN.de/", "http://xn--mnchen-3ya.de/"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://exam\u00adple.com/", "http://example.com/"),  # soft hyphen
        ("http://ｅｘａｍｐｌｅ.com/", "http://example.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.01./", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"),
        ("http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("http://-a-.example.com/", "http://-a-.example.com/"),
        ("http://a_b/", "http://a_b/"),
        (f"http://{'a' * 63}.test/", f"http://{'a' * 63}.test/"),
        ("http://@h/", "http://h/"),
    ],
)
def test_one_host_has_one_spelling(raw: str, expected: str) -> None:
    assert norm(raw) == expected
    assert norm(expected) == expected


NAME_253 = ".".join(["a" * 61] * 4) + ".abcde"


def test_the_longest_name_is_253_octets_without_its_final_dot() -> None:
    assert len(NAME_253) == HOST_CHARS_MAX
    assert host_of(norm(f"http://{NAME_253}./")) == NAME_253
    assert norm(f"https://{NAME_253}.:65535/x") == f"https://{NAME_253}:65535/x"
    assert normalize(f"http://{NAME_253}f/") is UrlFault.HOST_INVALID
    assert normalize(f"http://{'a.' * 4000}/") is UrlFault.HOST_INVALID


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ("http://a..b/", UrlFault.HOST_INVALID),
        ("http://.a/", UrlFault.HOST_INVALID),
        ("http://a../", UrlFault.HOST_INVALID),
        ("http://./", UrlFault.HOST_INVALID),
        ("http://。/", UrlFault.HOST_INVALID),
        ("http://exa mple.com/", UrlFault.HOST_INVALID),
        ("http://exa%20mple.com/", UrlFault.HOST_INVALID),
        ("http://a%00b/", UrlFault.HOST_INVALID),
        ("http://a\x00b/", UrlFault.HOST_INVALID),
        ("http://a<b/", UrlFault.HOST_INVALID),
        ("http://%zz/", UrlFault.HOST_INVALID),
        ("http://256.1.1.1/", UrlFault.HOST_INVALID),
        ("http://1.2.3.4.5/", UrlFault.HOST_INVALID),
        ("http://[::1/", UrlFault.HOST_INVALID),
        ("http://[::1%25eth0]/", UrlFault.HOST_INVALID),
        (f"http://{'ü' * 60}.de/", UrlFault.HOST_INVALID),  # 63 octets are counted in punycode
        ("http://h:65536/", UrlFault.PORT_INVALID),
        ("http://h:8o/", UrlFault.PORT_INVALID),
        ("//h:99999999/x", UrlFault.PORT_INVALID),
        ("http://", UrlFault.HOST_INVALID),
        ("", UrlFault.UNPARSABLE),
        ("a/b", UrlFault.UNPARSABLE),
        ("http://user:pass@h/", UrlFault.CREDENTIALS),
        ("http://user@h/", UrlFault.CREDENTIALS),
        ("https://:p@h/", UrlFault.CREDENTIALS),
        ("http://example.com@evil.test/", UrlFault.CREDENTIALS),
        (f"http://{'u' * 500}@h/", UrlFault.CREDENTIALS),
        ("ftp://h/", UrlFault.SCHEME_NOT_SUPPORTED),
        ("mailto:a@b.test", UrlFault.SCHEME_NOT_SUPPORTED),
        ("javascript:void(0)", UrlFault.SCHEME_NOT_SUPPORTED),
        ("JavaScript://x/%0aalert(1)", UrlFault.SCHEME_NOT_SUPPORTED),
        ("data:text/html,x", UrlFault.SCHEME_NOT_SUPPORTED),
        ("tel:+1", UrlFault.SCHEME_NOT_SUPPORTED),
        ("file:///etc/passwd", UrlFault.SCHEME_NOT_SUPPORTED),
        ("ws://h/", UrlFault.SCHEME_NOT_SUPPORTED),
        ("about:blank", UrlFault.SCHEME_NOT_SUPPORTED),
        ("httpx://h/", UrlFault.SCHEME_NOT_SUPPORTED),
        ("data:image/png;base64," + "A" * 100_000, UrlFault.SCHEME_NOT_SUPPORTED),
        ("http://h/" + "a" * URL_CHARS_MAX, UrlFault.TOO_LONG),
        ("http://h/" + "é" * (URL_CHARS_MAX // 2), UrlFault.TOO_LONG),
        ("/" * 100_000, UrlFault.TOO_LONG),
    ],
)
def test_what_is_no_web_address_is_a_named_fault(raw: str, fault: UrlFault) -> None:
    assert normalize(raw) is fault


def test_a_long_fragment_makes_no_url_too_long() -> None:
    assert norm("http://h/a#:~:text=" + "x" * 100_000) == "http://h/a"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("", "https://example.com/docs/guide/page.html?v=1"),
        ("#x", "https://example.com/docs/guide/page.html?v=1"),
        ("?p=2", "https://example.com/docs/guide/page.html?p=2"),
        ("?", "https://example.com/docs/guide/page.html"),
        ("other", "https://example.com/docs/guide/other"),
        ("./other", "https://example.com/docs/guide/other"),
        ("../other", "https://example.com/docs/other"),
        ("../../../../other", "https://example.com/other"),
        ("..", "https://example.com/docs/"),
        ("/x", "https://example.com/x"),
        ("//other.test/x", "https://other.test/x"),
        ("\\\\other.test\\x", "https://other.test/x"),
        ("https:x", "https://example.com/docs/guide/x"),
        ("http:x", "http://x/"),
        (" other \n", "https://example.com/docs/guide/other"),
        ("a b #x", "https://example.com/docs/guide/a%20b%20"),
        ("a:b", UrlFault.SCHEME_NOT_SUPPORTED),
        ("./a:b", "https://example.com/docs/guide/a:b"),
        ("/a:b", "https://example.com/a:b"),
    ],
)
def test_links_are_resolved_as_a_browser_does(href: str, expected: str) -> None:
    assert normalize(href, BASE) == expected
    assert normalize_links([href], BASE) == [expected]


@pytest.mark.parametrize("base", ["", "nonsense", "http://a b/", "http://h/" + "x" * 10_000, "\ud800"])
def test_a_base_that_is_none_leaves_absolute_links_alone(base: str) -> None:
    hrefs = ["https://example.com/x", "x"]
    assert normalize_links(hrefs, base) == ["https://example.com/x", UrlFault.UNPARSABLE]
    assert [normalize(href, base) for href in hrefs] == ["https://example.com/x", UrlFault.UNPARSABLE]


# Parameters that go ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("http://h/?utm_source=a&b=1&UTM_Campaign=c&gclid=x", "http://h/?b=1"),
        ("http://h/?utm_source=a", "http://h/"),
        ("http://h/?fbclid&msclkid=&mc_eid=1", "http://h/"),
        ("http://h/?utm%5Fsource=a&x", "http://h/?x"),
        ("http://h/?z=1&utm_id=3&a=2", "http://h/?z=1&a=2"),
        ("http://h/?PHPSESSID=abc&p=1", "http://h/?p=1"),
        ("http://h/?ASPSESSIONIDQQCCBATT=ABC&p=1", "http://h/?p=1"),
        ("http://h/?CFID=1&CFTOKEN=2&p=1", "http://h/?p=1"),
        ("http://h/?jsessionid=1", "http://h/"),
        ("http://h/?sid=0123456789abcdef0123456789ABCDEF&p=1", "http://h/?p=1"),
        ("http://h/?sess=0123456789abcdef0123456789ABCDEF&p=1", "http://h/?p=1"),
        ("http://h/?sessid=q3vmd0e4lfh1n2u6tcs8bk7a5r&p=1", "http://h/?p=1"),
        ("http://h/?XTCsid=ab&MODsid=cd&PHPSESSIONID=ef&p=1", "http://h/?p=1"),
        ("http://h/a;jsessionid=AB12?p=1", "http://h/a?p=1"),
        ("http://h/a;JSESSIONID=AB12.node1/b;v=2;jsessionid=3;w", "http://h/a/b;v=2;w"),
        ("http://h/a;jsession%69d=1", "http://h/a"),
        # what only looks like them
        ("http://h/?sid=12&session_id=4&sessionid=", "http://h/?sid=12&session_id=4&sessionid="),
        ("http://h/?sid=1f00ba12", "http://h/?sid=1f00ba12"),  # a visit or a story: the host's pages tell
        ("http://h/?sid=abcdefghijklmnopqrstuvabcd", "http://h/?sid=abcdefghijklmnopqrstuvabcd"),
        ("http://h/?s=0123456789abcdef0123456789abcdef", "http://h/?s=0123456789abcdef0123456789abcdef"),
        ("http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx"),
        ("http://h/?automobile=1&utm=2&xgclid=3&ref=4", "http://h/?automobile=1&utm=2&xgclid=3&ref=4"),
        ("http://h/?q=utm_source=a", "http://h/?q=utm_source=a"),
        ("http://h/?u=a%26utm_source=b", "http://h/?u=a%26utm_source=b"),
        ("http://h/;jsessionid/x", "http://h/;jsessionid/x"),
        ("http://h/jsessionid=1", "http://h/jsessionid=1"),
        ("http://h/a/..;jsessionid=1/b", "http://h/a/..;jsessionid=1/b"),  # must not become a climb
        ("http://h/a/%2e;jsessionid=1/b", "http://h/a/.;jsessionid=1/b"),
    ],
)
def test_tracking_and_session_parameters_go_and_others_stay(raw: str, expected: str) -> None:
    assert norm(raw) == expected
    assert norm(expected) == expected


# Parts, keys, sites ---------------------------------------------------------------------------------------------------


def test_the_parts_of_a_url() -> None:
    url = norm("https://Example.com:8443/a/b?c=/d")
    assert host_of(url) == "example.com"
    assert origin_of(url) == "https://example.com:8443"
    assert scheme_host_port(url) == ("https", "example.com", 8443)
    assert target_of(url) == "/a/b?c=/d"
    plain = norm("http://h")
    assert (origin_of(plain), target_of(plain), scheme_host_port(plain)) == ("http://h", "/", ("http", "h", 80))
    six = norm("https://[::1]:8443/")
    assert (host_of(six), scheme_host_port(six)) == ("[::1]", ("https", "[::1]", 8443))
    assert scheme_host_port(norm("https://[::1]/x:y")) == ("https", "[::1]", 443)


def test_keys_are_big_endian() -> None:
    urls = [norm("http://example.com:8080/b?z=1&a=2"), norm("https://[::1]/"), norm("http://example.com/")]
    for url, key in zip(urls, link_keys(urls), strict=True):
        assert key == host_key(host_of(url)).to_bytes(8, "big") + url_key(url).to_bytes(8, "big")
    assert host_key("") == 0x2D06800538D394C2  # XXH3-64 of nothing, from its specification: other tools agree with us


def test_fields_of_one_name_keep_their_order_in_the_key() -> None:
    assert key_form(norm("http://h/?b&a=2&a=1&b=0&")) == "http://h/?&a=2&a=1&b&b=0"
    assert url_key(norm("http://h/?a=1&a=2")) != url_key(norm("http://h/?a=2&a=1"))


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("x.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("com", "com"),
        ("localhost", "localhost"),
        ("a.b.test", "b.test"),
        ("_x.a_b.example.com", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("www.xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("", ""),
        ("..", ".."),
    ],
)
def test_the_site_of_a_host(host: str, site: str) -> None:
    assert site_of(host) == site


# Properties -----------------------------------------------------------------------------------------------------------


@given(TEXT | ABSOLUTE, st.none() | TEXT | ABSOLUTE)
@example("http://h/%%34%31", None)
@example("http://h/a/..;jsessionid=1/..", None)
@example("http://h/;jsess;jsessionid=1ionid=2", None)
def test_normalize_never_raises_and_is_idempotent(raw: str, base: str | None) -> None:
    url = normalize(raw, base)
    if isinstance(url, UrlFault):
        return
    assert normalize(url) == url
    assert url.isascii()
    assert len(url) <= URL_CHARS_MAX
    assert url.startswith(("http://", "https://"))
    assert "#" not in url
    assert host_of(norm(url)) == host_of(url)
    assert origin_of(url) + target_of(url) == url
    assert target_of(url).startswith("/")


HOST_PIECES = "xn-- xn--9ca a b-c - . 0x 1 7f 255 é ß 日本 。 ． \u00ad \u200d İ ǅ ﬁ ① 👍 \u0301 א _ %41 %C3%A9 %2e [::1] :80 ~ ! ' *"


@given(
    st.lists(st.sampled_from(HOST_PIECES.split()) | st.characters(min_codepoint=33), min_size=1, max_size=6).map(
        "".join
    )
)
def test_a_host_never_changes_on_a_second_pass(host: str) -> None:
    url = normalize(f"http://{host}/x")
    if not isinstance(url, UrlFault):
        assert host_of(norm(url)) == host_of(url)
        assert norm(url) == url


@given(TEXT, TEXT)
def test_normalize_location_never_raises(field: str, base: str) -> None:
    url = normalize_location(field, base)
    assert isinstance(url, UrlFault) or normalize(url) == url


@given(st.lists(TEXT | ABSOLUTE, max_size=6), TEXT | ABSOLUTE)
def test_links_in_a_batch_are_links_one_by_one(hrefs: list[str], base: str) -> None:
    assert normalize_links(hrefs, base) == [normalize(href, base) for href in hrefs]


PLAIN_STARTS = (
    "https://example.com http://b.test:80 https://b.test. //b.test http:// https: ../ ../../ ../../../../ / // ? . a b:"
)
PLAIN_PIECES = (
    "a b/ c.html . .. / // : ; @ ~ ' - ? & = | b=1&a=2 utm_a=1 &gclid %27 %2F %5F %C3%A9 %c3 %2e /. a/../ ;jsessionid=1"
)
PLAIN_ENDS = st.sampled_from(["", "", "#", "#a", " #", " "])
PLAIN_HREF = st.tuples(
    st.sampled_from(["", *PLAIN_STARTS.split()]),
    st.lists(st.sampled_from(PLAIN_PIECES.split()), max_size=6).map("".join),
    PLAIN_ENDS,
).map("".join)


@given(
    st.lists(PLAIN_HREF, max_size=8),
    st.sampled_from(["https://example.com/a/b/c?d", "http://b.test", "http://b.test./x;jsessionid=1/y"]),
)
def test_ordinary_links_in_a_batch_are_links_one_by_one(hrefs: list[str], base: str) -> None:
    assert normalize_links(hrefs, base) == [normalize(href, base) for href in hrefs]


def test_a_batch_agrees_also_where_its_short_cuts_end() -> None:
    deep = "https://example.com/" + "a/" * 3_000
    long = "https://example.com/" + "b" * 8_000
    hrefs = [
        "../" * 300 + "x",
        "../" * 5_000 + "x",
        "y" * 1_024,
        "y" * 1_025,
        "z" * 5_000,
        "x#" + "f" * 9_000,
        "#" + "f" * 9_000,
        "?" + "q" * 1_100,
    ]
    for base in (deep, long, "https://example.com/"):
        assert normalize_links(hrefs, base) == [normalize(href, base) for href in hrefs]


@given(st.permutations(["a=1", "b=2", "c", "d=%20", "e=", "utm_source=x"]))
def test_the_key_does_not_depend_on_the_order_of_names(fields: list[str]) -> None:
    assert url_key(norm("http://h/?" + "&".join(fields))) == url_key(norm("http://h/?a=1&b=2&c&d=%20&e="))


@given(ABSOLUTE)
def test_the_key_form_is_a_normal_form_and_stable(raw: str) -> None:
    url = normalize(raw)
    if not isinstance(url, UrlFault):
        form = Url(key_form(url))
        assert key_form(form) == form
        assert host_of(form) == host_of(url)
        assert link_keys([url]) == [host_key(host_of(url)).to_bytes(8, "big") + url_key(url).to_bytes(8, "big")]


@given(TEXT)
def test_site_of_never_raises(host: str) -> None:
    assert site_of(host).lower() in host.lower()
