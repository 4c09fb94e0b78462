"""A crawl's rows and records, written by the real ledger and segment writers, without a network or a loop."""

import asyncio
import json
from functools import partial
from pathlib import Path
from random import Random
from typing import BinaryIO

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.files.segments import SegmentKind, SegmentPlan, SegmentReader, SegmentWriter
from gossamer.config import CrawlConfig, as_plain, resolve
from gossamer.core.budget import Budget
from gossamer.core.keys import (
    LAST,
    capture_key,
    committed_length,
    ready_key,
    segment_meta_key,
    split_segment_meta_key,
    url_row_key,
)
from gossamer.core.messages import Found, Parsed
from gossamer.core.outcome import Fetched, Outcome, Redirected
from gossamer.core.robots_copy import UNKNOWN_COPY, RobotsAnswer, UnreachableMode, after_answer
from gossamer.core.rows import (
    CaptureKey,
    CrawlRow,
    FetchFacts,
    Kind,
    OriginRow,
    OutlinkRow,
    PageRow,
    UrlRow,
    dump,
    load,
)
from gossamer.core.url import Url, host_of, link_keys
from gossamer.core.warc import CapturedExchange, ExtractedText, conversion_record, exchange_records, warcinfo_record
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.bloom_seen import BloomRules
from gossamer.stages.bloom_start import load_bloom_seen
from gossamer.stages.events import Discovered, Event, HostChanged, Settled
from gossamer.stages.frontier import Frontier, FrontierRules
from gossamer.stages.host_queue import Entry
from gossamer.stages.ledger import Books, Ledger, LedgerRules
from gossamer.stages.seen import ExactSeen, Seen
from gossamer.testing.sim_snapshots import SimSnapshots
from gossamer.views.lookup import key_of
from gossamer.views.verify_records import SegmentFile
from gossamer.views.why_case import Case, CrawlRules

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z


class FixedClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.wall = START

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.wall - START

    async def sleep_until(self, monotonic_s: float) -> None:
        self.wall = max(self.wall, START + monotonic_s)


