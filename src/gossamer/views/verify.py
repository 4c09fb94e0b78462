"""The proof of a crawl's accounts: every URL in exactly one state, totals right, every record readable and whole.

Families are read side by side in the order of their keys; in memory are one host's counts, batches of 1,000 keys and
the parse queue, whatever the size of the crawl.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from gossamer.core.rows import CrawlRow
from gossamer.ports.partition_store import PartitionStore
from gossamer.ports.segment_reading import SegmentReading
from gossamer.views.forms import counts_by_state
from gossamer.views.problems import Problems
from gossamer.views.verify_queues import check_queues
from gossamer.views.verify_records import RecordCheck, SegmentFile, check_segments
from gossamer.views.verify_rows import RowCheck
from gossamer.views.verify_seen import SavedFilter, check_filter
from gossamer.views.verify_sites import check_sites
from gossamer.views.verify_totals import HostTotals, check_counters, check_robots

TICK_EVERY = 1_000
"""Rows between two reports of progress."""


class VerifyView(msgspec.Struct, rename="camel"):
    """`urls` = the sum of `states` = discovered. `tail_bytes`: behind the committed lengths, harmless after a kill.

    `seen`: exact, or bloom; then `seen_error` is the share of new URLs that the filter takes for known by now (null for
    one that can't be read).
    """

    crawl_id: str
    urls: int
    states: dict[str, int]
    sitemaps: int
    records: int
    segments: int
    tail_bytes: int
    seen: str
    seen_error: float | None
    problems: list[str]
    problems_total: int


class Segments(NamedTuple):
    """The segments of a crawl: what is committed and on disk, and readers of both kinds. None: records are not read."""

    files: Mapping[str, SegmentFile]
    raw: SegmentReading
    text: SegmentReading


@dataclass(slots=True)
class Depth:
    """Whether records are read too, or the accounts and lengths alone; and whom to tell how far it is."""

    records: bool = True
    tick: Callable[[str, int], None] = field(default=lambda _what, _count: None)


def verify(
    partition: PartitionStore, crawl: CrawlRow, segments: Segments, depth: Depth, saved: SavedFilter | None = None
) -> VerifyView:
    """All checks on one crawl. `saved` is there for one that knows its URLs by a filter."""
    problems = Problems()
    known = check_filter(partition, crawl.number, saved, problems) if saved else None
    hosts = HostTotals(partition, crawl.number, problems)
    rows = RowCheck(partition, crawl.number, problems, known)
    records = RecordCheck(segments.files, segments.raw, segments.text, problems, reads=depth.records)
    for count, (key, url, page) in enumerate(rows.rows(), 1):
        hosts.add(key, url)
        records.check(url, page)
        if count % TICK_EVERY == 0:
            depth.tick("rows", count)
    hosts.finish()
    check_queues(partition, crawl.number, problems)
    check_sites(partition, crawl.number, problems)
    check_counters(crawl, hosts.totals, problems)
    check_robots(partition, problems)
    walked, tail_bytes = check_segments(segments.files, problems, depth.tick, reads=depth.records)
    return VerifyView(
        crawl.crawl_id,
        sum(hosts.totals.states),
        counts_by_state(hosts.totals.states),
        hosts.totals.sitemaps,
        walked,
        len(segments.files),
        tail_bytes,
        "bloom" if known else "exact",
        known.error_expected if known else None,
        problems.kept,
        problems.total,
    )
