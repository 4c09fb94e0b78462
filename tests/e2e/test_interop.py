"""What a crawl leaves is read by other programs: warcio, FastWARC, and anyone with a CDXJ index and `seek`."""

import base64
import gzip
import hashlib
import mmap
import random
from collections.abc import Iterator
from http.client import HTTPResponse
from io import BytesIO
from itertools import islice
from pathlib import Path
from socket import socket
from typing import NamedTuple, cast

import pytest
from bench.pydoc_sites import Served, Site, Walk
from fastwarc.warc import ArchiveIterator, WarcRecordType
from tests.e2e.archives import (
    assert_stored_once,
    assert_warcio_approves,
    census,
    index_of,
    payload_faults,
    raw_segments,
    text_segments,
)
from tests.e2e.conftest import DocsCrawl
from tests.e2e.docs import docs_words, truth
from tests.e2e.gossamer_command import UNHURRIED, gossamer, pages
from warcio.archiveiterator import ArchiveIterator as WarcioIterator  # type: ignore[import-untyped]

from gossamer.core import cdxj

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LOOKUPS = 100
RESPONSES_READ = 600  # of the 15,000 records, by readers that are slow


def test_each_page_is_stored_once_with_its_request(docs_crawl: DocsCrawl, walk: Walk, sites: list[Site]) -> None:
    assert_stored_once(docs_crawl.data, truth(walk, sites).stored)


