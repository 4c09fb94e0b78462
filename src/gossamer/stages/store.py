"""Group commit: what the other stages report becomes durable together, in this order.

1. Records were appended to open segments as the answers came.
2. The segments are synced.
3. One batch settles URLs, hosts, counts and committed lengths, and queues captures; its log is synced.
4. Only then memory is told: captures may be parsed, new URLs may be leased, entries leave their runs.

Between 1 and 3 a crash leaves a tail of records that nobody refers to; it is cut off at the next start.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gossamer.core.messages import ParseJob
from gossamer.core.rows import Kind
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import PartitionStore, StoreFull
from gossamer.ports.segments import DiskFull, SegmentSync
from gossamer.stages.alarm import Alarm
from gossamer.stages.capture import CaptureWriter
from gossamer.stages.events import Discovered, Event
from gossamer.stages.frontier import Frontier
from gossamer.stages.ledger import Ledger
from gossamer.stages.posting import Posting
from gossamer.stages.room import Room

GROUP_MAX = 512
"""Events of one batch."""
GROUP_WINDOW_S = 0.03
"""How long the first event of a group waits for others: the price of a sync is shared, a page waits little."""
FULL_PAUSE_S = 1.0
"""How often a full disk is looked at again."""
FULL_STOP_S = 1.0
"""How long a stop waits for space; what can't be committed by then is fetched or parsed again next time."""


@dataclass(slots=True)
class Listeners:
    """Who is told of what: captures once they are durable, and each commit (to lease again)."""

    captured: Callable[[list[ParseJob]], None]
    committed: Callable[[], None]


@dataclass(slots=True)
class Durable:
    """Where things are kept."""

    partition: PartitionStore
    segments: SegmentSync
    captures: CaptureWriter
    room: Room


class Store:
    """The only writer of the partition."""

    def __init__(self, durable: Durable, ledger: Ledger, frontier: Frontier, clock: Clock) -> None:
        self._durable = durable
        self._frontier = frontier
        self._clock = clock
        self._events: list[Event] = []
        self._alarm = Alarm()
        self._is_stopping = False
        self._gives_up_at = float("inf")
        self._is_committing = False
        self.ledger = ledger
        self.room = durable.room
        self.listeners = Listeners(lambda _: None, lambda: None)

    def __repr__(self) -> str:
        return f"<Store {len(self._events)} events waiting>"

    @property
    def backlog(self) -> int:
        """Events that are not durable yet."""
        return len(self._events)

    @property
    def is_settled(self) -> bool:
        """Whether everything reported so far is durable."""
        return not self._events and not self._is_committing

    def submit(self, event: Event) -> None:
        """Report something; it is durable some 50 ms later."""
        self._events.append(event)
        self._alarm.ring()

    def touch(self) -> None:
        """Make the crawl's row durable soon: its status has changed, though no URL has."""
        self.submit(Discovered([], b"", Kind.PAGE, 0, ""))

    def stop(self) -> None:
        """Let `run` end once everything reported is durable, or the disk has been full for too long."""
        self._is_stopping = True
        self._gives_up_at = self._clock.monotonic() + FULL_STOP_S
        self._alarm.ring()

    async def run(self) -> None:
        """Commit groups until stopped. Raises StoreCorrupt, and StoreFull when the disk is full at a stop."""
        while True:
            await self._alarm.wait(self._until_due())
            if self._events and not self._is_stopping and len(self._events) < GROUP_MAX:
                await self._clock.sleep_until(self._clock.monotonic() + GROUP_WINDOW_S)
            while self._events or self._is_due():
                await self.commit_group()
            if self._is_stopping:
                return

    async def commit_group(self) -> None:
        """Commit what was reported so far, at most GROUP_MAX events."""
        group, self._events = self._events[:GROUP_MAX], self._events[GROUP_MAX:]
        posting = self.ledger.open(self._clock.now())
        posting.segments.update(self._durable.captures.take_touched())
        for event in group:
            self.ledger.post(posting, event)
        if self._is_due():
            self.ledger.promote_due(posting)
        self.ledger.close(posting)
        self._is_committing = True
        await self._keep(posting)
        self._is_committing = False
        self._frontier.settled(posting)
        if posting.captured:
            self.listeners.captured(posting.captured)
        self.listeners.committed()

    async def wait_for_room(self) -> None:
        """Return once pages may be asked for again."""
        while not self.room.for_leases:
            await self._clock.sleep_until(self._clock.monotonic() + FULL_PAUSE_S)

    async def _keep(self, posting: Posting) -> None:
        """However long the disk stays full: the same batch later is the same state. Raises StoreFull at a stop."""
        while True:
            if self.room.for_commits:
                try:
                    await self._durable.segments.sync(posting.segments.keys())
                    await self._durable.partition.commit(posting.batch)
                except (DiskFull, StoreFull):
                    self.room.is_full()
                else:
                    return
            now = self._clock.monotonic()
            if now >= self._gives_up_at:
                raise StoreFull("the disk is full: what came last is not saved, and will be fetched again")
            await self._clock.sleep_until(min(now + FULL_PAUSE_S, self._gives_up_at))

    def _until_due(self) -> float | None:
        due_at = self.ledger.next_due_at
        return None if due_at == float("inf") else max(0.0, due_at - self._clock.now())

    def _is_due(self) -> bool:
        return not self._is_stopping and self.ledger.next_due_at <= self._clock.now()
