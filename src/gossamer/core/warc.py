"""WARC 1.1 (ISO 28500) records as gzip members: built from an exchange, and read back.

Files of them are `adapters.files`; what is inside a stored message reads `core.http_message`.
A `revisit` record will be one more caller of `_member`: same fields, a block that is only the head.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from isal import isal_zlib

from gossamer.core.deflate import GZIP_WBITS, IsalError
from gossamer.core.http_message import parse_fields, payload_of, split_message
from gossamer.core.outcome import Truncation

RECORD_BYTES_MAX = 256 * 2**20  # decoded; far above any body limit, far below what would hurt
FIELD_LINES_MAX = 1_000
STORED_BYTES_MAX = 1_024
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

# Content codings whose output does not shrink again: gzip of a gzipped body costs 31 µs for 17 KB and saves nothing.
_DENSE_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"})
_NOT_URI = re.compile(rb"[^\x21-\x7e]")
_NOT_IN_A_VALUE = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff]+")


_BASE32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_PAIRS: Final = tuple(first + second for first in _BASE32 for second in _BASE32)


class RecordDamaged(Exception):
    """These bytes are not one whole record of ours; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedExchange:
    """One answered request, octet for octet (see `ports.web.Response`), and what the record says about it.

    fetched_at: wall seconds since 1970. `response_id` and `request_id`: 16 random bytes each.
    """

    url: str
    address: str
    fetched_at: float
    request_head: bytes
    head: bytes
    wire_body: bytes
    payload: bytes
    content_encoding: str
    truncated: Truncation | None
    response_id: bytes
    request_id: bytes


class EncodedRecords(NamedTuple):
    """Two gzip members, to be appended in this order."""

    response: bytes
    request: bytes
    payload_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedText:
    """The text of a capture. `language`: ISO 639-3 or BCP 47 codes, comma separated, empty when unknown."""

    url: str
    fetched_at: float
    text: str
    response_urn: str
    record_id: bytes
    language: str = ""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record as read back: named fields in order and the block's octets."""

    fields: tuple[tuple[str, str], ...]
    block: bytes

    def field(self, name: str) -> str:
        """The first value of `name` (any case), empty when absent."""
        return field_value(self.fields, name)


def exchange_records(capture: CapturedExchange) -> EncodedRecords:
    """`response` and `request` of one exchange (ISO 28500 6.3, 6.5), 40 µs of CPU for a 17 KB gzipped body.

    The digests are SHA-1 in base32; the payload's is taken with the transfer coding removed (5.9), so equal content
    in other chunks has an equal digest.
    """
    response_urn, request_urn = record_urn(capture.response_id), record_urn(capture.request_id)
    payload_digest = sha1_digest(capture.payload)
    about = f"WARC-Target-URI: {_uri(capture.url)}\r\nWARC-Date: {warc_date(capture.fetched_at)}\r\n"
    if capture.address:
        about += f"WARC-IP-Address: {_value(capture.address)}\r\n"
    response_fields = f"{about}WARC-Payload-Digest: {payload_digest}\r\n"
    if capture.truncated is not None:
        response_fields += f"WARC-Truncated: {capture.truncated.value}\r\n"
    response = _member(
        f"WARC-Type: response\r\nWARC-Record-ID: {response_urn}\r\n{response_fields}"
        "Content-Type: application/http;msgtype=response\r\n",
        capture.head + capture.wire_body,
        is_dense=_is_dense(capture.content_encoding),
    )
    request = _member(
        f"WARC-Type: request\r\nWARC-Record-ID: {request_urn}\r\n{about}WARC-Concurrent-To: {response_urn}\r\n"
        "Content-Type: application/http;msgtype=request\r\n",
        capture.request_head,
    )
    return EncodedRecords(response, request, payload_digest)


def warcinfo_record(filename: str, created_at: float, record_id: bytes, about: Sequence[tuple[str, str]]) -> bytes:
    """The first record of a file (ISO 28500 6.2). `about`: software, operator, robots, http-header-user-agent, …"""
    described = (*about, ("format", "WARC File Format 1.1"), ("conformsTo", CONFORMS_TO))
    block = "".join(f"{_value(name)}: {_value(value)}\r\n" for name, value in described)
    return _member(
        f"WARC-Type: warcinfo\r\nWARC-Record-ID: {record_urn(record_id)}\r\nWARC-Filename: {_value(filename)}\r\n"
        f"WARC-Date: {warc_date(created_at)}\r\nContent-Type: application/warc-fields\r\n",
        block.encode("utf-8", "replace"),
    )


def conversion_record(extracted: ExtractedText) -> bytes:
    """The text of a page as a WET record (ISO 28500 6.7): UTF-8, referring to the response it came from."""
    language = (
        f"WARC-Identified-Content-Language: {_value(extracted.language)}\r\n" if extracted.language.strip() else ""
    )
    return _member(
        f"WARC-Type: conversion\r\nWARC-Record-ID: {record_urn(extracted.record_id)}\r\n"
        f"WARC-Refers-To: {_value(extracted.response_urn)}\r\nWARC-Target-URI: {_uri(extracted.url)}\r\n"
        f"WARC-Date: {warc_date(extracted.fetched_at)}\r\n{language}Content-Type: text/plain\r\n",
        extracted.text.encode("utf-8", "replace"),
    )


