"""What can be proved of a filter of known URLs: it knows each URL that has a row. Not, which others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gossamer.core.bloom import GrowingFilter
from gossamer.core.bloom_saved import (
    BloomPlan,
    SnapshotDamaged,
    journal_key,
    load_mark,
    mark_key,
    restored,
    split_journal_key,
)
from gossamer.core.keys import LAST, crawl_prefix, url_row_key
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.problems import Problems

BATCH_MAX = 1_000


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """Where the filter of a crawl is: its snapshot in pieces, and what it is sized for when there is none.

    The snapshot is to be opened after the partition: a newer one knows all that an older view has.
    """

    octets: Callable[[], Iterator[bytes]]
    plan: BloomPlan


class Unreadable:
    """Stands for a filter that the next start has to make anew: of no URL it can be said that it is missing there."""

    error_expected = None

    def unknown(self, _keys: Sequence[bytes]) -> list[int]:
        """None."""
        return []


def check_filter(
    partition: PartitionStore, crawl: int, saved: SavedFilter, problems: Problems
) -> GrowingFilter | Unreadable:
    """The filter as the next start would have it. Each key of the journal must have a row."""
    prefix = crawl_prefix(crawl)

    def journal(generation: int) -> Iterator[bytes]:
        return (key for key, _ in partition.scan(Family.SEEN, journal_key(crawl, generation, b""), prefix + LAST))

    _check_journal(partition, crawl, journal(0), problems)
    mark = load_mark(partition.get(Family.META, mark_key(crawl)))
    try:
        return restored(saved.octets(), mark, journal, saved.plan).bloom
    except SnapshotDamaged as damage:
        problems.add(f"SEEN: the snapshot of the filter can't be used: {damage}; the next start makes the filter anew")
        return Unreadable()


def _check_journal(partition: PartitionStore, crawl: int, rows: Iterator[bytes], problems: Problems) -> None:
    held: list[bytes] = []
    for stored in rows:
        held.append(split_journal_key(stored)[1])
        if len(held) >= BATCH_MAX:
            _check_rows(partition, crawl, held, problems)
            held.clear()
    _check_rows(partition, crawl, held, problems)


def _check_rows(partition: PartitionStore, crawl: int, keys: list[bytes], problems: Problems) -> None:
    known = partition.contains_many(Family.URLS, [url_row_key(crawl, key) for key in keys])
    for key, is_known in zip(keys, known, strict=True):
        if not is_known:
            problems.add(f"SEEN {key.hex()}: there is no URLS row for it")
