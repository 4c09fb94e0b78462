"""Records say what the standard asks, and what was received comes back octet for octet."""

import base64
import gzip
import hashlib
import io
import zlib

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator  # type: ignore[import-untyped]

from gossamer.core import warc
from gossamer.core.http_message import parse_head, payload_of, split_message
from gossamer.core.outcome import Truncation
from gossamer.core.warc import (
    CapturedExchange,
    EncodedRecords,
    ExtractedText,
    RecordDamaged,
    StoredRecord,
    conversion_record,
    digest_problems,
    exchange_records,
    read_record,
    record_urn,
    sha1_digest,
    timestamp14,
    warc_date,
    warcinfo_record,
)

REQUEST = b"GET /t HTTP/1.1\r\nHost: example.com\r\nUser-Agent: gossamer/0.1\r\n\r\n"
NOON = 1_788_264_000.25  # 2026-09-01T12:00:00.25Z


def captured(block: bytes, **changes: object) -> CapturedExchange:
    head, wire_body = split_message(block)
    _, fields = parse_head(head) or (0, ())
    values: dict[str, object] = {
        "url": "https://example.com/t",
        "address": "192.0.2.7",
        "fetched_at": NOON,
        "request_head": REQUEST,
        "head": head,
        "wire_body": wire_body,
        "payload": payload_of(fields, wire_body),
        "content_encoding": "",
        "truncated": None,
        "response_id": bytes(range(16)),
        "request_id": bytes(range(16, 32)),
    }
    return CapturedExchange(**(values | changes))  # type: ignore[arg-type]


def written(block: bytes, **changes: object) -> EncodedRecords:
    return exchange_records(captured(block, **changes))


def stored(block: bytes, **changes: object) -> StoredRecord:
    return read_record(written(block, **changes).response)


CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n"
CASE_01 = (
    CHUNKED_HEAD + b"24\r\nhello crawl\nhello crawl\nhello crawl\n\r\n0\r\n\r\n",
    CHUNKED_HEAD + b"a\r\nhello craw\r\na\r\nl\nhello cr\r\na\r\nawl\nhello \r\n6\r\ncrawl\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 36\r\nContent-Type: text/plain\r\n\r\nhello crawl\nhello crawl\nhello crawl\n",
)


def test_the_payload_digest_does_not_depend_on_chunks__h_warc_01() -> None:
    records = [stored(block) for block in CASE_01]
    assert {record.field("WARC-Payload-Digest") for record in records} == {"sha1:ENZIAFYPA7LKCO4A4IA3MM3IPPGJPLOB"}
    assert len({record.field("WARC-Block-Digest") for record in records}) == 3
    assert [record.block for record in records] == list(CASE_01)
    assert [digest_problems(record) for record in records] == [(), (), ()]


@pytest.mark.parametrize("form", [b"%x\r\n", b"%X\r\n", b"000%x\r\n", b"%x;name=value\r\n", b"%x \r\n"])
@pytest.mark.parametrize("trailer", [b"", b"X-Sum: 1\r\n"])
def test_extensions_and_trailers_are_no_payload__h_warc_01(form: bytes, trailer: bytes) -> None:
    payload = gzip.compress(b"the same", mtime=0)
    chunked = b"".join(form % len(part) + part + b"\r\n" for part in (payload[:5], payload[5:]))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
    framed = head + b"transfer-encoding: Chunked\r\n\r\n" + chunked + b"0\r\n" + trailer + b"\r\n"
    record = stored(framed, content_encoding="gzip")
    # The content coding stays: it is part of the payload (ISO 28500 5.9).
    assert record.field("WARC-Payload-Digest") == sha1_digest(payload)
    assert record.block == framed


CASE_03 = bytes.fromhex(
    "485454502f312e312034303420417274ed63756c6f206e6f20656e636f6e747261646f0d0a5365742d436f6f6b69653a20b3d23d313b2070"
    "6174683d2f0d0a582d54776f3a20206120200d0a582d54776f3a20620d0a436f6e74656e742d4c656e6774683a20320d0a0d0a6e6f"
)


def test_octets_of_the_head_are_kept__h_warc_03() -> None:
    record = stored(CASE_03, url="https://example.com/h")
    assert record.block == CASE_03
    assert record.field("Content-Length") == "109"
    assert gzip.decompress(written(CASE_03).response).endswith(CASE_03 + b"\r\n\r\n")


@given(st.binary(max_size=400), st.binary(max_size=400), st.sampled_from(["", "gzip", "br", "identity"]))
def test_any_exchange_comes_back_as_it_was_received__h_warc_03(head: bytes, body: bytes, coding: str) -> None:
    records = written(b"", head=head, wire_body=body, payload=body, request_head=head, content_encoding=coding)
    assert read_record(records.response).block == head + body
    assert read_record(records.request).block == head


