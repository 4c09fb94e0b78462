"""SEEN, URLS, PAGES and LINKS side by side, and from each open URL to its entry in a queue."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from gossamer.core.keys import LAST, crawl_prefix, ready_key, waiting_key
from gossamer.core.rows import CaptureRow, PageRow, State, UrlRow, load
from gossamer.core.url import Url
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.lookup import key_of
from gossamer.views.problems import Problems

Loaded = TypeVar("Loaded", bound=msgspec.Struct)
BATCH_MAX = 1_000
CAPTURES_HELD_MAX = 1_000_000
"""Keys of the parse queue held in memory. Back-pressure keeps the queue near 1,500."""


class CheckedRow(NamedTuple):
    """A URL whose row can be read."""

    key: bytes
    url: UrlRow
    page: PageRow | None


class KeySet(Protocol):
    """The set of known URLs where it is not family SEEN, row for row."""

    def unknown(self, keys: Sequence[bytes]) -> list[int]:
        """Places of the keys that it does not know."""


class RowCheck:
    """One pass over the rows of a crawl. SEEN is read along, except where `known` stands for it."""

    def __init__(self, partition: PartitionStore, crawl: int, problems: Problems, known: KeySet | None = None) -> None:
        self._partition = partition
        self._crawl = crawl
        self._problems = problems
        self._known = known
        self._ready: list[tuple[bytes, bytes, str]] = []
        self._waiting: list[tuple[bytes, bytes, str]] = []
        self._captured = self._captured_keys()

    def rows(self) -> Iterator[CheckedRow]:
        """Every readable row, checked against the other families."""
        prefix = crawl_prefix(self._crawl)
        families = (Family.SEEN, Family.URLS, Family.PAGES, Family.LINKS)
        scans = [self._partition.scan(family, prefix, prefix + LAST) for family in families]
        if self._known is not None:
            scans[0] = iter(())
        for stored_key, (seen, stored_url, stored_page, links) in side_by_side(scans):
            key = stored_key[4:]
            row = self._load(UrlRow, stored_url, f"URLS {key.hex()}")
            page = self._load(PageRow, stored_page, f"PAGES {key.hex()}")
            if row is None:
                self._without_row(key, seen, stored_url)
                continue
            if not self._is_known(key, seen):
                self._problems.add(f"{row.url}: it has a row, but SEEN does not know it")
            self._check(key, row, page, has_links=links is not None)
            yield CheckedRow(key, row, page)
        self._flush()

    def _is_known(self, key: bytes, seen: bytes | None) -> bool:
        return seen is not None if self._known is None else not self._known.unknown([key])

    def _without_row(self, key: bytes, seen: bytes | None, stored_url: bytes | None) -> None:
        if stored_url is None:
            family = "SEEN" if seen is not None else "PAGES or LINKS"
            self._problems.add(f"{family} {key.hex()}: there is no URLS row for it")

    def _check(self, key: bytes, row: UrlRow, page: PageRow | None, *, has_links: bool) -> None:
        add = self._problems.add
        if key_of(Url(row.url), row.kind) != key:
            add(f"{row.url}: its row lies under the key of another URL, {key.hex()}")
        if row.state is State.FETCHED and page is None:
            add(f"{row.url}: fetched, but PAGES has no row for it")
        if row.state is State.FETCHED and row.fetch is None:
            add(f"{row.url}: fetched, but its row names no stored answer")
        if (page is None) == has_links:
            add(f"{row.url}: {'LINKS' if has_links else 'PAGES'} has a row for it, but the other of both has none")
        self._check_place(key, row)

    def _check_place(self, key: bytes, row: UrlRow) -> None:
        match row.state:
            case State.READY:
                self._ready.append((ready_key(self._crawl, key[:8], row.priority, row.sequence), key, row.url))
            case State.WAITING:
                self._waiting.append((waiting_key(self._crawl, row.due_at, key), b"", row.url))
            case State.CAPTURED:
                if key not in self._captured and len(self._captured) < CAPTURES_HELD_MAX:
                    self._problems.add(f"{row.url}: captured, but CAPTURES has no entry for it")
            case _:
                pass
        if len(self._ready) + len(self._waiting) >= BATCH_MAX:
            self._flush()

    def _flush(self) -> None:
        for family, held in ((Family.READY, self._ready), (Family.WAITING, self._waiting)):
            entries = self._partition.get_many(family, [place for place, _, _ in held])
            for (_, wanted, url), entry in zip(held, entries, strict=True):
                if entry != wanted:
                    what = "no entry for it" if entry is None else "another URL in its place"
                    self._problems.add(f"{url}: {family.value}, but {family.name} has {what}")
            held.clear()

    def _captured_keys(self) -> set[bytes]:
        prefix, keys = crawl_prefix(self._crawl), set()
        for place, stored in self._partition.scan(Family.CAPTURES, prefix, prefix + LAST):
            row = self._load(CaptureRow, stored, f"CAPTURES {place.hex()}")
            if row is not None:
                if row.key in keys:
                    self._problems.add(f"{row.url}: CAPTURES has two entries for it")
                keys.add(row.key)
            if len(keys) >= CAPTURES_HELD_MAX:
                break
        return keys

    def _load(self, kind: type[Loaded], stored: bytes | None, where: str) -> Loaded | None:
        if stored is None:
            return None
        try:
            return load(kind, stored)
        except msgspec.MsgspecError as error:
            self._problems.add(f"{where}: the row can't be read: {error}")
            return None


def side_by_side(
    scans: Sequence[Iterator[tuple[bytes, bytes]]],
) -> Iterator[tuple[bytes, list[bytes | None]]]:
    """Sorted scans merged: each key once, with the value that each scan has for it."""
    heads = [next(scan, None) for scan in scans]
    while True:
        keys = [head[0] for head in heads if head is not None]
        if not keys:
            return
        key = min(keys)
        values: list[bytes | None] = [head[1] if head is not None and head[0] == key else None for head in heads]
        yield key, values
        heads = [
            next(scan, None) if head is not None and head[0] == key else head
            for scan, head in zip(scans, heads, strict=True)
        ]
