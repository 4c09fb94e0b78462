"""Where the snapshots of a crawl's Bloom filter are kept. What one says is `core.bloom_saved`."""

from collections.abc import Iterator
from typing import Protocol


class SeenSnapshots(Protocol):
    """One snapshot or none is published; another may be on its way. One step at a time, beside the event loop.

    A crash leaves the one that was published last, whole.
    """

    def published(self) -> Iterator[bytes]:
        """The octets of the snapshot, nothing when there is none. Blocks: for before the loop runs."""

    def write(self, pieces: Iterator[bytes]) -> None:
        """Begin to write another one; `pieces` is taken on a thread, until `close`. What is published stays."""

    def publish(self) -> None:
        """Begin to put what was written in the place of what is published, durably."""

    def is_done(self) -> bool:
        """Whether the step that was begun last has ended. Raises DiskFull, once, when it ended without success."""

    def close(self) -> None:
        """Give up what is under way."""
