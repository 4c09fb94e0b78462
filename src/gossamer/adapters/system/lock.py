"""One writer a data directory: an advisory lock that dies with its process, holding the pid for the message."""

import fcntl
import os
from pathlib import Path


class DirectoryInUse(Exception):
    """Another process writes to the directory; the message says which."""


class DirectoryLock:
    """Held from construction to `release` or the end of the process, however that comes."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise DirectoryInUse(f"{path.parent} is in use by process {holder or '?'}") from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode("ascii"), 0)

    def release(self) -> None:
        """Let the next writer in."""
        os.close(self._file)


def is_held(path: Path) -> bool:
    """Whether some process writes to the directory now."""
    try:
        DirectoryLock(path).release()
    except DirectoryInUse:
        return True
    except FileNotFoundError:
        return False
    return False
