"""A Bloom filter for URL keys: its arithmetic, one slice, and a filter that grows a slice when it is full.

Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970. Positions by double hashing: Kirsch and
Mitzenmacher, 2006. Growth by slices of tighter error: Almeida et al., "Scalable Bloom Filters", 2007.
"""

from collections.abc import Iterable, Sequence
from math import ceil, exp, expm1, log, log1p, log2

from xxhash import xxh3_128_intdigest

GROWTH_SHARE = 0.05
"""The second slice has this share of the asked error, each further one half of the one before: together 0.1."""
_U64 = 2**64 - 1


# Arithmetic -----------------------------------------------------------------------------------------------------------


def bits_per_item(error: float) -> float:
    """Bits an item at the best number of hashes: −ln p ÷ (ln 2)², 9.585 at 1 %."""
    return -log(error) / log(2) ** 2


def size_bits(items: int, error: float) -> int:
    """Bits of a filter that answers wrongly at the rate `error` once it holds `items`."""
    return ceil(items * bits_per_item(error))


def hashes_for(error: float) -> int:
    """The best number of hashes: −log2 p, 7 at 1 %."""
    return max(1, round(-log2(error)))


def expected_error(items: int, bits: int, hashes: int) -> float:
    """The share of new items that a filter with `items` in it takes for known."""
    return (1 - exp(-hashes * items / bits)) ** hashes


def slice_plan(items: int, error: float, number: int) -> tuple[int, float]:
    """Items and error of slice `number` (from 0) of a filter for `items`: each further one doubles the whole.

    New keys are taken for known by any of the slices, all full, at a rate below 1.2 × `error`: 1.1 by their shares,
    and 6 % because hashes are whole numbers.
    """
    if number == 0:
        return items, error
    return items << number - 1, error * GROWTH_SHARE / 2 ** (number - 1)


# One slice ------------------------------------------------------------------------------------------------------------


class Slice:
    """An array of bits with a number of hashes. `capacity` items keep to the error it was sized for."""

    def __init__(self, bits: int, hashes: int, capacity: int, count: int = 0) -> None:
        self.bits = bits
        self.hashes = hashes
        self.capacity = capacity
        self.count = count
        self.octets = bytearray((bits + 7) // 8)

    def __repr__(self) -> str:
        return f"<Slice {self.count:,} of {self.capacity:,} in {self.bits:,} bits, {self.hashes} hashes>"

    @classmethod
    def sized(cls, items: int, error: float) -> "Slice":
        """By the formula."""
        return cls(size_bits(items, error), hashes_for(error), items)

    def positions(self, key: bytes) -> list[int]:
        """The bits of a key. All 16 bytes are mixed again: the first 8 are those of the host, shared by its URLs."""
        mixed, size = xxh3_128_intdigest(key), self.bits
        first, step = (mixed & _U64) % size, (mixed >> 64) % size or 1
        return [(first + turn * step) % size for turn in range(self.hashes)]

    def set_all(self, positions: Iterable[int]) -> None:
        """Set these bits."""
        octets = self.octets
        for position in positions:
            octets[position >> 3] |= 1 << (position & 7)

    def has_all(self, positions: Iterable[int]) -> bool:
        """Whether all of these bits are set."""
        octets = self.octets
        return all(octets[position >> 3] >> (position & 7) & 1 for position in positions)

    def add(self, key: bytes) -> None:
        """Count a key in."""
        self.set_all(self.positions(key))
        self.count += 1

    def missing(self, keys: Sequence[bytes], asked: Iterable[int]) -> list[int]:
        """Of the places `asked` in `keys` those whose key was never added. 0.3 µs a new key, 0.7 µs a known one."""
        octets, size, turns = self.octets, self.bits, range(self.hashes)
        found = []
        for at in asked:  # `positions` and `has_all` without their lists: half the time
            mixed = xxh3_128_intdigest(keys[at])
            position, step = (mixed & _U64) % size, (mixed >> 64) % size or 1
            for _ in turns:
                if not octets[position >> 3] & (1 << (position & 7)):
                    found.append(at)
                    break
                position += step
                if position >= size:
                    position -= size
        return found

    @property
    def error_expected(self) -> float:
        """The share of new keys that it takes for known, as it is filled now."""
        return expected_error(self.count, self.bits, self.hashes)


# The filter -----------------------------------------------------------------------------------------------------------


class GrowingFilter:
    """Sized for `items` at the rate `error`; when it is full it doubles (`slice_plan`, with the bound on the error)."""

    def __init__(self, items: int, error: float, slices: Iterable[Slice] = ()) -> None:
        self.items = items
        self.error = error
        self.slices = list(slices) or [Slice.sized(items, error)]

    def __repr__(self) -> str:
        return f"<GrowingFilter {self.count:,} keys, {self.size_bytes:,} bytes, {len(self.slices)} slices>"

    def unknown(self, keys: Sequence[bytes]) -> list[int]:
        """Places of the keys that were never added; of those that were, none."""
        asked = list(range(len(keys)))
        for piece in self.slices:
            if not asked:
                break
            asked = piece.missing(keys, asked)
        return asked

    def add(self, key: bytes) -> None:
        """Count a key in that `unknown` named."""
        if self.slices[-1].count >= self.slices[-1].capacity:
            self.slices.append(Slice.sized(*slice_plan(self.items, self.error, len(self.slices))))
        self.slices[-1].add(key)

    @property
    def count(self) -> int:
        """Keys that were added."""
        return sum(piece.count for piece in self.slices)

    @property
    def size_bytes(self) -> int:
        """Memory of the bits."""
        return sum(len(piece.octets) for piece in self.slices)

    @property
    def error_expected(self) -> float:
        """The share of new keys that it takes for known, as it is filled now."""
        return -expm1(sum(log1p(-piece.error_expected) for piece in self.slices))
