"""A filter between two processes: a snapshot comes back whole or is refused, the journal adds what came after it."""

from collections.abc import Iterator

import pytest

from gossamer.core.bloom import GrowingFilter
from gossamer.core.bloom_saved import (
    PIECE_BYTES,
    BloomPlan,
    SnapshotDamaged,
    dump_mark,
    journal_key,
    load_mark,
    read_snapshot,
    restored,
    snapshot,
    split_journal_key,
)

PLAN = BloomPlan(100, 1e-6)


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def filled(count: int, plan: BloomPlan = PLAN) -> GrowingFilter:
    bloom = GrowingFilter(*plan)
    for number in range(count):
        bloom.add(key(number))
    return bloom


def saved(bloom: GrowingFilter, generation: int = 1) -> bytes:
    return b"".join(snapshot(bloom, generation))


def in_pieces(octets: bytes, size: int) -> Iterator[bytes]:
    return (octets[at : at + size] for at in range(0, len(octets), size))


def no_journal(_generation: int) -> Iterator[bytes]:
    return iter(())


# Snapshots.


@pytest.mark.parametrize("size", [1, 7, 1_000, 2**20])
def test_a_snapshot_comes_back_in_pieces_of_any_size(size: int) -> None:
    bloom = filled(350)  # three slices
    found = read_snapshot(in_pieces(saved(bloom, 7), size))
    assert found is not None
    assert (found.generation, found.plan, found.bloom.count) == (7, PLAN, 350)
    assert [piece.octets for piece in found.bloom.slices] == [piece.octets for piece in bloom.slices]
    assert found.bloom.unknown([key(number) for number in range(351)]) == [350]


def test_no_octets_are_no_snapshot() -> None:
    assert read_snapshot(iter(())) is None


def test_a_snapshot_is_made_in_pieces_that_hold_up_nobody() -> None:
    pieces = list(snapshot(GrowingFilter(3_000_000, 0.01), 1))
    assert max(map(len, pieces)) == PIECE_BYTES
    assert sum(map(len, pieces)) == pytest.approx(3_594_398, abs=200)


@pytest.mark.parametrize("at", [0, 5, 18, 25, 45, 60, 300, -9, -1])
def test_one_wrong_octet_anywhere_is_noticed(at: int) -> None:
    octets = bytearray(saved(filled(50)))
    octets[at] ^= 0x40
    with pytest.raises(SnapshotDamaged):
        read_snapshot(iter([bytes(octets)]))


@pytest.mark.parametrize("length", [1, 16, 20, 30, 300, -1])
def test_a_snapshot_that_was_cut_is_noticed(length: int) -> None:
    with pytest.raises(SnapshotDamaged):
        read_snapshot(iter([saved(filled(50))[:length]]))


def test_bits_that_are_set_while_the_pieces_are_taken_may_be_in_them_and_the_count_is_that_of_the_call() -> None:
    bloom = filled(10)
    pieces = snapshot(bloom, 1)
    bloom.add(key(10))
    found = read_snapshot(pieces)
    assert found is not None
    assert found.bloom.count == 10
    assert found.bloom.unknown([key(number) for number in range(11)]) == []


# The journal.


def test_a_journal_is_in_the_order_of_its_generations() -> None:
    rows = [journal_key(1, 1, b"\xff" * 16), journal_key(1, 2, b"\0" * 16), journal_key(1, 300, key(5))]
    assert rows == sorted(rows)
    assert split_journal_key(rows[2]) == (300, key(5))
    assert load_mark(None) == 0
    assert load_mark(dump_mark(9)) == 9


def test_what_came_after_the_snapshot_is_added_from_the_journal_and_counted_once() -> None:
    asked: list[int] = []

    def journal(generation: int) -> Iterator[bytes]:
        asked.append(generation)
        return iter([journal_key(1, 5, key(10)), journal_key(1, 6, key(11))])

    found = restored(iter([saved(filled(10), 4)]), 4, journal, PLAN)
    assert asked == [5]
    assert (found.covered, found.newest, found.journaled, found.bloom.count) == (4, 6, 2, 12)
    assert found.bloom.unknown([key(number) for number in range(13)]) == [12]


def test_without_a_snapshot_the_journal_is_all_there_is() -> None:
    found = restored(iter(()), 0, lambda _: iter([journal_key(1, 1, key(3))]), PLAN)
    assert (found.covered, found.newest, found.journaled) == (0, 1, 1)
    assert found.bloom.unknown([key(3), key(4)]) == [1]
    assert (found.bloom.items, found.bloom.error) == PLAN


def test_a_snapshot_that_is_gone_or_of_an_earlier_time_is_not_gone_on_with() -> None:
    with pytest.raises(SnapshotDamaged, match="it is gone"):
        restored(iter(()), 3, no_journal, PLAN)
    with pytest.raises(SnapshotDamaged, match="older"):
        restored(iter([saved(filled(10), 2)]), 3, no_journal, PLAN)
    assert restored(iter([saved(filled(10), 4)]), 3, no_journal, PLAN).covered == 4  # its rows are still to be taken
