"""A stored capture into a page: read, decode, parse, keep the text, judge the links. Runs in the parser processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from gossamer.core.admission import INSIDE, Admissibility
from gossamer.core.decoding import DecodedBody, decode_body
from gossamer.core.html import may_follow
from gossamer.core.http_message import Fields, parse_head, payload_of, split_message
from gossamer.core.messages import Found, Parsed, ParseJob, Unparsed
from gossamer.core.page import Link, Page, ParseOptions, TextKind, outlinks, parse_page
from gossamer.core.rows import CaptureKey, CaptureRow, Kind, OutlinkRow, PageRow, dump
from gossamer.core.sitemap import SITEMAP_BYTES_MAX, Sitemap, SitemapKind, parse_sitemap
from gossamer.core.traps import trap_of
from gossamer.core.url import Url, link_keys
from gossamer.core.warc import ExtractedText, RecordDamaged, StoredRecord, conversion_record, read_record
from gossamer.ports.clock import Clock
from gossamer.ports.segment_reading import SegmentReading
from gossamer.ports.segments import Segments

DECODED_BYTES_MAX = 20 * 2**20
"""Of a page's body, decoded; the raw record keeps all that came."""
NOTHING = Found()
RECORD_UNREADABLE = "stored record can't be read"
RECORD_DAMAGED = "stored record is damaged"
"""`gossamer verify` tells more of it."""


@dataclass(frozen=True, slots=True)
class ParseRules:
    """What parsing needs of the configuration."""

    admissibility: Admissibility
    options: ParseOptions


class CaptureParser:
    """Parses captures one by one; texts go to segments of its own."""

    def __init__(self, raw: SegmentReading, text: Segments, rules: ParseRules, clock: Clock, rng: Random) -> None:
        self._raw = raw
        self._text = text
        self._rules = rules
        self._clock = clock
        self._rng = rng

    def parse(self, job: ParseJob) -> Parsed | Unparsed:
        """What the capture holds; Unparsed when our own record can't be read.

        Raises DiskFull or OSError when its text can't be kept, PermissionError when no record may be read.
        """
        capture = job.capture
        try:
            record = read_record(self._raw.read(capture.raw_key))
        except PermissionError:
            raise  # the machine's fault, and that of every capture; a record that is gone or rotten is this one's
        except OSError:
            return Unparsed(job.sequence, RECORD_UNREADABLE)
        except RecordDamaged:
            return Unparsed(job.sequence, RECORD_DAMAGED)
        head, wire = split_message(record.block)
        _, fields = parse_head(head) or (0, ())
        if capture.kind is Kind.SITEMAP:
            return self._sitemap(job, _decoded(fields, wire, SITEMAP_BYTES_MAX))
        return self._page(job, record, fields, _decoded(fields, wire, DECODED_BYTES_MAX))

    def _page(self, job: ParseJob, record: StoredRecord, fields: Fields, decoded: DecodedBody) -> Parsed:
        capture = job.capture
        page = parse_page(decoded.body, capture.url, _first_values(fields), self._rules.options)
        links = outlinks(page)
        found, refused, judged = self._judged(page, links)
        text = page.main_text if self._rules.options.text is TextKind.MAIN else page.text
        text_key, length = self._keep_text(capture, record, text, page.language)
        row = PageRow(
            parsed_at=self._clock.now(),
            kind=page.kind,
            charset=page.charset,
            title=page.title,
            language=page.language,
            canonical=page.canonical or "",
            noindex=page.noindex,
            nofollow=page.nofollow,
            text_chars=len(text),
            content_hash=page.content_hash,
            text_key=text_key,
            links=len(links),
            links_admissible=len(found.urls),
            fault=decoded.fault or ("decoded-body-cut" if decoded.truncated else ""),
        )
        return Parsed(
            job.sequence, capture.key, capture.hop, Kind.PAGE, row, found, NOTHING, dump(judged), refused, length
        )

    def _judged(self, page: Page, links: Sequence[Link]) -> tuple[Found, dict[str, int], list[OutlinkRow]]:
        """Which links may be admitted, why the others may not, and all of them as `export links` shows them."""
        verdict_of = self._rules.admissibility.verdict
        urls: list[Url] = []
        refused: dict[str, int] = {}
        judged: list[OutlinkRow] = []
        for url, rel, source in links:
            verdict = verdict_of(url)
            if verdict == INSIDE and (page.nofollow or not may_follow(rel)):
                verdict = "nofollow"
            if verdict == INSIDE:
                urls.append(url)
            else:
                refused[verdict] = refused.get(verdict, 0) + 1
            judged.append(OutlinkRow(url, rel, source, verdict))
        return Found(list(urls), b"".join(link_keys(urls))), refused, judged

    def _keep_text(
        self, capture: CaptureRow, record: StoredRecord, text: str, language: str
    ) -> tuple[CaptureKey | None, int]:
        if not text:
            return None, 0
        extracted = ExtractedText(
            url=capture.url,
            fetched_at=capture.fetched_at,
            text=text,
            response_urn=record.field("WARC-Record-ID"),
            record_id=self._rng.randbytes(16),
            language=language,
        )
        key = self._text.append(conversion_record(extracted))
        return key, key.offset + key.length

    def _sitemap(self, job: ParseJob, decoded: DecodedBody) -> Parsed:
        capture = job.capture
        sitemap = parse_sitemap(decoded.body, capture.url)
        pages, refused = self._admissible([entry.url for entry in sitemap.entries])
        nested: list[Url] = []
        for url in sitemap.sitemaps:
            trap = trap_of(url)
            if trap is None:
                nested.append(url)
            else:
                refused[trap.value] = refused.get(trap.value, 0) + 1
        if sitemap.is_cut:
            refused["sitemap-too-long"] = 1  # the document: how much more it names is not read
        row = _sitemap_row(sitemap, self._clock.now(), len(pages.urls))
        nested_found = Found(list(nested), b"".join(link_keys(nested)))
        return Parsed(job.sequence, capture.key, capture.hop, Kind.SITEMAP, row, pages, nested_found, dump([]), refused)

    def _admissible(self, urls: list[Url]) -> tuple[Found, dict[str, int]]:
        kept: list[Url] = []
        refused: dict[str, int] = {}
        for url in urls:
            verdict = self._rules.admissibility.verdict(url)
            if verdict == INSIDE:
                kept.append(url)
            else:
                refused[verdict] = refused.get(verdict, 0) + 1
        return Found(list(kept), b"".join(link_keys(kept))), refused


def _decoded(fields: Fields, wire: bytes, bytes_max: int) -> DecodedBody:
    codings = ",".join(value for name, value in fields if name == "content-encoding")
    return decode_body(payload_of(fields, wire), codings, bytes_max)


def _first_values(fields: Fields) -> dict[str, str]:
    """Fields by name; repeated X-Robots-Tag fields are lines (see `parse_page`), of all others the first counts."""
    values: dict[str, str] = {}
    for name, value in fields:
        if name not in values:
            values[name] = value
        elif name == "x-robots-tag":
            values[name] += "\n" + value
    return values


def _sitemap_row(sitemap: Sitemap, now: float, admissible: int) -> PageRow:
    return PageRow(
        parsed_at=now,
        kind=f"sitemap-{sitemap.kind}",
        charset="",
        title="",
        language="",
        canonical="",
        noindex=False,
        nofollow=False,
        text_chars=0,
        content_hash=None,
        text_key=None,
        links=len(sitemap.entries) + len(sitemap.sitemaps),
        links_admissible=admissible,
        fault="not-a-sitemap" if sitemap.kind is SitemapKind.UNKNOWN else "",
    )
