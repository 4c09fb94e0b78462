"""The rows of one URL: which keys it has, and what stands under them."""

from typing import NamedTuple

from gossamer.core.keys import sitemap_key, tally_key, url_row_key
from gossamer.core.rows import HostRow, Kind, PageRow, TallyRow, UrlRow, load
from gossamer.core.url import Url, UrlFault, host_of, link_keys, normalize
from gossamer.ports.partition_store import Family, PartitionStore


class Known(NamedTuple):
    """An admitted URL."""

    key: bytes
    row: UrlRow


def urls_meant(written: str) -> tuple[Url, ...] | UrlFault:
    """What a person may mean: the normal form; without a scheme https, then http."""
    if "://" in written:
        url = normalize(written.strip())
        return url if isinstance(url, UrlFault) else (url,)
    guesses = [normalize(scheme + written.strip().lstrip("/")) for scheme in ("https://", "http://")]
    urls = tuple(url for url in guesses if not isinstance(url, UrlFault))
    return urls or next(fault for fault in guesses if isinstance(fault, UrlFault))


def host_meant(written: str) -> str | UrlFault:
    """The host as keys have it, from a name in any case, a name with a port or a whole URL."""
    urls = urls_meant(written)
    return urls if isinstance(urls, UrlFault) else host_of(urls[0])


def host_key_of(host: str) -> bytes:
    """The 8 bytes under which a host's rows lie."""
    return link_keys([Url(f"http://{host}/")])[0][:8]


def key_of(url: Url, kind: Kind) -> bytes:
    """The 16 bytes of a URL as that kind."""
    key = link_keys([url])[0]
    return key if kind is Kind.PAGE else sitemap_key(key)


def known_url(partition: PartitionStore, crawl: int, url: Url) -> Known | None:
    """The row of a URL, as a page or else as a sitemap; None when it was never admitted."""
    for kind in (Kind.PAGE, Kind.SITEMAP):
        key = key_of(url, kind)
        row = url_row(partition, crawl, key)
        if row is not None:
            return Known(key, row)
    return None


def first_known(partition: PartitionStore, crawl: int, urls: tuple[Url, ...]) -> tuple[Url, Known | None]:
    """The first of these that is known, else the first."""
    for url in urls:
        known = known_url(partition, crawl, url)
        if known is not None:
            return url, known
    return urls[0], None


def url_row(partition: PartitionStore, crawl: int, key: bytes) -> UrlRow | None:
    """The row under a 16-byte key."""
    stored = partition.get(Family.URLS, url_row_key(crawl, key))
    return None if stored is None else load(UrlRow, stored)


def page_row(partition: PartitionStore, crawl: int, key: bytes) -> PageRow | None:
    """What parsing made of a URL's capture."""
    stored = partition.get(Family.PAGES, url_row_key(crawl, key))
    return None if stored is None else load(PageRow, stored)


def host_row(partition: PartitionStore, host_key: bytes) -> HostRow | None:
    """A host's manners and robots.txt."""
    stored = partition.get(Family.HOSTS, host_key)
    return None if stored is None else load(HostRow, stored)


def tally_row(partition: PartitionStore, crawl: int, host_key: bytes) -> TallyRow | None:
    """A host's counts in a crawl."""
    stored = partition.get(Family.TALLIES, tally_key(crawl, host_key))
    return None if stored is None else load(TallyRow, stored)
