"""Segments hold whole records only, through kills, full disks and power cuts, and other tools can read them."""

import errno
import gzip
import os
import random
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from tests.adapters.full_disk import no_file_beyond
from warcio.archiveiterator import ArchiveIterator as WarcioIterator  # type: ignore[import-untyped]
from warcio.checker import Checker  # type: ignore[import-untyped]

from gossamer.adapters.files.durable import translated
from gossamer.adapters.files.segments import (
    OPEN_FILES_MAX,
    SegmentKind,
    SegmentPlan,
    SegmentReader,
    SegmentTooShort,
    SegmentWriter,
    index_path,
    recover,
    trim,
    write_index,
)
from gossamer.core.cdxj import CdxEntry, find
from gossamer.core.http_message import parse_head, payload_of, split_message
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import (
    CapturedExchange,
    EncodedRecords,
    ExtractedText,
    conversion_record,
    digest_problems,
    exchange_records,
    read_record,
    warcinfo_record,
)
from gossamer.ports.segment_reading import SegmentReading
from gossamer.ports.segments import DiskFull, Segments


def plan(directory: Path, **changes: Any) -> SegmentPlan:
    values: dict[str, Any] = {
        "directory": directory,
        "prefix": "gossamer-c1",
        "timestamp": lambda: "20260901120000",
        "first_record": lambda name: warcinfo_record(name, 0.0, bytes(16), [("software", "gossamer/0.1")]),
    }
    return SegmentPlan(**(values | changes))


def capture(
    number: int, body: bytes = b"hello crawl\n", head: bytes = b"Content-Type: text/plain\r\n"
) -> CapturedExchange:
    block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body
    received, wire_body = split_message(block)
    _, fields = parse_head(received) or (0, ())
    return CapturedExchange(
        url=f"https://example.com/{number}",
        address="192.0.2.7",
        fetched_at=1_788_264_000.0 + number,
        request_head=b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        head=received,
        wire_body=wire_body,
        payload=payload_of(fields, wire_body),
        content_encoding="",
        truncated=None,
        response_id=number.to_bytes(16, "big"),
        request_id=(2**64 + number).to_bytes(16, "big"),
    )


def records(number: int, body: bytes = b"hello crawl\n") -> EncodedRecords:
    return exchange_records(capture(number, body))


def append(writer: SegmentWriter, number: int, body: bytes = b"hello crawl\n") -> CaptureKey:
    """Store one exchange; the key is its response's."""
    exchange = capture(number, body)
    pair = exchange_records(exchange)
    timestamp = f"202609011200{number:02d}"
    entry = CdxEntry(exchange.url, timestamp, "text/plain", 200, pair.payload_digest, len(pair.response), 0, "")
    key = writer.append(pair.response + pair.request, entry=entry)
    return CaptureKey(key.segment, key.offset, len(pair.response))


def walked(path: Path) -> list[str]:
    """Every record of a file as warcio sees it; the whole file must be sound gzip."""
    with gzip.open(path) as whole:
        while whole.read(2**20):
            pass
    with path.open("rb") as file:
        types = []
        for record in WarcioIterator(file, check_digests="raise"):
            record.raw_stream.read()
            types.append(str(record.rec_type))
    return types


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_writer_and_a_reader_keep_the_promises_of_their_ports(tmp_path: Path) -> None:
    writer: Segments = SegmentWriter(plan(tmp_path))
    pair = records(1)
    key = writer.append(pair.response)
    opened = SegmentReader(tmp_path)
    reader: SegmentReading = opened
    assert reader.read(key) == pair.response  # before any sync
    with pytest.raises(OSError, match="ends at"):
        reader.read(CaptureKey(key.segment, key.offset, 10**6))
    with pytest.raises(OSError, match="No such file"):
        reader.read(CaptureKey("gossamer-c2.warc.gz", 0, 1))
    opened.close()
    writer.close()
    writer.close()
    assert walked(tmp_path / key.segment) == ["warcinfo", "response"]


def test_segments_are_named_by_crawl_time_and_serial_and_open_with_warcinfo(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path, size_bytes_max=2000))
    keys = [append(writer, number, random.Random(number).randbytes(400)) for number in range(5)]
    writer.close()
    names = sorted({key.segment for key in keys})
    assert names[0] == "gossamer-c1-20260901120000-00001.warc.gz"
    assert len(names) > 2
    for name in names:
        assert walked(tmp_path / name)[0] == "warcinfo"
        assert (tmp_path / name).stat().st_size <= 2000
        assert index_path(tmp_path / name).exists()
    again = SegmentWriter(plan(tmp_path))
    assert append(again, 9).segment.endswith(f"-{len(names) + 1:05d}.warc.gz")
    again.close()


