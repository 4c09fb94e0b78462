"""What is kept of a Bloom filter between two processes: a snapshot of its bits, and a journal of keys that came after.

A key of the journal belongs to a generation. A snapshot covers all generations up to the one that it names: they are
taken from the journal once the snapshot is in place, and META has a mark of it, in the same batch. Until then a key is
in both, which is harmless.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from xxhash import xxh3_64, xxh3_64_digest

from gossamer.core.bloom import GrowingFilter, Slice
from gossamer.core.keys import crawl_prefix

PIECE_BYTES = 2**20
"""A snapshot is made and read in pieces of this size: making one holds the interpreter for about 0.1 ms."""
HEADER_BYTES_MAX = 2**16
MAGIC = b"gossamer-bloom-1\n"
_FRAME = struct.Struct(">I")
_GENERATION = struct.Struct(">Q")
_DIGEST_BYTES = 8


class SnapshotDamaged(Exception):
    """The octets are no snapshot, or not a whole one; the message says why."""


class BloomPlan(NamedTuple):
    """What a filter is sized for: so many URLs, of which new ones are taken for known at the rate `error`."""

    items: int
    error: float


class _SliceHeader(msgspec.Struct, array_like=True):
    bits: int
    hashes: int
    capacity: int
    count: int


class _Header(msgspec.Struct, array_like=True):
    items: int
    error: float
    generation: int
    slices: list[_SliceHeader]


# A snapshot -----------------------------------------------------------------------------------------------------------


def snapshot(bloom: GrowingFilter, generation: int) -> Iterator[bytes]:
    """The filter in pieces: covers all keys added so far, whose generations are at most `generation`.

    What it covers is fixed by the call; the bits are read as the pieces are taken, on another thread too, and may
    then hold keys that were added meanwhile. Until those are durable nobody may read the snapshot as the newest one.
    """
    pieces = tuple(bloom.slices)
    slices = [_SliceHeader(piece.bits, piece.hashes, piece.capacity, piece.count) for piece in pieces]
    header = msgspec.msgpack.encode(_Header(bloom.items, bloom.error, generation, slices))
    return _octets(MAGIC + _FRAME.pack(len(header)) + header + xxh3_64_digest(header), pieces)


def _octets(head: bytes, slices: tuple[Slice, ...]) -> Iterator[bytes]:
    digest = xxh3_64(head)
    yield head
    for piece in slices:
        view = memoryview(piece.octets)
        for at in range(0, len(view), PIECE_BYTES):
            octets = bytes(view[at : at + PIECE_BYTES])
            digest.update(octets)
            yield octets
    yield digest.digest()


class Saved(NamedTuple):
    """A snapshot that was read."""

    bloom: GrowingFilter
    generation: int

    @property
    def plan(self) -> BloomPlan:
        """What it was made for."""
        return BloomPlan(self.bloom.items, self.bloom.error)


def read_snapshot(octets: Iterator[bytes]) -> Saved | None:
    """The filter of a snapshot in pieces of any size; None when there are no octets. Raises SnapshotDamaged."""
    source = _Source(octets)
    if source.is_empty:
        return None
    if source.take(len(MAGIC)) != MAGIC:
        raise SnapshotDamaged("it does not begin as one")
    (length,) = _FRAME.unpack(source.take(_FRAME.size))
    stored = source.take(min(length, HEADER_BYTES_MAX))
    if source.take(_DIGEST_BYTES) != xxh3_64_digest(stored):  # it says how much memory the rest takes
        raise SnapshotDamaged("the digest of its header is another")
    try:
        header = msgspec.msgpack.decode(stored, type=_Header)
    except msgspec.MsgspecError as error:
        raise SnapshotDamaged(f"its header can't be read: {error}") from error
    slices = [Slice(each.bits, each.hashes, each.capacity, each.count) for each in header.slices]
    for piece in slices:
        source.fill(piece.octets)
    expected = source.digest.digest()
    if source.take(_DIGEST_BYTES) != expected:
        raise SnapshotDamaged("its digest is another")
    return Saved(GrowingFilter(header.items, header.error, slices), header.generation)


class _Source:
    """Octets in pieces of any size, taken in pieces of a wanted size."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = memoryview(next(pieces, b""))
        self.digest = xxh3_64()

    @property
    def is_empty(self) -> bool:
        return not self._held

    def take(self, length: int) -> bytes:
        taken = bytearray(length)
        self.fill(taken)
        return bytes(taken)

    def fill(self, target: bytearray) -> None:
        at = 0
        while at < len(target):
            if not self._held:
                self._held = memoryview(next(self._pieces, b""))
                if not self._held:
                    raise SnapshotDamaged("it ends early")
            piece = self._held[: len(target) - at]
            target[at : at + len(piece)] = piece
            self.digest.update(piece)
            self._held = self._held[len(piece) :]
            at += len(piece)


# The journal ----------------------------------------------------------------------------------------------------------


def journal_key(crawl: int, generation: int, key: bytes) -> bytes:
    """SEEN, where it is the journal of a filter: crawl, generation, URL key."""
    return crawl_prefix(crawl) + _GENERATION.pack(generation) + key


def split_journal_key(stored: bytes) -> tuple[int, bytes]:
    """Generation and URL key."""
    return int(_GENERATION.unpack_from(stored, 4)[0]), stored[12:]


def mark_key(crawl: int) -> bytes:
    """META: the generation up to which keys were taken from the journal because a snapshot covers them."""
    return b"seen-covered:" + crawl_prefix(crawl)


def dump_mark(generation: int) -> bytes:
    """The value under a `mark_key`."""
    return _GENERATION.pack(generation)


def load_mark(stored: bytes | None) -> int:
    """The generation of a mark; 0 for none, which is before the first."""
    return 0 if stored is None else int(_GENERATION.unpack(stored)[0])


# Both together --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Restored:
    """A filter that knows every key that was ever added. `covered`: generations in the snapshot; `newest`: in use.

    `journaled` keys are those of the journal that no snapshot covers. `is_anew`: no snapshot of this filter is kept.
    """

    bloom: GrowingFilter
    covered: int
    newest: int
    journaled: int
    is_anew: bool = False


def restored(
    octets: Iterator[bytes], mark: int, journal: Callable[[int], Iterator[bytes]], plan: BloomPlan
) -> Restored:
    """The filter from its snapshot and what `journal(generation)` gives: rows' keys from that generation on.

    Without a snapshot it is one of `plan`. Raises SnapshotDamaged, also when the snapshot that `mark` tells of is gone.
    """
    saved = read_snapshot(octets)
    if mark and saved is None:
        raise SnapshotDamaged("it is gone")
    if saved is not None and saved.generation < mark:
        raise SnapshotDamaged("it is an older one")
    bloom, covered = (saved.bloom, saved.generation) if saved else (GrowingFilter(*plan), 0)
    newest, journaled = covered, 0
    for stored in journal(covered + 1):
        newest, key = split_journal_key(stored)
        bloom.add(key)
        journaled += 1
    return Restored(bloom, covered, newest, journaled)
