"""An exchange becomes bytes on disk: two records, one index entry, one key, and lengths to commit."""

from collections.abc import Sequence
from random import Random

import pytest

from gossamer.core.cdxj import CdxEntry
from gossamer.core.outcome import Truncation
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import digest_problems, read_record
from gossamer.ports.segments import DiskFull
from gossamer.ports.web import Response
from gossamer.stages.capture import CaptureWriter
from gossamer.testing.sim_segments import SEGMENT_BYTES_MAX, SimSegments

URL, AT = "http://a.test/p?q=1", 1_800_000_000.9
HTML = ("content-type", "text/html; charset=utf-8")


class IndexedSegments(SimSegments):
    """Segments that keep what they are told for the index."""

    def __init__(self) -> None:
        super().__init__(".warc.gz")
        self.entries: list[CdxEntry | None] = []

    def append(self, record: bytes, *, entry: CdxEntry | None = None) -> CaptureKey:
        self.entries.append(entry)
        return super().append(record)


def answer(
    body: bytes = b"<p>hi", fields: Sequence[tuple[str, str]] = (HTML,), cut: Truncation | None = None
) -> Response:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in fields) + b"\r\n"
    return Response(
        request_head=b"GET /p?q=1 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        status=200,
        head=head,
        fields=tuple(fields),
        wire_body=body,
        payload=body,
        truncated=cut,
        began_at=0.0,
        ended_at=1.0,
    )


def test_the_key_is_that_of_the_response_and_the_request_follows_it() -> None:
    segments = IndexedSegments()
    key = CaptureWriter(segments, Random(1)).append(URL, "93.184.216.34", AT, answer())
    content = segments.files[key.segment]
    response = read_record(segments.read(key))
    request = read_record(bytes(content[key.offset + key.length :]))
    assert response.field("WARC-Type") == "response"
    assert response.block == answer().head + b"<p>hi"
    assert (request.field("WARC-Type"), request.block) == ("request", answer().request_head)
    assert request.field("WARC-Concurrent-To") == response.field("WARC-Record-ID")
    assert response.field("WARC-Target-URI") == request.field("WARC-Target-URI") == URL
    assert response.field("WARC-IP-Address") == "93.184.216.34"
    assert digest_problems(response) == digest_problems(request) == ()


def test_the_index_entry_describes_the_response() -> None:
    segments = IndexedSegments()
    key = CaptureWriter(segments, Random(1)).append(URL, "93.184.216.34", AT, answer())
    (entry,) = segments.entries
    assert entry is not None
    assert (entry.url, entry.timestamp, entry.status) == (URL, "20270115080000", 200)
    assert (entry.mime, entry.length) == ("text/html; charset=utf-8", key.length)
    assert entry.digest == read_record(segments.read(key)).field("WARC-Payload-Digest")


def test_a_cut_body_says_so() -> None:
    segments = IndexedSegments()
    key = CaptureWriter(segments, Random(1)).append(URL, "93.184.216.34", AT, answer(cut=Truncation.TIME))
    assert read_record(segments.read(key)).field("WARC-Truncated") == "time"


def test_an_answer_without_content_type_or_body_is_stored() -> None:
    segments = IndexedSegments()
    key = CaptureWriter(segments, Random(1)).append(URL, "", AT, answer(b"", ()))
    record = read_record(segments.read(key))
    assert (record.block, record.field("WARC-IP-Address")) == (b"HTTP/1.1 200 OK\r\n\r\n", "")


def test_what_was_touched_is_told_once_and_covers_both_records() -> None:
    segments = IndexedSegments()
    writer = CaptureWriter(segments, Random(1))
    keys = [writer.append(f"{URL}{n}", "93.184.216.34", AT, answer()) for n in range(3)]
    (name,) = {key.segment for key in keys}
    assert writer.take_touched() == {name: len(segments.files[name])}
    assert writer.take_touched() == {}


def test_a_new_segment_is_touched_beside_the_full_one() -> None:
    segments = IndexedSegments()
    writer = CaptureWriter(segments, Random(1))
    body = Random(2).randbytes(SEGMENT_BYTES_MAX // 2)
    keys = [writer.append(f"{URL}{n}", "93.184.216.34", AT, answer(body)) for n in range(3)]
    assert len({key.segment for key in keys}) > 1
    assert writer.take_touched() == {name: len(content) for name, content in segments.files.items()}


def test_a_full_disk_leaves_nothing_touched() -> None:
    segments = IndexedSegments()
    segments.is_full = True
    writer = CaptureWriter(segments, Random(1))
    with pytest.raises(DiskFull):
        writer.append(URL, "93.184.216.34", AT, answer())
    assert writer.take_touched() == {}
    assert segments.files == {}


def test_every_record_has_an_id_of_its_own() -> None:
    segments = IndexedSegments()
    writer = CaptureWriter(segments, Random(1))
    keys = [writer.append(URL, "93.184.216.34", AT, answer()) for _ in range(20)]
    assert len({read_record(segments.read(key)).field("WARC-Record-ID") for key in keys}) == 20
