"""Does everything add up? Counters and rows, queues and states, keys and records, contacts and delays."""

from collections import Counter
from collections.abc import Iterator

from gossamer.core.keys import (
    LAST,
    committed_length,
    crawl_prefix,
    ready_key,
    segment_meta_key,
    split_front_key,
    split_segment_meta_key,
    split_waiting_key,
    waiting_key,
)
from gossamer.core.priority import LEVELS, level_of
from gossamer.core.rows import (
    OPEN_STATES,
    OVER_BUDGET,
    CaptureRow,
    Kind,
    PageRow,
    SiteRow,
    State,
    TallyRow,
    UrlRow,
    load,
)
from gossamer.core.warc import read_record
from gossamer.ports.contacts import Contact
from gossamer.ports.partition_store import Family
from gossamer.reading import crawls_in
from gossamer.testing.sim_web import Exchange
from gossamer.testing.world import World
from gossamer.views.problems import Problems
from gossamer.views.verify_seen import SavedFilter, check_filter

CLOCK_S = 1e-6
"""What the loop's own turns may add to a moment."""


def assert_accounts(world: World) -> None:
    """Every promise that can be checked from outside after a scenario, whatever it was."""
    rows = {key[4:]: load(UrlRow, stored) for key, stored in _scan(world, Family.URLS)}
    _assert_seen(world, rows)
    _assert_queues(world, rows)
    _assert_totals(world, rows)
    _assert_records(world, rows)
    _assert_memory(world)
    assert_polite(world)


def _scan(world: World, family: Family) -> Iterator[tuple[bytes, bytes]]:
    prefix = crawl_prefix(world.life.crawl.number)
    return world.partition.scan(family, prefix, prefix + LAST)


def _assert_seen(world: World, rows: dict[bytes, UrlRow]) -> None:
    if world.life.config.seen == "exact":
        assert [key[4:] for key, _ in _scan(world, Family.SEEN)] == sorted(rows)
        return
    problems = Problems()
    saved = SavedFilter(world.snapshots.published, world.life.config.bloom_plan)
    known = check_filter(world.partition, world.life.crawl.number, saved, problems)
    assert problems.kept == []
    assert known.unknown(list(rows)) == []


def _assert_queues(world: World, rows: dict[bytes, UrlRow]) -> None:
    """Each open URL has its one place, and no place belongs to anything else."""
    crawl = world.life.crawl.number
    ready = dict(_scan(world, Family.READY))
    assert ready == {
        ready_key(crawl, key[:8], row.priority, row.sequence): key
        for key, row in rows.items()
        if row.state is State.READY
    }
    waiting = {place: split_waiting_key(place)[1] for place, _ in _scan(world, Family.WAITING)}
    assert waiting == {
        waiting_key(crawl, row.due_at, key): key for key, row in rows.items() if row.state is State.WAITING
    }
    captured = [load(CaptureRow, stored).key for _, stored in _scan(world, Family.CAPTURES)]
    assert sorted(captured) == sorted(key for key, row in rows.items() if row.state is State.CAPTURED)


def _assert_totals(world: World, rows: dict[bytes, UrlRow]) -> None:
    counters = crawls_in(world.partition)[-1].counters
    pages = [row for row in rows.values() if row.kind is Kind.PAGE]
    sitemaps = [row for row in rows.values() if row.kind is Kind.SITEMAP]
    assert counters.states == _by_state(pages)
    assert counters.discovered == len(pages)
    assert counters.fetched == sum(_is_fetched(row) for row in pages)
    assert counters.sitemaps == len(sitemaps)
    assert counters.sitemaps_open == sum(row.state in OPEN_STATES for row in sitemaps)
    for key, stored_tally in _scan(world, Family.TALLIES):
        tally = load(TallyRow, stored_tally)
        own = [row for place, row in rows.items() if place[:8] == key[4:]]
        own_pages = [row for row in own if row.kind is Kind.PAGE]
        assert tally.states == _by_state(own_pages), tally.host
        assert tally.fetched == sum(_is_fetched(row) for row in own_pages), tally.host
        assert tally.ready == sum(row.state is State.READY for row in own), tally.host
    _assert_front(world)
    _assert_sites(world)
    assert counters.hosts_ready == len(list(_scan(world, Family.FRONT)))