def test_a_response_says_all_that_the_standard_asks() -> None:
    fields = dict(stored(CASE_01[2], truncated=Truncation.LENGTH).fields)
    assert fields == {
        "WARC-Type": "response",
        "WARC-Record-ID": "<urn:uuid:00010203-0405-4607-8809-0a0b0c0d0e0f>",
        "WARC-Target-URI": "https://example.com/t",
        "WARC-Date": "2026-09-01T12:00:00.250000Z",
        "WARC-IP-Address": "192.0.2.7",
        "WARC-Payload-Digest": "sha1:ENZIAFYPA7LKCO4A4IA3MM3IPPGJPLOB",
        "WARC-Truncated": "length",
        "Content-Type": "application/http;msgtype=response",
        "WARC-Block-Digest": "sha1:" + base64.b32encode(hashlib.sha1(CASE_01[2]).digest()).decode(),
        "Content-Length": str(len(CASE_01[2])),
    }


def test_the_request_is_concurrent_to_its_response() -> None:
    records = written(CASE_01[0])
    request = read_record(records.request)
    assert request.field("WARC-Type") == "request"
    response_urn = read_record(records.response).field("WARC-Record-ID")
    assert request.field("warc-concurrent-to") == response_urn
    assert request.field("WARC-Record-ID") != response_urn
    assert request.field("Content-Type") == "application/http;msgtype=request"
    assert request.block == REQUEST


@pytest.mark.parametrize("truncated", [None, *Truncation])
def test_truncation_is_named_with_the_words_of_the_standard(truncated: Truncation | None) -> None:
    record = stored(CASE_01[2], truncated=truncated)
    assert record.field("WARC-Truncated") == (truncated.value if truncated else "")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/\r\nWARC-Type: warcinfo",
        "https://example.com/\nX: y",
        "https://example.com/\r\n\r\nHTTP/1.1",
        "https://example.com/\x00\x85\u2028é",
        "https://example.com/ a b",
        "https://example.com/\ud800",
    ],
)
def test_a_url_cannot_add_lines(url: str) -> None:
    record = stored(CASE_01[2], url=url)
    assert record.field("WARC-Type") == "response"
    target = record.field("WARC-Target-URI")
    assert target.startswith("https://example.com/")
    assert target.isascii()
    assert target.isprintable()
    assert " " not in target
    assert len(record.fields) == len(stored(CASE_01[2]).fields)


def test_text_becomes_a_conversion_that_refers_to_its_response() -> None:
    response_urn = stored(CASE_01[2]).field("WARC-Record-ID")
    text = ExtractedText(
        url="https://example.com/t",
        fetched_at=NOON,
        text="Grüße\n\ud800\n",
        response_urn=response_urn,
        record_id=bytes(16),
        language="deu",
    )
    record = read_record(conversion_record(text))
    assert record.block == "Grüße\n?\n".encode()
    assert record.field("WARC-Type") == "conversion"
    assert record.field("WARC-Refers-To") == response_urn
    assert record.field("WARC-Target-URI") == "https://example.com/t"
    assert record.field("Content-Type") == "text/plain"
    assert record.field("WARC-Identified-Content-Language") == "deu"
    assert record.field("WARC-Block-Digest") == sha1_digest(record.block)
    unknown = ExtractedText(url="http://a/", fetched_at=0.0, text="", response_urn="", record_id=bytes(16))
    assert not read_record(conversion_record(unknown)).field("WARC-Identified-Content-Language")


def test_a_moment_has_fourteen_digits_in_utc() -> None:
    assert timestamp14(NOON) == "20260901120000"


def test_a_file_begins_with_what_made_it() -> None:
    member = warcinfo_record(
        "gossamer-1-00001.warc.gz", NOON, bytes(16), [("software", "gossamer/0.1\r\nX: y"), ("robots", "obey")]
    )
    record = read_record(member)
    assert record.field("WARC-Type") == "warcinfo"
    assert record.field("WARC-Filename") == "gossamer-1-00001.warc.gz"
    assert record.block.startswith(b"software: gossamer/0.1 X: y\r\nrobots: obey\r\nformat: WARC File Format 1.1\r\n")


def test_dense_payloads_are_stored_and_others_compressed() -> None:
    block = CASE_01[2][:-36] + b"hello crawl\n" * 3000
    plain, dense = written(block).response, written(block, content_encoding="deflate, GZIP").response
    assert len(plain) < len(block) // 10
    assert len(dense) > len(block)
    assert zlib.decompress(dense, 31) == zlib.decompress(plain, 31)


