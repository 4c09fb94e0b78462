"""The form of an HTTP/1.x response: head, fields, framing, chunks. Lenient as browsers are; no sockets here.

One reading of the grammar serves both the client, which gets the octets piece by piece, and whoever reads them back
from a WARC record.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

Fields = tuple[tuple[str, str], ...]

CHUNK_LINE_BYTES_MAX = 16 * 1024  # size line with extensions; Chrome's bound
TRAILER_BYTES_MAX = 64 * 1024  # as much as a head
LENGTH_DIGITS_MAX = 18  # beyond it a length is "more than anyone will read", and int() of 60,000 digits is an attack
LENGTH_ENDLESS = 10**LENGTH_DIGITS_MAX

# A line end may be CRLF or LF alone (RFC 9112 2.2), so a head ends at a line feed that only a line end follows.
_HEAD_END = re.compile(rb"\n\r?\n")
# Two spaces, a tab or a version with one digit all occur; a reason phrase need not follow (RFC 9112 4).
_STATUS_LINE = re.compile(rb"[Hh][Tt][Tt][Pp]/(\d)(?:\.(\d))?[ \t]+(\d{3})(?=[ \t\r\n]|\Z)")
_CHUNK_SIZE = re.compile(rb"[ \t]*0*([0-9a-fA-F]{0,15})(?=[ \t;\r]|\Z)")
_PLAIN_CHUNK_SIZE = re.compile(rb"([1-9a-fA-F][0-9a-fA-F]{0,7})\r\n")
# RFC 9110 5.5: CR, LF or NUL inside a value become spaces.
_FORBIDDEN_IN_VALUE = {0: " ", 10: " ", 13: " "}
# A head as nearly all are: a name, a colon and a value of visible ASCII in every line, each ended by CR LF.
_PLAIN_HEAD = re.compile(rb"[ -~]+\r\n(?:[!#-'*-.0-9A-Z^-z|~]++:[\t -~]*+\r\n)*+\r\n")
_BODYLESS = frozenset({204, 304})


class FramingKind(Enum):
    """How the end of a body is known (RFC 9112 6.3)."""

    NONE = auto()
    LENGTH = auto()
    CHUNKED = auto()
    CLOSE = auto()
    BAD = auto()


class Framing(NamedTuple):
    """`length` is meant for LENGTH only; `doubtful` framing is read but its connection is never used again."""

    kind: FramingKind
    length: int = 0
    doubtful: bool = False


class StatusLine(NamedTuple):
    """Protocol version as (major, minor) and the status code, 100 to 999."""

    version: tuple[int, int]
    status: int


def head_end(data: bytes | bytearray, start: int = 0) -> int:
    """Offset just behind the empty line that ends the head, or -1; `start` may skip what was searched before."""
    found = _HEAD_END.search(data, max(0, start - 2))
    return found.end() if found else -1


def parse_status_line(head: bytes) -> StatusLine | None:
    """Version and status; None when this is no HTTP/1.x status line with a three-digit code of 100 or more."""
    line = _STATUS_LINE.match(head)
    if line is None:
        return None
    major, minor, status = line.groups()
    code = int(status)
    return StatusLine((int(major), int(minor or 0)), code) if code >= 100 else None


def parse_head(head: bytes) -> tuple[int, Fields] | None:
    """Status and fields of a whole head; None without a status line.

    Fields are (lower-case name, value) decoded as Latin-1 so that no octet is lost, in order, repeated ones kept.
    Lines without a colon or a name are passed over, folded lines joined with a space (RFC 9112 5.2).
    """
    line = parse_status_line(head)
    return (line.status, parse_fields(head)) if line else None


def parse_fields(head: bytes) -> Fields:
    """The fields below the first line of `head`, read as `parse_head` says."""
    if _PLAIN_HEAD.fullmatch(head):
        plain = head.decode("ascii").split("\r\n")
        return tuple([(name.lower(), value.strip(" \t")) for name, _, value in [x.partition(":") for x in plain[1:-2]]])
    fields: list[tuple[str, str]] = []
    lines = iter(head.decode("latin-1").split("\n"))
    next(lines, None)
    for line in lines:
        if line[:1] in (" ", "\t"):
            if line.strip(" \t\r"):
                return _unfolded(head)
            continue
        name, colon, value = line.partition(":")
        name = name.strip(" \t\r")
        if colon and name:
            value = value.strip(" \t\r")
            if "\r" in value or "\0" in value:
                value = value.translate(_FORBIDDEN_IN_VALUE)
            fields.append((_lower_ascii(name), value))
    return tuple(fields)


def _unfolded(head: bytes) -> Fields:
    """Fields of a head with folded lines: joined once, then read as if the fold had never been."""
    folds: list[list[bytes]] = []
    for line in head.split(b"\n"):
        if line[:1] in (b" ", b"\t"):
            # A fold right below the status line belongs to no field.
            if len(folds) > 1 and (text := line.strip(b" \t\r")):
                folds[-1].append(text)
        else:
            folds.append([line.rstrip(b"\r")])
    return parse_fields(b"\n".join(b" ".join(parts) for parts in folds))


def _lower_ascii(name: str) -> str:
    """Lower case of ASCII letters only: a Latin-1 octet in a name stays what it was."""
    return name.lower() if name.isascii() else name.encode("latin-1").lower().decode("latin-1")


def field_values(fields: Fields, name: str) -> list[str]:
    """Values of every field called `name` (lower case), in order."""
    return [value for field, value in fields if field == name]


def body_framing(status: int, fields: Fields) -> Framing:
    """How the body of an answer to GET ends (RFC 9112 6.3).

    `chunked` anywhere in Transfer-Encoding wins over Content-Length, as in browsers, but is doubtful with it. Equal
    lengths are one; different ones are BAD; one that is no number counts as absent and the body lasts until the close.
    """
    if status in _BODYLESS:
        return Framing(FramingKind.NONE)
    codings: list[str] = []
    lengths: set[str] = set()
    for name, value in fields:
        if name == "transfer-encoding":
            codings += [coding.strip(" \t").lower() for coding in value.split(",")]
        elif name == "content-length":
            lengths.update(part.strip(" \t") for part in value.split(","))
    if "chunked" in codings:
        return Framing(FramingKind.CHUNKED, doubtful=bool(lengths) or codings[-1] != "chunked")
    return _framing_by_length(lengths, doubtful=bool(codings))


def _framing_by_length(lengths: set[str], *, doubtful: bool) -> Framing:
    if len(lengths) > 1 and len({value.lstrip("0") for value in lengths}) > 1:
        return Framing(FramingKind.BAD)
    value = next(iter(lengths), "")
    if not (value.isascii() and value.isdigit()):
        return Framing(FramingKind.CLOSE)
    digits = value.lstrip("0")
    length = LENGTH_ENDLESS if len(digits) > LENGTH_DIGITS_MAX else int(digits or "0")
    return Framing(FramingKind.LENGTH, length, doubtful)


class _At(Enum):
    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()
    DONE = auto()
    BROKEN = auto()


class Dechunker:
    """Takes chunked framing off, piece by piece (RFC 9112 7.1). Lines may end in LF; extensions are ignored."""

    __slots__ = ("_at", "_left", "_line", "_trailer_bytes", "payload")

    def __init__(self) -> None:
        self.payload = bytearray()
        self._at = _At.SIZE
        self._left = 0
        self._line = b""
        self._trailer_bytes = 0

    @property
    def is_done(self) -> bool:
        """The last chunk and its trailers are read to the final empty line."""
        return self._at is _At.DONE

    @property
    def is_broken(self) -> bool:
        """What came is no chunked framing; `payload` holds what could be read before."""
        return self._at is _At.BROKEN

    @property
    def has_last_chunk(self) -> bool:
        """All content is here, even if the end of the trailers is not."""
        return self._at in (_At.TRAILER, _At.DONE)

    def feed(self, data: bytes) -> int:
        """Read on; returns how many octets belong to the body: all of them, unless it is done or broken within.

        A broken body ends before the first wrong octet or behind the first wrong line, wherever `data` was cut.
        """
        pos, end = 0, len(data)
        while pos < end and self._at is not _At.DONE and self._at is not _At.BROKEN:
            if self._at is _At.DATA:
                pos = self._take_data(data, pos)
            elif self._at is _At.DATA_END:
                pos = self._take_data_end(data, pos)
            else:
                pos = self._take_line(data, pos)
        return pos

    def _take_data(self, data: bytes, pos: int) -> int:
        piece = data[pos : pos + self._left]
        self.payload += piece
        self._left -= len(piece)
        if not self._left:
            self._at = _At.DATA_END
        return pos + len(piece)

    def _take_data_end(self, data: bytes, pos: int) -> int:
        octet = data[pos : pos + 1]
        if octet == b"\n":
            self._at, self._line = _At.SIZE, b""
        elif octet == b"\r" and not self._line:
            self._line = octet
        else:
            self._at = _At.BROKEN
            return pos
        return pos + 1

    def _take_line(self, data: bytes, pos: int) -> int:
        if self._at is _At.SIZE and not self._line:
            pos = self._whole_chunks(data, pos)
        stop = pos + CHUNK_LINE_BYTES_MAX - len(self._line)
        newline = data.find(b"\n", pos, stop)
        if newline < 0:
            self._line += data[pos:stop]
            if len(self._line) >= CHUNK_LINE_BYTES_MAX:
                self._at = _At.BROKEN
            return min(stop, len(data))
        line, self._line = self._line + data[pos:newline], b""
        self._read_line(line)
        return newline + 1

    def _whole_chunks(self, data: bytes, pos: int) -> int:
        """Take the chunks that are whole and plain in `data`: 0.6 µs each; a hostile read has 40,000."""
        while plain := _PLAIN_CHUNK_SIZE.match(data, pos):
            start = plain.end()
            stop = start + int(plain[1], 16)
            if data[stop : stop + 2] != b"\r\n":
                break
            self.payload += data[start:stop]
            pos = stop + 2
        return pos

    def _read_line(self, line: bytes) -> None:
        if self._at is _At.TRAILER:
            self._trailer_bytes += len(line) + 1
            if line in (b"", b"\r"):
                self._at = _At.DONE
            elif self._trailer_bytes > TRAILER_BYTES_MAX:
                self._at = _At.BROKEN
            return
        size = _CHUNK_SIZE.match(line)
        if size is None or not size.group().strip(b" \t"):
            self._at = _At.BROKEN
        elif digits := size.group(1):
            self._left, self._at = int(digits, 16), _At.DATA
        else:
            self._at = _At.TRAILER


def dechunk(wire: bytes) -> bytes:
    """The payload inside chunked framing; of a cut or broken body, what could be read."""
    reader = Dechunker()
    reader.feed(wire)
    return bytes(reader.payload)


def split_message(block: bytes) -> tuple[bytes, bytes]:
    """Head, with its final empty line, and wire body of a stored message; without an end of head all is head."""
    end = head_end(block)
    return (block[:end], block[end:]) if end >= 0 else (block, b"")


def payload_of(fields: Fields, wire_body: bytes) -> bytes:
    """The body without transfer coding, content coding kept; the same object when there was none."""
    # 200 stands for any status that may have a body: without one there is no wire body to read.
    if wire_body and body_framing(200, fields).kind is FramingKind.CHUNKED:
        return dechunk(wire_body)
    return wire_body
