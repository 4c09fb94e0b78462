"""What the frontier costs as it grows: `python -m bench.frontier [--quick] [--urls N --hosts N]`.

The real ledger, frontier and RocksDB state, without network and parsers. Three processes, one after the other:

1. *fill* admits the URLs of a made-up web (1 M hosts, the largest a tenth of all URLs, the others by Zipf's law), page
   by page, five new URLs each, and at every fourth page checks fifty links as a parser finds them: 45 known ones, 36 of
   them of the page's own host. A check starts from the URL as a string. At the end it is killed with SIGKILL.
2. *reopen* opens what is left and asks for the first lease.
3. *lease* leases and settles a million of the URLs; time is virtual, so a host's rest costs nothing. robots.txt of
   every host is known to be absent, as in a crawl that has been under way for an hour.

Rates are per second of wall time of one process; RocksDB's own threads use the second core. `steps` has the figures of
each million of URLs, from which the plot in docs/performance.md is drawn.
"""

import argparse
import asyncio
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from bench.made_web import MadeWeb, Page, host_name, url_of
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.config import CrawlConfig, resolve
from gossamer.core.budget import Budget
from gossamer.core.keys import counters_meta_key, crawl_meta_key
from gossamer.core.outcome import Fetched
from gossamer.core.robots_copy import UNKNOWN_COPY, Absent, UnreachableMode, after_answer
from gossamer.core.rows import CaptureKey, CrawlRow, FetchFacts, HostRow, Kind, OriginRow, crawl_of, dump
from gossamer.core.url import Url, link_keys, site_of
from gossamer.ports.partition_store import Family
from gossamer.stages.events import Discovered, Event, HostLeft, Settled
from gossamer.stages.frontier import Frontier, FrontierRules
from gossamer.stages.leases import PageLease
from gossamer.stages.ledger import Books, Ledger, LedgerRules
from gossamer.stages.posting import Posting
from gossamer.stages.seen import ExactSeen
from gossamer.stages.store import GROUP_WINDOW_S

START_S = 1_800_000_000.0
GROUP = 512
CHECK_EVERY = 4
STEP = 1_000_000
LEASES = 1_000_000
FETCH_S = 0.1
DELAY_S = 0.1
"""So short that hosts are due when the groups of 512 want them; a second would only add virtual time."""


@dataclass(slots=True)
class BenchClock:
    """Virtual time."""

    elapsed_s: float = 0.0

    def now(self) -> float:
        """Seconds since 1970."""
        return START_S + self.elapsed_s

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self.elapsed_s

    async def sleep_until(self, monotonic_s: float) -> None:
        """Jump there."""
        self.elapsed_s = max(self.elapsed_s, monotonic_s)


class Crawl:
    """The stages that this bench is about, on a directory."""

    def __init__(self, directory: Path) -> None:
        self.store = RocksPartitionStore(directory)
        self.clock = BenchClock()
        config = resolve({"scope": "any", "delay_s": DELAY_S}, {}, None)
        known = self.store.get(Family.META, crawl_meta_key(1))
        self.crawl = (
            crawl_of(known, self.store.get(Family.META, counters_meta_key(1)))
            if known
            else CrawlRow(1, "bench", START_S, [], "{}")
        )
        self.frontier = Frontier(self.store, self.clock, _rules(config), Budget(None), Random(1))
        self.seen = ExactSeen(self.store, 1)
        rules = LedgerRules(config.admissibility([]), config.ceilings, config.retry_rules, config.wishes)
        self.ledger = Ledger(Books(self.store, self.seen), self.frontier, self.crawl, rules, Random(2))
        self.stalls_s: list[float] = []

    async def commit(self, events: list[Event]) -> None:
        """One group, as the store stage commits it."""
        posting = self.ledger.open(self.clock.now())
        for event in events:
            self.ledger.post(posting, event)
        self.ledger.close(posting)
        await self._keep(posting)
        self.frontier.settled(posting)

    async def _keep(self, posting: Posting) -> None:
        """`stalls_s`: how long the event loop stood still for the write; the sync of the log is on a thread."""
        began = perf_counter()
        await self.store.commit(posting.batch)
        self.stalls_s.append(perf_counter() - began)


def _rules(config: CrawlConfig) -> FrontierRules:
    return FrontierRules(
        crawl=1,
        agent=config.user_agent,
        delay=config.delay_rules,
        ceilings=config.ceilings,
        robots_mode=UnreachableMode.RFC,
        robots_off=frozenset(),
        suspects_max=500,
    )


