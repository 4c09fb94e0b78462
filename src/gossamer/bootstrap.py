"""The composition root of a crawl: configuration → adapters → stages. That of looking at one is `reading`."""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from gossamer import __version__
from gossamer.adapters.dns.resolver import CaresDns, DnsLimits
from gossamer.adapters.files.contact_log import Author, ContactLog, newest_contacts
from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.files.seen_snapshots import SeenFile
from gossamer.adapters.files.segment_sync import LocalSegmentSync
from gossamer.adapters.files.segments import SegmentPlan, SegmentWriter, recover, write_index
from gossamer.adapters.http.client import HttpClient, verifying_tls
from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.processes.frames import WorkerPlan
from gossamer.adapters.processes.parser import ParserProcess
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.adapters.system.clock import SystemClock
from gossamer.adapters.system.disk import LocalDisk
from gossamer.adapters.system.lock import DirectoryLock
from gossamer.adapters.system.random import fresh_random
from gossamer.config import CrawlConfig, as_plain
from gossamer.core.bloom import size_bits
from gossamer.core.budget import Budget
from gossamer.core.contacts import RunFacts
from gossamer.core.keys import (
    LAST,
    VERSION_KEY,
    committed_length,
    crawl_meta_key,
    segment_meta_key,
    split_segment_meta_key,
)
from gossamer.core.robots_copy import UnreachableMode
from gossamer.core.rows import ROW_VERSION, CrawlRow, dump
from gossamer.core.warc import timestamp14, warcinfo_record
from gossamer.ports.partition_store import Family, PartitionStore, StoreCorrupt
from gossamer.reading import Reading, crawls_in
from gossamer.stages.address_gap import AddressGap
from gossamer.stages.bloom_seen import BloomRules
from gossamer.stages.bloom_start import load_bloom_seen
from gossamer.stages.capture import CaptureWriter
from gossamer.stages.fetch import Fetch, FetchRules, Surroundings
from gossamer.stages.frontier import Frontier, FrontierRules
from gossamer.stages.ledger import Books, Ledger, LedgerRules
from gossamer.stages.opening import Change, change_options
from gossamer.stages.parse import Parse
from gossamer.stages.replay import replay
from gossamer.stages.room import LEASE_BYTES_MIN, Room
from gossamer.stages.runner import Runner, Stages
from gossamer.stages.seen import ExactSeen, Seen
from gossamer.stages.store import Durable, Store


class NoRoom(Exception):
    """The disk is too full to begin; the message has the figures."""


