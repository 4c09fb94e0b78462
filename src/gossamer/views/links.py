"""The link graph of a crawl, one row an outlink, whether it was followed or not."""

from collections.abc import Iterator

import msgspec

from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import UrlRow, load, load_links
from gossamer.ports.partition_store import Family, PartitionStore

_NEVER_A_KEY = b"\xff" * 64


class LinkView(msgspec.Struct, rename={"from_": "from"}):
    """`verdict` is 'inside' or why the link was not followed; `source` the element it stood in."""

    from_: str
    to: str
    rel: str
    source: str
    verdict: str


def link_views(partition: PartitionStore, crawl: int) -> Iterator[LinkView]:
    """All outlinks in the order of the pages' keys, lazily."""
    prefix = crawl_prefix(crawl)
    urls = partition.scan(Family.URLS, prefix, prefix + LAST)
    url_key, stored_url = next(urls, (_NEVER_A_KEY, b""))
    for key, stored in partition.scan(Family.LINKS, prefix, prefix + LAST):
        while url_key < key:
            url_key, stored_url = next(urls, (_NEVER_A_KEY, b""))
        links = load_links(stored)
        if links and url_key == key:
            page = load(UrlRow, stored_url).url
            for link in links:
                yield LinkView(page, link.url, link.rel, link.source, link.verdict)