@pytest.fixture(scope="module")
def unchunked(sites: list[Site], plain_server: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One site with Content-Length: of chunked answers warcio and FastWARC take the payload digest over the chunks."""
    data = tmp_path_factory.mktemp("unchunked") / "data"
    assert gossamer(*docs_words(sites[:1], plain_server, data), *UNHURRIED, cwd=data.parent).code == 0
    return data


def test_warcio_confirms_every_digest(unchunked: Path) -> None:
    assert_warcio_approves([*raw_segments(unchunked), *text_segments(unchunked)])


def test_fastwarc_confirms_every_digest(unchunked: Path, docs_crawl: DocsCrawl) -> None:
    assert payload_faults(raw_segments(unchunked)) == []
    for data in (unchunked, docs_crawl.data):
        assert census([*raw_segments(data), *text_segments(data)]).wrong == []


def test_the_payload_digest_of_a_chunked_answer_is_that_of_what_the_chunks_carried(docs_crawl: DocsCrawl) -> None:
    chunked = 0
    for message in responses(docs_crawl.data):
        answer = HTTPResponse(cast("socket", Wire(message.http)))
        answer.begin()
        chunked += bool(answer.chunked)
        digest = base64.b32encode(hashlib.sha1(answer.read()).digest()).decode()
        assert message.payload_digest == f"sha1:{digest}", message.url
    assert chunked > 200


def test_the_bodies_are_those_that_the_server_had(docs_crawl: DocsCrawl, sites: list[Site]) -> None:
    roots = {site.host: site.directory for site in sites}
    compared = 0
    with raw_segments(docs_crawl.data)[0].open("rb") as file:
        for record in islice(WarcioIterator(file), RESPONSES_READ):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                host, _, path = record.rec_headers["WARC-Target-URI"].removeprefix("http://").partition("/")
                assert record.content_stream().read() == (roots[host] / (path or "index.html")).read_bytes()
                compared += 1
    assert compared > 200


def test_each_file_begins_with_a_warcinfo_and_every_member_is_a_gzip_file_of_its_own(docs_crawl: DocsCrawl) -> None:
    for file in [*raw_segments(docs_crawl.data), *text_segments(docs_crawl.data)]:
        first = next(iter(ArchiveIterator(str(file), parse_http=False)))
        assert first.record_type is WarcRecordType.warcinfo
        assert first.headers["WARC-Filename"] == file.name
        assert b"software: Gossamer" in first.reader.read()


def test_robots_txt_is_kept_too(docs_crawl: DocsCrawl, sites: list[Site]) -> None:
    asked = [
        record.headers["WARC-Target-URI"]
        for file in raw_segments(docs_crawl.data)
        for record in ArchiveIterator(str(file), record_types=WarcRecordType.response, parse_http=False)
        if record.headers["WARC-Target-URI"].endswith("/robots.txt")
    ]
    assert sorted(asked) == sorted(f"http://{site.host}/robots.txt" for site in sites)


def test_each_text_refers_to_the_response_that_it_was_made_of(docs_crawl: DocsCrawl) -> None:
    responses = {
        record.headers["WARC-Record-ID"]: record.headers["WARC-Target-URI"]
        for file in raw_segments(docs_crawl.data)
        for record in ArchiveIterator(str(file), record_types=WarcRecordType.response, parse_http=False)
    }
    texts = [
        record
        for file in text_segments(docs_crawl.data)
        for record in ArchiveIterator(str(file), record_types=WarcRecordType.conversion, parse_http=False)
    ]
    assert len(texts) > 5_000
    for text in texts:
        assert responses[text.headers["WARC-Refers-To"]] == text.headers["WARC-Target-URI"]
        assert text.headers["Content-Type"] == "text/plain"


def test_a_text_record_holds_the_sentence_of_its_page(docs_crawl: DocsCrawl) -> None:
    for file in text_segments(docs_crawl.data):
        for record in ArchiveIterator(str(file), record_types=WarcRecordType.conversion, parse_http=False):
            url = record.headers["WARC-Target-URI"]
            number = url.removeprefix("http://doc").partition(".")[0]
            if not url.endswith((".py", "search.html")):
                assert f"copy number {number} of the page".encode() in record.reader.read(), url


def test_the_index_finds_the_record_of_100_random_urls(docs_crawl: DocsCrawl, walk: Walk, sites: list[Site]) -> None:
    wanted = random.Random(100).sample(sorted(truth(walk, sites).stored), LOOKUPS)
    for url in wanted:
        (entry,) = found(docs_crawl.data, url)
        member = octets(docs_crawl.data, entry)
        assert len(list(ArchiveIterator(BytesIO(member)))) == 1
        record = next(iter(ArchiveIterator(BytesIO(member), parse_http=True)))
        assert record.record_type is WarcRecordType.response
        assert record.headers["WARC-Target-URI"] == url == entry.url
        assert record.headers["WARC-Payload-Digest"] == entry.digest
        assert record.http_headers.status_code == entry.status == 200


def test_the_index_has_a_line_for_each_response_in_the_order_of_octets(docs_crawl: DocsCrawl) -> None:
    for segment in raw_segments(docs_crawl.data):
        lines = index_of(segment).read_bytes().splitlines()
        assert lines == sorted(lines)
        assert len(lines) == census([segment]).kinds["response"]


def test_the_keys_of_the_rows_are_the_places_of_the_index(docs_crawl: DocsCrawl) -> None:
    rows = [row for row in pages(docs_crawl.data, "--host", "doc3.test") if row["status"] == 200]
    assert len(rows) > 500
    for row in rows[:50]:
        (entry,) = found(docs_crawl.data, row["url"])
        assert row["rawKey"].startswith(f"{entry.filename}:{entry.offset}+")
        segment, _, place = row["textKey"].partition(":")
        offset, _, length = place.partition("+")
        with (text_segments(docs_crawl.data)[0].parent / segment).open("rb") as file:
            file.seek(int(offset))
            assert row["url"].encode() in gzip.decompress(file.read(int(length)))


class Stored(NamedTuple):
    """A response record."""

    url: str
    payload_digest: str
    http: bytes


class Wire:
    """What http.client takes for a socket."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self._octets)


def responses(data: Path) -> Iterator[Stored]:
    records = ArchiveIterator(str(raw_segments(data)[0]), record_types=WarcRecordType.response, parse_http=False)
    for record in islice(records, RESPONSES_READ):
        headers = record.headers
        yield Stored(headers["WARC-Target-URI"], headers["WARC-Payload-Digest"], record.reader.read())


def found(data: Path, url: str) -> list[cdxj.CdxEntry]:
    """All captures of a URL, by binary search in each index."""
    entries: list[cdxj.CdxEntry] = []
    for segment in raw_segments(data):
        with index_of(segment).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as index:
            entries += cdxj.find(index, url)
    return entries


def octets(data: Path, entry: cdxj.CdxEntry) -> bytes:
    (segment,) = [file for file in raw_segments(data) if file.name == entry.filename]
    with segment.open("rb") as file:
        file.seek(entry.offset)
        return file.read(entry.length)
