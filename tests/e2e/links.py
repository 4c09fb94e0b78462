"""The outlinks that a crawl has recorded, from its rows."""

from pathlib import Path

from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import load_links
from gossamer.ports.partition_store import Family
from gossamer.reading import open_reading


def recorded_links(data: Path) -> dict[str, set[str]]:
    """The URLs that the newest crawl's pages link to, by verdict: 'inside', or why they are not followed."""
    found: dict[str, set[str]] = {"inside": set(), "outside": set()}
    with open_reading(data) as reading:
        prefix = crawl_prefix(reading.crawl(None).number)
        for _, stored in reading.partition.scan(Family.LINKS, prefix, prefix + LAST):
            for link in load_links(stored):
                found.setdefault(link.verdict, set()).add(link.url)
    return found
