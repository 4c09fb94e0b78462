"""A stored capture becomes a page: its text, its links and why some of them are not followed."""

import gzip
from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest

from gossamer.config import resolve
from gossamer.core import sitemap as sitemap_module
from gossamer.core.messages import Parsed, ParseJob, Unparsed
from gossamer.core.page import ParseOptions, TextKind
from gossamer.core.rows import CaptureKey, CaptureRow, Kind, load_links
from gossamer.core.url import Url, link_keys
from gossamer.core.warc import CapturedExchange, exchange_records, read_record
from gossamer.stages.parse_capture import RECORD_DAMAGED, RECORD_UNREADABLE, CaptureParser, ParseRules
from gossamer.testing.sim_segments import SimSegments

HOME = "http://a.test/"
HTML = ("content-type", "text/html; charset=utf-8")


class StillClock:
    """Always the same moment."""

    def now(self) -> float:
        return 123.0

    def monotonic(self) -> float:
        return 1.0

    async def sleep_until(self, monotonic_s: float) -> None:
        raise AssertionError("parsing waits for nothing")


class Bench:
    """Stores answers and parses them."""

    def __init__(self, text: TextKind = TextKind.FULL, **options: Any) -> None:
        self.raw = SimSegments(".warc.gz")
        self.texts = SimSegments(".warc.wet.gz", self.raw.files)
        rules = ParseRules(resolve(options, {}, None).admissibility([HOME]), ParseOptions(text, "gossamer"))
        self.parser = CaptureParser(self.raw, self.texts, rules, StillClock(), Random(1))

    def job(
        self, body: bytes, fields: Sequence[tuple[str, str]] = (HTML,), kind: Kind = Kind.PAGE, url: str = HOME
    ) -> ParseJob:
        head = b"HTTP/1.1 200 OK\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in fields) + b"\r\n"
        records = exchange_records(
            CapturedExchange(
                url=url,
                address="93.184.216.34",
                fetched_at=5.0,
                request_head=b"GET / HTTP/1.1\r\n\r\n",
                head=head,
                wire_body=body,
                payload=body,
                content_encoding="",
                truncated=None,
                response_id=bytes(16),
                request_id=bytes(16),
            )
        )
        key = self.raw.append(records.response)
        return ParseJob(7, CaptureRow(link_keys([Url(url)])[0], url, kind, 2, key, 5.0))

    def parse(self, body: bytes, *fields: tuple[str, str], kind: Kind = Kind.PAGE) -> Parsed:
        return self.result(self.job(body, fields or (HTML,), kind))

    def result(self, job: ParseJob) -> Parsed:
        parsed = self.parser.parse(job)
        assert isinstance(parsed, Parsed)
        return parsed


def verdicts(parsed: Parsed) -> dict[str, str]:
    return {link.url: link.verdict for link in load_links(parsed.outlinks)}


def test_a_page_gives_its_facts_its_text_and_its_links() -> None:
    bench = Bench()
    parsed = bench.parse(
        b"<html lang=en><title>Tea</title><link rel=canonical href=/tea>"
        b"<p>Green tea<p><a href=b>b</a> <a href='http://b.test/'>far</a>"
    )
    assert (parsed.sequence, parsed.hop, parsed.kind) == (7, 2, Kind.PAGE)
    row = parsed.page
    assert (row.title, row.language, row.canonical, row.charset, row.kind) == (
        "Tea",
        "en",
        f"{HOME}tea",
        "UTF-8",
        "html",
    )
    assert row.parsed_at == 123.0
    assert verdicts(parsed) == {f"{HOME}tea": "inside", f"{HOME}b": "inside", "http://b.test/": "outside"}
    assert parsed.pages.keys == b"".join(link_keys([Url(url) for url in parsed.pages.urls]))
    assert (row.links, row.links_admissible, parsed.refused) == (3, 2, {"outside": 1})


def test_the_text_is_a_record_that_refers_to_the_response() -> None:
    bench = Bench()
    job = bench.job(b"<p>Green tea")
    parsed = bench.result(job)
    key = parsed.page.text_key
    assert key is not None
    assert parsed.text_segment_length == key.offset + key.length == len(bench.texts.files[key.segment])
    text = read_record(bench.texts.read(key))
    assert (text.field("WARC-Type"), text.block.decode().strip()) == ("conversion", "Green tea")
    response = read_record(bench.raw.read(job.capture.raw_key))
    assert text.field("WARC-Refers-To") == response.field("WARC-Record-ID")


