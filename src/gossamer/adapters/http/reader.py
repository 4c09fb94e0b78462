"""Octets in, one answer out: when a response is whole, what it is, and whether its connection can be used again.

No socket and no clock: `connection` feeds it and tells it when time is up.
"""

from gossamer.adapters.http.limits import FetchLimits
from gossamer.core.http_message import (
    Dechunker,
    Fields,
    Framing,
    FramingKind,
    body_framing,
    field_values,
    head_end,
    parse_fields,
    parse_status_line,
)
from gossamer.core.outcome import Reason, Truncation

EMPTY_LINES_BYTES_MAX = 16  # line ends that a server left over from the answer before
_PROTOCOL = b"HTTP/"
_SWITCHING_PROTOCOLS = 101


class ResponseReader:
    """One response. Ends (`is_finished`) with `fault` set, or with everything of a response, `truncated` or not."""

    __slots__ = (
        "_body",
        "_dechunker",
        "_framing",
        "_informational",
        "_limits",
        "_pending",
        "_skipped",
        "detail",
        "fault",
        "fields",
        "has_head",
        "head",
        "is_finished",
        "is_reusable",
        "payload",
        "status",
        "truncated",
        "version",
        "wire_body",
    )

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self._pending = bytearray()  # of a head not yet whole
        self._skipped = 0
        self._informational = 0
        self._body = bytearray()
        self._dechunker: Dechunker | None = None
        self._framing = Framing(FramingKind.NONE)
        self.has_head = False
        self.is_finished = False
        self.is_reusable = False
        self.fault: Reason | None = None
        self.detail = ""
        self.truncated: Truncation | None = None
        self.version = (1, 0)
        self.status = 0
        self.head = b""
        self.fields: Fields = ()
        self.wire_body = b""
        self.payload = b""

    def feed(self, data: bytes) -> bool:
        """Read on; True once finished. Octets behind the end are dropped and spoil the connection."""
        if not self.has_head:
            data = self._read_head(data)
            if not self.has_head or self.is_finished:
                return self.is_finished
        match self._framing.kind:
            case FramingKind.LENGTH:
                self._read_length(data, min(self._framing.length, self._limits.body_bytes_max))
            case FramingKind.CHUNKED:
                self._read_chunks(data)
            case FramingKind.CLOSE:
                self._read_to_close(data)
            case _:
                self._finish(b"", extra=bool(data))
        return self.is_finished

    def end_of_stream(self, detail: str = "") -> None:
        """The other side is gone; `detail` is set when it did not say goodbye."""
        if not self.has_head:
            where = "inside the head" if self._pending or self._informational else "without an answer"
            self._fail(Reason.CONNECTION_LOST, detail or f"closed {where}")
            return
        is_whole = self._framing.kind is FramingKind.CLOSE and not detail
        if self._dechunker is not None and self._dechunker.has_last_chunk:
            is_whole = True
        self._finish_with(None if is_whole else Truncation.DISCONNECT)

    def expire(self, reason: Reason, detail: str) -> None:
        """Time is up: a fault before the head is whole, afterwards a body cut by time."""
        if self.has_head:
            self._finish_with(Truncation.TIME)
        else:
            self._fail(reason, detail)

    # Head -------------------------------------------------------------------------------------------------------------

    def _read_head(self, data: bytes) -> bytes:
        """Read until the final head is whole; returns what follows it."""
        searched = len(self._pending)
        buffer: bytes | bytearray = data
        if searched:
            self._pending += data
            buffer = self._pending
        while not self.is_finished:
            if buffer[:1] in (b"\r", b"\n"):
                buffer, searched = self._skip_empty_lines(buffer), 0
            end = head_end(buffer, searched)
            if not 0 <= end <= self._limits.head_bytes_max:
                self._wait_for_head(buffer)
                return b""
            head, rest = bytes(buffer[:end]), bytes(buffer[end:])
            line = parse_status_line(head)
            if line is None:
                self._fail(Reason.BAD_HTTP, f"no status line: {_shown(head)}")
            elif line.status >= 200:
                self.version, self.status = line
                self._take_head(head)
                return rest
            else:
                self._pass_informational(line.status)
                buffer, searched = rest, 0
        return b""

    def _wait_for_head(self, buffer: bytes | bytearray) -> None:
        if bytes(buffer[: len(_PROTOCOL)]).upper() != _PROTOCOL[: len(buffer)]:
            self._fail(Reason.BAD_HTTP, f"no HTTP: {_shown(buffer)}")
        elif len(buffer) > self._limits.head_bytes_max:
            self._fail(Reason.HEAD_TOO_LARGE, f"more than {self._limits.head_bytes_max} octets")
        elif buffer is not self._pending:
            self._pending = bytearray(buffer)

    def _skip_empty_lines(self, buffer: bytes | bytearray) -> bytes | bytearray:
        stripped = buffer.lstrip(b"\r\n")
        self._skipped += len(buffer) - len(stripped)
        if self._skipped > EMPTY_LINES_BYTES_MAX:
            self._fail(Reason.BAD_HTTP, "empty lines instead of a head")
        return stripped

    def _pass_informational(self, status: int) -> None:
        self._informational += 1
        if status == _SWITCHING_PROTOCOLS:
            self._fail(Reason.BAD_HTTP, "switched to a protocol that nobody asked for")
        elif self._informational > self._limits.informational_max:
            self._fail(Reason.INFORMATIONAL_STORM, f"more than {self._limits.informational_max} 1xx answers")

    def _take_head(self, head: bytes) -> None:
        self._pending = bytearray()
        self.head, self.fields = head, parse_fields(head)
        self._framing = body_framing(self.status, self.fields)
        if self._framing.kind is FramingKind.BAD:
            self._fail(Reason.BAD_HTTP, "two different lengths")
            return
        self.has_head = True
        self.is_reusable = self._is_persistent() and not self._framing.doubtful
        if self._framing.kind is FramingKind.CHUNKED:
            self._dechunker = Dechunker()

    def _is_persistent(self) -> bool:
        """RFC 9112 9.3; a body that lasts until the close cannot leave a connection behind."""
        if self._framing.kind is FramingKind.CLOSE:
            return False
        options = ",".join(field_values(self.fields, "connection")).lower().replace(" ", "").split(",")
        return "close" not in options and (self.version >= (1, 1) or "keep-alive" in options)

    # Body -------------------------------------------------------------------------------------------------------------

    def _read_length(self, data: bytes, wanted: int) -> None:
        left = wanted - len(self._body)
        if len(data) < left:
            self._body += data
            return
        if self._body:
            self._body += data[:left]
            wire_body = bytes(self._body)
        else:
            wire_body = data[:left]
        if self._framing.length > wanted:
            self.truncated = Truncation.LENGTH
        self._finish(wire_body, extra=len(data) > left)

    def _read_chunks(self, data: bytes) -> None:
        assert self._dechunker is not None
        room = self._limits.body_bytes_max - len(self._body)
        piece = data if len(data) <= room else data[:room]
        used = self._dechunker.feed(piece)
        self._body += piece if used == len(piece) else piece[:used]
        if self._dechunker.is_done:
            self._finish(bytes(self._body), extra=len(data) > used)
        elif self._dechunker.is_broken:
            self._finish_with(Truncation.DISCONNECT)
        elif len(data) > len(piece):
            self._finish_with(Truncation.LENGTH)

    def _read_to_close(self, data: bytes) -> None:
        room = self._limits.body_bytes_max - len(self._body)
        self._body += data[:room]
        if len(data) > room:
            self._finish_with(Truncation.LENGTH)

    def _finish_with(self, truncated: Truncation | None) -> None:
        """End with what is here; the connection is of no more use."""
        self.truncated = truncated
        self._finish(bytes(self._body), extra=True)

    def _finish(self, wire_body: bytes, *, extra: bool) -> None:
        self.is_finished = True
        self.wire_body = wire_body
        self.payload = wire_body if self._dechunker is None else bytes(self._dechunker.payload)
        if extra or self.truncated is not None:
            self.is_reusable = False

    def _fail(self, reason: Reason, detail: str) -> None:
        self.is_finished = True
        self.is_reusable = False
        self.fault, self.detail = reason, detail


def _shown(octets: bytes | bytearray) -> str:
    """The start of `octets` for a message."""
    return repr(bytes(octets[:32]))[1:]