def test_a_record_above_the_size_has_a_segment_for_itself(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path, size_bytes_max=1000))
    body = random.Random(1).randbytes(5000)
    keys = [append(writer, 1), append(writer, 2, body), append(writer, 3)]
    writer.close()
    assert len({key.segment for key in keys}) == 3
    with SegmentReader(tmp_path) as reader:
        assert read_record(reader.read(keys[1])).block.endswith(body)


@pytest.mark.parametrize("prefix", ["", "../x", "a/b", ".hidden", "a b", "é", "x" * 200])
def test_a_prefix_cannot_leave_the_directory(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        plan(tmp_path, prefix=prefix)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "x.warc.gz/../y", "x.cdxj", "", "x\0.warc.gz"])
def test_a_key_cannot_leave_the_directory(tmp_path: Path, name: str) -> None:
    with SegmentReader(tmp_path) as reader, pytest.raises(ValueError, match="name of a segment"):
        reader.read(CaptureKey(name, 0, 1))


def test_the_reader_keeps_few_files_open(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path, size_bytes_max=1))
    keys = [append(writer, number) for number in range(OPEN_FILES_MAX + 5)]
    writer.close()
    before = open_files()
    with SegmentReader(tmp_path) as reader:
        for key in [*keys, *reversed(keys)]:
            assert read_record(reader.read(key)).field("WARC-Type") == "response"
        assert open_files() - before <= OPEN_FILES_MAX
    assert open_files() == before


