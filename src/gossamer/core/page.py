"""One entry for parsers: what a stored body is, says and links to. PDF, feeds and sitemaps have their own parsers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gossamer.core.charset import decode_html, decode_text
from gossamer.core.fingerprint import content_hash
from gossamer.core.html import Outlink, RobotsFacts, header_robots, html_facts, may_follow, parse_document
from gossamer.core.text import full_text, main_text
from gossamer.core.url import Url, UrlFault, normalize_links


class PageKind(StrEnum):
    """What the body is, by header and content together."""

    HTML = "html"
    TEXT = "text"
    OTHER = "other"


class TextKind(StrEnum):
    """Which text is kept."""

    FULL = "full"
    MAIN = "main"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """`agent` is our product token: a <meta> or X-Robots-Tag may address it by name."""

    text: TextKind = TextKind.FULL
    agent: str = "gossamer"


@dataclass(frozen=True, slots=True)
class Page:
    """What parsing made of a body. `links` are as written, see `outlinks`; `charset` is "" for PageKind.OTHER.

    `text` is the full visible text and `main_text` the main content, each empty unless asked for. `content_hash` is
    that of the full text whatever is kept, None for PageKind.OTHER. `nofollow` is for those who forward the links.
    """

    kind: PageKind
    base: str
    charset: str = ""
    title: str = ""
    language: str = ""
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    links: tuple[Outlink, ...] = ()
    links_cut: bool = False
    text: str = ""
    main_text: str = ""
    content_hash: int | None = None


class Link(NamedTuple):
    """An outlink in normal form. `source` is the `from` of the parse command."""

    url: Url
    rel: str
    source: str


def parse_page(body: bytes, url: str, fields: Mapping[str, str], options: ParseOptions) -> Page:
    """What `body`, content codings off, is at `url`. `fields` have lower-case names.

    Repeated X-Robots-Tag fields are best joined by newlines: a robot's name holds up to the end of its field.
    """
    content_type = fields.get("content-type")
    robots = header_robots(fields.get("x-robots-tag", "").split("\n"), options.agent)
    match kind_of(body, content_type):
        case PageKind.HTML:
            return _html_page(body, url, content_type, robots, options)
        case PageKind.TEXT:
            return _text_page(body, url, content_type, robots, options)
        case PageKind.OTHER:
            return Page(PageKind.OTHER, url, noindex=robots.noindex, nofollow=robots.nofollow)


def _html_page(body: bytes, url: str, content_type: str | None, robots: RobotsFacts, options: ParseOptions) -> Page:
    charset, source = decode_html(body, content_type)
    document = parse_document(source)
    facts = html_facts(document, url, options.agent)
    robots |= facts.robots
    text = full_text(document)
    return Page(
        kind=PageKind.HTML,
        base=facts.base,
        charset=charset,
        title=facts.title,
        language=facts.language,
        canonical=facts.canonical,
        noindex=robots.noindex,
        nofollow=robots.nofollow,
        links=facts.links,
        links_cut=facts.links_cut,
        text="" if options.text is TextKind.NONE else text,
        main_text=main_text(document) if options.text is TextKind.MAIN else "",
        content_hash=content_hash(text),
    )


def _text_page(body: bytes, url: str, content_type: str | None, robots: RobotsFacts, options: ParseOptions) -> Page:
    charset, text = decode_text(body, content_type)
    return Page(
        kind=PageKind.TEXT,
        base=url,
        charset=charset,
        noindex=robots.noindex,
        nofollow=robots.nofollow,
        text="" if options.text is TextKind.NONE else text,
        main_text=text if options.text is TextKind.MAIN else "",
        content_hash=content_hash(text),
    )


def outlinks(page: Page) -> list[Link]:
    """The page's links in normal form, each URL once, in order; what is no http(s) URL is left out."""
    return resolved(page.links, page.base)


def resolved(links: Iterable[Outlink], base: str) -> list[Link]:
    """As `outlinks`. Two spellings of one URL are one link, to be followed if either may be."""
    links = tuple(links)
    known: dict[Url, Link] = {}
    for url, (_, rel, source) in zip(normalize_links([link.href for link in links], base), links, strict=True):
        if isinstance(url, UrlFault):
            continue
        first = known.get(url)
        if first is None or (may_follow(rel) and not may_follow(first.rel)):
            known[url] = Link(url, rel, source if first is None else first.source)
    return list(known.values())


# What the body is -----------------------------------------------------------------------------------------------------

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_NO_TYPES: Final = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})  # MIME Sniffing 7
_SNIFFED_BYTES: Final = 4_096
_LEADING: Final = rb"(?:\xef\xbb\xbf)?(?:[\t\n\f\r ]|<!--.*?-->|<\?xml[^>]*>)*"
_IS_HTML: Final = re.compile(_LEADING + rb"<(?:!doctype[\t\n\f\r ]+html|html)[\t\n\f\r />]", re.IGNORECASE | re.DOTALL)
# MIME Sniffing 7.1: with no type at all, one of these at the start is enough.
_SEEMS_HTML: Final = re.compile(
    rb"[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)
# No page, whatever the header says: PDF, gzip, zip, PNG, JPEG, GIF, WebP and WAV, PostScript, ELF.
_BINARY: Final = (
    b"%PDF-", b"\x1f\x8b", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%!PS", b"\x7fELF",
)  # fmt: skip
_BINARY_OCTETS: Final = bytes([*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])  # MIME Sniffing 3
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def kind_of(body: bytes, content_type: str | None) -> PageKind:
    """By the header where it is plausible. Without a type the content tells; HTML under a wrong type is HTML.

    'text/plain' is obeyed, as browsers must: the source of a page has no links.
    """
    essence = (content_type or "")[:256].partition(";")[0].partition(",")[0].strip().lower()
    head = body[:_SNIFFED_BYTES]
    if head.startswith(_BINARY):
        return PageKind.OTHER
    if essence in _HTML_TYPES:
        return PageKind.HTML
    if essence == "text/plain":
        return PageKind.TEXT
    if _IS_HTML.match(head):
        return PageKind.HTML
    if essence not in _NO_TYPES:
        return PageKind.OTHER
    if _SEEMS_HTML.match(head):
        return PageKind.HTML
    is_text = head.startswith(_UTF16_MARKS) or len(head.translate(None, _BINARY_OCTETS)) == len(head)
    return PageKind.TEXT if is_text and body else PageKind.OTHER
