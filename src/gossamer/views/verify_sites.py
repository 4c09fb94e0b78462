"""Sites against hosts: what is counted of all sites together is what their hosts, links and texts add up to."""

from collections.abc import Iterator

import msgspec

from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import OVER_BUDGET, SiteRow, TallyRow, load
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.problems import Problems


def check_sites(partition: PartitionStore, crawl: int, problems: Problems) -> None:
    """SITES, LINKERS and TEXTS of a crawl. Sums only, so that a million sites take no memory."""
    hosts = fetched = parked = 0
    for stored in _rows(partition, crawl, Family.TALLIES):
        try:
            tally = load(TallyRow, stored)
        except msgspec.MsgspecError:
            return  # reported where TALLIES is read
        hosts += tally.has_urls
        fetched += tally.fetched
        parked += tally.level == OVER_BUDGET
    counted = SiteRow("all sites")
    for stored in _rows(partition, crawl, Family.SITES):
        try:
            site = load(SiteRow, stored)
        except msgspec.MsgspecError as error:
            problems.add(f"SITES: a row can't be read: {error}")
            return
        counted.hosts += site.hosts
        counted.fetched += site.fetched
        counted.parked += site.parked
        counted.in_degree += site.in_degree
        counted.texts += site.texts
    for what, said, is_so in (
        ("hosts", counted.hosts, hosts),
        ("fetched", counted.fetched, fetched),
        ("parked hosts", counted.parked, parked),
        ("linking sites", counted.in_degree, sum(1 for _ in _rows(partition, crawl, Family.LINKERS))),
        ("new texts", counted.texts, sum(1 for _ in _rows(partition, crawl, Family.TEXTS))),
    ):
        if said != is_so:
            problems.add(f"the rows of sites say {said} {what}, other rows say {is_so}")


def _rows(partition: PartitionStore, crawl: int, family: Family) -> Iterator[bytes]:
    prefix = crawl_prefix(crawl)
    return (stored for _, stored in partition.scan(family, prefix, prefix + LAST))