def raise_file_limit() -> None:
    """1,000 fetches and 256 idle connections need more descriptors than the usual soft limit of 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def wall_time() -> float:
    """Seconds since 1970."""
    return SystemClock().now()


# Crawling.


@dataclass(frozen=True, slots=True)
class Installation:
    """A data directory held by this process: the only writer."""

    directory: DataDirectory
    partition: RocksPartitionStore
    crawls: tuple[CrawlRow, ...]


@contextmanager
def open_installation(data: Path) -> Iterator[Installation]:
    """Hold `data` for writing, making it when it is not there.

    Raises DirectoryInUse, NoRoom, StoreCorrupt, OSError; nothing is changed then.
    """
    directory = DataDirectory(data.absolute())
    directory.state.parent.mkdir(parents=True, exist_ok=True)
    free = LocalDisk(directory.root).free_bytes()
    if free < LEASE_BYTES_MIN:
        raise NoRoom(f"{data}: {free // 2**20} MiB free on the disk; at least {LEASE_BYTES_MIN // 2**20} are needed")
    lock = DirectoryLock(directory.lock)
    try:
        partition = RocksPartitionStore(directory.state)
        try:
            _check_version(partition, data)
            yield Installation(directory, partition, crawls_in(partition))
        finally:
            partition.close()
    finally:
        lock.release()


def set_status(installation: Installation, crawl_id: str | None, status: str) -> CrawlRow:
    """Write the status of a crawl that no process runs; a completed one stays completed. Raises NothingThere."""
    crawl = Reading(installation.directory, installation.partition, installation.crawls).crawl(crawl_id)
    if crawl.status != "completed":
        crawl.status = status
        _commit_meta(installation.partition, crawl_meta_key(crawl.number), dump(crawl))
    return crawl


def store_options(
    installation: Installation, crawl_id: str | None, values: Mapping[str, Any]
) -> tuple[CrawlRow, list[Change]]:
    """Write other values (`read_changes`) of options of a crawl that no process runs. Raises NothingThere."""
    crawl = Reading(installation.directory, installation.partition, installation.crawls).crawl(crawl_id)
    changes = change_options(crawl, values)
    if changes:
        _commit_meta(installation.partition, crawl_meta_key(crawl.number), dump(crawl))
    return crawl, changes


def _check_version(partition: PartitionStore, data: Path) -> None:
    stored = partition.get(Family.META, VERSION_KEY)
    if stored is not None and int(stored) > ROW_VERSION:
        raise StoreCorrupt(
            f"{data} was written by a newer Gossamer (state version {int(stored)}, known: {ROW_VERSION})"
        )
    if stored is not None and int(stored) < ROW_VERSION:
        raise StoreCorrupt(
            f"{data} was written by an earlier Gossamer (state version {int(stored)}, this one writes {ROW_VERSION}):"
            " read it with that one, crawl into another directory with this one"
        )
    if stored is None:
        _commit_meta(partition, VERSION_KEY, str(ROW_VERSION).encode("ascii"))


def _commit_meta(partition: PartitionStore, key: bytes, value: bytes) -> None:
    batch = partition.batch()
    batch.put(Family.META, key, value)
    asyncio.run(partition.commit(batch))


@dataclass(slots=True)
class OpenCrawl:
    """A crawl ready to run: its runner, and what surfaces show of it."""

    crawl: CrawlRow
    config: CrawlConfig
    runner: Runner
    stages: Stages
    dns: CaresDns
    clock: SystemClock

    def change(self, values: Mapping[str, Any]) -> list[Change]:
        """Go on with other values (`read_changes`) of some options, now and after a restart."""
        changes = change_options(self.crawl, values)
        if changes:
            self.config = config = replace(self.config, **values)
            self.runner.change(_frontier_rules(self.crawl, config), config.per_address_delay_s, config.concurrency)
            self.stages.store.touch()
        return changes


@asynccontextmanager
async def open_crawl_stages(
    installation: Installation, crawl: CrawlRow, config: CrawlConfig, say: Callable[[str], None]
) -> AsyncIterator[OpenCrawl]:
    """Build the stages of `crawl`; on leaving, everything is closed, indexed and cut to what is committed."""
    clock, rng = SystemClock(), fresh_random()
    directory, partition = installation.directory, installation.partition
    if not all(row.clean for row in installation.crawls):
        await replay(partition, newest_contacts(directory.contacts), clock.now())
    recover_segments(installation, crawl)
    snapshots = SeenFile(directory.seen(crawl.crawl_id))
    books = Books(partition, _seen(partition, crawl, config, snapshots, say))
    captures = SegmentWriter(_raw_plan(directory, crawl, config, rng))
    contacts = ContactLog(directory.contacts, _author(crawl, config, clock))
    web = HttpClient(FetchLimits(), tls=verifying_tls(config.ca_file))
    dns = CaresDns(DnsLimits())
    capture_writer = CaptureWriter(captures, rng)
    sync = LocalSegmentSync(directory.raw(crawl.crawl_id), directory.text(crawl.crawl_id))
    durable = Durable(partition, sync, capture_writer, Room(LocalDisk(directory.root), clock, say))
    frontier = _frontier(partition, clock, crawl, config, rng)
    ledger = Ledger(books, frontier, crawl, _ledger_rules(config, crawl), rng)
    store = Store(durable, ledger, frontier, clock)
    around = Surroundings(clock, web, dns, contacts, capture_writer, store, frontier, rng)
    fetch = Fetch(around, _fetch_rules(crawl, config), _address_gap(installation, config, clock))
    parsers = [ParserProcess(_worker_plan(directory, crawl, config, serial)) for serial in range(config.parsers)]
    parse = Parse(partition, store, parsers, crawl.number)
    stages = Stages(frontier, fetch, store, parse)
    try:
        yield OpenCrawl(crawl, config, Runner(stages, clock, config.concurrency), stages, dns, clock)
    finally:
        await asyncio.gather(*(parser.close() for parser in parsers))
        await web.close()
        await dns.close()
        contacts.close()
        captures.close()
        snapshots.close()
        recover_segments(installation, crawl)


def recover_segments(installation: Installation, crawl: CrawlRow) -> None:
    """Cut the segments of a crawl to their committed lengths and index those that have no index yet."""
    prefix = segment_meta_key(f"gossamer-{crawl.crawl_id}-")
    committed = {
        split_segment_meta_key(key): committed_length(length)
        for key, length in installation.partition.scan(Family.META, prefix, prefix + LAST)
    }
    for directory, is_text in (
        (installation.directory.raw(crawl.crawl_id), False),
        (installation.directory.text(crawl.crawl_id), True),
    ):
        directory.mkdir(parents=True, exist_ok=True)
        here = {name: length for name, length in committed.items() if name.endswith(".warc.wet.gz") is is_text}
        for unindexed in recover(directory, here):
            write_index(directory / unindexed)


def _seen(
    partition: PartitionStore, crawl: CrawlRow, config: CrawlConfig, snapshots: SeenFile, say: Callable[[str], None]
) -> Seen:
    if config.seen == "exact":
        return ExactSeen(partition, crawl.number)
    try:
        return load_bloom_seen(partition, crawl.number, snapshots, BloomRules(config.bloom_plan), say)
    except MemoryError as error:
        size = size_bits(config.seen_urls, config.seen_error) / 8 / 1e9
        raise NoRoom(f"--seen-urls {config.seen_urls:,} takes {size:.1f} GB of memory, more than there is") from error


def _frontier(
    partition: PartitionStore, clock: SystemClock, crawl: CrawlRow, config: CrawlConfig, rng: Random
) -> Frontier:
    budget = Budget(config.max_pages, spent=crawl.counters.fetched)
    return Frontier(partition, clock, _frontier_rules(crawl, config), budget, rng)


def _frontier_rules(crawl: CrawlRow, config: CrawlConfig) -> FrontierRules:
    return FrontierRules(
        crawl=crawl.number,
        agent=config.user_agent,
        delay=config.delay_rules,
        ceilings=config.ceilings,
        robots_mode=UnreachableMode(config.robots_unreachable),
        robots_off=config.robots,
        suspects_max=max(1, config.concurrency // 2),
    )


def _ledger_rules(config: CrawlConfig, crawl: CrawlRow) -> LedgerRules:
    return LedgerRules(config.admissibility(crawl.seeds), config.ceilings, config.retry_rules, config.wishes)


def _fetch_rules(crawl: CrawlRow, config: CrawlConfig) -> FetchRules:
    return FetchRules(
        headers=config.request_headers(__version__),
        addresses=config.address_rules,
        routes=config.connect_map,
        sitemaps=config.admissibility(crawl.seeds).scope if config.sitemaps else None,
    )


def _raw_plan(directory: DataDirectory, crawl: CrawlRow, config: CrawlConfig, rng: Random) -> SegmentPlan:
    headers = dict(config.request_headers(__version__))
    about = (
        ("software", f"Gossamer/{__version__}"),
        ("robots", "obey"),
        ("http-header-user-agent", headers["User-Agent"]),
    )
    return SegmentPlan(
        directory=directory.raw(crawl.crawl_id),
        prefix=f"gossamer-{crawl.crawl_id}",
        timestamp=lambda: timestamp14(SystemClock().now()),
        first_record=lambda name: warcinfo_record(name, SystemClock().now(), rng.randbytes(16), about),
    )


def _worker_plan(
    directory: DataDirectory, crawl: CrawlRow, config: CrawlConfig, serial: int
) -> Callable[[], WorkerPlan]:
    def plan() -> WorkerPlan:
        return WorkerPlan(
            crawl.crawl_id,
            crawl.seeds,
            as_plain(config),
            str(directory.raw(crawl.crawl_id)),
            str(directory.text(crawl.crawl_id)),
            serial,
        )

    return plan


def _address_gap(installation: Installation, config: CrawlConfig, clock: SystemClock) -> AddressGap:
    """A process before this one may have contacted any address a moment ago."""
    is_first = not installation.crawls
    return AddressGap(
        config.per_address_delay_s, quiet_until=0.0 if is_first else clock.monotonic() + config.per_address_delay_s
    )


def _author(crawl: CrawlRow, config: CrawlConfig, clock: SystemClock) -> Author:
    facts = RunFacts(
        started_at=datetime.fromtimestamp(clock.now(), UTC),
        started_monotonic_s=clock.monotonic(),
        agent=config.user_agent,
        robots_unreachable=UnreachableMode(config.robots_unreachable),
        robots_off=tuple(sorted(config.robots)),
    )
    return Author(crawl=crawl.crawl_id, boot=_boot_id(), run=facts)


def _boot_id() -> str:
    """What tells one boot of the machine from the next: monotonic times compare only within it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