def _assert_front(world: World) -> None:
    """Each host with URLs ready waits in one place, at the level of one of them, at rest, or over its budget."""
    tallies = {key[4:]: load(TallyRow, stored) for key, stored in _scan(world, Family.TALLIES)}
    places = {
        host: (level, order) for level, order, host in (split_front_key(key) for key, _ in _scan(world, Family.FRONT))
    }
    assert places == {key: (tally.level, tally.order) for key, tally in tallies.items() if tally.ready}
    for key, tally in tallies.items():
        by_level = Counter(level_of(ready[12]) for ready, _ in _scan(world, Family.READY) if ready[4:12] == key)
        assert tally.ready_by_level == [by_level[level] for level in range(LEVELS)], tally.host


def _assert_sites(world: World) -> None:
    """Hosts, stored pages and parked hosts of each site, and the distinct other sites that link to it."""
    sites = {row.site: row for row in (load(SiteRow, stored) for _, stored in _scan(world, Family.SITES))}
    tallies = [load(TallyRow, stored) for _, stored in _scan(world, Family.TALLIES)]
    for name, row in sites.items():
        own = [tally for tally in tallies if tally.site == name and tally.has_urls]
        assert row.hosts == len(own), name
        assert row.fetched == sum(tally.fetched for tally in own), name
        assert row.parked == sum(tally.level == OVER_BUDGET for tally in own), name
    assert {tally.site for tally in tallies if tally.has_urls} <= sites.keys()
    linked = Counter(stored[4:12] for stored, _ in _scan(world, Family.LINKERS))
    assert sum(linked.values()) == sum(row.in_degree for row in sites.values())


def _by_state(rows: list[UrlRow]) -> list[int]:
    count = Counter(row.state for row in rows)
    return [count[state] for state in State]


def _is_fetched(row: UrlRow) -> bool:
    return row.fetch is not None and 200 <= row.fetch.status < 300


def _assert_records(world: World, rows: dict[bytes, UrlRow]) -> None:
    """Every key leads to its record, below the committed length, which was synced before it was committed."""
    committed = {
        split_segment_meta_key(key): committed_length(stored)
        for key, stored in world.partition.scan(Family.META, segment_meta_key(""), segment_meta_key("") + LAST)
    }
    pages = {key[4:]: load(PageRow, stored) for key, stored in _scan(world, Family.PAGES)}
    for name, length in committed.items():
        assert length <= world.raw.synced[name]
    for key, row in rows.items():
        assert (key in pages) == (row.state is State.FETCHED), row.url
        page = pages.get(key)
        for record_key in (row.fetch and row.fetch.raw_key, page and page.text_key):
            if record_key:
                assert record_key.offset + record_key.length <= committed[record_key.segment]
                assert read_record(world.raw.read(record_key)).field("WARC-Target-URI") == row.url


def _assert_memory(world: World) -> None:
    """After an orderly end no unit is reserved, and of the hosts only those with something to do are in memory."""
    frontier, stages = world.life.stages.frontier, world.life.stages
    if world.life.end is None:
        return
    assert stages.store.is_settled
    assert frontier.in_flight == 0
    assert frontier.budget.reserved == 0
    for host in frontier.hosts.values():
        assert host.budget.reserved == 0, host
        assert host.tally.ready or host.errands, host


def assert_polite(world: World) -> None:
    """A host rests `delay_s` after a contact; begins at one address are `per_address_delay_s` apart; all are logged.

    Both as they are when the later contact begins.
    """
    assert [(begun.url, begun.address) for begun in world.contacts.begun] == [
        (exchange.url, exchange.address) for exchange in world.web.exchanges
    ]
    contacts = list(zip(world.web.exchanges, world.contacts.begun, strict=True))
    for one, (two, begun) in _pairs(contacts, by_address=False):
        assert one.ended_at is not None
        assert two.began_at >= one.ended_at + begun.delay.delay_s - CLOCK_S, (one, two)
    for one, (two, begun) in _pairs(contacts, by_address=True):
        if _next_birth(world, one.began_at) > two.began_at:  # the address's gap is not remembered over a restart
            assert two.began_at >= one.began_at + begun.per_address_delay_s - CLOCK_S, (one, two)


def _pairs(
    contacts: list[tuple[Exchange, Contact]], *, by_address: bool
) -> Iterator[tuple[Exchange, tuple[Exchange, Contact]]]:
    """Each contact of a host or an address after the one before it."""
    before: dict[str, Exchange] = {}
    for exchange, begun in contacts:
        name = exchange.address if by_address else exchange.host
        if name in before:
            yield before[name], (exchange, begun)
        before[name] = exchange


def _next_birth(world: World, after_s: float) -> float:
    return min((life.began_at for life in world.lives if life.began_at > after_s), default=float("inf"))
