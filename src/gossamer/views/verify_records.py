"""Bytes: each key reads a whole record of its URL with right digests, and each segment is records from end to end."""

from collections.abc import Callable, Mapping
from typing import BinaryIO, NamedTuple

from isal import isal_zlib

from gossamer.core.deflate import GZIP_WBITS, IsalError
from gossamer.core.rows import CaptureKey, PageRow, UrlRow
from gossamer.core.warc import StoredRecord, digest_problems, field_value
from gossamer.ports.segment_reading import SegmentReading
from gossamer.views.problems import Problems
from gossamer.views.records import record_at

CHUNK_BYTES = 2**16  # each record in a chunk costs a copy of what is behind it: larger chunks are slower
PIECE_BYTES = 2**18
HEADER_BYTES_MAX = 2**17


class SegmentFile(NamedTuple):
    """A segment as META and the disk know it. `size_bytes`: None when the file is gone; `committed`: 0 for no entry."""

    committed: int
    size_bytes: int | None
    open: Callable[[], BinaryIO]


class RecordCheck:
    """Checks the keys of one URL after the other."""

    def __init__(
        self,
        files: Mapping[str, SegmentFile],
        raw: SegmentReading,
        text: SegmentReading,
        problems: Problems,
        *,
        reads: bool,
    ) -> None:
        self._files = files
        self._raw = raw
        self._text = text
        self._problems = problems
        self._reads = reads

    def check(self, row: UrlRow, page: PageRow | None) -> None:
        """The raw record of a URL, and its text."""
        if row.fetch is not None:
            self._check_key(row.url, row.fetch.raw_key, self._raw, "response")
        if page is not None and page.text_key is not None:
            self._check_key(row.url, page.text_key, self._text, "conversion")

    def _check_key(self, url: str, key: CaptureKey, segments: SegmentReading, kind: str) -> None:
        file = self._files.get(key.segment)
        end = key.offset + key.length
        if file is None or end > file.committed:
            committed = file.committed if file else 0
            self._problems.add(
                f"{url}: its {kind} record {key} is not committed (of its segment {committed} bytes are)"
            )
        elif file.size_bytes is None or end > file.size_bytes:
            self._problems.add(f"{url}: its {kind} record {key} lies behind the end of the file")
        elif self._reads:
            record = record_at(segments, key)
            for problem in [record] if isinstance(record, str) else _record_problems(record, url, kind):
                self._problems.add(f"{url}: {problem}")


def _record_problems(record: StoredRecord, url: str, kind: str) -> list[str]:
    problems = list(digest_problems(record))
    for name, wanted in (("WARC-Type", kind), ("WARC-Target-URI", url)):
        if record.field(name) != wanted:
            problems.append(f"its {kind} record has {name} {record.field(name)!r}")
    return problems


def check_segments(
    files: Mapping[str, SegmentFile], problems: Problems, tick: Callable[[str, int], None], *, reads: bool
) -> tuple[int, int]:
    """Committed lengths against file sizes, and every record up to there. Returns records walked and bytes behind."""
    records = tail_bytes = 0
    for name, file in sorted(files.items()):
        if file.size_bytes is None or file.size_bytes < file.committed:
            have = "the file is gone" if file.size_bytes is None else f"the file has {file.size_bytes}"
            problems.add(f"{name}: {file.committed} bytes are committed, {have}")
            continue
        tail_bytes += file.size_bytes - file.committed
        if reads and file.committed:
            with file.open() as opened:
                walked, fault = walk(opened, file.committed)
            records += walked
            tick("records in segments", records)
            if fault:
                problems.add(f"{name}: {fault}")
    return records, tail_bytes


def walk(file: BinaryIO, length: int) -> tuple[int, str]:
    """Count the records in the first `length` bytes; with the first fault, empty when they fill it exactly.

    Memory is bounded whatever a record holds: it is decompressed in pieces that are dropped at once.
    """
    records, position, held = 0, 0, b""
    while True:
        if not held:
            held = file.read(min(CHUNK_BYTES, length - position))
            position += len(held)
        if not held:
            missing = length - position
            return records, f"it ends {missing} bytes early" if missing else ""
        start = position - len(held)
        member = _Member()
        while held and not member.fault and not member.is_done:
            held = member.feed(held)
            if not held and not member.is_done:
                held = file.read(min(CHUNK_BYTES, length - position))
                position += len(held)
        fault = member.fault or member.verdict()
        if fault:
            return records, f"the record at {start} is damaged: {fault}"
        records += 1


class _Member:
    """One gzip member on its way: its header is kept, its block only counted."""

    def __init__(self) -> None:
        self._decoder = isal_zlib.decompressobj(wbits=GZIP_WBITS)
        self._header = b""
        self._size = 0
        self.fault = ""

    @property
    def is_done(self) -> bool:
        return bool(self._decoder.eof)

    def feed(self, octets: bytes) -> bytes:
        """Take what belongs to this member; returns the rest."""
        while not self._decoder.eof:
            try:
                piece = self._decoder.decompress(octets, PIECE_BYTES)
            except IsalError as error:
                self.fault = f"{error}"
                return b""
            self._size += len(piece)
            if len(self._header) < HEADER_BYTES_MAX:
                self._header += piece[: HEADER_BYTES_MAX - len(self._header)]
            octets = self._decoder.unconsumed_tail
            if not octets and len(piece) < PIECE_BYTES:
                break  # a full piece may have more behind it although all input is taken
        return bytes(self._decoder.unused_data)

    def verdict(self) -> str:
        """What is wrong with the whole of it, empty when nothing is."""
        if not self.is_done:
            return "it ends within the gzip member"
        end = self._header.find(b"\r\n\r\n")
        if end < 0 or not self._header.startswith(b"WARC/1."):
            return "it has no WARC header"
        lines = self._header[:end].decode("utf-8", "replace").split("\r\n")
        pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
        length = field_value(pairs, "Content-Length")
        if not length.isdecimal() or end + 4 + int(length) + 4 != self._size:
            return f"Content-Length is {length[:20]!r}, the record has {self._size} bytes"
        return ""
