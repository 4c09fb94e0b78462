"""Which URLs were ever admitted, by a Bloom filter in memory that takes a few new ones for known (`--seen bloom`).

What makes a key durable is its row in the journal, in the batch that admits the URL. Now and then the filter is saved
whole, so that the journal stays short. In this order, each step begun by `turn`, when all that was added is durable:

1. A snapshot is begun; keys that come from here on belong to the next generation of the journal.
2. It is written and synced beside what is published. Its bits may be of keys that came meanwhile, so:
3. it is published at a later turn, when those are durable. A filter that is read never knows a key without a URL.
4. The next batch takes the generations it covers from the journal and marks that it did.

Between any two of them a crash leaves an older snapshot with its journal, or a newer one with rows it covers. How it
is read back: `bloom_start`.
"""

from dataclasses import dataclass
from enum import Enum, auto

from gossamer.core.bloom_saved import (
    BloomPlan,
    Restored,
    dump_mark,
    journal_key,
    mark_key,
    snapshot,
)
from gossamer.ports.partition_store import Batch, Family
from gossamer.ports.seen_snapshots import SeenSnapshots
from gossamer.ports.segments import DiskFull

JOURNAL_KEYS_MIN = 100_000
"""Keys of the journal that are worth a snapshot: a start reads them back in about 0.3 s."""
SNAPSHOT_BYTES_PER_KEY_MAX = 256
"""A larger filter waits for more keys, so that its snapshots write so much for each."""


@dataclass(frozen=True, slots=True)
class BloomRules:
    """What the filter is sized for, and how long its journal may be."""

    plan: BloomPlan
    journal_keys_min: int = JOURNAL_KEYS_MIN


class _Step(Enum):
    IDLE = auto()
    WRITING = auto()
    PUBLISHING = auto()


class BloomSeen:
    """See `seen.Seen`. No cache: the filter answers in less than a microsecond."""

    def __init__(self, crawl: int, snapshots: SeenSnapshots, rules: BloomRules, found: Restored) -> None:
        self._crawl = crawl
        self._snapshots = snapshots
        self._keys_min = rules.journal_keys_min
        self._bloom = found.bloom
        self._step = _Step.IDLE
        self._generation = found.newest + 1
        self._covering = self._covered = found.covered
        self._is_unmarked = found.covered > 0  # after a crash rows may be there that the snapshot covers
        self._journaled, self._covering_keys = found.journaled, 0
        self._tried_at = -self._keys_max() if found.is_anew else 0

    def __repr__(self) -> str:
        return f"<BloomSeen {self._bloom!r}, {self._journaled:,} keys in the journal, {self._step.name.lower()}>"

    def unknown(self, keys: list[bytes]) -> list[int]:
        """See `seen.Seen`. Costs 0.3 µs a new key, 0.7 µs a known one; see `core.bloom` for what it takes for known."""
        return self._bloom.unknown(keys)

    def add(self, batch: Batch, key: bytes) -> bool:
        """See `seen.Seen`."""
        if not self._bloom.unknown([key]):
            return False
        self._bloom.add(key)
        if self._is_unmarked:
            self._mark(batch)
        batch.put(Family.SEEN, journal_key(self._crawl, self._generation, key), b"")
        self._journaled += 1
        return True

    def turn(self) -> None:
        """See `seen.Seen`. Takes one step of the snapshot under way, or begins one; waits for nothing."""
        try:
            if not self._snapshots.is_done():
                return
        except DiskFull:  # the journal has everything; the next try is as many keys away as the first was
            self._step = _Step.IDLE
            return
        match self._step:
            case _Step.IDLE:
                if self._journaled - self._tried_at >= self._keys_max():
                    self._begin()
            case _Step.WRITING:
                self._snapshots.publish()
                self._step = _Step.PUBLISHING
            case _Step.PUBLISHING:
                self._published()

    def _keys_max(self) -> int:
        return max(self._keys_min, self._bloom.size_bytes // SNAPSHOT_BYTES_PER_KEY_MAX)

    def _begin(self) -> None:
        self._covering, self._covering_keys = self._generation, self._journaled
        self._tried_at = self._journaled
        self._generation += 1
        self._snapshots.write(snapshot(self._bloom, self._covering))
        self._step = _Step.WRITING

    def _published(self) -> None:
        self._covered, self._is_unmarked = self._covering, True
        self._journaled -= self._covering_keys
        self._tried_at = 0
        self._step = _Step.IDLE

    def _mark(self, batch: Batch) -> None:
        start, stop = (journal_key(self._crawl, generation, b"") for generation in (0, self._covered + 1))
        batch.delete_range(Family.SEEN, start, stop)
        batch.put(Family.META, mark_key(self._crawl), dump_mark(self._covered))
        self._is_unmarked = False
