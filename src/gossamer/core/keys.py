"""Under which keys the rows of a partition lie: big-endian, so that order is meaning.

A URL's `key` is 16 bytes: host hash, then URL hash (`core.url.link_keys`). `crawl` is the crawl's number.
"""

import struct

_U32 = struct.Struct(">I")
_QUEUE = struct.Struct(">IQ")
_SITES = struct.Struct(">QQ")
_READY = struct.Struct(">I8sBQ")
_WAITING = struct.Struct(">IQ16s")
_FRONT = struct.Struct(">IBQ")
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


def front_key(crawl: int, level: int, order: int, host: bytes = b"") -> bytes:
    """FRONT: crawl, level, order within it, host hash; the value is empty."""
    return _FRONT.pack(crawl, level, order) + host


def split_front_key(stored: bytes) -> tuple[int, int, bytes]:
    """Level, order and host hash of a FRONT key."""
    _, level, order = _FRONT.unpack_from(stored)
    return level, order, stored[_FRONT.size :]


def waiting_key(crawl: int, due_at: float, key: bytes) -> bytes:
    """WAITING: crawl, due time in milliseconds since 1970, URL key. Earliest first."""
    return _WAITING.pack(crawl, int(due_at * 1000), key)


def split_waiting_key(stored: bytes) -> tuple[float, bytes]:
    """Due time in seconds and the URL key of a WAITING key."""
    _, due_ms, key = _WAITING.unpack(stored)
    return due_ms / 1000, key


def site_row_key(crawl: int, site: int) -> bytes:
    """SITES: crawl, the site's 64-bit key."""
    return _QUEUE.pack(crawl, site)


def linker_keys(target: int, linking: int) -> bytes:
    """LINKERS, behind the crawl: the site that is linked to, then the one that links; the value is empty."""
    return _SITES.pack(target, linking)


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