class StoredCrawl:
    """Tell it what happened; it writes what a crawl would have written."""

    def __init__(
        self, store: PartitionStore, root: Path, seeds: tuple[str, ...] = ("http://a.test/",), **options: object
    ) -> None:
        self.store = store
        self.directory = DataDirectory(root)
        self.clock = FixedClock()
        self.rng = Random(7)
        self.config: CrawlConfig = resolve(options, {}, None)
        self.crawl = CrawlRow(1, "c1", START, list(seeds), json.dumps(as_plain(self.config)))
        rules = FrontierRules(
            crawl=1,
            agent=self.config.user_agent,
            delay=self.config.delay_rules,
            ceilings=self.config.ceilings,
            robots_mode=UnreachableMode(self.config.robots_unreachable),
            robots_off=self.config.robots,
            suspects_max=10,
        )
        self.frontier = Frontier(store, self.clock, rules, Budget(self.config.max_pages), self.rng)
        admissibility = self.config.admissibility(seeds)
        ledger_rules = LedgerRules(admissibility, self.config.ceilings, self.config.retry_rules, self.config.wishes)
        self.snapshots = SimSnapshots()
        seen: Seen = ExactSeen(store, 1)
        if self.config.seen == "bloom":
            seen = load_bloom_seen(store, 1, self.snapshots, BloomRules(self.config.bloom_plan))
        books = Books(store, seen)
        self.ledger = Ledger(books, self.frontier, self.crawl, ledger_rules, self.rng)
        self.raw = SegmentWriter(self._plan(self.directory.raw("c1"), SegmentKind.RAW))
        self.text = SegmentWriter(self._plan(self.directory.text("c1"), SegmentKind.TEXT))
        self.admit(*seeds, how="seed")

    def _plan(self, directory: Path, kind: SegmentKind) -> SegmentPlan:
        return SegmentPlan(
            directory=directory,
            prefix="gossamer-c1",
            timestamp=lambda: "20260101000000",
            first_record=lambda name: warcinfo_record(name, START, b"i" * 16, ()),
            kind=kind,
        )

    # What happens.

    def admit(
        self,
        *urls: str,
        how: str = "link",
        hop: int = 0,
        parent: str = "",
        kind: Kind = Kind.PAGE,
    ) -> "StoredCrawl":
        via = key_of(Url(parent), Kind.PAGE) if parent else b""
        keys = b"".join(link_keys([Url(url) for url in urls]))
        return self.post(Discovered(list(urls), keys, kind, hop, how, via))

    def robots(self, origin: str, answer: RobotsAnswer, body: bytes = b"") -> "StoredCrawl":
        host = self.frontier.host(key_of(Url(origin + "/"), Kind.PAGE)[:8], host_of(Url(origin + "/")))
        body_key = b"robots-of-" + origin.encode() if body else b""
        host.row.origins[origin] = OriginRow(after_answer(UNKNOWN_COPY, answer, self.clock.now()), body_key)
        if body_key:
            host.bodies[body_key] = body
        return self.post(HostChanged(host))

    def settle(
        self, url: str, outcome: Outcome, facts: FetchFacts | None = None, *, failed_before: int = 0
    ) -> "StoredCrawl":
        key, row = self.row(url)
        row.attempts = failed_before
        host = self.frontier.host(key[:8], host_of(Url(url)))
        if row.kind is Kind.PAGE:
            for budget in self.frontier.budgets.of(host):
                budget.reserve()
        entry = Entry(ready_key(1, host.key, row.priority, row.sequence), key, row)
        return self.post(Settled(host, entry, outcome, self.clock.now(), facts))

    def answer(self, url: str, outcome: Outcome, body: bytes = b"", head: bytes | None = None) -> "StoredCrawl":
        """The outcome with its response stored."""
        status = getattr(outcome, "status", 200)
        head = head or b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
        key = self.append_raw(url, head, body)
        target = outcome.target if isinstance(outcome, Redirected) else ""
        facts = FetchFacts(status, self.clock.now(), 0.25, len(head) + len(body), "text/html", key, redirect_to=target)
        return self.settle(url, outcome, facts)

    def append_raw(self, url: str, head: bytes, body: bytes) -> CaptureKey:
        exchange = CapturedExchange(
            url=url,
            address="192.0.2.1",
            fetched_at=self.clock.now(),
            request_head=b"GET / HTTP/1.1\r\n\r\n",
            head=head,
            wire_body=body,
            payload=body,
            content_encoding="",
            truncated=None,
            response_id=self.rng.randbytes(16),
            request_id=self.rng.randbytes(16),
        )
        records = exchange_records(exchange)
        both = self.raw.append(records.response + records.request)
        return CaptureKey(both.segment, both.offset, len(records.response))

    def fetch(
        self,
        url: str,
        text: str = "Some text.",
        links: tuple[OutlinkRow, ...] = (),
        *,
        title: str = "A title",
        noindex: bool = False,
    ) -> "StoredCrawl":
        """A page, fetched and parsed."""
        self.answer(url, Fetched(200), text.encode())
        return self.parse(url, text, links, title=title, noindex=noindex)

    def parse(
        self,
        url: str,
        text: str = "",
        links: tuple[OutlinkRow, ...] = (),
        *,
        title: str = "A title",
        noindex: bool = False,
    ) -> "StoredCrawl":
        key, row = self.row(url)
        text_key = self._append_text(url, text) if text else None
        followed = [Url(link.url) for link in links if link.verdict == "inside"]
        page = PageRow(
            self.clock.now(), "html", "UTF-8", title, "en", "", noindex, False, len(text), 0xAB, text_key,
            len(links), len(followed),
        )  # fmt: skip
        sequence = next(
            int.from_bytes(place[4:], "big")
            for place, _ in self.store.scan(Family.CAPTURES, capture_key(1, 0), capture_key(2, 0))
        )
        found = Found(list(followed), b"".join(link_keys(followed)))
        length = text_key.offset + text_key.length if text_key else 0
        return self.post(Parsed(sequence, key, row.hop, row.kind, page, found, Found(), dump(list(links)), {}, length))

    def _append_text(self, url: str, text: str) -> CaptureKey:
        extracted = ExtractedText(
            url=url, fetched_at=START, text=text, response_urn="<urn:uuid:0>", record_id=self.rng.randbytes(16)
        )
        return self.text.append(conversion_record(extracted))

    def post(self, event: Event) -> "StoredCrawl":
        """One event, committed."""
        posting = self.ledger.open(self.clock.now())
        if isinstance(event, Settled) and event.facts is not None:
            key = event.facts.raw_key
            posting.segments[key.segment] = self.directory.raw("c1").joinpath(key.segment).stat().st_size
        self.ledger.post(posting, event)
        self.ledger.close(posting)
        asyncio.run(self.store.commit(posting.batch))
        self.frontier.settled(posting)
        return self

    def close(self) -> None:
        """Give back descriptors; the store stays open when it is in memory."""
        self.raw.close()
        self.text.close()

    # What is there.

    def row(self, url: str) -> tuple[bytes, UrlRow]:
        for kind in Kind:
            key = key_of(Url(url), kind)
            stored = self.store.get(Family.URLS, url_row_key(1, key))
            if stored is not None:
                return key, load(UrlRow, stored)
        raise KeyError(url)

    def overwrite(self, family: Family, key: bytes, value: bytes | None) -> "StoredCrawl":
        """Damage the store."""
        batch = self.store.batch()
        if value is None:
            batch.delete(family, key)
        else:
            batch.put(family, key, value)
        asyncio.run(self.store.commit(batch))
        return self

    @property
    def case(self) -> Case:
        rules = CrawlRules(
            self.config.admissibility(self.crawl.seeds),
            self.config.ceilings,
            self.config.delay_rules,
            UnreachableMode(self.config.robots_unreachable),
            self.config.robots,
            self.config.user_agent,
            self.config.seen,
        )
        return Case(self.store, self.crawl, rules, self.clock.now(), is_running=False)

    def raw_reader(self) -> SegmentReader:
        return SegmentReader(self.directory.raw("c1"))

    def text_reader(self) -> SegmentReader:
        return SegmentReader(self.directory.text("c1"))

    def segment_files(self) -> dict[str, SegmentFile]:
        """As `verify` wants them."""
        files = {}
        for key, length in self.store.scan(Family.META, segment_meta_key(""), segment_meta_key("") + LAST):
            name = split_segment_meta_key(key)
            folder = self.directory.text("c1") if ".wet" in name else self.directory.raw("c1")
            path = folder / name
            size = path.stat().st_size if path.exists() else None
            files[name] = SegmentFile(committed_length(length), size, partial(_open, path))
        return files


def _open(path: Path) -> BinaryIO:
    return path.open("rb")
