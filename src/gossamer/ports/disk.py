"""How much room is left where the data directory lies."""

from typing import Protocol


class Disk(Protocol):
    """Free space, as the operating system tells it."""

    def free_bytes(self) -> int:
        """Bytes that this process may still write."""