@pytest.mark.parametrize("body", [b"", b"<p></p>", b"   "], ids=["nothing", "no text", "blanks"])
def test_a_page_without_text_has_no_text_record(body: bytes) -> None:
    bench = Bench()
    parsed = bench.parse(body)
    assert (parsed.page.text_key, parsed.text_segment_length, parsed.page.text_chars) == (None, 0, 0)
    assert list(bench.texts.files) == [name for name in bench.raw.files if name.endswith(".warc.gz")]


def test_no_text_is_kept_where_none_is_wanted_and_the_hash_is_the_same() -> None:
    body = b"<p>Green tea from the hills above the lake"
    none, full = Bench(TextKind.NONE).parse(body), Bench().parse(body)
    assert (none.page.text_key, none.text_segment_length) == (None, 0)
    assert none.page.content_hash == full.page.content_hash is not None


@pytest.mark.parametrize("where", ["link", "meta", "header"])
def test_nofollow_is_obeyed_wherever_it_stands(where: str) -> None:
    rel = " rel=nofollow" if where == "link" else ""
    meta = "<meta name=robots content=nofollow>" if where == "meta" else ""
    header = (("x-robots-tag", "otherbot: noindex"), ("x-robots-tag", "nofollow")) if where == "header" else ()
    parsed = Bench().parse(f"{meta}<a href=/x{rel}>x</a>".encode(), HTML, *header)
    assert verdicts(parsed) == {f"{HOME}x": "nofollow"}
    assert (parsed.pages.urls, parsed.refused) == ([], {"nofollow": 1})


@pytest.mark.parametrize("text", TextKind)
def test_the_characters_are_those_of_the_text_that_is_kept(text: TextKind) -> None:
    """The main text of a page with navigation is shorter than all of it."""
    story = b"<p>" + b"Green tea grows in the hills above the lake, where the mornings are cool. " * 20
    bench = Bench(text)
    row = bench.parse(b"<nav><a href=/1>Home</a> <a href=/2>News</a></nav><article>" + story + b"</article>").page
    kept = read_record(bench.texts.read(row.text_key)).block.decode() if row.text_key else ""
    assert row.text_chars == len(kept)
    assert ("Home" in kept, "Green" in kept) == (text is TextKind.FULL, text is not TextKind.NONE)


@pytest.mark.parametrize(
    ("fields", "noindex", "nofollow"),
    [
        (("otherbot: noindex", "nofollow"), False, True),
        (("gossamer: noindex", "otherbot: nofollow"), True, False),
        (("otherbot: noindex, nofollow", "otherbot: none"), False, False),
        (("none", "otherbot: all"), True, True),
    ],
)
def test_the_robot_that_a_header_names_is_meant_by_that_field_alone(
    fields: tuple[str, ...], noindex: bool, nofollow: bool
) -> None:
    parsed = Bench().parse(b"<a href=/x>x</a>", HTML, *(("x-robots-tag", field) for field in fields))
    assert (parsed.page.noindex, parsed.page.nofollow) == (noindex, nofollow)
    assert parsed.pages.urls == ([] if nofollow else [f"{HOME}x"])


@pytest.mark.parametrize(
    ("rel", "verdict"),
    [
        ("NoFollow", "nofollow"),
        ("ugc nofollow", "nofollow"),
        ("ugc", "inside"),
        ("sponsored", "inside"),
        ("xnofollow", "inside"),
    ],
)
def test_only_nofollow_keeps_a_link_from_being_followed(rel: str, verdict: str) -> None:
    assert verdicts(Bench().parse(f"<a href=/x rel='{rel}'>x</a>".encode())) == {f"{HOME}x": verdict}


def test_links_that_are_traps_or_excluded_are_named() -> None:
    parsed = Bench(exclude=["private"]).parse(b"<a href=/a/a/a/>1</a><a href=/private/x>2</a><a href=/fine>3</a>")
    assert parsed.refused == {"repeated-segments": 1, "excluded": 1}
    assert parsed.pages.urls == [f"{HOME}fine"]


def test_codings_are_taken_off_and_lies_about_them_survived() -> None:
    body = b"<p>Green tea<a href=/x>x</a>"
    for wire, coding in ((gzip.compress(body), "gzip"), (body, "gzip"), (body, "nonsense")):
        parsed = Bench().parse(wire, HTML, ("content-encoding", coding))
        assert parsed.pages.urls == [f"{HOME}x"], coding


