"""What robots.txt says: the public reports, their neighbours, and an obvious slow model to compare with."""

import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.robots import (
    BODY_BYTES_MAX,
    PROBLEMS_MAX,
    RULE_TEXT_MAX,
    SITEMAPS_MAX,
    RobotsDecision,
    RobotsFile,
    RobotsRules,
    parse_robots,
)

SITE = "https://example.com"
ROUND_SEPARATORS = ("\n", "\r", "\r\n")


def rules(text: str | bytes, agent: str = "examplebot") -> RobotsRules:
    return parse_robots(text.encode() if isinstance(text, str) else text).rules_for(agent)


def allowed(text: str | bytes, *paths: str, agent: str = "examplebot") -> list[bool]:
    asked = rules(text, agent)
    return [asked.decide(path if "://" in path else SITE + path).allowed for path in paths]


def under_star(*lines: str) -> str:
    return "\n".join(("User-agent: *", *lines, ""))


# --- which pattern matches -------------------------------------------------------------------------------------------


def test_wildcards_see_the_query_and_a_trailing_star_adds_nothing_h_robots_01() -> None:
    verdicts = allowed(
        "User-agent: *\nDisallow: /*sort=\nDisallow: /stock.html?*\n",
        "https://example.com/list?sort=asc",
        "https://example.com/list?page=2&sort=asc",
        "https://example.com/sort/",
        "https://example.com/",
        "https://example.com/stock.html?id=1",
        "https://example.com/stock.html",
    )
    assert verdicts == [False, False, True, True, False, True]


@pytest.mark.parametrize(
    ("pattern", "closed", "opened"),
    [
        ("/fish", ["/fish", "/fish.html", "/fishheads/x", "/fish?id=1"], ["/Fish", "/catfish", "/"]),
        ("/fish*", ["/fish", "/fish.html", "/fish?id=1"], ["/Fish", "/catfish"]),
        ("/fish/", ["/fish/", "/fish/x", "/fish/?id=1"], ["/fish", "/fish.html"]),
        ("/*.php", ["/a.php", "/d/a.php?x", "/a.php5", "/?x=.php"], ["/", "/a.PHP"]),
        ("/*.php$", ["/a.php", "/d/a.php"], ["/a.php?x", "/a.php/", "/a.php5"]),
        ("/fish*.php", ["/fish.php", "/fishheads/a.php?x"], ["/Fish.PHP"]),
        ("/$", ["/", ""], ["/a", "/?a"]),
        ("*.pdf$", ["/x.pdf"], ["/x.pdf?a"]),
        ("*", ["/", "/x"], []),
        ("/a**b***$", ["/ab", "/axb", "/axbx"], ["/a", "/b"]),
        ("/a*b*c$", ["/abc", "/axbxc", "/abcbc"], ["/ab", "/acb", "/abcd"]),
        ("/a*ab$", ["/aab", "/aaab"], ["/ab", "/aaba"]),  # the end may not overlap the start
        ("/a$b", ["/a$b", "/a%24bc"], ["/a", "/ab"]),  # '$' is an anchor at the end only
        ("/a%24", ["/a$", "/a%24x"], ["/a"]),
        ("/a%2A", ["/a*", "/a%2ab"], ["/ab", "/a"]),
        ("/?", ["/?", "/?a=1"], ["/", "/a?b"]),
        ("/*?", ["/?a", "/a?"], ["/a", "/a%3F"]),
        ("/*?*print=", ["/a?x=1&print=1"], ["/print=", "/a/print=1?"]),
        ("private", [], ["/private", "/"]),  # not anchored at the first octet: matches nothing
        ("https://example.com/x", [], ["/x", "/"]),
    ],
)
def test_a_pattern_is_held_against_path_and_query_from_the_first_octet(
    pattern: str, closed: list[str], opened: list[str]
) -> None:
    text = under_star(f"Disallow: {pattern}")
    assert allowed(text, *closed) == [False] * len(closed)
    assert allowed(text, *opened) == [True] * len(opened)


