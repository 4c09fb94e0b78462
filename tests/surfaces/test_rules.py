"""The commands about single rules: forms of questions and answers, exit codes, faults. Rules themselves: tests/core."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.surfaces.cli import json_lines
from gossamer.surfaces.cli.rules import COMMANDS

BY_NAME = {command.name: command for command in COMMANDS}
URL = "https://example.com/"


def run(command: str, *arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(BY_NAME[command], arguments, input=given, catch_exceptions=False)


def ask(command: str, *questions: Any, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    result = run(command, "--jsonl", *options, given=lines)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.split("\n")[:-1]]


def usage_fault(command: str, *arguments: str) -> str:
    result = run(command, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result.stderr.rpartition("Error: ")[2].strip()


# JSON Lines -----------------------------------------------------------------------------------------------------------

BAD_LINES: dict[str, bytes] = {
    "empty": b"",
    "no-json": b"not json",
    "cut": b'{"url": "https://example.com/',
    "null": b"null",
    "list": b'["https://example.com/"]',
    "string": b'"https://example.com/"',
    "number": b"1",
    "no-url": b"{}",
    "null-url": b'{"url": null}',
    "url-is-a-number": b'{"url": 1}',
    "url-is-a-list": b'{"url": ["https://example.com/"]}',
    "base-is-a-flag": b'{"url": "https://example.com/", "base": true}',
    "no-utf-8": b'{"url": "https://example.com/\xff"}',
    "raw-nul": b'{"url": "https://example.com/\0"}',
    "deep": b"[" * 200_000,
    "huge-number": b'{"url": ' + b"9" * 10_000 + b"}",
    "relative": b'{"url": "x"}',
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_gets_an_error_and_the_next_line_its_answer(bad: bytes) -> None:
    result = run("url", "--jsonl", given=bad + b'\n{"url": "https://example.com/"}\n')
    first, second = map(json.loads, result.stdout.splitlines())
    assert list(first) == ["error"]
    assert first["error"].count("\n") == 0
    assert second["url"] == URL
    assert result.exit_code == 0


def test_a_last_line_needs_no_line_feed_and_windows_line_ends_and_a_bom_are_fine() -> None:
    result = run("url", "--jsonl", given=b'\xef\xbb\xbf{"url": "http://a.test"}\r\n{"url": "http://b.test"}')
    assert [json.loads(line)["host"] for line in result.stdout.splitlines()] == ["a.test", "b.test"]


def test_no_lines_give_no_answers() -> None:
    result = run("url", "--jsonl", given="")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_line_beyond_the_limit_is_refused_and_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LINE_BYTES_MAX", 100)
    fitting = b'{"url": "http://a.test/"}'
    result = run("url", "--jsonl", given=b"x" * 101 + b"\n" + fitting.ljust(100) + b"\n" + b"y" * 5_000_000)
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert "longer than" in first["error"]
    assert second["host"] == "a.test"
    assert "longer than" in third["error"]


def test_lone_surrogates_become_replacement_characters() -> None:
    url, robots, page = (
        ask("url", {"url": "https://example.com/\ud800"}),
        ask("robots", {"robots": "User-agent: *\nDisallow: /\udc00", "agent": "\ud800", "urls": ["/\udc00x"]}),
        ask("parse", {"url": URL, "body": "<p>\ud83d\ude00 \ud83d</p>"}),
    )
    assert url[0]["url"] == "https://example.com/%EF%BF%BD"
    assert robots[0]["rules"] == ["Disallow: /\ufffd"]
    assert page[0]["text"] == "\U0001f600 \ufffd"


def test_answers_are_one_line_each_for_every_reader() -> None:
    result = run("parse", "--jsonl", given=json.dumps({"url": URL, "body": "<p>a\u2028b\u0085c</p>"}) + "\n")
    assert len(result.stdout.splitlines()) == 1
    assert result.stdout.isascii()


def test_keys_that_nobody_knows_are_ignored() -> None:
    (answer,) = ask("url", {"url": URL, "id": 7})
    assert answer.keys() == {"url", "host", "site", "key"}


_words = st.text(st.characters(), max_size=12)
_values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _words, st.lists(_words, max_size=3))
_questions = st.dictionaries(
    st.sampled_from(
        ["url", "base", "robots", "robotsHex", "agent", "urls", "body", "bodyHex", "headers", "text", "value", "date"]
    ),
    _values | st.dictionaries(_words, _values, max_size=2),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(BY_NAME, key=str)), st.lists(_questions | _values, max_size=4))
def test_whatever_is_asked_each_line_has_one_answer(command: str, questions: list[Any]) -> None:
    assert len(ask(command, *questions)) == len(questions)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(BY_NAME, key=str)), st.lists(st.binary(max_size=40), max_size=4))
def test_whatever_octets_come_each_line_has_one_answer(command: str, lines: list[bytes]) -> None:
    octets = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    result = run(command, "--jsonl", given=octets)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(lines)


# robots ---------------------------------------------------------------------------------------------------------------

ROBOTS = "# ours\nUser-agent: *\nDisallow: /x/\nAllow: /x/open\nCrawl-delay: 2.5\nSitemap: /map.xml\n"


def test_robots_answers_have_exactly_the_agreed_keys() -> None:
    (answer,) = ask("robots", {"robots": ROBOTS, "agent": "a", "urls": [URL, URL + "x/1", URL + "x/open"]})
    assert answer == {
        "allowed": [True, False, True],
        "rules": [None, "Disallow: /x/", "Allow: /x/open"],
        "crawlDelay": 2.5,
        "sitemaps": ["/map.xml"],
    }


@pytest.mark.parametrize(
    "url", [URL + "a/../x/1", "/x/1", "/a/%2e%2e/x/1", "//example.com/x/1", "https:\\\\example.com\\x\\1"]
)
def test_robots_judges_what_would_be_requested(url: str) -> None:
    (answer,) = ask("robots", {"robots": ROBOTS, "agent": "a", "urls": [url]})
    assert answer["allowed"] == [False]


def test_robots_judges_parameters_that_a_crawl_would_drop() -> None:
    (answer,) = ask(
        "robots", {"robots": "user-agent: *\ndisallow: /*utm_", "agent": "a", "urls": [URL + "?utm_source=x"]}
    )
    assert answer["allowed"] == [False]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ({"agent": "a", "urls": []}, "robots or robotsHex"),
        ({"robots": "", "robotsHex": "", "agent": "a", "urls": []}, "not both"),
        ({"robotsHex": "0", "agent": "a", "urls": []}, "robotsHex"),
        ({"robotsHex": "zz", "agent": "a", "urls": []}, "robotsHex"),
        ({"robots": 1, "agent": "a", "urls": []}, "robots must be a string"),
        ({"robots": "", "urls": []}, "agent is missing"),
        ({"robots": "", "agent": "a"}, "urls must be a list"),
        ({"robots": "", "agent": "a", "urls": URL}, "urls must be a list"),
        ({"robots": "", "agent": "a", "urls": [URL, None]}, "urls[1]"),
    ],
)
def test_robots_names_what_is_wrong_with_a_line(question: dict[str, Any], named: str) -> None:
    (answer,) = ask("robots", question)
    assert named in answer["error"]


def test_robots_shows_people_the_rule_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_text(ROBOTS)
    result = run("robots", str(file), "--agent", "a", URL, URL + "x/1")
    assert result.stdout.splitlines() == [
        "allowed      https://example.com/     no rule",
        "not allowed  https://example.com/x/1  Disallow: /x/ (line 3)",
        "",
        "crawl-delay  2.5 s",
        "sitemap      /map.xml",
    ]
    assert result.exit_code == 1


def test_robots_without_urls_lists_the_rules_of_the_agent() -> None:
    both = ROBOTS + "\nUser-agent: bot\nUser-agent: other\nAllow: /\nDisallow: /ä*$\n"
    assert run("robots", "-", given=both).stdout.splitlines() == [
        "rules for User-agent: *",
        "Disallow: /x/   (line 3)",
        "Allow: /x/open  (line 4)",
        "",
        "crawl-delay  2.5 s",
        "sitemap      /map.xml",
    ]
    shown = run("robots", "-", "--agent", "Bot/2.0", given=both).stdout.splitlines()
    assert shown[:3] == ["rules for User-agent: bot", "Allow: /        (line 10)", "Disallow: /ä*$  (line 11)"]
    assert run("robots", "-", given="User-agent: bot\nDisallow: /\n").stdout.startswith("no rule binds this agent")


def test_robots_reads_standard_input_and_prints_one_document() -> None:
    result = run("robots", "-", "--json", URL, given=ROBOTS)
    assert json.loads(result.stdout)["allowed"] == [True]
    assert result.exit_code == 0


# url ------------------------------------------------------------------------------------------------------------------


def test_url_gives_host_site_and_a_key_that_ignores_the_order_of_parameters() -> None:
    one, other = ask(
        "url", {"url": "HTTP://News.Example.co.uk:80?b=1&a=2#x"}, {"url": "http://news.example.co.uk/?a=2&b=1"}
    )
    assert one["url"] == "http://news.example.co.uk/?b=1&a=2"
    assert (one["host"], one["site"]) == ("news.example.co.uk", "example.co.uk")
    assert one["key"] == other["key"]
    assert len(one["key"]) == 16
    assert one["key"] == f"{int(one['key'], 16):016x}"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("", "unparsable"),
        ("mailto:a@example.com", "scheme-not-supported"),
        ("http://u:p@example.com/", "credentials"),
        ("http://exa mple.com/", "host-invalid"),
        ("http://example.com:70000/", "port-invalid"),
        ("http://example.com/" + "a" * 10_000_000, "too-long"),
    ],
)
def test_url_says_in_one_short_sentence_why_it_is_none(url: str, fault: str) -> None:
    (answer,) = ask("url", {"url": url})
    assert answer["error"].startswith(fault)
    assert len(answer["error"]) < 200


def test_url_prints_a_list_as_json_lines_and_says_no_by_its_exit_code() -> None:
    result = run("url", "--json", "--base", URL + "d/", "a", "/b", "http://[/")
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert (first["url"], second["url"]) == (URL + "d/a", URL + "b")
    assert "error" in third
    assert result.exit_code == 1


def test_url_shows_people_a_block_for_each() -> None:
    result = run("url", "http://a.test", "x")
    blocks = result.stdout.split("\n\n")
    assert blocks[0].splitlines()[:3] == ["url   http://a.test/", "host  a.test", "site  a.test"]
    assert blocks[1].startswith("error  unparsable: 'x'")


# parse ----------------------------------------------------------------------------------------------------------------

PAGE = (
    "<html lang=de><title>Käse</title><meta name=robots content=noindex><link rel=canonical href=/k>"
    "<body><nav><a href=/nav>Menu</a></nav><main><h1>Käse</h1>"
    "<p>Ein langer Satz über Käse, damit es einen Inhalt gibt.</p><a rel='nofollow ugc' href='b?x=1#f'>b</a></main></body>"
)


def test_parse_answers_have_exactly_the_agreed_keys() -> None:
    plain, main = ask("parse", {"url": URL + "d/", "body": PAGE}) + ask(
        "parse", {"url": URL + "d/", "body": PAGE}, options=("--text", "main")
    )
    assert plain.pop("text").split()[:2] == ["Menu", "Käse"]
    assert len(plain.pop("contentHash")) == 16
    assert plain == {
        "charset": "UTF-8",
        "title": "Käse",
        "language": "de",
        "canonical": URL + "k",
        "robots": {"noindex": True, "nofollow": False},
        "links": [
            {"url": URL + "k", "rel": "canonical", "from": "link-canonical"},
            {"url": URL + "nav", "rel": "", "from": "a"},
            {"url": URL + "d/b?x=1", "rel": "nofollow ugc", "from": "a"},
        ],
    }
    assert "Menu" not in main["mainText"]
    assert "Ein langer Satz" in main["mainText"]


def test_parse_takes_the_headers_of_the_response_in_any_case() -> None:
    body = gzip.compress("<p>Привет <a href=/x>x</a>".encode("cp1251"))
    (answer,) = ask(
        "parse",
        {
            "url": URL,
            "bodyHex": body.hex(),
            "headers": {
                "CONTENT-type": "text/html; charset=windows-1251",
                "content-Encoding": "gzip",
                "X-Robots-Tag": ["nofollow", "noindex"],
            },
        },
    )
    assert answer["text"] == "Привет x"
    assert answer["charset"] == "windows-1251"
    assert answer["robots"] == {"noindex": True, "nofollow": True}


def test_parse_says_null_for_what_a_page_does_not_say() -> None:
    html, pdf = ask("parse", {"url": URL, "body": "<p>x"}, {"url": URL, "body": "%PDF-1.7"})
    assert (html["title"], html["language"], html["canonical"]) == (None, None, None)
    assert (pdf["charset"], pdf["contentHash"], pdf["text"], pdf["links"]) == (None, None, "", [])


@pytest.mark.parametrize("start", ["<ul><li>", "<main>", "<!-- x -->\n<section>", "words, and ", "<my-element>"])
def test_parse_takes_a_fragment_without_a_type_for_html(start: str) -> None:
    (answer,) = ask("parse", {"url": URL, "body": start + "<a href=/x>x</a>"})
    assert [link["url"] for link in answer["links"]] == [URL + "x"]


def test_parse_obeys_a_type_that_is_not_html() -> None:
    (answer,) = ask("parse", {"url": URL, "body": "<a href=/x>x</a>", "headers": {"Content-Type": "text/plain"}})
    assert answer["links"] == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ({"body": ""}, "url is missing"),
        ({"url": URL}, "body or bodyHex"),
        ({"url": "/relative", "body": ""}, "unparsable"),
        ({"url": URL, "body": "", "headers": []}, "headers must be an object"),
        ({"url": URL, "body": "", "headers": {"content-length": 5}}, "headers['content-length']"),
        ({"url": URL, "body": ["x"]}, "body must be a string"),
    ],
)
def test_parse_names_what_is_wrong_with_a_line(question: dict[str, Any], named: str) -> None:
    (answer,) = ask("parse", question)
    assert named in answer["error"]


@pytest.mark.parametrize("body", ["", "\0" * 1_000, "<" * 5_000, "<div>" * 5_000, "\ufeff", "&#xd800;&#0;" * 100])
def test_parse_survives_any_body(body: str) -> None:
    (answer,) = ask("parse", {"url": URL, "body": body})
    assert "contentHash" in answer


def test_a_line_of_ten_megabytes_is_a_line() -> None:
    (answer,) = ask("parse", {"url": URL, "body": "<p>" + "word " * 2_000_000 + "<a href=/x>x</a>"})
    assert [link["url"] for link in answer["links"]] == [URL + "x"]


def test_parse_prints_a_file_for_people_and_keeps_the_terminal_safe(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(b"<title>A \x1b]0;owned\x07</title><p>\x9b31m red <a href=x>x</a>")
    result = run("parse", str(file), "--url", URL, "--header", "Content-Type: text/html; charset=utf-8")
    assert "\x1b" not in result.stdout
    assert "charset      UTF-8" in result.stdout
    assert "  a  https://example.com/x" in result.stdout


# sitemap, fingerprint, retry-after ------------------------------------------------------------------------------------


def test_sitemap_answers_have_exactly_the_agreed_keys() -> None:
    urlset = "<urlset><url><loc>/a</loc><lastmod>2024-05-01</lastmod></url><url><loc>/b</loc></url></urlset>"
    index = "<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>"
    pages, children, packed, junk = ask(
        "sitemap",
        {"url": URL + "s.xml", "body": urlset},
        {"url": URL + "s.xml", "body": index},
        {"url": URL + "s.xml.gz", "bodyHex": gzip.compress(urlset.encode()).hex()},
        {"url": URL + "s.xml", "body": "<html>"},
    )
    entries = [{"url": URL + "a", "lastmod": "2024-05-01"}, {"url": URL + "b", "lastmod": None}]
    assert pages == {"kind": "urlset", "entries": entries, "sitemaps": [], "problems": []}
    assert children == {"kind": "index", "entries": [], "sitemaps": [URL + "1.xml.gz"], "problems": []}
    assert packed == pages
    assert junk["entries"] == []
    assert junk["problems"]


def test_sitemap_lists_a_file_for_people(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("http://a.test/1\nhttp://a.test/2\n")
    result = run("sitemap", str(file), "--url", "http://a.test/urls.txt")
    assert result.stdout.splitlines()[:2] == ["kind      text", "pages     2"]
    assert result.stdout.endswith("-  http://a.test/1\n-  http://a.test/2\n")


def test_sitemap_needs_no_url_where_locations_are_absolute() -> None:
    whole = "<urlset><url><loc>http://a.test/x</loc></url><url><loc>/y</loc></url></urlset>"
    answer = json.loads(run("sitemap", "-", "--json", given=whole).stdout)
    assert [entry["url"] for entry in answer["entries"]] == ["http://a.test/x"]
    assert answer["problems"] == ["unparsable: '/y'"]


def test_fingerprints_are_equal_but_for_white_space() -> None:
    one, same, other = ask(
        "fingerprint", {"text": "Grüße an  alle"}, {"text": "\nGru\u0308ße\tan alle "}, {"text": "grüße an alle"}
    )
    assert one == same
    assert one != other
    assert one.keys() == {"contentHash"}


def test_fingerprint_hashes_files_like_lines(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Grüße", encoding="utf-8")
    result = run("fingerprint", str(tmp_path / "a"))
    (line,) = ask("fingerprint", {"text": "Grüße"})
    assert result.stdout == f"{line['contentHash']}  {tmp_path / 'a'}\n"


def test_the_hash_of_a_page_is_that_of_its_text() -> None:
    (page,) = ask("parse", {"url": URL, "body": PAGE})
    (text,) = ask("fingerprint", {"text": page["text"]})
    assert page["contentHash"] == text["contentHash"]


DATES = [
    "Tue, 01 Sep 2026 12:00:00 GMT",
    "Tuesday, 01-Sep-26 12:00:00 GMT",
    "Tue Sep  1 12:00:00 2026",
    "2026-09-01T12:00:00Z",
    "2026-09-01t14:00:00.000+02:00",
]


@pytest.mark.parametrize("date", DATES)
def test_retry_after_counts_from_the_date_of_the_response(date: str) -> None:
    (answer,) = ask("retry-after", {"value": "Tue, 01 Sep 2026 12:01:30 GMT", "date": date})
    assert answer == {"seconds": 90}


@pytest.mark.parametrize(
    "date", ["", "tomorrow", "2026-09-01", "2026-09-01T12:00:00", "2026-13-01T12:00:00Z", "1969-01-01T00:00:00Z",
             "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "Tue, 01 Sep 99999999999 12:00:00 GMT", "x" * 10_000]
)  # fmt: skip
def test_retry_after_refuses_a_date_that_is_none(date: str) -> None:
    (answer,) = ask("retry-after", {"value": "Tuesday, 01-Sep-26 12:01:30 GMT", "date": date})
    assert "date must be" in answer["error"]
    assert len(answer["error"]) < 200


def test_retry_after_without_a_date_counts_from_now() -> None:
    (past, future, plain) = ask(
        "retry-after",
        {"value": "Tue, 01 Sep 2020 12:00:00 GMT"},
        {"value": "Tue, 01 Sep 9000 12:00:00 GMT"},
        {"value": "7"},
    )
    assert past == {"seconds": 0}
    assert future["seconds"] > 86_400
    assert plain == {"seconds": 7}


@pytest.mark.parametrize(
    ("value", "shown", "code"),
    [
        ("120", "120 s\n", 0),
        ("9" * 40, "604800 s (a week, the most that is obeyed)\n", 0),
        ("-5", "Retry-After '-5' is neither", 1),
    ],
)
def test_retry_after_takes_any_value_as_an_argument(value: str, shown: str, code: int) -> None:
    result = run("retry-after", value, "--date", DATES[0])
    assert result.stdout.startswith(shown)
    assert result.exit_code == code


# Faults of usage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("robots",), "FILE|URL is missing"),
        (("robots", "nowhere", URL), "FILE|URL = 'nowhere' cannot be read"),
        (("robots", "a\0b", URL), "FILE|URL"),
        (("robots", "/", URL), "cannot be read"),
        (("robots", "http://[/", URL), "host-invalid"),
        (("robots", "-", "--allow-address", "x", URL), "--allow-address: 'x' is no network"),
        (("robots", "-", "foo"), "URL = 'foo' is not valid"),
        (("robots", "-", URL, "ftp://a.test/"), "URL = 'ftp://a.test/' is not valid"),
        (("robots", "-", "--jsonl"), "FILE|URL cannot be given with --jsonl"),
        (("url",), "URL is missing"),
        (("url", "--jsonl", "--base", URL), "--base cannot be given with --jsonl"),
        (("parse",), "--url is missing"),
        (("parse", "--url", URL), "FILE is missing"),
        (("parse", "-", "--url", "x"), "--url: unparsable: 'x'"),
        (("parse", "-", "--url", URL, "--header", "no colon"), "--header = 'no colon' is not valid"),
        (("parse", "-", "--url", URL, "--text", "some"), "full"),
        (("sitemap", "-", "--url", "x"), "--url: unparsable: 'x'"),
        (("fingerprint",), "FILE is missing"),
        (("retry-after",), "VALUE is missing"),
        (("retry-after", "1", "--date", "x"), "--date: date must be"),
    ],
)
def test_a_fault_of_usage_is_one_sentence_and_exit_code_2(arguments: tuple[str, ...], named: str) -> None:
    fault = usage_fault(*arguments)
    assert named in fault
    assert "\n" not in fault


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "FILE_BYTES_MAX", 10)
    (tmp_path / "big").write_bytes(b"x" * 11)
    assert "too large" in usage_fault("fingerprint", str(tmp_path / "big"))


# Real processes -------------------------------------------------------------------------------------------------------

START = [sys.executable, "-c", "import sys; from gossamer.surfaces.cli.rules import url; url()"]
LINE = b'{"url": "http://a.test/"}\n'


@pytest.mark.e2e
def test_each_answer_comes_before_the_next_question() -> None:
    with subprocess.Popen([*START, "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(LINE)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["host"] == "a.test"
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.e2e
def test_a_reader_who_leaves_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [*START, "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(LINE, 10)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [("url http://a.test/ >&-", 0, ""), ("url --jsonl <&-", 2, "standard input is closed"),
     ("url http://a.test/ >/dev/full", 3, "No space left")],
)  # fmt: skip
def test_closed_and_full_streams_are_no_tracebacks(redirected: str, code: int, said: str) -> None:
    command, _, rest = redirected.partition(" ")
    script = f'exec "$0" -c "from gossamer.surfaces.cli.rules import {command}; {command}()" {rest}'
    result = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable], capture_output=True, text=True, check=False, timeout=10
    )
    assert result.returncode == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.e2e
def test_url_starts_within_a_quarter_of_a_second_of_cpu() -> None:
    measure = "import atexit, time; atexit.register(lambda: print(time.process_time()));"
    start = [START[0], "-c", measure + START[2], "http://news.example.co.uk/"]
    cpu_s = min(float(subprocess.check_output(start, timeout=10).split()[-1]) for _ in range(3))
    assert cpu_s < 0.25