def test_a_torn_coding_is_told_and_what_came_is_used() -> None:
    torn = gzip.compress(b"<p>" + b"Green tea. " * 4_000 + b"<a href=/x>")[:-30]
    parsed = Bench().parse(torn, HTML, ("content-encoding", "gzip"))
    assert parsed.page.fault
    assert parsed.page.text_chars > 1_000


def test_chunks_are_joined() -> None:
    parsed = Bench().parse(b"4\r\n<p>G\r\n4\r\nreen\r\n0\r\n\r\n", HTML, ("transfer-encoding", "chunked"))
    assert parsed.page.text_chars == len("Green")


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/plain", b"Green tea, see http://a.test/x", "text"),
        ("image/png", b"\x89PNG\r\n\x1a\n" + bytes(40), "other"),
        ("", b"<!doctype html><title>t</title>", "html"),
    ],
)
def test_the_kind_follows_type_and_content(content_type: str, body: bytes, kind: str) -> None:
    fields = (("content-type", content_type),) if content_type else (("server", "x"),)
    assert Bench().parse(body, *fields).page.kind == kind


def test_a_sitemap_gives_pages_inside_and_sitemaps_anywhere() -> None:
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in (f"{HOME}p", "http://b.test/p", f"{HOME}a/a/a/"))
    parsed = Bench().parse(f"<urlset {space}>{entries}</urlset>".encode(), kind=Kind.SITEMAP)
    assert (parsed.page.kind, parsed.pages.urls) == ("sitemap-urlset", [f"{HOME}p"])
    assert parsed.refused == {"outside": 1, "repeated-segments": 1}
    index = f"<sitemapindex {space}><sitemap><loc>http://b.test/map.xml</loc></sitemap></sitemapindex>"
    parsed = Bench().parse(index.encode(), kind=Kind.SITEMAP)
    assert (parsed.pages.urls, parsed.sitemaps.urls) == ([], ["http://b.test/map.xml"])


def test_what_a_sitemap_index_names_in_vain_is_counted_by_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_module, "ENTRIES_MAX", 4)
    names = ["a.xml", "q" * 2_000, "b.xml", "x/x/x/c.xml", "d.xml", "e.xml"]
    nested = "".join(f"<sitemap><loc>{HOME}{name}</loc></sitemap>" for name in names)
    parsed = Bench().parse(f"<sitemapindex>{nested}</sitemapindex>".encode(), kind=Kind.SITEMAP)
    assert parsed.sitemaps.urls == [f"{HOME}a.xml", f"{HOME}b.xml"]
    assert parsed.refused == {"url-too-long": 1, "repeated-segments": 1, "sitemap-too-long": 1}


def test_what_is_no_sitemap_is_told() -> None:
    parsed = Bench().parse(b"<html><p>Not found", kind=Kind.SITEMAP)
    assert (parsed.page.fault, parsed.pages.urls) == ("not-a-sitemap", [])


def test_a_record_that_is_gone_or_damaged_is_a_named_fault_of_its_capture() -> None:
    bench = Bench()
    job = bench.job(b"<p>x")
    gone = msgspec.structs.replace(job.capture, raw_key=CaptureKey("nowhere", 0, 10))
    assert bench.parser.parse(ParseJob(1, gone)) == Unparsed(1, RECORD_UNREADABLE)
    key = job.capture.raw_key
    bench.raw.files[key.segment][key.offset + 12] ^= 0xFF
    assert bench.parser.parse(job) == Unparsed(job.sequence, RECORD_DAMAGED)


def test_a_record_that_may_not_be_read_is_the_fault_of_the_machine() -> None:
    bench = Bench()
    job = bench.job(b"<p>x")
    bench.raw.unreadable = PermissionError(13, "Permission denied", "x.warc.gz")
    with pytest.raises(PermissionError):
        bench.parser.parse(job)


@pytest.mark.parametrize("seed", range(20))
def test_no_octets_from_the_web_raise(seed: int) -> None:
    rng = Random(seed)
    body = rng.choice(
        [b"<a href='", b"\xff\xfe<\x00a\x00", b"<base href='http://[", b"\x00" * 9, b"<a href=\xed\xa0\x80>"]
    )
    body += rng.randbytes(rng.randrange(400)) + b"<a href=/x>x</a>"
    fields = rng.choice(
        [(HTML,), (("content-type", "text/html; charset=\x7f"),), (("content-encoding", "br,br,br,br"),)]
    )
    for kind in (Kind.PAGE, Kind.SITEMAP):
        parsed = Bench().parse(body, *fields, kind=kind)
        assert len(parsed.pages.keys) == 16 * len(parsed.pages.urls)
