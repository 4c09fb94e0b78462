"""The accounts of a crawl: turns events into the writes of one batch, so that every URL is in exactly one state.

Decisions are `core`'s; when the batch is written is `store`'s. A batch does not read its own writes, but through the
cache of recent keys, which forgets no key before the batch that put it is committed.
"""

from dataclasses import dataclass, field
from random import Random
from typing import assert_never

from gossamer.core.admission import INSIDE, Admissibility
from gossamer.core.backoff import RetryRules
from gossamer.core.budget import Budget, Ceilings
from gossamer.core.messages import Parsed, ParseJob
from gossamer.core.outcome import Failed, Outcome, Reason, Redirected
from gossamer.core.rows import (
    HISTORY_MAX,
    OPEN_STATES,
    CaptureRow,
    CrawlRow,
    Kind,
    State,
    UrlRow,
    capture_key,
    counters_meta_key,
    crawl_meta_key,
    dump,
    load,
    ready_key,
    segment_meta_key,
    sitemap_key,
    split_waiting_key,
    tally_key,
    url_row_key,
    waiting_key,
)
from gossamer.core.url import Url, host_of, link_keys, origin_of
from gossamer.core.url_life import NextState, next_state
from gossamer.ports.partition_store import Batch, Family, PartitionStore
from gossamer.stages.events import Discovered, Event, HostChanged, ParseFailed, Settled
from gossamer.stages.frontier import Frontier
from gossamer.stages.host_queue import HostQueue
from gossamer.stages.recent_keys import RecentKeys

SITEMAP_DEPTH_MAX = 5
"""Indexes of indexes below the sitemap that robots.txt names. sitemaps.org knows one level."""
SITEMAPS_MAX = 50_000
"""Named by indexes, of all chains that begin on one host; sitemaps.org lets one index name so many."""


@dataclass(frozen=True, slots=True)
class LedgerRules:
    """What the accounts need of the configuration."""

    admissibility: Admissibility
    ceilings: Ceilings
    retry: RetryRules


@dataclass(slots=True)
class Posting:
    """One batch with what has to happen in memory once it is durable."""

    batch: Batch
    at: float
    dirty: dict[bytes, HostQueue] = field(default_factory=dict)
    captured: list[ParseJob] = field(default_factory=list)
    released: list[tuple[HostQueue, bytes]] = field(default_factory=list)
    found: list[tuple[HostQueue, bytes]] = field(default_factory=list)
    waiting: list[bytes] = field(default_factory=list)
    segments: dict[str, int] = field(default_factory=dict)


