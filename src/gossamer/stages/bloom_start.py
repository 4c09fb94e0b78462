"""The start of a crawl with `--seen bloom`: its filter from the snapshot and the journal, or anew from all URLs."""

from collections.abc import Callable, Iterator

from gossamer.core.bloom import GrowingFilter
from gossamer.core.bloom_saved import (
    BloomPlan,
    Restored,
    SnapshotDamaged,
    journal_key,
    load_mark,
    mark_key,
    restored,
    split_journal_key,
)
from gossamer.core.keys import LAST, crawl_prefix
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.ports.seen_snapshots import SeenSnapshots
from gossamer.stages.bloom_seen import BloomRules, BloomSeen


def load_bloom_seen(
    store: PartitionStore,
    crawl: int,
    snapshots: SeenSnapshots,
    rules: BloomRules,
    say: Callable[[str], None] = lambda _: None,
) -> BloomSeen:
    """The set as the last process left it. Reads the snapshot and the journal, in seconds for a large crawl.

    When the snapshot can't be used, or was made for another plan, the filter is made from the URLs, and `say` is told.
    """

    def journal(generation: int) -> Iterator[bytes]:
        stop = crawl_prefix(crawl) + LAST
        return (key for key, _ in store.scan(Family.SEEN, journal_key(crawl, generation, b""), stop))

    newest = mark = load_mark(store.get(Family.META, mark_key(crawl)))
    try:
        found = restored(snapshots.published(), mark, journal, rules.plan)
        newest = found.newest
        why = "it was sized for other settings" if (found.bloom.items, found.bloom.error) != rules.plan else ""
    except SnapshotDamaged as damage:
        why = f"its snapshot can't be used: {damage}"
    if why:
        say(f"the filter of known URLs is made anew from all URLs, because {why}")
        found = _made_anew(store, crawl, newest, journal, rules.plan)
    return BloomSeen(crawl, snapshots, rules, found)


def _made_anew(
    store: PartitionStore, crawl: int, newest: int, journal: Callable[[int], Iterator[bytes]], plan: BloomPlan
) -> Restored:
    """Every key is the key of a row in URLS too: some 3 µs each. `newest`: a generation that was in use, at least."""
    bloom, prefix = GrowingFilter(*plan), crawl_prefix(crawl)
    for stored, _ in store.scan(Family.URLS, prefix, prefix + LAST):
        bloom.add(stored[len(prefix) :])
    journaled = 0
    for stored in journal(0):
        newest, journaled = max(newest, split_journal_key(stored)[0]), journaled + 1
    return Restored(bloom, 0, newest, journaled, is_anew=True)