def test_octets_are_compared_in_one_spelling_h_robots_02() -> None:
    verdicts = allowed(
        "User-agent: *\nDisallow: /caf%C3%A9/\nDisallow: /~user/\nDisallow: /find?next=https://example.org\n",
        "https://example.com/café/menu",
        "https://example.com/caf%c3%a9/menu",
        "https://example.com/%7Euser/x",
        "https://example.com/cafe/",
        "https://example.com/find?next=https%3A%2F%2Fexample.org/x",
    )
    assert verdicts == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("pattern", "closed", "opened"),
    [
        ("/café/", ["/caf%C3%A9/", "/caf%c3%A9/x", "/café/"], ["/caf%E9/"]),
        ("/foo/bar/ツ", ["/foo/bar/%E3%83%84", "/foo/bar/ツ"], []),
        ("/foo/bar/%62%61%7A", ["/foo/bar/baz"], []),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3a//foo.bar"], []),
        ("/x?u=a,b", ["/x?u=a%2Cb"], []),
        ("/x?mail=a@b", ["/x?mail=a%40b"], []),
        ("/a/b", ["/a/b"], ["/a%2Fb"]),  # '/' is structure in a path
        ("/a%2Fb", ["/a%2fb"], ["/a/b"]),
        ("/a%3Fb", ["/a%3fb"], ["/a?b"]),
        ("/x?a=1&b", ["/x?a=1&b"], ["/x?a=1%26b", "/x?a%3D1&b"]),  # '&' and '=' are structure in a query
        ("/a b", ["/a%20b", "/a b"], ["/a+b"]),
        ("/{id}", ["/%7Bid%7d"], []),
        ("/100%", ["/100%", "/100%25"], ["/100"]),
        ("/*%", ["/a%20b", "/caf%C3%A9"], ["/a", "/%7Ea"]),
        ("/*=https%3A%2F%2F", ["/?u=https%3A%2F%2Fx", "/?u=https://x", "/d/?a&u=https:%2f/x"], ["/=https://x"]),
        ("/*%2Fsecret", ["/a%2Fsecret", "/?p=%2Fsecret", "/?p=/secret"], ["/a/secret"]),
        ("/*/secret", ["/a/secret", "/?p=/secret", "/?p=%2Fsecret"], ["/a%2Fsecret"]),
        ("/*a*%2F$", ["/xa%2F", "/xa?%2F", "/x?a/"], ["/xa/"]),
    ],
)
def test_one_meaning_has_one_spelling(pattern: str, closed: list[str], opened: list[str]) -> None:
    text = under_star(f"Disallow: {pattern}")
    assert allowed(text, *closed) == [False] * len(closed)
    assert allowed(text, *opened) == [True] * len(opened)


def test_a_latin_1_pattern_matches_its_own_octets() -> None:
    assert allowed(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9", "/caf%e9", "/café") == [False, False, True]


@pytest.mark.parametrize(
    ("lines", "path", "verdict"),
    [
        (("Allow: /p", "Disallow: /"), "/page", True),
        (("Disallow: /", "Allow: /p"), "/page", True),
        (("Allow: /folder", "Disallow: /folder"), "/folder/page", True),  # a tie
        (("Disallow: /folder", "Allow: /folder"), "/folder/page", True),
        (("Allow: /page", "Disallow: /*.htm"), "/page.htm", False),
        (("Allow: /page", "Disallow: /*.ph"), "/page.php5", True),  # a tie of 5 octets
        (("Allow: /$", "Disallow: /"), "/", True),
        (("Allow: /$", "Disallow: /"), "/page.htm", False),
        (("Disallow: /x/page.html", "Allow: /x/"), "/x/page.html", False),
        (("Disallow: /caf%C3%A9", "Allow: /café"), "/café", True),  # spelled alike: a tie
        (("Allow: /p", "Disallow:"), "/q", True),
        (("Disallow: /a", "Disallow: /a", "Allow: /ab*"), "/abc", True),
        (("Disallow: /a/*/c", "Allow: /a/"), "/a/b/c", False),
    ],
)
def test_the_longest_pattern_wins_and_allow_wins_a_tie_worked_example_7(
    lines: tuple[str, ...], path: str, verdict: bool
) -> None:
    assert allowed(under_star(*lines), path) == [verdict]


def test_robots_txt_itself_is_always_allowed() -> None:
    verdicts = allowed(under_star("Disallow: /", "Disallow: /*.txt$"), "/robots.txt", "/a/robots.txt", "/robots.txtx")
    assert verdicts == [True, False, False]


def test_a_decision_names_the_rule_and_its_line() -> None:
    asked = rules(under_star("Allow: /open", "Disallow : /private/  # keep out", "Disallow: /*.cgi$"))
    assert asked.decide(SITE + "/private/x") == RobotsDecision(allowed=False, rule="Disallow: /private/", line=3)
    assert asked.decide(SITE + "/open") == RobotsDecision(allowed=True, rule="Allow: /open", line=2)
    assert asked.decide(SITE + "/a.cgi") == RobotsDecision(allowed=False, rule="Disallow: /*.cgi$", line=4)
    assert asked.decide(SITE + "/else") == RobotsDecision(allowed=True, rule=None, line=None)


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("https://example.com/x#/private", True),
        ("https://example.com/private#x", False),
        ("https://example.com?private", True),
        ("https://example.com?u=/private", True),
        ("https://example.com", True),
        ("https://u:p@example.com:8080/private", False),
        ("/private", False),
        ("https://example.com/?u=https://a/private", True),
        ("", True),
        ("private", True),
        ("://", True),
        ("https://example.com/\ud800", True),
    ],
)
def test_only_path_and_query_of_the_url_count(url: str, verdict: bool) -> None:
    assert rules(under_star("Disallow: /private")).decide(url).allowed is verdict