class Ledger:
    """Keeps `crawl.counters`, the tallies of hosts and the rows of URLs in step."""

    def __init__(
        self, store: PartitionStore, frontier: Frontier, crawl: CrawlRow, rules: LedgerRules, rng: Random
    ) -> None:
        self._store = store
        self._frontier = frontier
        self._rules = rules
        self.retry = rules.retry
        self._rng = rng
        self._recent = RecentKeys()
        self._about: tuple[object, ...] = ()
        self._waiting_cursor = waiting_key(crawl.number, 0, b"")
        self.crawl = crawl
        self.next_due_at = self._first_due_at()

    def open(self, at: float) -> Posting:
        """An empty posting at wall time `at`."""
        self._recent.turn()
        return Posting(self._store.batch(), at)

    def post(self, posting: Posting, event: Event) -> None:
        """Add an event's writes."""
        match event:
            case Settled():
                self._settle(posting, event)
            case Discovered():
                self._admit(posting, event)
            case Parsed():
                self._parsed(posting, event)
            case ParseFailed():
                self._parse_failed(posting, event)
            case HostChanged(host=host):
                posting.dirty[host.key] = host
            case _:
                assert_never(event)

    def close(self, posting: Posting) -> None:
        """Add what every batch ends with: hosts, tallies, segment lengths, counters."""
        batch, crawl = posting.batch, self.crawl
        for key, host in posting.dirty.items():
            batch.put(Family.HOSTS, key, dump(host.row))
            batch.put(Family.TALLIES, tally_key(crawl.number, key), dump(host.tally))
            for digest, body in host.bodies.items():  # in the batch of the row that names them, never after it
                batch.put(Family.ROBOTS, digest, body)
            host.bodies, host.is_unsaved = {}, False
        for name, length in posting.segments.items():
            batch.put(Family.META, segment_meta_key(name), length.to_bytes(8, "big"))
        about = (crawl.status, crawl.end, crawl.clean, crawl.ended_at, crawl.active_s, crawl.options, len(crawl.seeds))
        if about != self._about:
            batch.put(Family.META, crawl_meta_key(crawl.number), dump(crawl))
            self._about = about
        batch.put(Family.META, counters_meta_key(crawl.number), dump(crawl.counters))

    def promote_due(self, posting: Posting, limit: int = 1_000) -> None:
        """Move waiting URLs whose time has come back to the queues of their hosts, at most `limit` of them."""
        crawl = self.crawl.number
        stop = waiting_key(crawl, posting.at, b"\xff" * 16)
        due = []
        for stored, _ in self._store.scan(Family.WAITING, self._waiting_cursor, stop):
            due.append(stored)
            if len(due) >= limit:
                break
        for stored in due:
            _, key = split_waiting_key(stored)
            posting.batch.delete(Family.WAITING, stored)
            row = self._url_row(key)
            if row.state is State.WAITING:
                self._enqueue(posting, key, row, "due again")
            self._waiting_cursor = stored
        self.next_due_at = posting.at if len(due) >= limit else self._first_due_at(after=stop)
        for place in posting.waiting:  # of this batch: the scans above can't see them yet
            self._expect(place)

    # One event each.

    def _settle(self, posting: Posting, event: Settled) -> None:
        host, entry, row = event.host, event.entry, event.entry.row
        outcome = self._unless_circle(event.outcome, row)
        following = next_state(outcome, row.attempts, event.at, self._rules.retry, self._rng.random())
        posting.batch.delete(Family.READY, entry.ready_key)
        posting.released.append((host, entry.ready_key))
        host.tally.ready -= 1
        row.fetch = event.facts or row.fetch
        self._move(posting, host, entry.key, row, following)
        self._pay(host, row, following)
        if event.facts is not None:
            self.crawl.counters.wire_bytes += event.facts.wire_bytes
        if following.state is State.WAITING:
            place = waiting_key(self.crawl.number, following.due_at, entry.key)
            posting.batch.put(Family.WAITING, place, b"")
            posting.waiting.append(place)
            self._expect(place)
        elif following.state is State.CAPTURED:
            self._capture(posting, entry.key, row)
        elif isinstance(outcome, Redirected):
            self._follow(posting, entry.key, row, outcome)

    def _expect(self, place: bytes) -> None:
        """A URL waits there: the next promotion is no later, and its scan begins no further on."""
        self._waiting_cursor = min(self._waiting_cursor, place)
        self.next_due_at = min(self.next_due_at, split_waiting_key(place)[0])

    def _pay(self, host: HostQueue, row: UrlRow, following: NextState) -> None:
        """Budgets count stored pages; sitemaps are none."""
        if row.kind is not Kind.PAGE:
            return
        budgets: tuple[Budget, ...] = (host.budget, self._frontier.budget)
        for budget in budgets:
            if following.state is State.CAPTURED:
                budget.spend()
            else:
                budget.give_back()
        if following.state is State.CAPTURED:
            self.crawl.counters.fetched += 1
            host.tally.fetched += 1

    def _capture(self, posting: Posting, key: bytes, row: UrlRow) -> None:
        assert row.fetch is not None
        capture = CaptureRow(key, row.url, row.kind, row.hop, row.fetch.raw_key, row.fetch.fetched_at)
        sequence = self._next_sequence()
        posting.batch.put(Family.CAPTURES, capture_key(self.crawl.number, sequence), dump(capture))
        posting.captured.append(ParseJob(sequence, capture))

    def _unless_circle(self, outcome: Outcome, row: UrlRow) -> Outcome:
        """A failure where a redirect leads back into its own chain (RFC 9110 15.4); `seen` would drop it in silence."""
        if not isinstance(outcome, Redirected) or not row.redirects:
            return outcome
        target = link_keys([Url(outcome.target)])[0]
        if row.kind is Kind.SITEMAP:
            target = sitemap_key(target)
        above = row
        for _ in range(row.redirects):  # at most CHAIN_MAX
            if above.via == target:
                return Failed(outcome.status, Reason.REDIRECT_LOOP)
            above = self._url_row(above.via)
        return outcome

    def _follow(self, posting: Posting, key: bytes, row: UrlRow, outcome: Redirected) -> None:
        """A redirect's target is a URL of its own, through the same gate as any link."""
        verdict = self._rules.admissibility.verdict(Url(outcome.target))
        if verdict != INSIDE:
            self._refuse(verdict)
            row.reason = f"to {outcome.target}, not followed: {verdict}"
            posting.batch.put(Family.URLS, url_row_key(self.crawl.number, key), dump(row))
            return
        target = Url(outcome.target)
        found = Discovered([target], link_keys([target])[0], row.kind, row.hop, "redirect", key, row.redirects + 1)
        self._admit(posting, found)

    def _admit(self, posting: Posting, event: Discovered) -> None:
        if not event.urls:
            return
        if not self._rules.ceilings.allows_hop(event.hop):
            self._refuse("too-many-hops", len(event.urls))
            return
        keys = [event.keys[at : at + 16] for at in range(0, len(event.keys), 16)]
        if event.kind is Kind.SITEMAP:
            keys = [sitemap_key(key) for key in keys]
        unknown = self._recent.unknown(keys)
        crawl = self.crawl.number
        known = self._store.contains_many(Family.SEEN, [url_row_key(crawl, keys[at]) for at in unknown])
        for at, is_known in zip(unknown, known, strict=True):
            key = keys[at]
            if self._recent.add(key) and not is_known:
                self._admit_new(posting, key, event, event.urls[at])

    def _admit_new(self, posting: Posting, key: bytes, event: Discovered, url: str) -> None:
        row = UrlRow(
            url, State.READY, event.kind, event.hop, event.via, event.how, posting.at, 0, 0, redirects=event.redirects
        )
        posting.batch.put(Family.SEEN, url_row_key(self.crawl.number, key), b"")
        host = self._host(posting, key, url)
        if event.kind is Kind.PAGE:
            self.crawl.counters.states[State.READY] += 1
            host.tally.states[State.READY] += 1
        else:
            self.crawl.counters.sitemaps += 1
            self.crawl.counters.sitemaps_open += 1
        self._place(posting, host, key, row)

    def _enqueue(self, posting: Posting, key: bytes, row: UrlRow, why: str) -> None:
        """Back from WAITING to READY."""
        host = self._host(posting, key, row.url)
        self._move(posting, host, key, row, NextState(State.READY, why, row.attempts))
        self._place(posting, host, key, row)

    def _place(self, posting: Posting, host: HostQueue, key: bytes, row: UrlRow) -> None:
        row.priority = 0 if row.kind is Kind.SITEMAP else min(row.hop, 255)
        row.sequence = self._next_sequence()
        place = ready_key(self.crawl.number, host.key, row.priority, row.sequence)
        posting.batch.put(Family.READY, place, key)
        posting.batch.put(Family.URLS, url_row_key(self.crawl.number, key), dump(row))
        host.tally.ready += 1
        host.saw(origin_of(Url(row.url)))
        posting.found.append((host, place))

    def _parsed(self, posting: Posting, event: Parsed) -> None:
        crawl = self.crawl.number
        posting.batch.delete(Family.CAPTURES, capture_key(crawl, event.sequence))
        row = self._url_row(event.key)
        posting.batch.put(Family.PAGES, url_row_key(crawl, event.key), dump(event.page))
        posting.batch.put(Family.LINKS, url_row_key(crawl, event.key), event.outlinks)
        if event.page.text_key is not None:
            posting.segments[event.page.text_key.segment] = event.text_segment_length
        for verdict, count in event.refused.items():
            self._refuse(verdict, count)
        host = self._host(posting, event.key, row.url)
        self._move(posting, host, event.key, row, NextState(State.FETCHED, row.reason, row.attempts))
        self._admit_found(posting, event, row)

    def _admit_found(self, posting: Posting, event: Parsed, row: UrlRow) -> None:
        """A link is one hop away; what a sitemap names counts as one hop too; nested sitemaps as a chain."""
        how = "link" if event.kind is Kind.PAGE else "sitemap"
        pages, nested = event.pages, event.sitemaps
        self._admit(posting, Discovered(pages.urls, pages.keys, Kind.PAGE, event.hop + 1, how, event.key))
        if not nested.urls:
            return
        depth, key, root = self._sitemap_root(event.key, row)
        if depth >= SITEMAP_DEPTH_MAX:
            self._refuse("sitemap-too-deep", len(nested.urls))
            return
        tally = self._host(posting, key, root.url).tally
        taken = min(len(nested.urls), SITEMAPS_MAX - tally.sitemaps)
        tally.sitemaps += taken
        if taken < len(nested.urls):
            self._refuse("too-many-sitemaps", len(nested.urls) - taken)
        urls, keys = nested.urls[:taken], nested.keys[: 16 * taken]
        self._admit(posting, Discovered(urls, keys, Kind.SITEMAP, event.hop, "sitemap-index", event.key))

    def _sitemap_root(self, key: bytes, row: UrlRow) -> tuple[int, bytes, UrlRow]:
        """How many indexes lead from robots.txt to this sitemap, and the first of them. No ceiling of pages ends it."""
        depth = 0
        while row.how in ("sitemap-index", "redirect") and depth < SITEMAP_DEPTH_MAX:
            depth += row.how == "sitemap-index"
            key, row = row.via, self._url_row(row.via)
        return depth, key, row

    def _parse_failed(self, posting: Posting, event: ParseFailed) -> None:
        posting.batch.delete(Family.CAPTURES, capture_key(self.crawl.number, event.job.sequence))
        key = event.job.capture.key
        row = self._url_row(key)
        host = self._host(posting, key, row.url)
        self._move(posting, host, key, row, NextState(State.DEAD, event.fault, row.attempts))

    # Rows and counts.

    def _move(self, posting: Posting, host: HostQueue, key: bytes, row: UrlRow, following: NextState) -> None:
        if row.kind is Kind.PAGE:
            for states in (self.crawl.counters.states, host.tally.states):
                states[row.state] -= 1
                states[following.state] += 1
        else:
            is_open = following.state in OPEN_STATES
            self.crawl.counters.sitemaps_open += is_open - (row.state in OPEN_STATES)
        row.state, row.reason, row.attempts, row.due_at = (
            following.state,
            following.reason,
            following.attempts,
            following.due_at,
        )
        what = following.state.label + (f": {following.reason}" if following.reason else "")
        row.history = [*row.history[1 - HISTORY_MAX :], (posting.at, what)]
        if following.state in (State.FAILED, State.DENIED, State.DEAD, State.WAITING):
            reasons = self.crawl.counters.reasons
            reasons[following.reason] = reasons.get(following.reason, 0) + 1
        posting.batch.put(Family.URLS, url_row_key(self.crawl.number, key), dump(row))
        posting.dirty[host.key] = host

    def _refuse(self, verdict: str, count: int = 1) -> None:
        refused = self.crawl.counters.refused
        refused[verdict] = refused.get(verdict, 0) + count

    def _host(self, posting: Posting, key: bytes, url: str) -> HostQueue:
        host = self._frontier.host(key[:8], host_of(Url(url)))
        posting.dirty[host.key] = host
        return host

    def _url_row(self, key: bytes) -> UrlRow:
        stored = self._store.get(Family.URLS, url_row_key(self.crawl.number, key))
        assert stored is not None, f"no row for {key.hex()}"
        return load(UrlRow, stored)

    def _next_sequence(self) -> int:
        self.crawl.counters.sequence += 1
        return self.crawl.counters.sequence

    def _first_due_at(self, after: bytes = b"") -> float:
        crawl = self.crawl.number
        start = after or self._waiting_cursor
        for stored, _ in self._store.scan(Family.WAITING, start, waiting_key(crawl + 1, 0, b"")):
            return split_waiting_key(stored)[0]
        return float("inf")
