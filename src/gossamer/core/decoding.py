"""Content coding off, bounded in memory and time: gzip, deflate, br, zstd and lists of them. Charsets are not here.

A coding that lies is met as browsers meet it: what is plain under a label is used as it is (RFC 9110 8.4.1).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]
import zstandard
from isal import isal_zlib

from gossamer.core.deflate import GZIP_WBITS, RAW_WBITS, ZLIB_WBITS, IsalError

CODINGS_MAX = 3
# Gzip members or zstd frames: 10 MiB of bgzip are about 640; 10 MiB of empty members would be 500,000.
MEMBERS_MAX = 4_096
WINDOW_BYTES = 64 * 1024  # input fed at once; bounds what is copied at the end of a gzip member
CAREFUL_WINDOW_BYTES = 256  # input fed at once when a checksum or a block is known to be bad: keeps what came before it
ZSTD_WINDOW_BYTES = 128  # four octets of zstd can mean 128 KiB, so a step is at most 4 MiB
ZSTD_FRAME_WINDOW_MAX = 8 * 2**20  # RFC 9659: what a web client must accept, and no more
STEP_BYTES = 2**20  # output taken at once from brotli
LOOK_BYTES = 256

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a frame, or one to skip
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r")) + b"\x7f"


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """`truncated`: more than the limit would have come. `fault`: short text when the coding was not read to its end."""

    body: bytes
    truncated: bool
    fault: str | None


class _Sink:
    """Collects output up to a limit and one octet, so that `is_full` means that more would have come."""

    __slots__ = ("_bytes_max", "parts", "size")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.parts: list[bytes] = []
        self.size = 0

    @property
    def room(self) -> int:
        return self._bytes_max + 1 - self.size

    @property
    def is_full(self) -> bool:
        return self.size > self._bytes_max

    def add(self, data: bytes) -> None:
        if data:
            self.parts.append(data)
            self.size += len(data)

    def clear(self) -> None:
        self.parts.clear()
        self.size = 0

    def body(self) -> bytes:
        whole = self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)
        return whole[: self._bytes_max]


_INCOMPLETE = "incomplete"
_CORRUPT = "corrupt"
_Decode = Callable[[bytes, _Sink], str | None]


def decode_body(payload: bytes, content_encoding: str | None, decoded_bytes_max: int) -> DecodedBody:
    """`payload` without its content codings, last applied first (RFC 9110 8.4); at most `decoded_bytes_max` octets.

    Never raises for what is in `payload` or `content_encoding`. Every form between two codings obeys the limit too.
    Memory: twice the limit, 4 MiB a step, and the coding's own window of at most 16 MiB.
    """
    codings = _codings(content_encoding)
    if len(codings) > CODINGS_MAX:
        return DecodedBody(b"", truncated=False, fault=f"more than {CODINGS_MAX} codings")
    body, truncated, fault = payload, False, None
    for coding in reversed(codings):
        decoded = _decode_one(body, coding, decoded_bytes_max)
        body, truncated = decoded.body, truncated or decoded.truncated
        # Behind a form that was cut by the limit, "incomplete" says nothing new.
        fault = fault or (None if truncated and decoded.fault == _INCOMPLETE else decoded.fault)
    if len(body) > decoded_bytes_max:
        return DecodedBody(body[:decoded_bytes_max], truncated=True, fault=fault)
    return DecodedBody(body, truncated, fault)


def _codings(content_encoding: str | None) -> list[str]:
    if not content_encoding:
        return []
    names = (name.strip(" \t").lower() for name in content_encoding.split(",", 64))
    return [name for name in names if name not in ("", "identity", "none")]


def _decode_one(payload: bytes, coding: str, bytes_max: int) -> DecodedBody:
    decode = _DECODERS.get(coding)
    if decode is None:
        return DecodedBody(payload, truncated=False, fault=f"unknown coding {coding[:40]!r}")
    if not payload:
        return DecodedBody(b"", truncated=False, fault=None)
    sink = _Sink(bytes_max)
    fault = decode(payload, sink)
    if fault and not sink.is_full and _looks_plain(payload):
        return DecodedBody(payload, truncated=False, fault=None)
    return DecodedBody(sink.body(), sink.is_full, None if sink.is_full else fault)


def _looks_plain(payload: bytes) -> bool:
    """Whether the first octets are text: compressed data of 20 octets is so once in 10**8 times."""
    look = payload[:LOOK_BYTES]
    if look.translate(None, _CONTROLS) != look:
        return False
    return sum(octet < 128 for octet in look) * 4 >= len(look) * 3


def _gzip(payload: bytes, sink: _Sink) -> str | None:
    if _GZIP_MAGIC.startswith(payload[:2]):
        return _inflate(payload, GZIP_WBITS, sink)
    if _has_zlib_header(payload):
        return _inflate_or_plain(payload, ZLIB_WBITS, sink)
    sink.add(payload[: sink.room])  # a label, and nothing behind it: servers name gzip for plain pages
    return None


def _deflate(payload: bytes, sink: _Sink) -> str | None:
    """Zlib as the standard says; raw deflate and gzip as servers do."""
    if payload[:2] == _GZIP_MAGIC:
        return _inflate(payload, GZIP_WBITS, sink)
    if _has_zlib_header(payload):
        fault = _inflate(payload, ZLIB_WBITS, sink)
        if fault is None or sink.size:
            return fault
    return _inflate(payload, RAW_WBITS, sink)


def _has_zlib_header(payload: bytes) -> bool:
    """RFC 1950 2.2: method 8, window of at most 32 KiB, check bits; one text in 500 passes as well."""
    return (
        len(payload) >= 2
        and payload[0] & 0x0F == 8
        and payload[0] >> 4 <= 7
        and ((payload[0] << 8) | payload[1]) % 31 == 0
    )


def _inflate_or_plain(payload: bytes, wbits: int, sink: _Sink) -> str | None:
    fault = _inflate(payload, wbits, sink)
    if fault and not sink.size:
        sink.add(payload[: sink.room])
        return None
    return fault


def _inflate(payload: bytes, wbits: int, sink: _Sink) -> str | None:
    """All members of `payload` into an empty `sink`; octets behind the last member that start no other are ignored."""
    window = len(payload) if len(payload) <= 4 * WINDOW_BYTES else WINDOW_BYTES
    try:
        return _inflate_members(payload, wbits, sink, window)
    except IsalError:
        # The failed call took its output with it. Once more in small steps, to keep what stands before the bad octets.
        sink.clear()
    try:
        return _inflate_members(payload, wbits, sink, CAREFUL_WINDOW_BYTES)
    except IsalError:
        return _CORRUPT


def _inflate_members(payload: bytes, wbits: int, sink: _Sink, window: int) -> str | None:
    pos = 0
    for _ in range(MEMBERS_MAX):
        member = isal_zlib.decompressobj(wbits=wbits)
        pos = _inflate_member(payload, pos, member, sink, window)
        if sink.is_full:
            return None
        if not member.eof:
            return _INCOMPLETE
        if wbits != GZIP_WBITS or payload[pos : pos + 2] != _GZIP_MAGIC:
            return None
        window = min(window, WINDOW_BYTES)
    return f"more than {MEMBERS_MAX} members"


def _inflate_member(payload: bytes, pos: int, member: "isal_zlib.Decompress", sink: _Sink, window: int) -> int:
    """Feed `payload` from `pos` until its member ends, the sink is full or nothing is left; returns where."""
    fed = payload if not pos and window >= len(payload) else payload[pos : pos + window]
    while fed:
        sink.add(member.decompress(fed, sink.room))
        while member.unconsumed_tail and not sink.is_full:
            sink.add(member.decompress(member.unconsumed_tail, sink.room))
        pos += len(fed)
        if member.eof or sink.is_full:
            return pos - len(member.unused_data)
        fed = payload[pos : pos + window]
    return pos


def _brotli(payload: bytes, sink: _Sink) -> str | None:
    """One stream (RFC 7932); octets behind its end are ignored."""
    read, fault = _brotli_pieces([payload], sink)
    if fault != _CORRUPT:
        return fault
    # The failed call took its output with it: once in windows to find the bad one, and once more octet by octet in it.
    windows = [payload[start : start + WINDOW_BYTES] for start in range(0, len(payload), WINDOW_BYTES)]
    sink.clear()
    read, _ = _brotli_pieces(windows, sink)
    tail = payload[read * WINDOW_BYTES :][:WINDOW_BYTES]
    sink.clear()
    return _brotli_pieces([*windows[:read], *(tail[at : at + 1] for at in range(len(tail)))], sink)[1]


def _brotli_pieces(pieces: Sequence[bytes], sink: _Sink) -> tuple[int, str | None]:
    """How many pieces were read without a fault, and the fault."""
    decoder = brotli.Decompressor()
    for number, piece in enumerate(pieces):
        try:
            part = decoder.process(piece, output_buffer_limit=min(sink.room, STEP_BYTES))
            while part:
                sink.add(part)
                if sink.is_full:
                    return number, None
                part = decoder.process(b"", output_buffer_limit=min(sink.room, STEP_BYTES))
        except brotli.error:
            return number, _CORRUPT
        if decoder.is_finished():
            return number, None
    return len(pieces), _INCOMPLETE


def _zstd(payload: bytes, sink: _Sink) -> str | None:
    """Every frame of `payload` (RFC 8878 3); octets behind the last frame that start no other are ignored."""
    decoder = zstandard.ZstdDecompressor(max_window_size=ZSTD_FRAME_WINDOW_MAX)
    pos = 0
    for _ in range(MEMBERS_MAX):
        frame = decoder.decompressobj()
        try:
            while not frame.eof and pos < len(payload):
                sink.add(frame.decompress(payload[pos : pos + ZSTD_WINDOW_BYTES]))
                pos += ZSTD_WINDOW_BYTES
                if sink.is_full:
                    return None
        except zstandard.ZstdError:
            return _CORRUPT
        if not frame.eof:
            return _INCOMPLETE
        pos = min(pos, len(payload)) - len(frame.unused_data)
        if not _ZSTD_MAGIC.match(payload, pos):
            return None
    return f"more than {MEMBERS_MAX} frames"


_DECODERS: dict[str, _Decode] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