# --- whom a group binds ----------------------------------------------------------------------------------------------

H_ROBOTS_03 = (
    "User-agent: alphabot\nCrawl-delay: 3\nUser-agent: betabot\nSitemap: https://example.com/sm.xml\n"
    "Disallow: /private/\n\nUser-agent: deltabot\nDisallow:\n\nUser-agent: *\nDisallow: /\n"
)


@pytest.mark.parametrize(
    ("agent", "path", "verdict"),
    [
        ("alphabot", "/private/x", False),
        ("alphabot", "/open", True),
        ("betabot", "/private/x", False),
        ("betabot", "/open", True),
        ("deltabot", "/private/x", True),
        ("gammabot", "/open", False),
    ],
)
def test_only_rule_lines_end_a_run_of_agents_h_robots_03(agent: str, path: str, verdict: bool) -> None:
    assert allowed(H_ROBOTS_03, path, agent=agent) == [verdict]


def test_a_delay_between_agents_binds_those_above_it_h_robots_03() -> None:
    assert parse_robots(H_ROBOTS_03.encode()).sitemaps == ("https://example.com/sm.xml",)
    assert rules(H_ROBOTS_03, "alphabot").crawl_delay_s == 3.0
    assert rules(H_ROBOTS_03, "betabot").crawl_delay_s is None
    assert rules(H_ROBOTS_03, "gammabot").crawl_delay_s is None


@pytest.mark.parametrize("between", ["", "Host: example.com", "Request-rate: 1/5", "# note", "nonsense", "Noindex: /x"])
def test_nothing_else_between_agents_ends_the_run(between: str) -> None:
    text = f"User-agent: abot\n{between}\nUser-agent: bbot\n{between}\n\n\nDisallow: /x\n"
    assert allowed(text, "/x", "/y", agent="abot") == [False, True]
    assert allowed(text, "/x", "/y", agent="bbot") == [False, True]


def test_a_delay_below_the_rules_binds_the_whole_group() -> None:
    text = "User-agent: abot\nUser-agent: bbot\nDisallow: /x\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /\n"
    assert rules(text, "abot").crawl_delay_s == 2.0
    assert rules(text, "bbot").crawl_delay_s == 2.0
    assert rules(text, "cbot").crawl_delay_s is None


def test_groups_of_one_agent_merge() -> None:
    text = (
        "User-agent: examplebot\nDisallow: /a\n\nUser-agent: otherbot\nDisallow: /\n\n"
        "User-agent: ExampleBot/2.1\nCrawl-delay: 4\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n"
    )
    assert allowed(text, "/a", "/b", "/c") == [False, False, True]
    assert rules(text).crawl_delay_s == 4.0


def test_the_star_groups_merge_too_and_serve_only_the_unnamed() -> None:
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: *\nDisallow: /b\n"
    assert allowed(text, "/a", "/b", "/x") == [False, False, True]
    assert allowed(text, "/a", "/b", "/x", agent="x") == [True, True, False]


