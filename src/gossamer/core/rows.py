"""What the state of a partition looks like: keys (big-endian, so that order is meaning) and rows (msgpack arrays).

Nothing here reads or writes; the families are named in `ports.partition_store`. What each family
holds: docs/architecture.md.
"""

import struct
from enum import IntEnum
from typing import TypeVar

import msgspec

from gossamer.core.politeness import HostManners
from gossamer.core.robots_copy import RobotsCopy

ROW_VERSION = 1
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
        return self.name.lower()


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
    """Counts of one host in one crawl: by state (pages only), stored 2xx pages, and all READY entries, sitemaps too.

    `sitemaps` counts what indexes named, all chains of them that begin on this host.
    """

    host: str
    states: list[int]
    fetched: int = 0
    ready: int = 0
    sitemaps: int = 0


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
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    reasons: dict[str, int] = msgspec.field(default_factory=dict)

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


# Keys. A URL's `key` is 16 bytes: host hash, then URL hash (`core.url.link_keys`). `crawl` is the crawl's number.

_U32 = struct.Struct(">I")
_QUEUE = struct.Struct(">IQ")
_READY = struct.Struct(">I8sBQ")
_WAITING = struct.Struct(">IQ16s")
_SEGMENT = b"segment:"
LAST = b"\xff" * 32


def crawl_prefix(crawl: int) -> bytes:
    """What every key of a crawl starts with."""
    return _U32.pack(crawl)


def url_row_key(crawl: int, key: bytes) -> bytes:
    """SEEN, URLS, PAGES, LINKS: crawl, host hash, URL hash."""
    return _U32.pack(crawl) + key


def sitemap_key(key: bytes) -> bytes:
    """The key of a sitemap, from the key of its URL: a site may also link to its sitemap, which is a page then."""
    return key[:8] + bytes(octet ^ 0xFF for octet in key[8:])


def ready_key(crawl: int, host: bytes, priority: int, sequence: int) -> bytes:
    """READY: crawl, host hash, priority (0 first), sequence; the value is the URL's 16-byte key."""
    return _READY.pack(crawl, host, priority, sequence)


def waiting_key(crawl: int, due_at: float, key: bytes) -> bytes:
    """WAITING: crawl, due time in milliseconds since 1970, URL key. Earliest first."""
    return _WAITING.pack(crawl, int(due_at * 1000), key)


def split_waiting_key(stored: bytes) -> tuple[float, bytes]:
    """Due time in seconds and the URL key of a WAITING key."""
    _, due_ms, key = _WAITING.unpack(stored)
    return due_ms / 1000, key


def capture_key(crawl: int, sequence: int) -> bytes:
    """CAPTURES: crawl, sequence."""
    return _QUEUE.pack(crawl, sequence)


def split_capture_key(stored: bytes) -> int:
    """The sequence of a CAPTURES key."""
    return int(_QUEUE.unpack(stored)[1])


def tally_key(crawl: int, host: bytes) -> bytes:
    """TALLIES: crawl, host hash."""
    return _U32.pack(crawl) + host


def counters_meta_key(crawl: int) -> bytes:
    """META: the counters of a crawl as of the last batch."""
    return b"counters:" + _U32.pack(crawl)


def crawl_of(stored: bytes, counters: bytes | None) -> CrawlRow:
    """A crawl from its two rows."""
    crawl = load(CrawlRow, stored)
    if counters is not None:
        crawl.counters = load(Counters, counters)
    return crawl


def crawl_meta_key(crawl: int) -> bytes:
    """META: the row of a crawl."""
    return b"crawl:" + _U32.pack(crawl)


def split_crawl_meta_key(stored: bytes) -> int:
    """The number of the crawl of a `crawl_meta_key`."""
    return int(_U32.unpack(stored.removeprefix(b"crawl:"))[0])


def segment_meta_key(name: str) -> bytes:
    """META: the committed length of a segment file, 8 bytes big-endian."""
    return _SEGMENT + name.encode("ascii")


def split_segment_meta_key(stored: bytes) -> str:
    """The name of the segment file."""
    return stored.removeprefix(_SEGMENT).decode("ascii")


def committed_length(stored: bytes) -> int:
    """The value under a `segment_meta_key`, in bytes."""
    return int.from_bytes(stored, "big")


VERSION_KEY = b"version"
