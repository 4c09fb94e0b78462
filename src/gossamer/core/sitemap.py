"""Sitemaps (sitemaps.org) in all their forms: what a body is, which pages and which further sitemaps it names.

A pure reading of one document. Which of them is fetched, and each only once, is the frontier's business.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from gossamer.core.decoding import decode_body
from gossamer.core.feed import Found, atom_entries, checked_date, rss_items
from gossamer.core.loose_xml import Element, Node, Problems, decoded_xml, elements
from gossamer.core.url import Url, UrlFault, normalize

SITEMAP_BYTES_MAX = 50 * 2**20  # unpacked; sitemaps.org
ENTRIES_MAX = 50_000  # sitemaps.org
GZIP_LAYERS_MAX = 2
ROOT_CHARS_SEARCHED = 4_096

_GZIP_MAGIC = b"\x1f\x8b"
_LINE = re.compile(r"[^\r\n]+")
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)
_KNOWN_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_ENTRY_NAMES = frozenset({"url", "sitemap", "item", "entry"})
_AROUND = "\ufeff\u200b\u00a0 \t\r\n\0"


class SitemapKind(StrEnum):
    """What a document turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    RSS = "rss"
    ATOM = "atom"
    TEXT = "text"
    UNKNOWN = "unknown"


class SitemapEntry(NamedTuple):
    """A page and the date that the site gives it: as written where that is a W3C date, UTC where it came from RSS."""

    url: Url
    lastmod: str | None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What one document names, in its order, other hosts' URLs too. `problems`: sentences, each once, at most 50.

    `is_cut`: it names more than ENTRIES_MAX.
    """

    kind: SitemapKind
    entries: tuple[SitemapEntry, ...]
    sitemaps: tuple[Url, ...]
    problems: tuple[str, ...]
    is_cut: bool = False


_ROOTS = {
    "urlset": SitemapKind.URLSET,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.RSS,
    "rdf": SitemapKind.RSS,
    "feed": SitemapKind.ATOM,
}


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """The pages and sitemaps that `body`, fetched from `url` and content-decoded, names. Never raises.

    A broken document gives what can be read of it. At most ENTRIES_MAX of each and SITEMAP_BYTES_MAX of text are read.
    """
    problems = Problems()
    text = decoded_xml(_unpacked(body, problems), problems)
    kind, found = _reading(text, url, problems)
    entries, sitemaps, is_cut = _normalized(found, problems)
    return Sitemap(kind, entries, sitemaps, problems.all(), is_cut)


def _unpacked(body: bytes, problems: Problems) -> bytes:
    """`body`, out of gzip if it is a .xml.gz, which servers serve under every label there is."""
    for _ in range(GZIP_LAYERS_MAX):
        if not body.startswith(_GZIP_MAGIC):
            break
        decoded = decode_body(body, "gzip", SITEMAP_BYTES_MAX)
        if decoded.fault:
            problems.add(f"gzip: {decoded.fault}")
        if decoded.truncated:
            problems.add(f"more than {SITEMAP_BYTES_MAX} bytes, the rest is not read")
        body = decoded.body
    if len(body) > SITEMAP_BYTES_MAX:
        problems.add(f"more than {SITEMAP_BYTES_MAX} bytes, the rest is not read")
    return body[:SITEMAP_BYTES_MAX]


def _reading(text: str, url: str, problems: Problems) -> tuple[SitemapKind, Iterable[Found]]:
    start = text[:ROOT_CHARS_SEARCHED].lstrip(_AROUND)
    if not start:
        problems.add("empty")
        return SitemapKind.UNKNOWN, ()
    if not start.startswith("<"):
        if _WEB_URL.match(start):
            return SitemapKind.TEXT, _text_lines(text)
        root = _KNOWN_ROOT.search(start)
        if root is None:
            problems.add("neither XML nor a list of URLs")
            return SitemapKind.UNKNOWN, ()
    stream = elements(text, problems, _ENTRY_NAMES)
    first = next(stream, None)
    if not isinstance(first, Node):
        problems.add("no element")
        return SitemapKind.UNKNOWN, ()
    kind = _ROOTS.get(first.name)
    if kind is None:
        problems.add(f"the root element is <{first.name[:40]}>")
        return SitemapKind.UNKNOWN, ()
    whole = chain((first,), stream)
    if kind is SitemapKind.RSS:
        return kind, rss_items(whole, url, problems)
    if kind is SitemapKind.ATOM:
        return kind, atom_entries(whole, url, problems)
    return kind, _locations(whole, url, problems)


def _text_lines(text: str) -> Iterator[Found]:
    for line in _LINE.finditer(text):
        raw = line[0].strip(_AROUND)
        if raw:
            # Lines hold whole URLs; with a base, a word in a line would be a page of that name.
            yield Found(raw, "", None)


def _locations(stream: Iterable[Element | Node], url: str, problems: Problems) -> Iterator[Found]:
    """Each `loc` that is a child of `url` or `sitemap` and shares its prefix: an image or a video has its own."""
    location, lastmod, is_sitemap = "", "", False
    for step in stream:
        if isinstance(step, Node):
            if step.name in {"url", "sitemap"}:
                if location:  # the entry before was never ended
                    yield Found(location, url, checked_date(lastmod, problems), is_sitemap)
                location, lastmod, is_sitemap = "", "", step.name == "sitemap"
            continue
        node = step.node
        if node.name in {"url", "sitemap"}:
            if location:
                yield Found(location, url, checked_date(lastmod, problems), is_sitemap)
            else:
                problems.add(f"<{node.name}> without <loc>")
            location, lastmod = "", ""
        elif node.name in {"loc", "lastmod"} and step.ancestors:
            parent = step.ancestors[-1]
            if parent.prefix == node.prefix and parent.name in {"url", "sitemap"}:
                if node.name == "lastmod":
                    lastmod = lastmod or step.text
                else:
                    location = location or step.text.strip(_AROUND)
    if location:  # the document was cut off inside its last entry, behind the location
        yield Found(location, url, checked_date(lastmod, problems), is_sitemap)


def _normalized(found: Iterable[Found], problems: Problems) -> tuple[tuple[SitemapEntry, ...], tuple[Url, ...], bool]:
    entries: list[SitemapEntry] = []
    is_cut = False
    sitemaps: list[Url] = []
    for count, each in enumerate(found):
        if count >= ENTRIES_MAX:
            problems.add(f"more than {ENTRIES_MAX} entries, the rest is not read")
            is_cut = True
            break
        url = normalize(each.raw_url, each.base or None)
        if isinstance(url, UrlFault):
            problems.add(f"{url.value}: {each.raw_url[:120]!r}")
        elif each.is_sitemap:
            sitemaps.append(url)
        else:
            entries.append(SitemapEntry(url, each.lastmod))
    return tuple(entries), tuple(sitemaps), is_cut
