"""Free space of the file system that holds the data directory."""

import os
from pathlib import Path


class LocalDisk:
    """See `ports.disk.Disk`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def free_bytes(self) -> int:
        """See `ports.disk.Disk`."""
        found = os.statvfs(self._directory)
        return found.f_bavail * found.f_frsize
