"""The status of a crawl as one document: from the store here, from memory in the process that runs it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from gossamer.core.keys import LAST, tally_key
from gossamer.core.robots_copy import Permission, UnreachableMode, permission
from gossamer.core.rows import CrawlRow, HostRow, State, TallyRow, load
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.forms import counts_by_state, rfc3339

HOSTS_AT_ONCE = 512


class HostCounts(NamedTuple):
    """Hosts with something to do: in contact now, waiting for their moment, closed by robots.txt."""

    busy: int
    waiting: int
    parked: int


def status_document(
    crawl: CrawlRow,
    hosts: HostCounts,
    *,
    status: str | None = None,
    pages_per_second: float,
    eta_seconds: float | None,
) -> dict[str, Any]:
    """What `gossamer status --json` prints; `status` where the row's own word no longer holds."""
    counters, status = crawl.counters, status or crawl.status
    return {
        "crawlId": crawl.crawl_id,
        "status": status,
        "end": _end(crawl, status),
        "fetched": counters.fetched,
        "failed": counters.states[State.FAILED] + counters.states[State.DEAD],
        "frontierSize": counters.unsettled,
        "pagesPerSecond": round(pages_per_second, 3),
        "discovered": counters.discovered,
        "duplicates": None,
        "nearDuplicates": None,
        "bytes": counters.wire_bytes,
        "robotsDenied": counters.states[State.DENIED],
        "states": counts_by_state(counters.states),
        "hosts": hosts._asdict(),
        "etaSeconds": None if eta_seconds is None else round(eta_seconds, 1),
        "seeds": crawl.seeds,
        "createdAt": rfc3339(crawl.created_at),
        "endedAt": rfc3339(crawl.ended_at),
        "refused": counters.refused,
        "reasons": counters.reasons,
        "sitemaps": {"found": counters.sitemaps, "open": counters.sitemaps_open},
        "contacts": {"all": counters.contacts, "robots": counters.robots_contacts},
    }


def _end(crawl: CrawlRow, status: str) -> str | None:
    """Why the last run ended; None while one runs or rests. A run that was killed could not say: it is stopped."""
    if status in {"running", "paused"}:
        return None
    if crawl.end or status != "completed":
        return crawl.end or "stopped"
    return "budget-spent" if crawl.counters.unsettled else "completed"


def stored_status(
    partition: PartitionStore, crawl: CrawlRow, now: float, mode: UnreachableMode, *, is_held: bool
) -> dict[str, Any]:
    """The document from the store. The rate is that of the whole crawl; nobody is busy while nobody crawls.

    `is_held`: whether a process runs this crawl now. A row that says "running" without one was left by a crash.
    """
    status = "stopped" if crawl.status == "running" and not is_held else crawl.status
    took_s = crawl.active_s or (crawl.ended_at or (now if is_held else 0.0)) - crawl.created_at
    rate = crawl.counters.fetched / took_s if took_s > 0 else 0.0
    hosts = stored_host_counts(partition, crawl.number, now, mode)
    return status_document(crawl, hosts, status=status, pages_per_second=rate, eta_seconds=None)


def stored_host_counts(partition: PartitionStore, crawl: int, now: float, mode: UnreachableMode) -> HostCounts:
    """Hosts with URLs ready: parked where robots.txt closes an origin now, else waiting. 3 µs a host."""
    waiting = parked = 0
    for row in _hosts_with_work(partition, crawl):
        origins = row.origins.values() if row is not None else ()
        is_closed = any(permission(origin.copy, now, mode) is Permission.CLOSED for origin in origins)
        parked += is_closed
        waiting += not is_closed
    return HostCounts(0, waiting, parked)


def _hosts_with_work(partition: PartitionStore, crawl: int) -> Iterator[HostRow | None]:
    """None for a host that was never contacted."""
    prefix = tally_key(crawl, b"")
    keys: list[bytes] = []
    for key, stored in partition.scan(Family.TALLIES, prefix, prefix + LAST):
        if load(TallyRow, stored).ready:
            keys.append(key[4:])
        if len(keys) >= HOSTS_AT_ONCE:
            yield from _host_rows(partition, keys)
            keys.clear()
    yield from _host_rows(partition, keys)


def _host_rows(partition: PartitionStore, keys: list[bytes]) -> Iterator[HostRow | None]:
    for stored in partition.get_many(Family.HOSTS, keys):
        yield load(HostRow, stored) if stored is not None else None
