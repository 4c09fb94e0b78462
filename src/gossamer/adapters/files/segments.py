"""Segments: files of many records on the local disk, written once at the end, synced on demand, cut back after a crash.

What a record is, is `core.warc`; which length of a segment is committed, the partition store knows.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from gossamer.adapters.files.durable import append_or_cut, replace_atomically, sync_directory, translated
from gossamer.core.cdxj import CdxEntry, cdxj_line, sorted_index
from gossamer.core.http_message import parse_head, split_message
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import field_value
from gossamer.ports.segments import DiskFull

SEGMENT_BYTES_MAX = 2**30
HEAD_BYTES_MAX = 2**17  # of a stored response; twice what the client accepts
INDEX_LINES_MAX = 65_536  # about 20 MB; the index of a segment with more records is made from the segment itself
OPEN_FILES_MAX = 32

_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SEGMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.warc(\.wet)?\.gz")
_SERIAL = re.compile(r"-(\d{5,12})\.warc(?:\.wet)?\.gz(?:\.orphan)?$")


class SegmentTooShort(OSError):
    """A segment ends before its committed length: records that were promised are gone."""


class SegmentKind(Enum):
    """What is in a segment: raw exchanges, which get an index, or text."""

    RAW = ".warc.gz"
    TEXT = ".warc.wet.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPlan:
    """Where segments go, what they are called and when a new one begins.

    prefix: `gossamer-<crawlId>`, of letters, digits, `.`, `_` and `-`; nothing from the web. `first_record` makes the
    member that opens a file, from the file's name. `timestamp` gives 14 digits for the name.
    """

    directory: Path
    prefix: str
    timestamp: Callable[[], str]
    first_record: Callable[[str], bytes]
    kind: SegmentKind = SegmentKind.RAW
    size_bytes_max: int = SEGMENT_BYTES_MAX

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            raise ValueError(f"prefix must be letters, digits, '.', '_' or '-', at most 128, got {self.prefix!r}")


@dataclass(slots=True)
class _Open:
    """A segment with a descriptor. `lines` are its index so far, None when only the file itself can tell."""

    path: Path
    fd: int
    size_bytes: int
    lines: list[bytes] | None


class SegmentWriter:
    """Appends records to segments that it makes itself, and begins the next one when one is full.

    `append` is one unbuffered write: every reader sees the record at once, and a kill loses nothing that was appended.
    To survive a power cut as well it takes an fdatasync of the file, by anyone (`segment_sync`). A full segment is
    synced, indexed and closed on a thread of the writer's own: 20 MB of index, once a GiB.
    """

    def __init__(self, plan: SegmentPlan) -> None:
        self._plan = plan
        self._current: _Open | None = None
        self._finishing: Future[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="segment")
        plan.directory.mkdir(parents=True, exist_ok=True)
        self._serial = _highest_serial(plan) + 1

    def __repr__(self) -> str:
        current = self._current
        where = f"{current.path.name} {current.size_bytes} B" if current else "no segment open"
        return f"<SegmentWriter {self._plan.prefix}: {where}>"

    def append(self, record: bytes, *, entry: CdxEntry | None = None) -> CaptureKey:
        """Write one or more whole gzip members; the key covers all of `record`.

        entry: what the index says of the member that `record` begins with; offset and filename are filled in here.
        Without it the index is made from the segment when that is finished. DiskFull: the file is as long as before.
        """
        current = self._current
        if current is None or current.size_bytes + len(record) > self._plan.size_bytes_max:
            current = self._begin()
        offset = current.size_bytes
        _write_or_cut(current, record)
        _remember(current, entry, offset)
        return CaptureKey(current.path.name, offset, len(record))

    def close(self) -> None:
        """Finish all segments; only a full disk leaves one without its index. Blocks. Closing twice is fine."""
        if self._finishing is not None:
            self._finishing.result()
            self._finishing = None
        if self._current is not None:
            current, self._current = self._current, None
            self._finish(current)
        self._thread.shutdown()

    def _begin(self) -> _Open:
        begun = self._create()
        try:
            _write_or_cut(begun, self._plan.first_record(begun.path.name))
            sync_directory(begun.path.parent)
        except BaseException:
            os.close(begun.fd)
            begun.path.unlink()
            raise
        full, self._current = self._current, begun
        if full is not None:
            if self._finishing is not None:
                self._finishing.result()  # long done: a GiB came in between
            self._finishing = self._thread.submit(self._finish, full)
        return begun

    def _create(self) -> _Open:
        plan = self._plan
        path = plan.directory / checked_name(f"{plan.prefix}-{plan.timestamp()}-{self._serial:05d}{plan.kind.value}")
        try:
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise translated(error, path) from error
        self._serial += 1
        return _Open(path, fd, 0, [] if plan.kind is SegmentKind.RAW else None)

    def _finish(self, segment: _Open) -> None:
        try:
            _sync_file(segment)  # first the records, then an index that names them
            if self._plan.kind is SegmentKind.RAW:
                write_index(segment.path, segment.lines)
        except DiskFull:
            pass  # the index is missing then, and `recover` says so
        finally:
            os.close(segment.fd)


class SegmentReader:
    """Reads members by key. Keeps at most OPEN_FILES_MAX files open. For one thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fds: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, key: CaptureKey) -> bytes:
        """The member's bytes. FileNotFoundError, or SegmentTooShort when the file ends within it."""
        fd = self._fd(key.segment)
        parts: list[bytes] = []
        position, left = key.offset, key.length
        while left > 0:
            part = os.pread(fd, left, position)
            if not part:
                raise SegmentTooShort(f"{key.segment} ends at {position}, a record lies at {key.offset}+{key.length}")
            parts.append(part)
            position, left = position + len(part), left - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Give the descriptors back; reading again opens them again."""
        while self._fds:
            os.close(self._fds.popitem()[1])

    def _fd(self, name: str) -> int:
        fd = self._fds.get(name)
        if fd is None:
            fd = os.open(self._directory / checked_name(name), os.O_RDONLY | os.O_CLOEXEC)
            self._fds[name] = fd
            if len(self._fds) > OPEN_FILES_MAX:
                os.close(self._fds.popitem(last=False)[1])
        else:
            self._fds.move_to_end(name)
        return fd


def trim(path: Path, committed_length: int) -> int:
    """Cut what lies behind the committed length and return how many bytes that was.

    A kill in the middle of a write leaves half a gzip member: no sound file for other tools. An index made of records
    that are gone now goes too. SegmentTooShort when the file is shorter than committed, also when it is absent.
    """
    try:
        size_bytes = path.stat().st_size
    except FileNotFoundError as error:
        raise SegmentTooShort(f"{path} is gone, {committed_length} bytes of it are committed") from error
    if size_bytes < committed_length:
        raise SegmentTooShort(f"{path} has {size_bytes} bytes, {committed_length} are committed")
    if size_bytes > committed_length:
        index_path(path).unlink(missing_ok=True)
        with path.open("r+b") as file:
            file.truncate(committed_length)
            os.fsync(file.fileno())
    return size_bytes - committed_length


def recover(directory: Path, committed: Mapping[str, int]) -> tuple[str, ...]:
    """After a crash: cut every committed segment, set aside (`.orphan`) segments that the store never heard of.

    Returns the raw segments without an index, in order of name: the caller indexes them (`write_index`).
    SegmentTooShort as in `trim`; the segments before it are cut then.
    """
    for name, committed_length in committed.items():
        trim(directory / checked_name(name), committed_length)
    for path in sorted(directory.iterdir()):
        if path.name.endswith(".tmp"):
            path.unlink()
        elif _SEGMENT_NAME.fullmatch(path.name) and path.name not in committed:
            index_path(path).unlink(missing_ok=True)
            path.rename(path.with_name(path.name + ".orphan"))
    sync_directory(directory)
    return tuple(
        name
        for name in sorted(committed)
        if not name.endswith(SegmentKind.TEXT.value) and not index_path(directory / name).exists()
    )


def write_index(segment: Path, lines: list[bytes] | None = None) -> Path:
    """The CDXJ file of a closed segment, complete or not there at all. Without `lines` the segment is read. Blocks."""
    target = index_path(segment)
    replace_atomically(target, sorted_index(indexed_lines(segment) if lines is None else lines))
    return target


def indexed_lines(segment: Path) -> Iterator[bytes]:
    """The index lines of the responses in a segment, in file order, read from the records themselves."""
    waiting: CdxEntry | None = None
    for record in ArchiveIterator(str(segment), parse_http=False):
        if waiting is not None:
            yield cdxj_line(waiting._replace(length=record.stream_pos - waiting.offset))
        waiting = _entry_of(record, segment.name) if record.record_type == WarcRecordType.response else None
    if waiting is not None:
        yield cdxj_line(waiting._replace(length=segment.stat().st_size - waiting.offset))


def index_path(segment: Path) -> Path:
    """`x.warc.gz` has its index in `x.cdxj`."""
    return segment.with_name(segment.name.removesuffix(SegmentKind.RAW.value) + ".cdxj")


def checked_name(name: str) -> str:
    """`name` if it can be a segment's; ValueError for one that could leave the directory."""
    if not _SEGMENT_NAME.fullmatch(name):
        raise ValueError(f"not the name of a segment: {name!r}")
    return name


