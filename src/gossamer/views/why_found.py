"""Who named a URL: the chain of parents up to the seed, and for a URL without a row a bounded search among links."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import Kind, UrlRow, load, load_links
from gossamer.core.url import Url
from gossamer.ports.partition_store import Family
from gossamer.views.forms import rfc3339
from gossamer.views.lookup import url_row
from gossamer.views.why_case import Case, Step

CHAIN_MAX = 32
"""Parents shown; a crawl may go 10,000 hops deep."""
ROWS_SEARCHED_MAX = 100_000
"""Rows looked through for a link to a URL that was never admitted."""
LOOK_EVERY = 256
"""Rows between two looks at the time."""

_HOW = {"seed": "a seed", "robots.txt": "a sitemap that robots.txt names"}


class Naming(NamedTuple):
    """A page that names a URL: its row, the element and the verdict on the link."""

    by: UrlRow
    how: str
    verdict: str


class Search(NamedTuple):
    """What a bounded search gave: the first naming if any, how many rows were read, and whether those were all."""

    naming: Naming | None
    rows: int
    is_complete: bool


def found_steps(case: Case, row: UrlRow) -> list[Step]:
    """How the URL was found, and how the page that led here was found, up to the seed."""
    steps = [Step("found", row.how, _found_because(case, row), rfc3339(row.discovered_at))]
    parent = url_row(case.partition, case.crawl.number, row.via) if row.via else None
    for _ in range(CHAIN_MAX):
        if parent is None:
            return steps
        because = f"{_HOW.get(parent.how, parent.how)}, hop {parent.hop}"
        steps.append(Step("via", parent.url, because, rfc3339(parent.discovered_at)))
        parent = url_row(case.partition, case.crawl.number, parent.via) if parent.via else None
    if parent is not None:
        steps.append(Step("via", "…", f"and so on: the seed is {parent.hop} hops further"))
    return steps


def _found_because(case: Case, row: UrlRow) -> str:
    if not row.via:
        return f"{_HOW.get(row.how, row.how)}, hop {row.hop}"
    parent = url_row(case.partition, case.crawl.number, row.via)
    named = parent.url if parent else "a page whose row is gone"
    verb = {"redirect": "redirected from", "sitemap": "named by the sitemap", "sitemap-index": "named by the index"}
    return f"{verb.get(row.how, 'first linked from')} {named}, hop {row.hop}"


def search_naming(case: Case, url: Url, is_over: Callable[[], bool]) -> Search:
    """The first page that links or redirects to `url`, within ROWS_SEARCHED_MAX rows and until `is_over`."""
    octets, rows = url.encode(), 0
    for key, stored, find in _rows_with_links(case):
        rows += 1
        if octets in stored and (naming := find(case, key, stored, url)) is not None:
            return Search(naming, rows, is_complete=False)
        if rows >= ROWS_SEARCHED_MAX or (rows % LOOK_EVERY == 0 and is_over()):
            return Search(None, rows, is_complete=False)
    return Search(None, rows, is_complete=True)


_Find = Callable[[Case, bytes, bytes, Url], Naming | None]


def _rows_with_links(case: Case) -> Iterator[tuple[bytes, bytes, _Find]]:
    prefix = crawl_prefix(case.crawl.number)
    for key, stored in case.partition.scan(Family.LINKS, prefix, prefix + LAST):
        yield key[4:], stored, _linked
    for key, stored in case.partition.scan(Family.URLS, prefix, prefix + LAST):
        yield key[4:], stored, _redirected


def _linked(case: Case, key: bytes, stored: bytes, url: Url) -> Naming | None:
    for link in load_links(stored):
        if link.url == url:
            row = url_row(case.partition, case.crawl.number, key)
            return None if row is None else Naming(row, f"{link.source} link", link.verdict)
    return None


def _redirected(case: Case, key: bytes, stored: bytes, url: Url) -> Naming | None:  # noqa: ARG001  one shape with _linked
    row = load(UrlRow, stored)
    if row.fetch is None or row.fetch.redirect_to != url:
        return None
    verdict = row.reason.partition(", not followed: ")[2]
    return Naming(row, "sitemap redirect" if row.kind is Kind.SITEMAP else "redirect", verdict or "inside")
