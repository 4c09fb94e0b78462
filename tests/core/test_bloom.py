"""The Bloom filter: sizes by the formula, a known key is never called new, and new ones seldom known."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.bloom import (
    GrowingFilter,
    Slice,
    bits_per_item,
    expected_error,
    hashes_for,
    size_bits,
    slice_plan,
)

ASKED = 200_000


def keys_of_one_host(count: int, rng: Random) -> list[bytes]:
    host = rng.randbytes(8)
    return [host + rng.randbytes(8) for _ in range(count)]


def keys_of_many_hosts(count: int, rng: Random) -> list[bytes]:
    return [rng.randbytes(16) for _ in range(count)]


def counted_error(bloom: GrowingFilter, new: list[bytes]) -> float:
    return 1 - len(bloom.unknown(new)) / len(new)


# Arithmetic.


@pytest.mark.parametrize(("error", "bits", "hashes"), [(0.01, 9.585, 7), (0.001, 14.378, 10)])
def test_bits_and_hashes_follow_from_the_error(error: float, bits: float, hashes: int) -> None:
    assert round(bits_per_item(error), 3) == bits
    assert hashes_for(error) == hashes


@pytest.mark.parametrize(
    ("items", "error", "gigabytes"), [(5 * 10**9, 0.01, 6.0), (10**10, 0.01, 12.0), (10**10, 0.001, 18.0)]
)
def test_the_size_of_a_large_crawl(items: int, error: float, gigabytes: float) -> None:
    assert round(size_bits(items, error) / 8 / 1e9, 1) == gigabytes


def test_over_1024_partitions_it_is_12_megabytes_each() -> None:
    assert round(size_bits(10**10 // 1_024, 0.01) / 8 / 1e6) == 12


def test_a_filter_that_is_full_errs_as_it_was_asked_to() -> None:
    for error in (0.1, 0.01, 0.001, 1e-6):
        bits = size_bits(10**6, error)
        assert error <= expected_error(10**6, bits, hashes_for(error)) <= 1.06 * error
    assert expected_error(0, 100, 3) == 0


def test_sixteen_bits_and_three_hashes() -> None:
    bloom = Slice(16, 3, capacity=2)
    bloom.set_all([2, 7, 11])  # x
    bloom.set_all([4, 7, 13])  # y
    assert bloom.octets == bytes([0b1001_0100, 0b0010_1000])
    assert bloom.has_all([2, 7, 11])
    assert bloom.has_all([4, 7, 13])
    assert bloom.has_all([2, 4, 13])  # a false positive
    assert not bloom.has_all([1, 7, 9])  # certainly new


# Keys.


@given(st.lists(st.binary(min_size=16, max_size=16)), st.lists(st.binary(min_size=16, max_size=16)))
def test_the_fast_way_to_ask_is_the_plain_one(added: list[bytes], asked: list[bytes]) -> None:
    piece = Slice.sized(20, 0.1)
    for key in added:
        piece.add(key)
    keys = asked + added
    plain = [at for at, key in enumerate(keys) if not piece.has_all(piece.positions(key))]
    assert piece.missing(keys, range(len(keys))) == plain
    assert all(at < len(asked) for at in plain)


def test_an_empty_filter_knows_nothing_and_a_key_asked_twice_is_named_twice() -> None:
    bloom = GrowingFilter(1_000, 0.01)
    a, b = b"a" * 16, b"b" * 16
    assert bloom.unknown([a, b, a]) == [0, 1, 2]
    bloom.add(a)
    assert bloom.unknown([a, b, a]) == [1]
    assert bloom.unknown([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.01, 0.001])
@pytest.mark.parametrize("make", [keys_of_one_host, keys_of_many_hosts])
def test_a_million_keys_err_at_the_rate_that_was_asked(
    error: float, make: Callable[[int, Random], list[bytes]]
) -> None:
    made = make(10**6 + ASKED, Random(8))
    known, new = made[: 10**6], made[10**6 :]
    bloom = GrowingFilter(10**6, error)
    for key in known:
        bloom.add(key)
    assert bloom.unknown(known) == []
    assert 0.5 * error < counted_error(bloom, new) <= 1.2 * error
    assert len(bloom.slices) == 1


# Growth.


@pytest.mark.slow
def test_sixteen_times_what_was_expected_errs_no_more_than_the_bound() -> None:
    error, made = 0.01, keys_of_one_host(16 * 5_000 + ASKED, Random(9))
    known, new = made[: 16 * 5_000], made[16 * 5_000 :]
    bloom = GrowingFilter(5_000, error)
    for key in known:
        bloom.add(key)
    assert [piece.capacity for piece in bloom.slices] == [5_000, 5_000, 10_000, 20_000, 40_000]
    assert bloom.count == len(known)
    assert bloom.unknown(known) == []
    assert counted_error(bloom, new) <= 1.2 * error
    assert counted_error(bloom, new) == pytest.approx(bloom.error_expected, rel=0.15)


@pytest.mark.parametrize("error", [0.1, 0.088, 0.05, 0.01, 0.001, 1e-6])
def test_all_slices_full_keep_the_bound_however_many_there_are(error: float) -> None:
    plans = [slice_plan(1_000, error, number) for number in range(24)]
    assert [items for items, _ in plans[:4]] == [1_000, 1_000, 2_000, 4_000]
    together = sum(expected_error(items, size_bits(items, each), hashes_for(each)) for items, each in plans)
    assert together <= 1.2 * error


def test_a_slice_is_added_when_the_last_one_is_full_and_not_before() -> None:
    bloom = GrowingFilter(10, 0.01)
    for number in range(10):
        bloom.add(bytes([number]) * 16)
    assert len(bloom.slices) == 1
    bloom.add(b"x" * 16)
    assert len(bloom.slices) == 2
    assert bloom.unknown([bytes([number]) * 16 for number in range(10)] + [b"x" * 16]) == []


def test_memory_is_the_bits_and_a_filter_tells_how_full_it_is() -> None:
    bloom = GrowingFilter(10**6, 0.01)
    assert bloom.size_bytes == 1_198_133  # 9.585 bits a key
    assert repr(bloom) == "<GrowingFilter 0 keys, 1,198,133 bytes, 1 slices>"
    assert repr(bloom.slices[0]) == "<Slice 0 of 1,000,000 in 9,585,059 bits, 7 hashes>"
