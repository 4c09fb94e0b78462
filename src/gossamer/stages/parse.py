"""The parse queue: durable captures go to the parsers in order, what they made of them goes to the ledger.

In memory is a bounded window of the queue; the rest is read from disk when its turn comes. A batch on which a parser
died is tried again one by one, so that a poison page costs its neighbours nothing but time.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from gossamer.core.keys import capture_key, split_capture_key
from gossamer.core.messages import Parsed, ParseJob, Unparsed
from gossamer.core.rows import CaptureRow, load
from gossamer.ports.parsing import NoRoomForText, Parser, ParserDied
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.events import ParseFailed
from gossamer.stages.store import Store

WINDOW_MAX = 1_024
"""Captures of the queue held in memory."""
PENDING_MAX = 512
"""Captures waiting for a parser above which no page is leased: back-pressure from parse to fetch."""
BATCH_MAX = 8
"""Captures sent to a parser at once."""
CALLS_PER_PARSER = 2
"""Batches under way with one parser, so that it never waits for its next."""


class Lane:
    """A parser, with at most CALLS_PER_PARSER calls under way, or one that has it to itself."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self._gate = asyncio.Lock()
        self._calls = asyncio.Semaphore(CALLS_PER_PARSER)

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Beside other calls: a death takes them all."""
        async with self._gate:
            await self._calls.acquire()
        try:
            yield
        finally:
            self._calls.release()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """With no other call under way: who dies now died of this one."""
        taken = 0
        try:
            async with self._gate:
                while taken < CALLS_PER_PARSER:
                    await self._calls.acquire()
                    taken += 1
                yield
        finally:
            for _ in range(taken):
                self._calls.release()


class Parse:
    """Feeds the parsers."""

    def __init__(self, store: PartitionStore, ledger_store: Store, parsers: Sequence[Parser], crawl: int) -> None:
        self._partition = store
        self._store = ledger_store
        self._lanes = [Lane(parser) for parser in parsers]
        self._crawl = crawl
        self._window: deque[ParseJob] = deque()
        self._last_read = -1
        self._is_all_read = True
        self._ready = asyncio.Event()
        self._is_stopping = False
        self.pending = 0

    def __repr__(self) -> str:
        return f"<Parse {self.pending} pending, {len(self._window)} in memory>"

    @property
    def has_room(self) -> bool:
        """Whether fetching may go on."""
        return self.pending < PENDING_MAX

    def load(self) -> None:
        """Take up the queue that a former process left; back-pressure keeps it near PENDING_MAX."""
        start, stop = capture_key(self._crawl, 0), capture_key(self._crawl + 1, 0)
        self.pending = sum(1 for _ in self._partition.scan(Family.CAPTURES, start, stop))
        self._is_all_read = False
        self._refill()

    def captured(self, jobs: list[ParseJob]) -> None:
        """These captures are durable now."""
        self.pending += len(jobs)
        # The store shows a batch a moment before it is durable: a refill may have read some of these already.
        jobs = [job for job in jobs if job.sequence > self._last_read]
        if self._is_all_read and len(self._window) + len(jobs) <= WINDOW_MAX:
            self._window.extend(jobs)
            self._last_read = jobs[-1].sequence if jobs else self._last_read
        else:
            self._is_all_read = False
        self._ready.set()

    def stop(self) -> None:
        """Let `run` end; what is not parsed yet stays in the queue."""
        self._is_stopping = True
        self._ready.set()

    async def run(self) -> None:
        """Parse until stopped. Raises ParserUnusable."""
        async with asyncio.TaskGroup() as calls:
            for lane in self._lanes:
                for _ in range(CALLS_PER_PARSER):
                    calls.create_task(self._feed(lane))

    async def _feed(self, lane: Lane) -> None:
        await lane.parser.start()  # its imports run beside the first contacts
        while not self._is_stopping:
            jobs = self._next_batch()
            if not jobs:
                self._ready.clear()
                await self._ready.wait()
                continue
            await self._parse(lane, jobs)

    async def _parse(self, lane: Lane, jobs: list[ParseJob]) -> None:
        try:
            async with lane.shared():
                parsed = await lane.parser.parse(jobs)
        except (ParserDied, NoRoomForText):
            async with lane.alone():
                for job in jobs:
                    await self._parse_alone(lane.parser, job)
            return
        for job, page in zip(jobs, parsed, strict=True):
            self._store.submit(_event(job, page))
        self.pending -= len(parsed)

    async def _parse_alone(self, parser: Parser, job: ParseJob) -> None:
        """A text that finds no room is the disk's fault: its capture waits for room."""
        while True:
            try:
                (parsed,) = await parser.parse([job])
            except NoRoomForText:
                self._store.room.is_full()
                await self._store.wait_for_room()
            except ParserDied as died:
                self._store.submit(ParseFailed(job, str(died)))
                break
            else:
                self._store.submit(_event(job, parsed))
                break
        self.pending -= 1

    def _next_batch(self) -> list[ParseJob]:
        if not self._window and not self._is_all_read:
            self._refill()
        return [self._window.popleft() for _ in range(min(BATCH_MAX, len(self._window)))]

    def _refill(self) -> None:
        start, stop = capture_key(self._crawl, self._last_read + 1), capture_key(self._crawl + 1, 0)
        for key, stored in self._partition.scan(Family.CAPTURES, start, stop):
            if len(self._window) >= WINDOW_MAX:
                return
            self._last_read = split_capture_key(key)
            self._window.append(ParseJob(self._last_read, load(CaptureRow, stored)))
        self._is_all_read = True


def _event(job: ParseJob, result: Parsed | Unparsed) -> Parsed | ParseFailed:
    return result if isinstance(result, Parsed) else ParseFailed(job, result.fault)