def test_reading_past_the_end_is_an_error_of_its_own(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    key = append(writer, 1)
    writer.close()
    with SegmentReader(tmp_path) as reader, pytest.raises(SegmentTooShort, match="ends at"):
        reader.read(CaptureKey(key.segment, key.offset, 10**6))


# Crashes


@pytest.mark.slow
def test_half_a_record_is_cut_and_five_are_intact__h_warc_02(tmp_path: Path) -> None:
    rng = random.Random(138)
    big = rng.randbytes(2_000_000)
    for trial in range(20):
        directory = tmp_path / str(trial)
        writer = SegmentWriter(plan(directory))
        keys = [append(writer, number) for number in range(1, 6)]
        path = directory / keys[0].segment
        committed = path.stat().st_size
        sixth = append(writer, 6, big)
        os.truncate(path, rng.randrange(committed, sixth.offset + sixth.length))  # the kill; nobody closes the writer

        assert recover(directory, {path.name: committed}) == (path.name,)
        assert path.stat().st_size == committed
        assert walked(path) == ["warcinfo"] + ["response", "request"] * 5
        write_index(path)
        again = SegmentWriter(plan(directory))
        sixth = append(again, 6, b"fetched again")
        again.close()
        assert sixth.segment != path.name
        assert walked(path) == ["warcinfo"] + ["response", "request"] * 5
        with SegmentReader(directory) as reader:
            blocks = [read_record(reader.read(key)).block for key in [*keys, sixth]]
        assert blocks[-1].endswith(b"fetched again")
        assert {block[-12:] for block in blocks[:-1]} == {b"hello crawl\n"}
        indexes = [index_path(directory / name).read_bytes() for name in (path.name, sixth.segment)]
        assert [len(find(index, "https://example.com/6")) for index in indexes] == [0, 1]


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.adapters.test_segments import append, plan
from gossamer.adapters.files.segments import SegmentWriter
writer = SegmentWriter(plan(Path(sys.argv[2])))
for number in range(1, 6):
    key = append(writer, number)
print(key.segment, os.stat(Path(sys.argv[2]) / key.segment).st_size, flush=True)
body = os.urandom(20_000_000)
while True:
    append(writer, 6, body)
"""


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.0, 0.03, 0.06, 0.1])
def test_a_kill_in_the_middle_of_a_large_record_costs_only_that__h_warc_02(tmp_path: Path, delay_s: float) -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, root, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        name, length = child.stdout.readline().split()
        try:
            child.wait(delay_s)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        assert child.wait(30) == -signal.SIGKILL
    recover(tmp_path, {name: int(length)})
    assert walked(tmp_path / name) == ["warcinfo"] + ["response", "request"] * 5


@pytest.mark.parametrize("missing", [1, 100])
def test_a_segment_shorter_than_committed_is_an_error_of_its_own(tmp_path: Path, missing: int) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"a" * 100)
    with pytest.raises(SegmentTooShort, match=f"has 100 bytes, {100 + missing} are committed"):
        trim(path, 100 + missing)
    assert path.read_bytes() == b"a" * 100
    with pytest.raises(SegmentTooShort, match="is gone"):
        trim(tmp_path / "y.warc.gz", missing)


def test_trim_says_how_much_it_cut_and_drops_the_index_of_what_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"a" * 100)
    index_path(path).write_bytes(b"")
    assert trim(path, 100) == 0
    assert index_path(path).exists()
    assert trim(path, 60) == 40
    assert path.stat().st_size == 60
    assert not index_path(path).exists()


def test_recovery_sets_aside_what_the_store_never_heard_of(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    key = append(writer, 1)
    writer.close()
    stranger = tmp_path / "gossamer-c1-20260901120001-00002.warc.gz"
    stranger.write_bytes(b"half a member")
    (tmp_path / "gossamer-c1-20260901120000-00001.cdxj.tmp").write_bytes(b"half an index")
    (tmp_path / "notes.txt").write_bytes(b"mine")
    assert recover(tmp_path, {key.segment: (tmp_path / key.segment).stat().st_size}) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "gossamer-c1-20260901120000-00001.cdxj",
        "gossamer-c1-20260901120000-00001.warc.gz",
        "gossamer-c1-20260901120001-00002.warc.gz.orphan",
        "notes.txt",
    ]


def test_an_orphans_name_is_not_given_again(tmp_path: Path) -> None:
    name = "gossamer-c1-20260901120000-00004.warc.gz"
    (tmp_path / name).write_bytes(b"half a member")
    recover(tmp_path, {})
    writer = SegmentWriter(plan(tmp_path))
    assert append(writer, 1).segment == name.replace("4.", "5.")
    writer.close()


# Full disks


def test_a_full_disk_leaves_no_partial_record_and_the_same_append_works_later(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    first = append(writer, 1)
    path = tmp_path / first.segment
    size_bytes = path.stat().st_size
    body = random.Random(2).randbytes(300_000)
    with no_file_beyond(200_000):
        for _ in range(3):
            with pytest.raises(DiskFull, match="no room"):
                append(writer, 2, body)
            assert path.stat().st_size == size_bytes
    second = append(writer, 2, body)
    writer.close()
    assert second.offset == size_bytes
    assert walked(path) == ["warcinfo", "response", "request", "response", "request"]


def test_a_full_disk_leaves_no_empty_segment(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    with no_file_beyond(10), pytest.raises(DiskFull):
        append(writer, 1)
    assert list(tmp_path.iterdir()) == []
    append(writer, 1)
    writer.close()
    assert len(list(tmp_path.glob("*.warc.gz"))) == 1


def test_a_full_disk_delays_the_index_and_never_cuts_it(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    key = append(writer, 1)
    path = tmp_path / key.segment
    with no_file_beyond(10):
        writer.close()
    assert not index_path(path).exists()
    assert recover(tmp_path, {path.name: path.stat().st_size}) == (path.name,)
    assert find(write_index(path).read_bytes(), "https://example.com/1")


@pytest.mark.parametrize("number", [errno.EIO, errno.EROFS, errno.EACCES], ids=["broken", "read-only", "forbidden"])
def test_what_is_no_full_disk_stays_what_it_is_and_names_the_file(number: int) -> None:
    fault = translated(OSError(number, os.strerror(number)), Path("/data/x.warc.gz"))
    assert isinstance(fault, OSError)
    assert (fault.errno, fault.filename) == (number, "/data/x.warc.gz")


# Indexes


def test_the_index_is_the_same_from_memory_and_from_the_segment(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    keys = [append(writer, number) for number in (3, 1, 2)]
    writer.append(exchange_records(capture(4)).request)  # no entry: from here on only the segment knows
    writer.close()
    path = tmp_path / keys[0].segment
    from_segment = index_path(path).read_bytes()
    entries = [find(from_segment, f"https://example.com/{number}")[0] for number in (3, 1, 2)]
    assert [CaptureKey(found.filename, found.offset, found.length) for found in entries] == keys
    assert {(found.mime, found.status, found.timestamp[:8]) for found in entries} == {("text/plain", 200, "20260901")}

    other = SegmentWriter(plan(tmp_path / "other"))
    for number in (3, 1, 2):
        append(other, number)
    other.close()
    assert index_path(tmp_path / "other" / path.name).read_bytes() == from_segment


def test_an_index_survives_heads_that_are_no_http(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path))
    heads = [
        b"",
        b"\xff\xfe\x00",
        b"HTTP/1.1 200\r\nContent-Type: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/9 abc\r\n\r\n",
    ]
    for number, head in enumerate(heads):
        pair = exchange_records(capture(number))
        raw = exchange_records(
            CapturedExchange(
                url=f"https://example.com/{number}", address="", fetched_at=0.0, request_head=b"", head=head,
                wire_body=b"body", payload=b"body", content_encoding="", truncated=None,
                response_id=bytes(16), request_id=bytes(16),
            )
        )  # fmt: skip
        key = writer.append(raw.response + pair.request)
    writer.close()
    index = index_path(tmp_path / key.segment).read_bytes()
    assert [len(find(index, f"https://example.com/{number}")) for number in range(4)] == [1, 1, 1, 1]
    assert write_index(tmp_path / key.segment).read_bytes() == index


def test_texts_have_segments_of_their_own_without_an_index(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path, kind=SegmentKind.TEXT))
    text = ExtractedText(
        url="https://example.com/1",
        fetched_at=0.0,
        text="hello",
        response_urn="<urn:uuid:0>",
        record_id=bytes(16),
    )
    key = writer.append(conversion_record(text))
    writer.close()
    assert key.segment == "gossamer-c1-20260901120000-00001.warc.wet.gz"
    assert [path.name for path in tmp_path.iterdir()] == [key.segment]
    assert recover(tmp_path, {key.segment: key.offset + key.length}) == ()
    assert walked(tmp_path / key.segment) == ["warcinfo", "conversion"]


def test_a_full_segment_is_indexed_while_the_next_one_fills(tmp_path: Path) -> None:
    writer = SegmentWriter(plan(tmp_path, size_bytes_max=1))
    first, second, third = (append(writer, number) for number in (1, 2, 3))
    assert index_path(tmp_path / first.segment).exists()
    assert not index_path(tmp_path / third.segment).exists()
    writer.close()
    for number, key in enumerate((first, second, third), start=1):
        assert len(find(index_path(tmp_path / key.segment).read_bytes(), f"https://example.com/{number}")) == 1


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = open_files()
    writer = SegmentWriter(plan(tmp_path, size_bytes_max=1))
    for number in range(20):
        append(writer, number)
    writer.close()
    assert open_files() == before


# Other tools


CHUNKED = b"6\r\nhello \r\n6\r\ncrawl\n\r\n0\r\n\r\n"


def problems_of_warcio(path: Path) -> tuple[int, list[str]]:
    """What `warcio check` answers: its exit code, and its complaints."""
    checker = Checker(Namespace(inputs=[str(path)], verbose=False))
    exit_code = checker.process_all()
    complaints: list[str] = []
    with path.open("rb") as file:
        for record in WarcioIterator(file, check_digests=True):
            record.raw_stream.read()
            complaints += record.digest_checker.problems
    return exit_code, complaints


def segment_of(directory: Path, *exchanges: CapturedExchange) -> Path:
    writer = SegmentWriter(plan(directory))
    for exchange in exchanges:
        pair = exchange_records(exchange)
        key = writer.append(pair.response + pair.request)
    writer.close()
    return directory / key.segment


def test_warcio_check_passes_and_fastwarc_verifies(tmp_path: Path) -> None:
    plain = capture(1)
    empty = capture(2, b"")
    zipped = capture(3, gzip.compress(b"x" * 1000), b"Content-Encoding: gzip\r\nContent-Type: text/html\r\n")
    path = segment_of(tmp_path, plain, empty, zipped)
    assert problems_of_warcio(path) == (0, [])
    verified = list(FastIterator(str(path), parse_http=False, verify_digests=True))
    assert len(verified) == 7
    payloads = [
        record.verify_payload_digest()
        for record in FastIterator(str(path))
        if record.is_http_parsed and record.headers["WARC-Type"] == "response"
    ]
    assert payloads == [True, True, True]


def test_tools_differ_from_the_standard_on_chunked_payloads_only__h_warc_01(tmp_path: Path) -> None:
    """warcio and FastWARC take a payload digest over the chunks (warcio#74, #75); ISO 28500 and we take them off first.

    So `warcio check` complains of exactly these digests. Every block digest is right for them, and the payload that
    warcio itself hands out is the one that our digest names.
    """
    path = segment_of(tmp_path, capture(1), capture(2, CHUNKED, b"Transfer-Encoding: chunked\r\n"))
    exit_code, complaints = problems_of_warcio(path)
    assert exit_code == 1
    assert [complaint.split(" sha1")[0] for complaint in complaints] == ["payload digest failed"]
    assert len(list(FastIterator(str(path), parse_http=False, verify_digests=True))) == 5
    with path.open("rb") as file:
        bodies = [record.content_stream().read() for record in WarcioIterator(file) if record.rec_type == "response"]
    assert bodies == [b"hello crawl\n", b"hello crawl\n"]
    with SegmentReader(tmp_path) as reader:
        for found in (find(index_path(path).read_bytes(), f"https://example.com/{number}")[0] for number in (1, 2)):
            record = read_record(reader.read(CaptureKey(found.filename, found.offset, found.length)))
            assert digest_problems(record) == ()
            assert record.field("WARC-Payload-Digest") == found.digest