@dataclass(slots=True)
class Stopwatch:
    """Work done, and the seconds that it took: of wall time and of CPU in all threads."""

    count: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    _began: tuple[float, float] = field(default=(0.0, 0.0))

    def start(self) -> None:
        """From here on it counts."""
        self._began = perf_counter(), process_time()

    def stop(self, count: int) -> None:
        """So much was done since."""
        self.wall_s += perf_counter() - self._began[0]
        self.cpu_s += process_time() - self._began[1]
        self.count += count

    @property
    def per_second(self) -> float:
        """Of wall time."""
        return self.count / self.wall_s if self.wall_s else 0.0


# Fill.


class Filler:
    """Admits a made-up web and takes the time."""

    def __init__(self, crawl: Crawl, web: MadeWeb) -> None:
        self._crawl = crawl
        self._web = web
        self._events: list[Event] = []
        self._newcomers: list[tuple[bytes, int]] = []
        self._pending = 0
        self.admits, self.checks = Stopwatch(), Stopwatch()
        self.steps: list[dict[str, float]] = []

    async def run(self) -> None:
        """All URLs, step by step."""
        step = (Stopwatch(), Stopwatch())
        admitted = 0
        for at, page in enumerate(self._web.pages()):
            if at % CHECK_EVERY == 0 and page.first:
                self._check(self._web.links(page, at), step[1])
            self._admit(page)
            if len(self._events) < GROUP:
                continue
            before = admitted // STEP
            admitted += await self._commit(step[0])
            if admitted // STEP > before:
                self._close_step(admitted, *step)
                step = (Stopwatch(), Stopwatch())
        admitted += await self._commit(step[0])
        self._close_step(admitted, *step)

    def _check(self, links: list[str], watch: Stopwatch) -> None:
        watch.start()
        keys = b"".join(link_keys([Url(url) for url in links]))
        self._crawl.seen.unknown([keys[at : at + 16] for at in range(0, len(keys), 16)])
        watch.stop(len(links))

    def _admit(self, page: Page) -> None:
        urls = [Url(url_of(page.host, page.first + number)) for number in range(page.new)]
        keys = link_keys(urls)
        if not page.first:
            self._newcomers.append((keys[0][:8], page.host))
        by = url_of(page.host, max(0, page.first - 1))
        found = Discovered(list(urls), b"".join(keys), Kind.PAGE, 1 + page.host % 6, "link", keys[0], page=by)
        self._events.append(found)
        self._pending += page.new

    async def _commit(self, watch: Stopwatch) -> int:
        events, count, self._events, self._pending = self._events, self._pending, [], 0
        watch.start()
        await self._crawl.commit(events)
        watch.stop(count)
        batch = self._crawl.store.batch()
        for key, host in self._newcomers:
            batch.put(Family.HOSTS, key, dump(_known_host(host)))
        self._newcomers.clear()
        await self._crawl.store.commit(batch)
        return count

    def _close_step(self, admitted: int, admits: Stopwatch, checks: Stopwatch) -> None:
        for total, part in ((self.admits, admits), (self.checks, checks)):
            total.count, total.wall_s, total.cpu_s = (
                total.count + part.count, total.wall_s + part.wall_s, total.cpu_s + part.cpu_s,
            )  # fmt: skip
        self.steps.append(
            {
                "urls": admitted,
                "checksPerSecond": round(checks.per_second),
                "admitsPerSecond": round(admits.per_second),
                "admitCpuUs": round(1e6 * admits.cpu_s / max(1, admits.count), 1),
                "rssMb": _peak_rss_mb(),
            }
        )
        _say(f"{admitted:>12,} URLs  {self.steps[-1]}")


def _known_host(host: int) -> HostRow:
    name = host_name(host)
    origin = f"https://{name}"
    return HostRow(name, site_of(name), origins={origin: OriginRow(after_answer(UNKNOWN_COPY, Absent(404), START_S))})


