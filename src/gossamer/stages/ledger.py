"""The accounts of a crawl: turns events into the writes of one batch, so that every URL is in exactly one state.

Decisions are `core`'s; when the batch is written is `store`'s. A batch does not read its own writes; only `seen` knows
what was added in it.
"""

from dataclasses import dataclass
from random import Random
from typing import assert_never

from gossamer.core.admission import INSIDE, Admissibility
from gossamer.core.backoff import RetryRules
from gossamer.core.budget import Ceilings, day_of
from gossamer.core.keys import (
    capture_key,
    counters_meta_key,
    crawl_meta_key,
    segment_meta_key,
    site_row_key,
    sitemap_key,
    split_waiting_key,
    tally_key,
    url_row_key,
    waiting_key,
)
from gossamer.core.messages import Parsed, ParseJob
from gossamer.core.outcome import Failed, Outcome, Reason, Redirected
from gossamer.core.priority import Wishes
from gossamer.core.rows import HISTORY_MAX, OPEN_STATES, CaptureRow, CrawlRow, Kind, State, TallyRow, UrlRow, dump, load
from gossamer.core.site_traps import ceiling_of
from gossamer.core.url import Url, host_of, link_keys, site_of
from gossamer.core.url_life import NextState, next_state
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.admitting import Admitting
from gossamer.stages.events import Discovered, Event, HostChanged, HostLeft, ParseFailed, Settled
from gossamer.stages.frontier import Frontier
from gossamer.stages.host_accounts import HostAccounts
from gossamer.stages.host_places import HostPlaces
from gossamer.stages.host_queue import HostQueue
from gossamer.stages.posting import Posting
from gossamer.stages.seen import Seen
from gossamer.stages.trap_watch import TrapWatch, without_visits

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
    wishes: Wishes


@dataclass(frozen=True, slots=True)
class Books:
    """What the accounts of one crawl are kept in."""

    partition: PartitionStore
    seen: Seen


