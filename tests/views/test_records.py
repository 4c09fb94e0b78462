"""Stored bytes: codings are taken off, and what can't be read is a sentence."""

import gzip
from pathlib import Path

from tests.views.stored_crawl import StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import StoredRecord
from gossamer.views.records import record_at, stored_body


def record(head: bytes, wire: bytes) -> StoredRecord:
    return StoredRecord((("WARC-Type", "response"),), head + wire)


def test_chunks_and_compression_are_taken_off() -> None:
    packed = gzip.compress(b"hello")
    wire = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    body = stored_body(record(head, wire))
    assert (body.head, body.body, body.wire, body.fault) == (head, b"hello", wire, "")


def test_what_can_not_be_decoded_comes_as_received_with_the_fault() -> None:
    body = stored_body(record(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n", b"\xff\xfe\xfd"))
    assert body.body == b"\xff\xfe\xfd"
    assert body.fault


def test_a_body_that_breaks_off_gives_what_there_is() -> None:
    packed = gzip.compress(b"hello " * 1_000)[:-12]
    body = stored_body(record(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", packed))
    assert body.body.startswith(b"hello hello")
    assert body.fault


def test_a_record_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path)
    with crawl.raw_reader() as reader:
        for segment in ("gossamer-c1-none.warc.gz", "../../etc/passwd", ""):
            found = record_at(reader, CaptureKey(segment, 0, 10))
            assert isinstance(found, str)
            assert "can't be read" in found