@pytest.mark.parametrize(
    "empty", ["User-agent: examplebot", "User-agent: examplebot\nDisallow:", "User-agent: examplebot\nAllow:"]
)
def test_a_named_group_without_rules_allows_all(empty: str) -> None:
    text = f"User-agent: *\nDisallow: /\n\n{empty}\n"
    assert allowed(text, "/x") == [True]


@pytest.mark.parametrize(
    ("line", "agent", "is_named"),
    [
        ("ExampleBot", "examplebot", True),
        ("EXAMPLEBOT/2.1", "ExampleBot", True),
        ("examplebot (+https://example.com)", "examplebot", True),
        ("examplebot", "ExampleBot/1.0 (+mailto:a@example.com)", True),
        ("example", "examplebot", False),
        ("examplebot-news", "examplebot", False),
        ("examplebot", "examplebot-news", False),
        ("bot", "examplebot", False),
        ("my examplebot", "examplebot", False),
        ("example-bot_x", "example-bot_x", True),
        ("", "", False),
        ("1bot", "2bot", False),
    ],
)
def test_agents_are_compared_by_product_token(line: str, agent: str, is_named: bool) -> None:
    text = f"User-agent: {line}\nDisallow: /named\n\nUser-agent: *\nDisallow: /star\n"
    assert allowed(text, "/named", "/star", agent=agent) == [not is_named, is_named]


@pytest.mark.parametrize(("line", "is_everybody"), [("*", True), ("* all", True), ("*bot", False), ("**", False)])
def test_a_star_alone_names_everybody(line: str, is_everybody: bool) -> None:
    assert allowed(f"User-agent: {line}\nDisallow: /\n", "/x") == [not is_everybody]


def test_rules_above_any_agent_are_void() -> None:
    file = parse_robots(b"Disallow: /\nCrawl-delay: 9\nUser-agent: *\nDisallow: /x\n")
    asked = file.rules_for("examplebot")
    assert asked.decide(SITE + "/y").allowed
    assert not asked.decide(SITE + "/x").allowed
    assert asked.crawl_delay_s is None
    assert file.problems == ("line 1: a rule before any user-agent",)


@pytest.mark.parametrize(
    ("values", "delay_s"),
    [
        (("5",), 5.0),
        (("0.5",), 0.5),
        ((".5",), 0.5),
        (("10.",), 10.0),
        (("0",), 0.0),
        (("3  # slow",), 3.0),
        (("2", "7", "4"), 7.0),
        (("fast", "2"), 2.0),
        (("-1",), None),
        (("",), None),
        (("5s",), None),
        (("1e3",), None),
        (("inf",), None),
        (("nan",), None),
        (("9" * 400,), None),
        (("٣",), None),
        (("+5",), None),
        (("1_0",), None),
    ],
)
def test_the_largest_sound_crawl_delay_holds(values: tuple[str, ...], delay_s: float | None) -> None:
    assert rules(under_star(*(f"Crawl-delay: {value}" for value in values), "Disallow:")).crawl_delay_s == delay_s


# --- reading the octets ----------------------------------------------------------------------------------------------

H_ROBOTS_05 = bytes.fromhex("efbbbf557365722d6167656e743a202a0d446973616c6c6f773a202f0d")


@pytest.mark.parametrize(
    "body",
    [
        H_ROBOTS_05,
        H_ROBOTS_05.replace(b"\r", b"\n"),
        H_ROBOTS_05.replace(b"\r", b"\r\n"),
        H_ROBOTS_05.removesuffix(b"\r"),
        H_ROBOTS_05.removeprefix(b"\xef\xbb\xbf"),
        b"\xef\xbb\xbf" + H_ROBOTS_05,
        b"\r\n \xef\xbb\xbf" + H_ROBOTS_05,
        b"# first\n" + H_ROBOTS_05,  # files glued together
        "\ufeffUser-agent: *\nDisallow: /\n".encode("utf-16-le"),
        "\ufeffUser-agent: *\r\nDisallow: /".encode("utf-16-be"),
        "User-agent: *\rDisallow: /".encode("utf-16-le"),
        "\ufeffUser-agent: *\nDisallow: /".encode("utf-32-le"),
        "\ufeffUser-agent: *\nDisallow: /".encode("utf-32-be"),
    ],
)
def test_marks_and_line_ends_do_not_open_a_closed_site_h_robots_05(body: bytes) -> None:
    assert allowed(body, "/x") == [False]


