"""The pages of a crawl, one row a URL: what was asked, what came, what parsing made of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from gossamer.core.fingerprint import hex_hash
from gossamer.core.keys import LAST, crawl_prefix, url_row_key
from gossamer.core.rows import Kind, PageRow, State, UrlRow, load
from gossamer.core.url import Url, host_of
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.forms import rfc3339
from gossamer.views.lookup import host_key_of

_NEVER_A_KEY = b"\xff" * 64


class PageView(msgspec.Struct, rename="camel"):
    """A row as `pages` prints it and `export pages` writes it. Nothing is looked for in duplicates yet: null."""

    url: str
    host: str
    status: int | None
    outcome: str
    fetched_at: str | None
    hop: int
    content_type: str | None
    content_hash: str | None
    simhash: str | None
    verdict: str | None
    duplicate_of: str | None
    raw_key: str | None
    text_key: str | None
    title: str | None
    language: str | None
    redirect_to: str | None
    reason: str | None
    attempts: int
    etag: str | None
    last_modified: str | None
    next_due_at: str | None


@dataclass(frozen=True, slots=True)
class PageFilter:
    """Which pages: all, those of one host, those in some states."""

    host: str | None = None
    states: frozenset[State] = frozenset(State)


class PageRows(NamedTuple):
    """A URL's key, its row, and what parsing made of it."""

    key: bytes
    url: UrlRow
    page: PageRow | None


def page_views(partition: PartitionStore, crawl: int, wanted: PageFilter) -> Iterator[PageView]:
    """The wanted pages in the order of their keys, lazily: 4 µs each."""
    return (page_view(rows) for rows in page_rows(partition, crawl, wanted))


def page_rows(partition: PartitionStore, crawl: int, wanted: PageFilter) -> Iterator[PageRows]:
    """URLS and PAGES side by side: both are sorted by key, so one pass over each is enough. Sitemaps are no pages."""
    start = url_row_key(crawl, host_key_of(wanted.host)) if wanted.host else crawl_prefix(crawl)
    parsed = partition.scan(Family.PAGES, start, start + LAST)
    page_key, stored_page = next(parsed, (_NEVER_A_KEY, b""))
    for key, stored in partition.scan(Family.URLS, start, start + LAST):
        while page_key < key:
            page_key, stored_page = next(parsed, (_NEVER_A_KEY, b""))
        row = load(UrlRow, stored)
        if row.kind is Kind.PAGE and row.state in wanted.states:
            yield PageRows(key[4:], row, load(PageRow, stored_page) if page_key == key else None)


def page_view(rows: PageRows) -> PageView:
    """One row as it is shown."""
    row, page, fetch = rows.url, rows.page, rows.url.fetch
    return PageView(
        url=row.url,
        host=host_of(Url(row.url)),
        status=fetch.status if fetch else None,
        outcome=row.state.label,
        fetched_at=rfc3339(fetch.fetched_at) if fetch else None,
        hop=row.hop,
        content_type=(fetch.content_type or None) if fetch else None,
        content_hash=None if page is None or page.content_hash is None else hex_hash(page.content_hash),
        simhash=None,
        verdict=None,
        duplicate_of=None,
        raw_key=str(fetch.raw_key) if fetch else None,
        text_key=str(page.text_key) if page and page.text_key else None,
        title=page.title if page else None,
        language=(page.language or None) if page else None,
        redirect_to=(fetch.redirect_to or None) if fetch else None,
        reason=_reason(row),
        attempts=row.attempts,
        etag=(fetch.etag or None) if fetch else None,
        last_modified=(fetch.last_modified or None) if fetch else None,
        next_due_at=rfc3339(row.due_at),
    )


def _reason(row: UrlRow) -> str | None:
    """Where a redirect leads is told once, in `redirect_to`; why it was not followed is a reason."""
    if row.state is State.REDIRECTED and row.fetch is not None:
        return row.reason.removeprefix(f"to {row.fetch.redirect_to}").removeprefix(", ") or None
    return row.reason or None