def fill(directory: Path, urls: int, hosts: int) -> None:
    """The first process; its last line of stdout is its figures, then it is gone."""
    _quiet_collector()
    crawl = Crawl(directory)
    filler = Filler(crawl, MadeWeb(urls, hosts))
    asyncio.run(filler.run())
    stalls = sorted(crawl.stalls_s)
    figures = {
        "checksPerSecond": round(filler.checks.per_second),
        "checksPerSecondLast": filler.steps[-2 if len(filler.steps) > 1 else -1]["checksPerSecond"],
        "checksPerSecondFirst": filler.steps[0]["checksPerSecond"],
        "admitsPerSecond": round(filler.admits.per_second),
        "commitMsMedian": round(1e3 * stalls[len(stalls) // 2], 1),
        "commitMsP99": round(1e3 * stalls[int(len(stalls) * 0.99)], 1),
        "commitMsMax": round(1e3 * stalls[-1], 1),
        "rssMb": _peak_rss_mb(),
        "steps": filler.steps,
    }
    print(json.dumps(figures), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


# Reopen and lease.


def lease(directory: Path, leases: int) -> None:
    """The second process: from nothing to the first lease, then many; then the size on disk."""
    _quiet_collector()
    began = perf_counter()
    crawl = Crawl(directory)
    crawl.frontier.load(rest_until=0.0)
    first = crawl.frontier.next_lease()
    reopen_s = perf_counter() - began
    assert isinstance(first, PageLease), first
    cpu_s = process_time()
    rates = asyncio.run(_lease_all(crawl, first, leases))
    cpu_s = process_time() - cpu_s
    counters = crawl.crawl.counters
    crawl.store.compact()
    crawl.store.close()
    size = sum(path.stat().st_size for path in directory.iterdir() if path.suffix == ".sst")
    figures = {
        "reopenSeconds": round(reopen_s, 2),
        "leaseSettlePerSecond": round(sum(count for count, _ in rates) / sum(wall_s for _, wall_s in rates)),
        "leaseSettleSteps": [round(count / wall_s) for count, wall_s in rates],
        "leaseSettleCpuUs": round(1e6 * cpu_s / leases, 1),
        "hostsInMemoryMax": crawl.frontier.places,
        "bytesPerUrl": round(size / counters.discovered, 1),
        "rssMb": _peak_rss_mb(),
    }
    print(json.dumps(figures), flush=True)


async def _lease_all(crawl: Crawl, first: PageLease, leases: int) -> list[tuple[int, float]]:
    frontier, clock = crawl.frontier, crawl.clock
    events: list[Event] = []
    rates: list[tuple[int, float]] = []
    done, done_before, began = 0, 0, perf_counter()
    taken: PageLease | None = first
    while done < leases:
        if taken is not None:
            events.append(_settled(crawl, taken))
            done += 1
        if len(events) >= GROUP or (taken is None and events):
            while frontier.leavers:
                events.append(HostLeft(*frontier.leavers.pop()))
            await crawl.commit(events)
            events = []
            if done - done_before >= leases // 10:
                rates.append((done - done_before, perf_counter() - began))
                _say(f"{done:>12,} leased and settled, {round((done - done_before) / (perf_counter() - began)):,}/s")
                done_before, began = done, perf_counter()
        found = frontier.next_lease()
        assert found is None or isinstance(found, PageLease), found
        taken = found
        if taken is None and not events and not frontier.leavers:
            wake_at = frontier.wake_at
            assert wake_at is not None
            clock.elapsed_s = max(clock.elapsed_s, wake_at) + GROUP_WINDOW_S  # as the store stage waits for others
    return rates


def _settled(crawl: Crawl, taken: PageLease) -> Settled:
    """A page of 30 KB, fetched in 100 ms."""
    clock = crawl.clock
    began_at = clock.elapsed_s
    clock.elapsed_s += 1e-5  # a thousand others are in flight meanwhile
    key = CaptureKey("gossamer-bench-20270115080000-00001.warc.gz", 10_000 * taken.entry.row.sequence, 9_000)
    facts = FetchFacts(200, clock.now(), FETCH_S, 30_000, "text/html; charset=utf-8", key)
    event = Settled(taken.host, taken.entry, Fetched(200), clock.now(), facts)
    crawl.frontier.contact_ended(taken.host, Fetched(200), began_at=began_at, u=0.0)
    return event


# All of it.


def _peak_rss_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _quiet_collector() -> None:
    """As `gossamer crawl` does."""
    gc.freeze()
    gc.set_threshold(50_000)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _part(name: str, directory: Path, *numbers: int) -> dict[str, Any]:
    words = [sys.executable, "-m", "bench.frontier", "--part", name, str(directory), *map(str, numbers)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, -signal.SIGKILL) or not done.stdout:
        raise SystemExit(f"{name} ended with {done.returncode}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Parts in processes of their own, a table, and the document."""
    parser = argparse.ArgumentParser(prog="python -m bench.frontier", description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=0, help="default: a tenth of the URLs")
    parser.add_argument("--leases", type=int, default=LEASES)
    parser.add_argument("--quick", action="store_true", help="1 M URLs, 100,000 leases")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, directory, *numbers = options.part
        if name == "fill":
            fill(Path(directory), int(numbers[0]), int(numbers[1]))
        else:
            lease(Path(directory), int(numbers[0]))
        return
    urls = 1_000_000 if options.quick else options.urls
    hosts = options.hosts or urls // 10
    leases = 100_000 if options.quick else options.leases
    with tempfile.TemporaryDirectory(prefix="gossamer-frontier-") as place:
        directory = Path(place) / "state"
        filled = _part("fill", directory, urls, hosts)
        leased = _part("lease", directory, leases)
    figures = {"urls": urls, "hosts": hosts, **filled, **leased, "rssMb": max(filled["rssMb"], leased["rssMb"])}
    for name, value in figures.items():
        if name != "steps":
            print(f"{name:<24}{value:>14,}" if isinstance(value, int | float) else f"{name:<24}{value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
