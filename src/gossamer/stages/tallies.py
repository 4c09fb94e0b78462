"""Tallies of hosts: one object a host in memory, however many hosts there are on disk.

The ledger counts in them, the workbench looks at them. A host on the workbench has its own; of the others those that
came by lately are kept, because a page links to the hosts that its neighbours link to.
"""

from collections.abc import Mapping, Sequence

from gossamer.core.keys import tally_key
from gossamer.core.rows import TallyRow, load, new_tally
from gossamer.core.url import site_of
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.stages.host_queue import HostQueue

GENERATION_MAX = 10_000
"""Tallies a generation; two are held: about 15 MB."""


class Tallies:
    """`turn` forgets the older generation; call it only when no batch is open, for a batch's changes are here alone."""

    def __init__(self, store: PartitionStore, crawl: int, bench: Mapping[bytes, HostQueue]) -> None:
        self._store = store
        self._crawl = crawl
        self._bench = bench
        self._young: dict[bytes, TallyRow] = {}
        self._old: dict[bytes, TallyRow] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def of(self, key: bytes, host: str) -> TallyRow:
        """The tally of a host, a new one where it has none."""
        found = self._in_memory(key)
        if found is None:
            stored = self._store.get(Family.TALLIES, tally_key(self._crawl, key))
            found = self._young[key] = load(TallyRow, stored) if stored else new_tally(host, site_of(host))
        return found

    def of_many(self, keys: Sequence[bytes]) -> list[TallyRow | None]:
        """Those of several hosts, read together; None where a host has none."""
        found = [self._in_memory(key) for key in keys]
        missing = [at for at, tally in enumerate(found) if tally is None]
        rows = self._store.get_many(Family.TALLIES, [tally_key(self._crawl, keys[at]) for at in missing])
        for at, stored in zip(missing, rows, strict=True):
            if stored is not None:
                found[at] = self._young[keys[at]] = load(TallyRow, stored)
        return found

    def _in_memory(self, key: bytes) -> TallyRow | None:
        host = self._bench.get(key)
        if host is not None:
            return host.tally
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self._young[key] = found
        return found

    def turn(self) -> None:
        """Start a new generation when the young one is full."""
        if len(self._young) >= GENERATION_MAX:
            self._old, self._young = self._young, {}