@pytest.mark.parametrize(
    "line",
    [
        "Disallow:/x",
        "disallow:/x",
        "DISALLOW\t:\t/x\t",
        "  Disallow : /x",
        "Disallow: /x # why",
        "Disallow: /x#why",
        "Disallow /x",
        "Disallow\t/x",
        "Disallow:\u00a0/x",
        "\0Dis\0allow: /x",
        "Dissallow: /x",
        "dissalow: /x",
        "Disalow: /x",
        "Diasllow: /x",
        "disallaw: /x",
    ],
)
@pytest.mark.parametrize("agent_line", ["User-agent: *", "useragent: *", "USER AGENT : *", "User-Agent *"])
def test_slips_of_the_pen_still_close(agent_line: str, line: str) -> None:
    assert allowed(f"{agent_line}\n{line}\n", "/x", "/y") == [False, True]


@pytest.mark.parametrize(
    "line",
    [
        "Disallow everything please",
        "# Disallow: /x",
        "xDisallow: /x",
        "Disallow",
        "Disallow:",
        ": /x",
        "<p>Disallow: /x</p>",
    ],
)
def test_what_is_no_record_closes_nothing(line: str) -> None:
    assert allowed(under_star(line), "/x") == [True]


def test_a_colon_in_the_value_does_not_hide_a_missing_one() -> None:
    assert allowed(under_star("Disallow /a:b"), "/a:bc", "/a") == [False, True]


def test_an_html_page_gives_no_rules() -> None:
    page = "<!DOCTYPE html>\n<html><head><title>User-agent: *</title></head>\n<body><p>Disallow: /</p>\n</body></html>"
    file = parse_robots(page.encode())
    assert file == RobotsFile((), ())
    assert file.rules_for("examplebot").decide(SITE + "/x").allowed


def test_records_wrapped_in_html_are_obeyed() -> None:
    assert allowed("<html><pre>\nUser-agent: *\nDisallow: /x\n</pre></html>", "/x", "/y") == [False, True]


@pytest.mark.parametrize(
    "body", [b"", b"\n\n", b"\0\0\0", b"\xff\xfe", b"\xfe\xff\0", b"\xef\xbb\xbf", b"\xff" * 99, b"::::"]
)
def test_nothing_to_read_allows_all(body: bytes) -> None:
    assert allowed(body, "/x") == [True]


def test_invalid_utf_8_in_one_line_leaves_the_others() -> None:
    body = b"User-agent: *\n\xff\xfe\x80: /q\nDisallow: /\xc3\x28\nDisallow: /x\n"
    asked = rules(body)
    assert not asked.decide(SITE + "/x").allowed
    assert asked.decide(SITE + "/%C3(").rule == "Disallow: /\ufffd("


def test_sitemaps_are_kept_as_written_wherever_they_stand() -> None:
    text = "Sitemap: https://a.test/1.xml\nUser-agent: x\nsitemap:/2.xml\nSITE-MAP :  3.xml  # old\nSitemap:\nSitemap é.xml\n"
    assert parse_robots(text.encode()).sitemaps == ("https://a.test/1.xml", "/2.xml", "3.xml", "é.xml")


# --- limits ----------------------------------------------------------------------------------------------------------


def test_500_kib_are_read_and_the_cut_line_is_not() -> None:
    start = b"User-agent: *\nDisallow: /early\n"
    for end in (b"\n", b"\r\n", b"\r"):
        filler = b"#" * (BODY_BYTES_MAX - len(start) - len(end) - len(b"Disallow: /last") - len(end)) + end
        whole = start + filler + b"Disallow: /last" + end
        assert len(whole) == BODY_BYTES_MAX
        assert allowed(whole + b"Disallow: /late\n", "/early", "/last", "/late") == [False, False, True]
    cut = start + b"#" * (BODY_BYTES_MAX - len(start) - 10) + b"\nAllow: /early/but/not/all\n"
    assert rules(cut).decide(SITE + "/exit") == RobotsDecision(allowed=True, rule=None)  # not by a stump "Allow: /e"
    fits_to_the_octet = start + b"#" * (BODY_BYTES_MAX - len(start) - 12) + b"\nAllow: /ear\n"
    assert rules(fits_to_the_octet).decide(SITE + "/earxx").rule == "Allow: /ear"


