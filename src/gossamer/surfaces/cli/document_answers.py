"""What parsing makes of one document: a page, a sitemap, a text. Questions as JSON has them, answers too."""

import re
from collections.abc import Mapping
from typing import Final

from gossamer.core.charset import decode_text
from gossamer.core.decoding import decode_body
from gossamer.core.fingerprint import content_hash, hex_hash
from gossamer.core.page import Page, PageKind, ParseOptions, TextKind, kind_of, outlinks, parse_page
from gossamer.core.sitemap import parse_sitemap
from gossamer.stages.parse_capture import DECODED_BYTES_MAX
from gossamer.surfaces.cli.json_lines import Answer, Request
from gossamer.surfaces.cli.rule_answers import web_url

_TAG: Final = re.compile(rb"<[A-Za-z!/]")


def parse_answer(request: Request, text: str) -> Answer:
    """`{url, body | bodyHex, headers{}}` → facts, links and text (a TextKind) of a page. Raises BadRequest.

    `headers` are those of the response: content codings are taken off, `Content-Type` and `X-Robots-Tag` count. Without
    a `Content-Type` whatever has a tag is HTML: who asks about a fragment means one. (A crawl sniffs, as browsers do.)
    """
    url = web_url(request.text("url"))
    fields = request.fields("headers")
    body = decode_body(request.octets("body"), fields.get("content-encoding"), DECODED_BYTES_MAX).body
    page = parse_page(body, url, _with_type(fields, body), ParseOptions(TextKind(text)))
    answer = _page_answer(page)
    if text == TextKind.MAIN:
        answer["mainText"] = page.main_text
    return answer


def _with_type(fields: Mapping[str, str], body: bytes) -> Mapping[str, str]:
    is_fragment = "content-type" not in fields and kind_of(body, None) is PageKind.TEXT and _TAG.search(body)
    return {**fields, "content-type": "text/html"} if is_fragment else fields


def _page_answer(page: Page) -> Answer:
    """What the page does not say is null."""
    return {
        "charset": page.charset or None,
        "title": page.title or None,
        "language": page.language or None,
        "canonical": page.canonical,
        "robots": {"noindex": page.noindex, "nofollow": page.nofollow},
        "links": [{"url": url, "rel": rel, "from": source} for url, rel, source in outlinks(page)],
        "text": page.text,
        "contentHash": None if page.content_hash is None else hex_hash(page.content_hash),
    }


def sitemap_answer(request: Request) -> Answer:
    """`{url, body | bodyHex}` → `{kind, entries[{url, lastmod}], sitemaps[], problems[]}`. Raises BadRequest."""
    return sitemap_of(request.octets("body"), web_url(request.text("url")))


def sitemap_of(body: bytes, url: str) -> Answer:
    """As `sitemap_answer`; without a `url` ("") relative locations are problems."""
    sitemap = parse_sitemap(body, url)
    return {
        "kind": sitemap.kind.value,
        "entries": [{"url": entry.url, "lastmod": entry.lastmod} for entry in sitemap.entries],
        "sitemaps": list(sitemap.sitemaps),
        "problems": list(sitemap.problems),
    }


def fingerprint_answer(request: Request) -> Answer:
    """`{text}` → `{contentHash}`. Raises BadRequest."""
    return fingerprint(request.text("text"))


def fingerprint(text: str) -> Answer:
    """The hashes of a text."""
    return {"contentHash": hex_hash(content_hash(text))}


def text_of(body: bytes) -> str:
    """The text of a file, whatever its charset."""
    return decode_text(body, None).text