class Ledger:
    """Keeps `crawl.counters`, the tallies of hosts and the rows of URLs in step."""

    def __init__(self, books: Books, frontier: Frontier, crawl: CrawlRow, rules: LedgerRules, rng: Random) -> None:
        self._store = books.partition
        self._seen = books.seen
        self._frontier = frontier
        self._sites = frontier.sites
        self._accounts = HostAccounts(frontier.tallies, frontier.sites)
        self._watch = TrapWatch(books.partition, crawl.number)
        self._admitting = Admitting(books.seen, self._accounts, crawl, rules.ceilings, rules.wishes)
        self._places = HostPlaces(crawl, frontier.hosts, frontier.sites)
        self._rules = rules
        self.retry = rules.retry
        self._rng = rng
        self._about: tuple[object, ...] = ()
        self._waiting_cursor = waiting_key(crawl.number, 0, b"")
        self.crawl = crawl
        self.next_due_at = self._first_due_at()

    def open(self, at: float) -> Posting:
        """An empty posting at wall time `at`."""
        self._seen.turn()
        self._accounts.turn()
        self._watch.turn()
        return Posting(self._store.batch(), at)

    def post(self, posting: Posting, event: Event) -> None:
        """Add an event's writes."""
        match event:
            case Settled():
                self._settle(posting, event)
            case Discovered():
                self._admitting.admit(posting, event)
            case Parsed():
                self._parsed(posting, event)
            case ParseFailed():
                self._parse_failed(posting, event)
            case HostChanged(host=host):
                posting.hosts[host.key] = host
            case HostLeft(host=host, place=place):
                posting.hosts[host.key], posting.tallies[host.key] = host, host.tally
                posting.left[host.key] = place
            case _:
                assert_never(event)

    def close(self, posting: Posting) -> None:
        """Add what every batch ends with: hosts, tallies, places in the front queues, segment lengths, counters."""
        batch, crawl = posting.batch, self.crawl
        for key, tally in posting.tallies.items():
            self._places.settle(posting, key, tally)
            batch.put(Family.TALLIES, tally_key(crawl.number, key), dump(tally))
        for site_key, site in posting.sites.items():
            batch.put(Family.SITES, site_row_key(crawl.number, site_key), dump(site.row))
        for key, host in posting.hosts.items():
            batch.put(Family.HOSTS, key, dump(host.row))
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
        posting.hosts[host.key], posting.tallies[host.key] = host, host.tally
        host.tally.place(row.priority, -1)
        row.fetch = event.facts or row.fetch
        self._move(posting, host.tally, entry.key, row, following)
        self._pay(posting, host, row, following)
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

    def _pay(self, posting: Posting, host: HostQueue, row: UrlRow, following: NextState) -> None:
        """Budgets count stored pages; sitemaps are none."""
        if row.kind is not Kind.PAGE:
            return
        site = self._accounts.site(posting, host.key, host.tally)
        posting.sites[site.key] = site
        for budget in self._frontier.budgets.of(host):
            if following.state is State.CAPTURED:
                budget.spend()
            else:
                budget.give_back()
        if following.state is State.CAPTURED:
            self.crawl.counters.fetched += 1
            host.tally.stored(day_of(posting.at))
            site.row.fetched += 1

    def _capture(self, posting: Posting, key: bytes, row: UrlRow) -> None:
        assert row.fetch is not None
        capture = CaptureRow(key, row.url, row.kind, row.hop, row.fetch.raw_key, row.fetch.fetched_at)
        sequence = self.crawl.counters.next_sequence()
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
            self.crawl.counters.refuse(verdict)
            row.reason = f"to {outcome.target}, not followed: {verdict}"
            posting.batch.put(Family.URLS, url_row_key(self.crawl.number, key), dump(row))
            return
        target = Url(outcome.target)
        found = Discovered(
            [target], link_keys([target])[0], row.kind, row.hop, "redirect", key, row.redirects + 1, row.url
        )
        self._admitting.admit(posting, found)

    def _enqueue(self, posting: Posting, key: bytes, row: UrlRow, why: str) -> None:
        """Back from WAITING to READY."""
        tally = self._accounts.tally(posting, key, row.url)
        self._move(posting, tally, key, row, NextState(State.READY, why, row.attempts))
        self._admitting.place(posting, tally, key, row)

    def _parsed(self, posting: Posting, event: Parsed) -> None:
        crawl = self.crawl.number
        posting.batch.delete(Family.CAPTURES, capture_key(crawl, event.sequence))
        row = self._url_row(event.key)
        posting.batch.put(Family.PAGES, url_row_key(crawl, event.key), dump(event.page))
        posting.batch.put(Family.LINKS, url_row_key(crawl, event.key), event.outlinks)
        if event.page.text_key is not None:
            posting.segments[event.page.text_key.segment] = event.text_segment_length
        for verdict, count in event.refused.items():
            self.crawl.counters.refuse(verdict, count)
        tally = self._accounts.tally(posting, event.key, row.url)
        self._move(posting, tally, event.key, row, NextState(State.FETCHED, row.reason, row.attempts))
        self._learn(posting, event, Url(row.url), tally)
        self._admit_found(posting, event, row)

    def _admit_found(self, posting: Posting, event: Parsed, row: UrlRow) -> None:
        """A link is one hop away; what a sitemap names counts as one hop too; nested sitemaps as a chain."""
        how = "link" if event.kind is Kind.PAGE else "sitemap"
        pages, nested = event.pages, event.sitemaps
        source = row.url if event.kind is Kind.PAGE else ""
        found = Discovered(pages.urls, pages.keys, Kind.PAGE, event.hop + 1, how, event.key, page=source)
        self._admitting.admit(posting, found)
        if not nested.urls:
            return
        depth, key, root = self._sitemap_root(event.key, row)
        if depth >= SITEMAP_DEPTH_MAX:
            self.crawl.counters.refuse("sitemap-too-deep", len(nested.urls))
            return
        tally = self._accounts.tally(posting, key, root.url)
        taken = min(len(nested.urls), SITEMAPS_MAX - tally.sitemaps)
        tally.sitemaps += taken
        if taken < len(nested.urls):
            self.crawl.counters.refuse("too-many-sitemaps", len(nested.urls) - taken)
        urls, keys = nested.urls[:taken], nested.keys[: 16 * taken]
        named = Discovered(urls, keys, Kind.SITEMAP, event.hop, "sitemap-index", event.key)
        self._admitting.admit(posting, named)

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
        tally = self._accounts.tally(posting, key, row.url)
        self._move(posting, tally, key, row, NextState(State.DEAD, event.fault, row.attempts))

    def _learn(self, posting: Posting, event: Parsed, url: Url, tally: TallyRow) -> None:
        """What a page tells of its host and its site, before its links are looked at."""
        host = event.key[:8]
        if event.kind is Kind.PAGE:
            site = self._accounts.site(posting, host, tally)
            if self._watch.parsed(posting.batch, tally, event, url):
                self._accounts.found_text(posting, site)
            event.pages = without_visits(event.pages, host, tally.visits.dropped)
            at_hand = self._frontier.hosts.get(host)
            if at_hand is not None:
                at_hand.budget.ceiling = ceiling_of(self._frontier.rules.ceilings.pages_per_host, tally.counts.novelty)
        self._count_links(posting, event, tally.site)

    def _count_links(self, posting: Posting, event: Parsed, source: str) -> None:
        """Sites are ranked by the distinct other sites that link to them; hosts of one site do not count for it."""
        own, pages = event.key[:8], event.pages
        others = {pages.keys[16 * at : 16 * at + 8]: url for at, url in enumerate(pages.urls)}
        others.pop(own, None)
        if others:
            targets = {site_of(host_of(Url(linked))) for linked in others.values()}
            for site in self._sites.link(posting.batch, source, sorted(targets)):
                posting.sites[site.key] = site
                if site.row.parked and not site.budget.is_spent:
                    posting.grown.append(site.key)

    # Rows and counts.

    def _move(self, posting: Posting, tally: TallyRow, key: bytes, row: UrlRow, following: NextState) -> None:
        if row.kind is Kind.PAGE:
            for states in (self.crawl.counters.states, tally.states):
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

    def _url_row(self, key: bytes) -> UrlRow:
        stored = self._store.get(Family.URLS, url_row_key(self.crawl.number, key))
        assert stored is not None, f"no row for {key.hex()}"
        return load(UrlRow, stored)

    def _first_due_at(self, after: bytes = b"") -> float:
        crawl = self.crawl.number
        start = after or self._waiting_cursor
        for stored, _ in self._store.scan(Family.WAITING, start, waiting_key(crawl + 1, 0, b"")):
            return split_waiting_key(stored)[0]
        return float("inf")