def test_a_cut_utf_16_file_keeps_its_whole_lines() -> None:
    text = "\ufeffUser-agent: *\nDisallow: /early\n" + "#" * BODY_BYTES_MAX + "\nDisallow: /late\n"
    assert allowed(text.encode("utf-16-le"), "/early", "/late") == [False, True]


def test_answers_stay_small() -> None:
    lines = "".join(f"Sitemap: /{n}.xml\nDisallow: /{n}\n" for n in range(SITEMAPS_MAX + 50))
    file = parse_robots((lines + under_star("Disallow: /" + "*" * 9_000)).encode())
    assert len(file.sitemaps) == SITEMAPS_MAX
    assert len(file.problems) == PROBLEMS_MAX
    assert len(file.rules_for("x").decide(SITE + "/").rule or "") == RULE_TEXT_MAX


def test_wildcards_past_their_budget_close_their_prefix_and_open_nothing() -> None:
    many = [f"Disallow: /w{n}/*.html$" for n in range(5_000)] + ["Allow: /w4999/*.pdf$"]
    verdicts = allowed(
        under_star(*many), "/w1/a.html", "/w1/a.txt", "/w4999/a.html", "/w4999/a.txt", "/w4999/a.pdf", "/x"
    )
    assert verdicts == [False, True, False, False, False, True]


@pytest.mark.parametrize(
    "lines",
    [
        b"Disallow: /" + b"*a" * 200_000 + b"b\n",
        (b"Disallow: /" + b"*a" * 300 + b"b$\n") * 800,
        b"Disallow: " + b"*%2F" * 100_000,
        b"Disallow: /" + b"*" * 400_000 + b"x\n",
        b"Crawl-delay: 1\nUser-agent: x\n" * 15_000,
    ],
)
@pytest.mark.slow
def test_hostile_files_cost_a_moment(lines: bytes) -> None:
    began = time.process_time()
    asked = rules(b"User-agent: *\n" + lines)
    asked.decide(SITE + "/" + "a" * 2_000)
    assert time.process_time() - began < 2.0  # exponential matching would take for ever; this takes 0.05 s


# --- the obvious model -----------------------------------------------------------------------------------------------

UNRESERVED_OR_DATA = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:@!'(),;[]+")
Octet = tuple[str, bool]  # the character, whether it was written as %XX


def octets_of(text: str) -> tuple[Octet, ...]:
    found: list[Octet] = []
    while text:
        if text[0] == "%":
            found.append((chr(int(text[1:3], 16)), True))
            text = text[3:]
        else:
            found += [(chr(octet), False) for octet in text[0].encode()]
            text = text[1:]
    return tuple(found)


def meaning(octet: Octet, in_query: bool) -> Octet:
    """What is compared: data is itself however it is written, structure differs from its %XX."""
    char, is_coded = octet
    if char in UNRESERVED_OR_DATA or (in_query and char in "/?"):
        return char, False
    return char, is_coded or char not in "/?&="


def model_matches(pattern: str, target: str) -> bool:
    is_anchored = pattern.endswith("$")
    wished = octets_of(pattern.removesuffix("$"))
    given_octets = octets_of(target)
    query_at = target_query_start(given_octets)

    @cache
    def rest(i: int, j: int) -> bool:
        if i == len(wished):
            return not is_anchored or j == len(given_octets)
        if wished[i] == ("*", False):
            return rest(i + 1, j) or (j < len(given_octets) and rest(i, j + 1))
        if j == len(given_octets):
            return False
        in_query = j > query_at
        return meaning(wished[i], in_query) == meaning(given_octets[j], in_query) and rest(i + 1, j + 1)

    return rest(0, 0)


def target_query_start(target: tuple[Octet, ...]) -> int:
    return target.index(("?", False)) if ("?", False) in target else len(target)


def model_octets(pattern: str) -> int:
    """Length of a pattern in the one spelling; the query begins at its first '?'."""
    wished = octets_of(pattern.removesuffix("$"))
    query_at = target_query_start(wished)
    lengths = (
        1 if octet == ("*", False) or not meaning(octet, n > query_at)[1] else 3 for n, octet in enumerate(wished)
    )
    return sum(lengths) + pattern.endswith("$")


def model_decides(lines: list[tuple[bool, str]], target: str) -> bool:
    verdicts = [(model_octets(pattern), is_allow) for is_allow, pattern in lines if model_matches(pattern, target)]
    return max(verdicts, default=(0, True))[1]


