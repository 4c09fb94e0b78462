"""The texts of a crawl, one row a page that has one; pages that ask not to be indexed only on demand."""

from collections.abc import Callable, Iterator

import msgspec

from gossamer.core.rows import State
from gossamer.ports.partition_store import PartitionStore
from gossamer.ports.segment_reading import SegmentReading
from gossamer.views.forms import rfc3339
from gossamer.views.pages import PageFilter, PageRows, page_rows
from gossamer.views.records import record_at


class TextView(msgspec.Struct, rename="camel"):
    """A page's text with what is needed to use it elsewhere."""

    url: str
    fetched_at: str | None
    language: str | None
    title: str
    text: str


def text_views(
    partition: PartitionStore,
    crawl: int,
    texts: SegmentReading,
    on_problem: Callable[[str], None],
    *,
    include_noindex: bool = False,
) -> Iterator[TextView]:
    """Texts in the order of the pages' keys, lazily. A text that can't be read is told to `on_problem` and left out."""
    for rows in page_rows(partition, crawl, PageFilter(states=frozenset({State.FETCHED}))):
        if rows.page is None or rows.page.text_key is None or (rows.page.noindex and not include_noindex):
            continue
        record = record_at(texts, rows.page.text_key)
        if isinstance(record, str):
            on_problem(f"{rows.url.url}: {record}")
        else:
            yield _view(rows, record.block.decode("utf-8", "replace"))


def _view(rows: PageRows, text: str) -> TextView:
    assert rows.page is not None
    fetched_at = rfc3339(rows.url.fetch.fetched_at) if rows.url.fetch else None
    return TextView(rows.url.url, fetched_at, rows.page.language or None, rows.page.title, text)
