"""Appends that happen whole or not at all, and files that appear complete or not at all."""

import errno
import os
from pathlib import Path

from gossamer.ports.segments import DiskFull

# RLIMIT_FSIZE answers EFBIG: like a quota, a limit that somebody set and can lift.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def append_or_cut(fd: int, octets: bytes, size_bytes: int, path: Path) -> None:
    """Append to a file of `size_bytes`; after any failure it is as long as before. DiskFull when there is no room."""
    try:
        _write_all(fd, octets)
    except OSError as error:
        os.ftruncate(fd, size_bytes)
        raise translated(error, path) from error


def replace_atomically(path: Path, octets: bytes) -> None:
    """Put a file in place, durable and complete; readers see the old one or the new one. Blocks. DiskFull."""
    scratch = path.with_name(path.name + ".tmp")
    try:
        with scratch.open("wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise translated(error, path) from error


def sync_directory(directory: Path) -> None:
    """Names created, renamed or removed in `directory` survive a power cut from here on. Blocks."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def translated(error: OSError, path: Path) -> Exception:
    """DiskFull for an error that means it, else the same error with the file's name, which a descriptor has not."""
    if error.errno in _NO_ROOM:
        return DiskFull(f"no room for {path}: {error.strerror}")
    return OSError(error.errno, error.strerror, str(path))


def _write_all(fd: int, octets: bytes) -> None:
    """A write may be short, on a nearly full disk for example; the next one then tells why."""
    written = os.write(fd, octets)
    if written < len(octets):
        rest = memoryview(octets)[written:]
        while rest:
            rest = rest[os.write(fd, rest) :]