PIECES = [
    "/",
    "a",
    "b",
    "?",
    "&",
    "=",
    ":",
    "*",
    "$",
    "~",
    "%2F",
    "%2f",
    "%3F",
    "%3A",
    "%61",
    "%C3%A9",
    "é",
    "%2A",
    "%24",
    "%20",
]
spelled = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
patterns = st.tuples(st.sampled_from(["/", "*", ""]), spelled).map("".join).filter(bool)


@st.composite
def lines_and_a_near_target(draw: st.DrawFn) -> tuple[list[tuple[bool, str]], str]:
    """Rules and a target made from one of them, so that matches are as frequent as near misses."""
    lines = draw(st.lists(st.tuples(st.booleans(), patterns), min_size=1, max_size=4))
    target = draw(st.sampled_from(lines))[1].replace("*", draw(spelled)).removesuffix("$") + draw(spelled)
    for written, respelled in (("/", "%2F"), ("?", "%3F"), (":", "%3A"), ("%2F", "/"), ("%3F", "?"), ("a", "%61")):
        target = target.replace(written, respelled) if draw(st.integers(0, 3)) == 0 else target
    return lines, "/" + target.removeprefix("/")


@given(lines=st.lists(st.tuples(st.booleans(), patterns), min_size=1, max_size=4), path=spelled)
def test_decisions_agree_with_the_obvious_model(lines: list[tuple[bool, str]], path: str) -> None:
    text = under_star(*(f"{'Allow' if is_allow else 'Disallow'}: {pattern}" for is_allow, pattern in lines))
    assert allowed(text, "/" + path) == [model_decides(lines, "/" + path)]


@given(case=lines_and_a_near_target())
def test_near_misses_agree_with_the_obvious_model(case: tuple[list[tuple[bool, str]], str]) -> None:
    lines, target = case
    text = under_star(*(f"{'Allow' if is_allow else 'Disallow'}: {pattern}" for is_allow, pattern in lines))
    assert allowed(text, target) == [model_decides(lines, target)]


@given(pattern=st.text(alphabet="a*$", min_size=1, max_size=10), path=st.text(alphabet="ab", max_size=12))
def test_stars_agree_with_the_obvious_model(pattern: str, path: str) -> None:
    assert allowed(under_star(f"Disallow: /{pattern}"), "/" + path) == [not model_matches("/" + pattern, "/" + path)]


FRAGMENTS = [b"User-agent:", b"*", b"Disallow:", b"Allow:", b"Crawl-delay:", b"Sitemap:", b"\n", b"\r", b"/", b"$", b"%", b"#",
             b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"9" * 30, b"%2F", b"?", b" ", b"x"]  # fmt: skip


@given(
    body=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(b"".join)),
    url=st.text(),
)
def test_any_octets_and_any_url_get_an_answer(body: bytes, url: str) -> None:
    file = parse_robots(body)
    asked = file.rules_for("x")
    assert isinstance(asked.decide(url).allowed, bool)
    assert asked.crawl_delay_s is None or asked.crawl_delay_s >= 0
    assert all(isinstance(sitemap, str) and sitemap for sitemap in file.sitemaps)


@given(agent=st.text())
def test_any_agent_gets_rules(agent: str) -> None:
    assert not parse_robots(b"User-agent: *\nDisallow: /\n").rules_for(agent).decide(SITE + "/x").allowed


@given(
    lines=st.lists(
        st.sampled_from(["User-agent: *", "User-agent: x", "Disallow: /a", "Allow: /ab", "Sitemap: s", "", "# c"])
    )
)
def test_line_ends_mean_the_same(lines: list[str]) -> None:
    files = [parse_robots(end.join(lines).encode()) for end in ROUND_SEPARATORS]
    assert files[0] == files[1] == files[2]


def test_twenty_plain_rules_are_decided_in_microseconds() -> None:
    asked = rules(under_star(*(f"Disallow: /{'x' * (n % 7)}section{n}/" for n in range(20))))
    url = SITE + "/articles/2024/05/some-title.html?page=2"
    began = time.process_time()
    for _ in range(2_000):
        asked.decide(url)
    assert (time.process_time() - began) / 2_000 < 30e-6  # measured 1.4 µs; 20 times that is no noise
