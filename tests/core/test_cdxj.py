"""Keys as replay tools compute them, and lines that can be searched."""

import json
import mmap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.core.cdxj import CdxEntry, cdxj_line, find, parse_line, sorted_index, surt


def entry(url: str = "https://example.com/a", timestamp: str = "20260901120000", **changes: Any) -> CdxEntry:
    plain = CdxEntry(url, timestamp, "text/html", 200, "sha1:AAAA", 120, 34, "x.warc.gz")
    return plain._replace(**changes)


# Expected values: what the Internet Archive's surt package 0.3.1, which pywb uses, answers.
@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.com:80/Foo/?b=2&a=1#x", "com,example)/foo?a=1&b=2"),
        ("https://user:p@www2.example.com:8443/A%2fb/", "com,example:8443)/a/b"),
        ("http://1.2.3.4/a", "4,3,2,1)/a"),
        ("http://[::1]:8080/", "::1:8080)/"),
        ("http://example.com", "com,example)/"),
        ("http://example.com/?", "com,example)/"),
        ("http://example.com/?PHPSESSID=0123456789abcdef0123456789abcdef&x=1", "com,example)/?x=1"),
        ("http://example.com/a//b/../c", "com,example)/a/c"),
        ("http://xn--mnchen-3ya.de/%C3%BC", "de,xn--mnchen-3ya)/%c3%bc"),
        ("http://a.com/%20x?q=%41%20b", "com,a)/%20x?q=a%20b"),
        ("http://example.com./", "com,example)/"),
        ("http://www.com/", "com)/"),
        ("http://example.com/?a&b=&", "com,example)/?&a&b="),
        ("http://a.com/a/(s(abcdefghijklmnopqrstuvwx))/p.aspx", "com,a)/a/p.aspx"),
        ("http://a.com/%25%32%35", "com,a)/%25"),
        ("http://a.com/?cfid=1&cftoken=2&z=1", "com,a)/?z=1"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://example.com:443/", "com,example:443)/"),
        ("dns:example.com", "dns:example.com"),
        ("HTTP://w.ww.com/%3f/%25", "com,ww,w)/?/%25"),
        ("http://a.com/?b=1&a=2&a=1", "com,a)/?a=1&a=2&b=1"),
    ],
)
def test_the_key_is_the_one_that_pywb_looks_up(url: str, key: str) -> None:
    assert surt(url) == key


@given(
    st.text(max_size=60),
    st.sampled_from(["", "http://", "https://a.test/", "http://a.test/?", "http://[", "http://a:²/"]),
)
def test_a_key_is_visible_ascii_whatever_the_url_is(text: str, before: str) -> None:
    key = surt(before + text)
    assert all("!" <= character <= "~" for character in key)


@pytest.mark.parametrize("unit", ["cfid=", "(", "/(aaaaaaaaaaaaaaaaaaaaaaaa)", "%25", "../", "sid=", "&", "="])
def test_a_hostile_url_has_a_key_too(unit: str) -> None:
    assert surt("http://a.test/?" + unit * 400)
    assert surt("http://a.test/" + unit * 200).startswith("test,a)/")
    assert surt("http://a.test/" + unit * 10_000).isascii()


def test_a_line_is_key_time_and_json_with_numbers_as_text() -> None:
    line = cdxj_line(entry("https://www.example.com/A?x=1", mime="text/html; charset=utf-8"))
    key, timestamp, fields = line.decode("ascii").rstrip("\n").split(" ", 2)
    assert (key, timestamp) == ("com,example)/a?x=1", "20260901120000")
    assert json.loads(fields) == {
        "url": "https://www.example.com/A?x=1",
        "mime": "text/html",
        "status": "200",
        "digest": "sha1:AAAA",
        "length": "120",
        "offset": "34",
        "filename": "x.warc.gz",
    }


@pytest.mark.parametrize("mime", ["", "text html", "a\nb", "\ud800", ";", "テキスト"])
def test_a_type_that_is_none_is_unknown(mime: str) -> None:
    assert json.loads(cdxj_line(entry(mime=mime)).split(b" ", 2)[2])["mime"] == "unk"


@given(st.text(max_size=40), st.text(max_size=20))
def test_one_entry_is_one_line(url: str, mime: str) -> None:
    line = cdxj_line(entry("http://a.test/" + url, mime=mime))
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")
    assert line.isascii()
    assert line.split(b" ", 2)[1] == b"20260901120000"


@given(st.integers(0, 999), st.integers(0, 2**40), st.integers(0, 2**40))
def test_a_line_comes_back_as_its_entry(status: int, length: int, offset: int) -> None:
    written = entry(status=status, length=length, offset=offset)
    assert parse_line(cdxj_line(written)) == written


@pytest.mark.parametrize("line", [b"", b"a b", b"a 1 {", b"a 1 {}", b'a 1 {"url": 1}', b"\xff 1 {\xff}"])
def test_what_is_no_line_is_none(line: bytes) -> None:
    assert parse_line(line) is None


HOSTS = [f"https://h{number}.test/p" for number in range(50)]


def test_all_captures_of_a_url_are_found_oldest_first() -> None:
    lines = [cdxj_line(entry(url, f"202601{day:02d}000000")) for url in HOSTS for day in (3, 1, 2)]
    index = sorted_index(lines)
    for url in HOSTS:
        assert [found.timestamp[6:8] for found in find(index, url)] == ["01", "02", "03"]
        assert {found.url for found in find(index, url)} == {url}


@pytest.mark.parametrize("url", ["https://h1.test/", "https://h1.test/p/q", "https://a.test/", "https://zzz.zzz/", "x"])
def test_a_url_that_is_not_there_is_not_found(url: str) -> None:
    assert find(sorted_index(map(cdxj_line, map(entry, HOSTS))), url) == ()
    assert find(b"", url) == ()


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[a-c/?&=-]{0,5}", fullmatch=True), max_size=12), st.booleans())
def test_search_finds_what_a_scan_finds(paths: list[str], is_cut: bool) -> None:
    urls = [f"http://a.test/{path}" for path in paths]
    lines = sorted(cdxj_line(entry(url)) for url in urls)
    index = b"".join(lines)
    if is_cut:
        index = index.removesuffix(b"\n")
    for url in [*urls, "http://a.test/zz", "http://a.test/"]:
        expected = [line for line in lines if line.split(b" ")[0] == surt(url).encode()]
        assert [cdxj_line(found) for found in find(index, url)] == expected


def test_a_memory_map_is_searched_like_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.cdxj"
    path.write_bytes(sorted_index(map(cdxj_line, map(entry, HOSTS))))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as index:
        assert [found.url for found in find(index, HOSTS[7])] == [HOSTS[7]]
