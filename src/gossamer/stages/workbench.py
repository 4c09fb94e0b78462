"""Hosts in memory: read from their rows when they are needed, forgotten when all they know is on disk, with runs of
URLs from their back queues. When a host's turn comes is the frontier's.
"""

from collections.abc import Iterator
from dataclasses import replace

from gossamer.core.budget import Budget, Ceilings
from gossamer.core.politeness import DelayRules
from gossamer.core.rows import LAST, HostRow, State, TallyRow, UrlRow, load, ready_key, tally_key, url_row_key
from gossamer.core.url import Url, origin_of, site_of
from gossamer.ports.clock import Clock
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.host_queue import RUN_MAX, Entry, HostQueue, Search


class Workbench:
    """The hosts of one crawl. Reads the store, never writes."""

    def __init__(self, store: PartitionStore, clock: Clock, crawl: int, ceilings: Ceilings, delay: DelayRules) -> None:
        self._store = store
        self._clock = clock
        self._crawl = crawl
        self._ceilings = ceilings
        self._delay = delay
        self.hosts: dict[bytes, HostQueue] = {}
        self.rest_until = 0.0
        """After a kill: no host is contacted before, nor before its own gap has passed from then on."""

    def host(self, key: bytes, name: str) -> HostQueue:
        """The host in memory, read from disk or made when it is not there."""
        found = self.hosts.get(key)
        if found is None:
            stored = self._store.get(Family.TALLIES, tally_key(self._crawl, key))
            found = self._open(key, name, load(TallyRow, stored) if stored else TallyRow(name, [0] * len(State)))
        return found

    def with_urls_ready(self) -> Iterator[HostQueue]:
        """All hosts of the crawl that have something to fetch, brought to memory one by one."""
        prefix = tally_key(self._crawl, b"")
        for key, stored in self._store.scan(Family.TALLIES, prefix, prefix + LAST):
            tally = load(TallyRow, stored)
            if tally.ready:
                yield self._open(key[4:], tally.host, tally)

    def forget_if_idle(self, host: HostQueue) -> None:
        """Nothing is lost by it."""
        if host.is_idle and self.hosts.get(host.key) is host:
            del self.hosts[host.key]

    def read_run(self, host: HostQueue) -> bool:
        """Take up the next URLs behind the cursor, or those that were put back; False when there are none."""
        if self._read_on(host):
            return True
        if not host.has_put_back:
            return False
        host.cursor, host.has_put_back = b"", False
        return self._read_on(host)

    def look_on(self, host: HostQueue, closed_until: float) -> float | None:
        """Put a run back that is closed until then (wall time) and read the next one: other origins may be open.

        A number: it has been round the whole back queue, nothing opens earlier.
        """
        if (host.is_surveyed and not host.is_mixed) or host.tally.ready <= len(host.taken):
            return closed_until
        search = host.search = host.search or Search(host.run[0].ready_key)
        search.reopens_at = min(search.reopens_at, closed_until)
        host.put_run_back()
        if not self._read_on(host):
            host.cursor, search.is_second_half = b"", True
            self._read_on(host)
        if search.is_second_half and (not host.run or host.run[0].ready_key >= search.began_at):
            host.search, host.is_surveyed = None, True
            return search.reopens_at
        return None

    def _read_on(self, host: HostQueue) -> bool:
        start = host.cursor or ready_key(self._crawl, host.key, 0, 0)
        stop = ready_key(self._crawl, host.key, 255, 2**64 - 1)
        places: list[tuple[bytes, bytes]] = []
        for place, key in self._store.scan(Family.READY, start, stop):
            if place not in host.taken:
                places.append((place, key))
                if len(places) >= RUN_MAX:
                    break
        if not places:
            return False
        rows = self._store.get_many(Family.URLS, [url_row_key(self._crawl, key) for _, key in places])
        for (place, key), stored in zip(places, rows, strict=True):
            assert stored is not None, f"READY names a URL without a row: {key.hex()}"
            row = load(UrlRow, stored)
            host.saw(origin_of(Url(row.url)))
            host.run.append(Entry(place, key, row))
            host.taken.add(place)
        host.cursor = places[-1][0] + b"\x00"
        return True

    def take(self, host: HostQueue, entry: Entry) -> bool:
        """Take an entry out of the run, or off the disk when the run was put back; False when it is gone."""
        if entry in host.run:
            host.run.remove(entry)
            return True
        is_there = entry.ready_key not in host.taken and self._store.get(Family.READY, entry.ready_key) is not None
        if is_there:
            host.taken.add(entry.ready_key)
        return is_there

    def _open(self, key: bytes, name: str, tally: TallyRow) -> HostQueue:
        stored = self._store.get(Family.HOSTS, key)
        row = load(HostRow, stored) if stored else HostRow(name, site_of(name))
        host = HostQueue(key, row, tally, Budget(self._ceilings.pages_per_host, spent=tally.fetched))
        host.is_surveyed = not tally.ready  # then every URL comes by
        now = self._clock.monotonic()
        host.next_at = now + max(0.0, row.manners.next_allowed_at - self._clock.now())
        if self.rest_until:
            # What was in flight at the kill may have ended just then.
            own_gap_s = max(row.crawl_delay_s or 0.0, row.manners.gap_s)
            host.next_at = max(host.next_at, self.rest_until + max(0.0, own_gap_s - self._delay.delay_s))
        host.manners = replace(row.manners, next_allowed_at=host.next_at)
        self.hosts[key] = host
        return host
