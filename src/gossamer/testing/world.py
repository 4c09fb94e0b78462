"""A whole crawl in simulated time: scripted web, state in memory, the real stages. A scenario reads as a story.

world = World("http://a.test/", delay_s=2)
world.web.answers["http://a.test/"] = page("/b", "/c")
assert world.crawl() is End.COMPLETED
assert world.starts("http://a.test/b") == [2.0]
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from gossamer import __version__
from gossamer.config import CrawlConfig, as_plain, resolve
from gossamer.core.budget import Budget
from gossamer.core.keys import (
    LAST,
    committed_length,
    crawl_prefix,
    segment_meta_key,
    split_segment_meta_key,
    url_row_key,
)
from gossamer.core.page import ParseOptions, TextKind
from gossamer.core.robots_copy import UnreachableMode
from gossamer.core.rows import CrawlRow, Kind, PageRow, State, UrlRow, load
from gossamer.core.url import Url, UrlFault, host_of, link_keys, normalize
from gossamer.core.warc import read_record
from gossamer.core.workbench import BOUNDS
from gossamer.ports.partition_store import Family
from gossamer.reading import crawls_in
from gossamer.stages.address_gap import AddressGap
from gossamer.stages.bloom_seen import JOURNAL_KEYS_MIN, BloomRules
from gossamer.stages.bloom_start import load_bloom_seen
from gossamer.stages.capture import CaptureWriter
from gossamer.stages.events import Discovered
from gossamer.stages.fetch import Fetch, FetchRules, Surroundings
from gossamer.stages.frontier import Frontier, FrontierRules
from gossamer.stages.ledger import Books, Ledger, LedgerRules
from gossamer.stages.opening import change_options, open_crawl
from gossamer.stages.parse import Parse
from gossamer.stages.parse_capture import CaptureParser, ParseRules
from gossamer.stages.replay import replay
from gossamer.stages.room import Room
from gossamer.stages.runner import End, Runner, Stages
from gossamer.stages.seen import ExactSeen, Seen
from gossamer.stages.store import Durable, Store
from gossamer.testing.sim_clock import WALL_START_S, SimClock
from gossamer.testing.sim_contacts import SimContacts, SimDisk
from gossamer.testing.sim_loop import SimLoop
from gossamer.testing.sim_parser import ParserScript, SimParser
from gossamer.testing.sim_partition import SimPartitionStore
from gossamer.testing.sim_segments import SimSegments
from gossamer.testing.sim_snapshots import SimSnapshots
from gossamer.testing.sim_web import SimWeb


class SteadyRandom(Random):
    """No jitter: every wait is the shortest that the rules allow."""

    def random(self) -> float:
        """Always 0."""
        return 0.0


@dataclass(slots=True)
class Life:
    """One process: what `bootstrap` builds, in simulated form. `end` is None until it ended in an orderly way."""

    crawl: CrawlRow
    config: CrawlConfig
    stages: Stages
    runner: Runner
    clock: SimClock
    began_at: float
    was_clean: bool
    end: End | None = None


class World:
    """What outlives a process: the web, the disk, the time. `options` are config keys; one crawl a world.

    `places`: how many hosts are in memory at a time.
    """

    def __init__(self, *seeds: str, rng: Random | None = None, places: int | None = None, **options: Any) -> None:
        self.web = SimWeb()
        self.partition = SimPartitionStore()
        self.raw = SimSegments(".warc.gz")
        self.texts = SimSegments(".warc.wet.gz", self.raw.files)
        self.contacts = SimContacts()
        self.snapshots = SimSnapshots()
        self.journal_keys_min = JOURNAL_KEYS_MIN
        self.disk = SimDisk()
        self.parsing = ParserScript()
        self.said: list[str] = []
        self.lives: list[Life] = []
        self.now_s = 0.0
        self.turns = 0
        self._seeds = [_normal(seed) for seed in seeds]
        self._options = options
        self._places = (places, places) if places else BOUNDS
        self._rng = rng or SteadyRandom(1)
        self._appointments: list[tuple[float, Callable[[], object]]] = []

    # Doing.

    def at(self, time_s: float, action: Callable[[], object]) -> "World":
        """Have something happen at a moment of the next `crawl`."""
        self._appointments.append((time_s, action))
        return self

    def forget_appointments(self) -> None:
        """Those of the future, when the life that they were made for is over."""
        self._appointments.clear()

    def discover(self, *urls: str, kind: Kind = Kind.PAGE, hop: int = 0) -> None:
        """Report URLs as parsing would; to be called while the crawl runs, see `at`."""
        normal = [_normal(url) for url in urls]
        keys = b"".join(link_keys(normal))
        self.life.stages.store.submit(Discovered(list(normal), keys, kind, hop, "link"))

    def crawl(self, *, kill_at: float | None = None, **changes: Any) -> End | None:
        """Run a process to its end; None when it was killed first. `changes` are options from now on.

        On an exception the world stays as it was at that moment.
        """
        self._options |= changes
        with asyncio.Runner(loop_factory=lambda: SimLoop(self.now_s)) as runner:
            loop = runner.get_loop()
            assert isinstance(loop, SimLoop)
            try:
                return runner.run(self._live(kill_at))
            finally:
                self.now_s, self.turns = loop.time(), self.turns + loop.turns

    def stop(self) -> None:
        """As Ctrl-C does."""
        self.life.runner.stop()

    def pause(self) -> None:
        """Until `resume`."""
        self.life.runner.pause()

    def resume(self) -> None:
        """Go on."""
        self.life.runner.resume()

    def change(self, **options: Any) -> None:
        """Other settings from this moment on, as `gossamer set` makes them."""
        self._options |= options
        life = self.life
        life.config = config = resolve(self._options, {}, None)
        rules = replace(_frontier_rules(life.crawl, config), places=self._places)
        life.runner.change(rules, config.per_address_delay_s, config.concurrency)
        change_options(life.crawl, options)
        life.stages.store.touch()

    # Looking.

    @property
    def life(self) -> Life:
        """The process that runs now, or ran last."""
        return self.lives[-1]

    @property
    def rows(self) -> dict[str, UrlRow]:
        """All pages on disk by URL."""
        return {row.url: row for row in self.all_rows() if row.kind is Kind.PAGE}

    def all_rows(self) -> list[UrlRow]:
        """Pages and sitemaps on disk."""
        prefix = crawl_prefix(self.life.crawl.number)
        return [load(UrlRow, stored) for _, stored in self.partition.scan(Family.URLS, prefix, prefix + LAST)]

    def states(self) -> Counter[str]:
        """How many pages are in which state."""
        return Counter(row.state.label for row in self.rows.values())

    def fetched(self) -> list[str]:
        """Pages with a stored and parsed 2xx answer, sorted."""
        return sorted(url for url, row in self.rows.items() if row.state is State.FETCHED)

    def text(self, url: str) -> str:
        """The stored text of a page, "" when it has none."""
        stored = self.partition.get(Family.PAGES, url_row_key(self.life.crawl.number, link_keys([Url(url)])[0]))
        row = load(PageRow, stored) if stored else None
        return read_record(self.texts.read(row.text_key)).block.decode() if row and row.text_key else ""

    def requests(self) -> Counter[str]:
        """How often each URL was asked for."""
        return Counter(exchange.url for exchange in self.web.exchanges)

    def starts(self, url_or_host: str) -> list[float]:
        """When contacts with a URL or a whole host began, to the microsecond."""
        return [round(e.began_at, 6) for e in self.web.exchanges if url_or_host in (e.url, e.host)]

    # One life.

    async def _live(self, kill_at: float | None) -> End | None:
        try:
            async with asyncio.timeout_at(kill_at) as death:
                return await self._run(self._born())
        except TimeoutError:
            if not death.expired():
                raise
            return None

    async def _run(self, life: Life) -> End:
        """The order of `surfaces.cli.crawl`."""
        loop, crawl, stages = asyncio.get_running_loop(), life.crawl, life.stages
        for time_s, action in self._appointments:
            loop.call_at(time_s, action)
        self._appointments.clear()
        if not life.was_clean:
            await replay(self.partition, self.contacts.records, life.clock.now())
        stages.frontier.load(rest_until=0.0 if life.was_clean else loop.time() + life.config.delay_s)
        crawl.clean = False
        if crawl.seeds:
            seeds = [Url(seed) for seed in crawl.seeds]
            stages.store.submit(Discovered(list(seeds), b"".join(link_keys(seeds)), Kind.PAGE, 0, "seed"))
        await stages.store.commit_group()
        stages.parse.load()
        end = await life.runner.run()
        crawl.clean, crawl.ended_at = True, life.clock.now()
        await stages.store.commit_group()
        life.end = end
        return end

    def _born(self) -> Life:
        config = resolve(self._options, {}, None)
        self._cut_segments()
        known = crawls_in(self.partition)
        opening = open_crawl(known, self._seeds, json.loads(json.dumps(as_plain(config))), new=False, now=WALL_START_S)
        was_clean = opening.is_new or opening.crawl.clean
        life = self._built(opening.crawl, config)
        life.was_clean = was_clean
        self.lives.append(life)
        return life

    def _cut_segments(self) -> None:
        committed = self.partition.scan(Family.META, segment_meta_key(""), segment_meta_key("") + LAST)
        self.raw.cut({split_segment_meta_key(key): committed_length(stored) for key, stored in committed})
        self.texts.close()

    def _built(self, crawl: CrawlRow, config: CrawlConfig) -> Life:
        clock = SimClock()
        admissibility = config.admissibility(crawl.seeds)
        captures = CaptureWriter(self.raw, self._rng)
        durable = Durable(self.partition, self.raw, captures, Room(self.disk, clock, self.said.append))
        frontier = Frontier(
            self.partition,
            clock,
            replace(_frontier_rules(crawl, config), places=self._places),
            Budget(config.max_pages, spent=crawl.counters.fetched),
            self._rng,
        )
        rules = LedgerRules(admissibility, config.ceilings, config.retry_rules, config.wishes)
        books = Books(self.partition, self._seen(crawl, config))
        ledger = Ledger(books, frontier, crawl, rules, self._rng)
        store = Store(durable, ledger, frontier, clock)
        around = Surroundings(clock, self.web, self.web, self.contacts, captures, store, frontier, self._rng)
        quiet_until = clock.monotonic() + config.per_address_delay_s if self.lives else 0.0
        fetch = Fetch(around, _fetch_rules(crawl, config), AddressGap(config.per_address_delay_s, quiet_until))
        parse_rules = ParseRules(admissibility, ParseOptions(TextKind(config.text), config.user_agent))

        def parser() -> CaptureParser:
            return CaptureParser(self.raw, self.texts, parse_rules, clock, self._rng)

        parsers = [SimParser(parser, self.parsing) for _ in range(config.parsers)]
        stages = Stages(frontier, fetch, store, Parse(self.partition, store, parsers, crawl.number))
        runner = Runner(stages, clock, config.concurrency)
        return Life(crawl, config, stages, runner, clock, asyncio.get_running_loop().time(), was_clean=True)

    def _seen(self, crawl: CrawlRow, config: CrawlConfig) -> Seen:
        if config.seen == "exact":
            return ExactSeen(self.partition, crawl.number)
        self.snapshots.close()
        rules = BloomRules(config.bloom_plan, self.journal_keys_min)
        return load_bloom_seen(self.partition, crawl.number, self.snapshots, rules, self.said.append)


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


def _fetch_rules(crawl: CrawlRow, config: CrawlConfig) -> FetchRules:
    return FetchRules(
        headers=config.request_headers(__version__),
        addresses=config.address_rules,
        routes=config.connect_map,
        sitemaps=config.admissibility(crawl.seeds).scope if config.sitemaps else None,
    )


def _normal(url: str) -> Url:
    normal = normalize(url)
    assert not isinstance(normal, UrlFault), url
    return normal


def hosts_of(world: World) -> set[str]:
    """The hosts that were contacted."""
    return {host_of(Url(exchange.url)) for exchange in world.web.exchanges}
