"""From each entry of a queue back to its URL: no entry without a row in that state, and none that is a second one."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from gossamer.core.keys import (
    LAST,
    crawl_prefix,
    ready_key,
    split_front_key,
    split_waiting_key,
    tally_key,
    url_row_key,
    waiting_key,
)
from gossamer.core.rows import CaptureRow, State, TallyRow, UrlRow, load
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.problems import Problems

BATCH_MAX = 1_000

_Entry = tuple[bytes, bytes, bytes]
"""Place in the queue, the URL's key, the stored value."""
_IsItsPlace = Callable[[UrlRow, _Entry], bool]


def check_queues(partition: PartitionStore, crawl: int, problems: Problems) -> None:
    """READY, WAITING and CAPTURES of a crawl, and FRONT, where hosts wait."""

    def is_ready(row: UrlRow, entry: _Entry) -> bool:
        return entry[0] == ready_key(crawl, entry[1][:8], row.priority, row.sequence)

    def is_waiting(row: UrlRow, entry: _Entry) -> bool:
        return entry[0] == waiting_key(crawl, row.due_at, entry[1])

    def is_captured(row: UrlRow, entry: _Entry) -> bool:
        return row.fetch is not None and row.fetch.raw_key == load(CaptureRow, entry[2]).raw_key

    for family, state, is_its_place in (
        (Family.READY, State.READY, is_ready),
        (Family.WAITING, State.WAITING, is_waiting),
        (Family.CAPTURES, State.CAPTURED, is_captured),
    ):
        for batch in _batches(partition, crawl, family):
            rows = partition.get_many(Family.URLS, [url_row_key(crawl, key) for _, key, _ in batch])
            for entry, stored in zip(batch, rows, strict=True):
                problem = _problem(entry, stored, state, is_its_place)
                if problem:
                    problems.add(f"{family.name} {entry[0].hex()}: {problem}")
    _check_front(partition, crawl, problems)


def _check_front(partition: PartitionStore, crawl: int, problems: Problems) -> None:
    for stored, _ in partition.scan(Family.FRONT, crawl_prefix(crawl), crawl_prefix(crawl) + LAST):
        level, order, host = split_front_key(stored)
        row = partition.get(Family.TALLIES, tally_key(crawl, host))
        with suppress(msgspec.MsgspecError):  # reported where TALLIES is read
            tally = load(TallyRow, row) if row else None
            if tally is None or not tally.ready or (tally.level, tally.order) != (level, order):
                problems.add(f"FRONT {stored.hex()}: {tally.host if tally else 'no known host'} has no place there")


def _batches(partition: PartitionStore, crawl: int, family: Family) -> Iterator[list[_Entry]]:
    prefix = crawl_prefix(crawl)
    batch: list[_Entry] = []
    for place, stored in partition.scan(family, prefix, prefix + LAST):
        batch.append((place, _key_of(family, place, stored), stored))
        if len(batch) >= BATCH_MAX:
            yield batch
            batch = []
    yield batch


def _key_of(family: Family, place: bytes, stored: bytes) -> bytes:
    if family is Family.READY:
        return stored
    if family is Family.WAITING:
        return split_waiting_key(place)[1]
    try:
        return load(CaptureRow, stored).key
    except msgspec.MsgspecError:
        return b""  # reported where CAPTURES is read first


def _problem(entry: _Entry, stored: bytes | None, state: State, is_its_place: _IsItsPlace) -> str:
    if stored is None:
        return f"there is no URLS row for {entry[1].hex() or 'it'}"
    try:
        row = load(UrlRow, stored)
    except msgspec.MsgspecError:
        return ""  # reported where URLS is read
    if row.state is not state:
        return f"{row.url} is {row.state.label}"
    return "" if is_its_place(row, entry) else f"{row.url} has its place elsewhere"
