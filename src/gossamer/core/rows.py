"""What the state of a partition holds: rows, as msgpack arrays. Under which keys they lie is in `keys`.

Nothing here reads or writes; the families are named in `ports.partition_store`. What each family
holds: docs/architecture.md.
"""

from enum import IntEnum
from typing import TypeVar

import msgspec

from gossamer.core.politeness import HostManners
from gossamer.core.priority import LEVELS, level_of
from gossamer.core.robots_copy import RobotsCopy
from gossamer.core.site_traps import HostCounts
from gossamer.core.visits import VisitNames

ROW_VERSION = 2
"""Stored in META; a directory of a newer version is refused with a sentence, never misread."""


class State(IntEnum):
    """Where an admitted URL stands. Every one is in exactly one state; their sum is `discovered`."""

    READY = 0
    WAITING = 1
    CAPTURED = 2
    FETCHED = 3
    REDIRECTED = 4
    FAILED = 5
    DENIED = 6
    DEAD = 7

    @property
    def label(self) -> str:
        """The name as people and JSON see it."""
        return _LABELS[self]


_LABELS = tuple(state.name.lower() for state in State)
OPEN_STATES = frozenset({State.READY, State.WAITING, State.CAPTURED})
"""Not settled: what a resumed crawl still has to do."""


class Kind(IntEnum):
    """What a URL was admitted as. Sitemaps have rows and retries like pages but no part in the page counts."""

    PAGE = 0
    SITEMAP = 1


class CaptureKey(msgspec.Struct, array_like=True, frozen=True):
    """Where a stored record lies: segment file name, offset and length in bytes."""

    segment: str
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}+{self.length}"


class FetchFacts(msgspec.Struct, array_like=True):
    """The last answer for a URL. Times in seconds since 1970 UTC."""

    status: int
    fetched_at: float
    duration_s: float
    wire_bytes: int
    content_type: str
    raw_key: CaptureKey
    truncated: str = ""
    redirect_to: str = ""
    etag: str = ""
    last_modified: str = ""


class UrlRow(msgspec.Struct, array_like=True):
    """One admitted URL. `via` is the 16-byte key of the page that led here (empty for seeds), `how` the kind of link.

    `priority` and `sequence` name its place in READY while it is there; `history` holds the last HISTORY_MAX
    events as (seconds since 1970, what happened).
    """

    url: str
    state: State
    kind: Kind
    hop: int
    via: bytes
    how: str
    discovered_at: float
    priority: int
    sequence: int
    redirects: int = 0
    attempts: int = 0
    due_at: float = 0.0
    reason: str = ""
    fetch: FetchFacts | None = None
    history: list[tuple[float, str]] = []


HISTORY_MAX = 12


class PageRow(msgspec.Struct, array_like=True):
    """What parsing made of a capture."""

    parsed_at: float
    kind: str
    charset: str
    title: str
    language: str
    canonical: str
    noindex: bool
    nofollow: bool
    text_chars: int
    content_hash: int | None
    text_key: CaptureKey | None
    links: int
    links_admissible: int
    fault: str = ""


class OutlinkRow(msgspec.Struct, array_like=True, frozen=True):
    """One outlink of a page as `export links` gives it; `verdict` is 'inside' or why it was not followed."""

    url: str
    rel: str
    source: str
    verdict: str


class CaptureRow(msgspec.Struct, array_like=True):
    """An entry of the parse queue: a stored response whose parsing is due."""

    key: bytes
    url: str
    kind: Kind
    hop: int
    raw_key: CaptureKey
    fetched_at: float
    attempts: int = 0


class OriginRow(msgspec.Struct, array_like=True):
    """robots.txt of one origin: the life of the copy, and the digest under which ROBOTS keeps the body."""

    copy: RobotsCopy
    body_key: bytes = b""


class HostRow(msgspec.Struct, array_like=True):
    """A host's manners, shared by all crawls. `manners.next_allowed_at` is in seconds since 1970 here."""

    host: str
    site: str
    manners: HostManners = HostManners()
    crawl_delay_s: float | None = None
    address: str = ""
    origins: dict[str, OriginRow] = {}


