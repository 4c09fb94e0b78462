"""Start, drain and stop of a crawl. The stop order is the reverse of `pipeline.py`, and it is this code."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from gossamer.ports.clock import Clock
from gossamer.stages.alarm import Alarm
from gossamer.stages.events import HostLeft, Settled
from gossamer.stages.fetch import Fetch
from gossamer.stages.frontier import Frontier, FrontierRules
from gossamer.stages.leases import Lease, Verdict
from gossamer.stages.parse import Parse
from gossamer.stages.store import Store

GRACE_S = 8.0
"""How long a stop waits for contacts under way; then they are dropped and their URLs stay queued."""
PARSE_GRACE_S = 1.0
"""How long it then waits for the parsers: an honest batch takes some 10 ms. Whole, a stop takes less than 10 s."""
BACKLOG_MAX = 2_048
"""Events waiting for a commit above which nothing is leased."""
LOOK_S = 1.0
"""How often a full disk is looked at: nobody rings when it has room again."""
IDLE_LOOK_S = 60.0
"""The dispatcher looks around at least this often. Everything else that can end its wait rings."""


class End(StrEnum):
    """Why a crawl's run ended."""

    COMPLETED = "completed"
    BUDGET_SPENT = "budget-spent"
    STOPPED = "stopped"


@dataclass(slots=True)
class Stages:
    """The stages of one crawl, wired."""

    frontier: Frontier
    fetch: Fetch
    store: Store
    parse: Parse


class Runner:
    """Runs one crawl until nothing is left, the budget is spent or somebody stops it."""

    def __init__(self, stages: Stages, clock: Clock, concurrency: int) -> None:
        self._stages = stages
        self._clock = clock
        self._concurrency = concurrency
        self._alarm = Alarm()
        self._is_stopping = False
        self.is_paused = False
        self.is_ending = False
        stages.store.listeners.captured = stages.parse.captured
        stages.store.listeners.committed = self._alarm.ring

    def pause(self) -> None:
        """Lease nothing more; what is in flight ends as usual."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on after a pause."""
        self.is_paused = False
        self._alarm.ring()

    def change(self, rules: FrontierRules, per_address_delay_s: float, concurrency: int) -> None:
        """Go on by other delays and limits from this moment on. Once `is_ending`, nothing is fetched by them."""
        self._stages.frontier.change(rules)
        self._stages.fetch.gap.change(per_address_delay_s, self._clock.monotonic())
        self._concurrency = concurrency
        self._alarm.ring()

    def stop(self) -> None:
        """End the run in an orderly way, within GRACE_S and a little."""
        self._is_stopping = True
        self._alarm.ring()

    async def run(self) -> End:
        """Crawl. On return everything that was learned is durable; on an exception all but the last moments.

        Raises StoreCorrupt, StoreFull, ParserUnusable, OSError.
        """
        try:
            return await self._run()
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _run(self) -> End:
        store = self._stages.store
        async with asyncio.TaskGroup() as writers:
            writers.create_task(store.run(), name="store")
            try:
                return await self._fetch_and_parse()
            except ExceptionGroup as failed:  # a parser's files, say: what was reported before is kept all the same
                fault = failed
            finally:
                store.stop()
        raise fault

    async def _fetch_and_parse(self) -> End:
        stages = self._stages
        async with asyncio.TaskGroup() as readers:
            parsing = readers.create_task(stages.parse.run(), name="parse")
            end = await self._fetch_all()
            stages.parse.stop()
            await asyncio.wait((parsing,), timeout=PARSE_GRACE_S)
            parsing.cancel()  # a capture that keeps its parser busy stays in the queue
        return end

    async def _fetch_all(self) -> End:
        contacts: dict[asyncio.Task[None], None] = {}  # in order, so that a simulated stop is the same each time
        async with asyncio.TaskGroup() as group:
            while (end := self._end()) is None:
                self._lease(group, contacts)
                if self._end() is None:  # hosts at their own ceilings leave the heap only by being asked
                    await self._wait()
            self.is_ending = True
            if contacts:
                await asyncio.wait(contacts, timeout=GRACE_S)
            for contact in contacts:
                contact.cancel()
        return end

    def _lease(self, group: asyncio.TaskGroup, contacts: dict[asyncio.Task[None], None]) -> None:
        frontier, store = self._stages.frontier, self._stages.store
        while self._may_lease():
            lease = frontier.next_lease()
            if lease is None:
                break
            if isinstance(lease, Verdict):
                store.submit(Settled(lease.host, lease.entry, lease.outcome, self._clock.now()))
                continue
            contact = group.create_task(self._contact(lease))
            contacts[contact] = None
            contact.add_done_callback(contacts.pop)
        while frontier.leavers:
            store.submit(HostLeft(*frontier.leavers.pop()))

    async def _contact(self, lease: Lease) -> None:
        with suppress(asyncio.CancelledError):  # dropped after the grace time: the URL is still in READY
            await self._stages.fetch.contact(lease)
        self._alarm.ring()

    def _may_lease(self) -> bool:
        stages = self._stages
        return (
            not self.is_paused
            and stages.frontier.in_flight < self._concurrency
            and stages.parse.has_room
            and stages.store.backlog < BACKLOG_MAX
            and stages.store.room.for_leases
        )

    async def _wait(self) -> None:
        wake_at = self._stages.frontier.wake_at if self._may_lease() else None
        look_s = IDLE_LOOK_S if self._stages.store.room.for_leases else LOOK_S
        wait_s = look_s if wake_at is None else min(look_s, wake_at - self._clock.monotonic())
        if wait_s <= 0:
            await asyncio.sleep(0)  # more decisions are due than one call makes: let the others run in between
        else:
            await self._alarm.wait(wait_s)

    def _end(self) -> End | None:
        if self._is_stopping:
            return End.STOPPED
        stages = self._stages
        if stages.frontier.in_flight or stages.parse.pending or not stages.store.is_settled:
            return None
        counters = stages.store.ledger.crawl.counters
        if not counters.unsettled and not counters.sitemaps_open:
            return End.COMPLETED
        if stages.frontier.budget.is_spent:
            return End.BUDGET_SPENT
        nothing_waits = stages.frontier.wake_at is None and stages.store.ledger.next_due_at == float("inf")
        # What is left belongs to hosts whose own ceilings are reached.
        return End.BUDGET_SPENT if nothing_waits else None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first. The task groups are ours, the caller knows the fault by its own type."""
    fault = group.exceptions[0]
    return _first(fault) if isinstance(fault, BaseExceptionGroup) else fault