def test_record_ids_are_uuids_of_version_4_and_need_16_bytes() -> None:
    assert record_urn(b"\xff" * 16) == "<urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff>"
    assert record_urn(b"\x00" * 16) == "<urn:uuid:00000000-0000-4000-8000-000000000000>"
    with pytest.raises(ValueError, match="16 bytes"):
        record_urn(b"short")


def test_dates_have_six_digits_of_fraction() -> None:
    assert warc_date(0.0) == "1970-01-01T00:00:00.000000Z"
    assert warc_date(1_788_264_000.000001) == "2026-09-01T12:00:00.000001Z"


MEMBER = written(CASE_01[0]).response


@pytest.mark.parametrize("length", [0, 1, 9, 10, 18, len(MEMBER) // 2, len(MEMBER) - 8, len(MEMBER) - 1])
def test_half_a_member_is_damaged(length: int) -> None:
    with pytest.raises(RecordDamaged):
        read_record(MEMBER[:length])


@given(st.integers(0, len(MEMBER) - 1), st.integers(1, 255))
def test_a_flipped_octet_is_damage_or_changes_nothing(position: int, flip: int) -> None:
    changed = bytearray(MEMBER)
    changed[position] ^= flip
    try:
        record = read_record(bytes(changed))
    except RecordDamaged:
        return
    # Hints in the gzip header, or a table of codes that has one more of length nought.
    assert record == read_record(MEMBER)
    assert record.block == CASE_01[0]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"", "no WARC header"),
        (b"WARC/1.1\r\nContent-Length: 1\r\n", "no WARC header"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "no WARC header"),
        (b"WARC/1.1\r\n\r\n\r\n\r\n", "Content-Length is ''"),
        (b"WARC/1.1\r\nContent-Length: -1\r\n\r\n\r\n\r\n", "Content-Length is '-1'"),
        (b"WARC/1.1\r\nContent-Length: 2\r\n\r\na\r\n\r\n", "2 bytes long"),
        (b"WARC/1.1\r\nContent-Length: 1\r\n\r\nab\r\n\r\n", "1 bytes long"),
        (b"WARC/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n\r\n\r\n", "Content-Length"),
    ],
)
def test_what_is_no_record_is_damaged(record: bytes, why: str) -> None:
    with pytest.raises(RecordDamaged, match=why):
        read_record(gzip.compress(record))


def test_a_record_is_read_up_to_a_limit_and_alone() -> None:
    with pytest.raises(RecordDamaged, match="more than 1000 bytes"):
        read_record(gzip.compress(b"\0" * 10**7), 1000)
    size = len(gzip.decompress(MEMBER))
    assert read_record(MEMBER, size).block == CASE_01[0]
    with pytest.raises(RecordDamaged, match="more than"):
        read_record(MEMBER, size - 1)
    with pytest.raises(RecordDamaged, match="behind the record"):
        read_record(MEMBER + MEMBER)


def test_digests_that_do_not_fit_are_told_apart() -> None:
    record = stored(CASE_01[0])
    other = StoredRecord(record.fields, record.block.replace(b"hello", b"hallo"))
    assert [problem.split(" is")[0] for problem in digest_problems(other)] == ["block digest", "payload digest"]
    unlike = StoredRecord(record.fields, record.block.replace(b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n"))
    assert [problem.split(" is")[0] for problem in digest_problems(unlike)] == ["block digest"]


def test_other_readers_see_the_same_records() -> None:
    blocks = [*CASE_01, CASE_03]
    archive = b"".join(member for block in blocks for member in (written(block).response, written(block).request))
    seen = [
        record
        for record in WarcioIterator(io.BytesIO(archive))
        if record.rec_type == "response" and record.http_headers
    ]
    assert len(seen) == len(blocks)
    fast = [
        record.reader.read()
        for record in FastIterator(io.BytesIO(archive), parse_http=False, strict_mode=True)
        if record.headers["WARC-Type"] == "response"
    ]
    assert fast == blocks


def test_warcio_reads_the_payload_that_the_digest_names__h_warc_01() -> None:
    archive = io.BytesIO(b"".join(written(block).response for block in CASE_01))
    digests = [sha1_digest(record.content_stream().read()) for record in WarcioIterator(archive)]
    assert digests == ["sha1:ENZIAFYPA7LKCO4A4IA3MM3IPPGJPLOB"] * 3


def test_the_module_offers_no_clock_and_no_chance() -> None:
    assert not {"time", "random", "uuid", "os"} & set(vars(warc))