def _write_or_cut(segment: _Open, octets: bytes) -> None:
    append_or_cut(segment.fd, octets, segment.size_bytes, segment.path)
    segment.size_bytes += len(octets)


def _sync_file(segment: _Open) -> None:
    try:
        os.fdatasync(segment.fd)
    except OSError as error:
        raise translated(error, segment.path) from error


def _remember(segment: _Open, entry: CdxEntry | None, offset: int) -> None:
    if segment.lines is None:
        return
    if entry is None or len(segment.lines) >= INDEX_LINES_MAX:
        segment.lines = None
    else:
        segment.lines.append(cdxj_line(entry._replace(offset=offset, filename=segment.path.name)))


def _entry_of(record: WarcRecord, filename: str) -> CdxEntry:
    headers = record.headers
    head, _ = split_message(record.reader.read(HEAD_BYTES_MAX))
    status, fields = parse_head(head) or (0, ())
    return CdxEntry(
        url=headers.get("WARC-Target-URI") or "",
        timestamp=re.sub(r"\D", "", headers.get("WARC-Date") or "")[:14],
        mime=field_value(fields, "content-type"),
        status=status,
        digest=headers.get("WARC-Payload-Digest") or "",
        length=0,
        offset=record.stream_pos,
        filename=filename,
    )


def _highest_serial(plan: SegmentPlan) -> int:
    names = (path.name for path in plan.directory.iterdir() if path.name.startswith(plan.prefix + "-"))
    return max((int(found[1]) for name in names if (found := _SERIAL.search(name))), default=0)