def record_urn(random_bytes: bytes) -> str:
    """16 random bytes as `<urn:uuid:…>` of version 4 (RFC 9562 5.4). ValueError for another length."""
    if len(random_bytes) != 16:
        raise ValueError(f"a record id takes 16 bytes, got {len(random_bytes)}")
    digits = random_bytes.hex()
    variant = "89ab"[random_bytes[8] >> 6]
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}>"


def sha1_digest(octets: bytes) -> str:
    """`sha1:` and base32, the labelled form that CDX tools and pywb compare as text."""
    number = int.from_bytes(hashlib.sha1(octets, usedforsecurity=False).digest(), "big")
    # Two letters at a time; base64.b32encode takes 10 µs, this 2, and a page has three digests.
    return "sha1:" + "".join([_BASE32_PAIRS[number >> shift & 0x3FF] for shift in range(150, -1, -10)])


def warc_date(seconds: float) -> str:
    """Wall seconds as RFC 3339 in UTC with six digits of fraction (allowed since WARC 1.1)."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:26] + "Z"


def timestamp14(seconds: float) -> str:
    """Wall seconds as 14 digits in UTC, as names of segments have them."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M%S")


def read_record(member: bytes, record_bytes_max: int = RECORD_BYTES_MAX) -> StoredRecord:
    """One gzip member back as a record. RecordDamaged unless it is exactly one whole record within the limit."""
    decoder = isal_zlib.decompressobj(wbits=GZIP_WBITS)
    try:
        # One octet more than allowed tells "too large" from "just fits"; isal checks the CRC at the end.
        record = decoder.decompress(member, record_bytes_max + 1)
    except IsalError as error:
        raise RecordDamaged(f"not a gzip member: {error}") from error
    if len(record) > record_bytes_max:
        raise RecordDamaged(f"more than {record_bytes_max} bytes in one record")
    if not decoder.eof:
        raise RecordDamaged(f"the gzip member ends early, after {len(member)} bytes")
    if decoder.unused_data:
        raise RecordDamaged(f"{len(decoder.unused_data)} bytes behind the record")
    return _parse_record(record)


def digest_problems(record: StoredRecord) -> tuple[str, ...]:
    """What the digests in the record's own fields say against its block; empty when all is right or none is named."""
    problems = []
    stated = record.field("WARC-Block-Digest")
    if stated.startswith("sha1:") and stated != sha1_digest(record.block):
        problems.append(f"block digest is not {stated}")
    stated = record.field("WARC-Payload-Digest")
    if stated.startswith("sha1:") and record.field("WARC-Type") == "response":
        head, wire_body = split_message(record.block)
        if stated != sha1_digest(payload_of(parse_fields(head), wire_body)):
            problems.append(f"payload digest is not {stated}")
    return tuple(problems)


def field_value(fields: Iterable[tuple[str, str]], name: str) -> str:
    """The first value of `name`, compared without case; empty when absent."""
    wanted = name.lower()
    return next((value for key, value in fields if key.lower() == wanted), "")


def _member(fields: str, block: bytes, *, is_dense: bool = False) -> bytes:
    header = (
        f"WARC/1.1\r\n{fields}WARC-Block-Digest: {sha1_digest(block)}\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode("utf-8", "replace")
    record = b"".join((header, block, b"\r\n\r\n"))
    # For dense blocks zlib's level 0, which stores (4 µs for 17 KB); isal's level 0 compresses and would take 24 µs.
    # For short records (requests) it saves 30 µs of set-up and costs 250 bytes.
    is_stored = is_dense or len(record) <= STORED_BYTES_MAX
    return zlib.compress(record, 0, GZIP_WBITS) if is_stored else isal_zlib.compress(record, 1, GZIP_WBITS)


def _parse_record(record: bytes) -> StoredRecord:
    end = record.find(b"\r\n\r\n")
    if end < 0 or not record.startswith(b"WARC/1."):
        raise RecordDamaged(f"no WARC header, it begins with {record[:20]!r}")
    lines = record[:end].decode("utf-8", "replace").split("\r\n", FIELD_LINES_MAX)
    pairs = (line.partition(":") for line in lines[1:FIELD_LINES_MAX])
    fields = tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)
    length = field_value(fields, "Content-Length")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise RecordDamaged(f"Content-Length is {length[:40]!r}")
    start, stop = end + 4, end + 4 + int(length)
    if record[stop:] != b"\r\n\r\n":
        raise RecordDamaged(f"the block is not {length} bytes long and followed by two empty lines")
    return StoredRecord(fields, record[start:stop])


def _is_dense(content_encoding: str) -> bool:
    last = content_encoding.rpartition(",")[2].strip().lower()
    return last in _DENSE_CODINGS


def _uri(url: str) -> str:
    """`url` in visible ASCII: what the web put in a link cannot end a line here."""
    octets = url.encode("utf-8", "replace")
    return _NOT_URI.sub(lambda found: b"%%%02X" % found[0][0], octets).decode("ascii")


def _value(text: str) -> str:
    """`text` on one line."""
    return _NOT_IN_A_VALUE.sub(" ", text).strip()
