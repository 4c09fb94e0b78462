"""The partition store of a simulated world: in memory, with a disk that fills up and a log that takes time to sync."""

import asyncio

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.ports.partition_store import Batch, StoreFull


class SimPartitionStore(MemoryPartitionStore):
    """Survives the death of its writer. `commit_s` passes between a batch being visible and being durable."""

    def __init__(self) -> None:
        super().__init__()
        self.commit_s = 0.0
        self.is_full = False
        self.commits = 0

    async def commit(self, batch: Batch) -> None:
        """See `ports.partition_store.PartitionStore`. As in RocksDB readers see the batch before its log is synced."""
        if self.is_full:
            raise StoreFull("simulated")
        await super().commit(batch)
        self.commits += 1
        await asyncio.sleep(self.commit_s)