class TallyRow(msgspec.Struct, array_like=True):
    """One host in one crawl: pages by state, stored 2xx pages, READY entries (sitemaps too), and its place in FRONT.

    `ready_by_level` counts the READY entries by the front queue that they would put the host in. `level` and `order`
    name the place; -1 where the host has none, because nothing is ready. `fetched_today` is of `day` (days since 1970).
    `counts` and `visits`: what its pages have shown, for the rules against traps. `has_urls`: one was admitted, be it
    a sitemap. `sitemaps` counts what indexes named, all chains of them that begin on this host.
    """

    host: str
    site: str
    states: list[int]
    fetched: int = 0
    ready: int = 0
    ready_by_level: list[int] = msgspec.field(default_factory=lambda: [0] * LEVELS)
    level: int = -1
    order: int = 0
    day: int = 0
    fetched_today: int = 0
    counts: HostCounts = msgspec.field(default_factory=HostCounts)
    visits: VisitNames = VisitNames()
    has_urls: bool = False
    sitemaps: int = 0

    def fetched_on(self, day: int) -> int:
        """Stored pages of that day (days since 1970, UTC), as far as it is the last one with any."""
        return self.fetched_today if self.day == day else 0

    def stored(self, day: int) -> None:
        """One more page is stored, on that day."""
        self.fetched += 1
        self.day, self.fetched_today = day, self.fetched_on(day) + 1

    def place(self, priority: int, count: int) -> None:
        """`count` entries of this priority more (or fewer) are ready."""
        self.ready += count
        self.ready_by_level[level_of(priority)] += count

    @property
    def best_level(self) -> int:
        """That of its best URL; something must be ready."""
        return next(level for level, count in enumerate(self.ready_by_level) if count)


def new_tally(host: str, site: str) -> TallyRow:
    """A host of which nothing is known."""
    return TallyRow(host, site, [0] * len(State))


RESTING = LEVELS
"""FRONT: hosts that may not be contacted for a while, by the time when they may."""
OVER_BUDGET = LEVELS + 1
"""FRONT: hosts whose budget is spent, by their site, so that they are found when it grows."""


class SiteRow(msgspec.Struct, array_like=True):
    """One site in one crawl: its hosts and stored 2xx pages, and `in_degree`, the distinct other sites that link to it.

    `parked`: hosts that wait because its budget or their own is spent. `texts`: pages with a text new to the crawl.
    `family`: the name of its head (`site_traps.family_of`), where `kin` counts the other sites and `kin_texts` theirs.
    """

    site: str
    hosts: int = 0
    fetched: int = 0
    in_degree: int = 0
    parked: int = 0
    texts: int = 0
    family: str = ""
    kin: int = 0
    kin_texts: int = 0


class Counters(msgspec.Struct):
    """Totals of a crawl, committed with the batch that they count."""

    states: list[int] = msgspec.field(default_factory=lambda: [0] * len(State))
    fetched: int = 0
    wire_bytes: int = 0
    sitemaps: int = 0
    sitemaps_open: int = 0
    robots_contacts: int = 0
    contacts: int = 0
    sequence: int = 0
    hosts_ready: int = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    reasons: dict[str, int] = msgspec.field(default_factory=dict)

    def refuse(self, verdict: str, count: int = 1) -> None:
        """URLs that were not admitted, and why."""
        self.refused[verdict] = self.refused.get(verdict, 0) + count

    def next_sequence(self) -> int:
        """A number that this crawl has not used: what is queued later has a higher one."""
        self.sequence += 1
        return self.sequence

    @property
    def discovered(self) -> int:
        """Distinct admitted URLs."""
        return sum(self.states)

    @property
    def unsettled(self) -> int:
        """Pages that still have something coming: ready, waiting, captured."""
        return sum(self.states[state] for state in OPEN_STATES)


class CrawlRow(msgspec.Struct):
    """One crawl of an installation. `options` is the resolved configuration as JSON text.

    Stored when anything but the counters changes: 100,000 seeds are 3 MB. The counters have a row of their own, written
    with every batch; `crawl_of` puts the two together.
    `end` is why the last run ended: completed, budget-spent or stopped; empty while one runs.
    """

    number: int
    crawl_id: str
    created_at: float
    seeds: list[str]
    options: str
    status: str = "running"
    clean: bool = False
    ended_at: float | None = None
    active_s: float = 0.0
    counters: Counters = msgspec.field(default_factory=Counters)
    end: str = ""


Row = TypeVar("Row", bound=msgspec.Struct)

_encode = msgspec.msgpack.Encoder().encode
_decoders: dict[type, msgspec.msgpack.Decoder[msgspec.Struct]] = {}


def dump(row: msgspec.Struct | list[OutlinkRow]) -> bytes:
    """A row as stored."""
    return _encode(row)


def load(kind: type[Row], stored: bytes) -> Row:
    """A stored row; raises msgspec.DecodeError or ValidationError when it is not one."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.msgpack.Decoder(kind)
    return decoder.decode(stored)  # type: ignore[return-value]


_links_decoder = msgspec.msgpack.Decoder(list[OutlinkRow])


def load_links(stored: bytes) -> list[OutlinkRow]:
    """The outlinks of one page."""
    return _links_decoder.decode(stored)


def crawl_of(stored: bytes, counters: bytes | None) -> CrawlRow:
    """A crawl from its two rows."""
    crawl = load(CrawlRow, stored)
    if counters is not None:
        crawl.counters = load(Counters, counters)
    return crawl
