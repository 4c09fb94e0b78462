"""The snapshot of a crawl's Bloom filter as a file, written on a thread and put in place by a rename."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from gossamer.adapters.files.durable import sync_directory, translated

READ_BYTES = 2**20
SYNC_EVERY_BYTES = 8 * 2**20
"""Synced in steps: a gigabyte at once would hold up the log of the state, which shares the disk."""


class SeenFile:
    """See `ports.seen_snapshots.SeenSnapshots`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scratch = path.with_name(path.name + ".tmp")
        self._step: Future[None] | None = None
        self._closing = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="seen-snapshots")

    def published(self) -> Iterator[bytes]:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        return octets_of(self._path)

    def write(self, pieces: Iterator[bytes]) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        assert self._step is None
        self._step = self._thread.submit(self._write, pieces)

    def publish(self) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        assert self._step is None
        self._step = self._thread.submit(self._publish)

    def is_done(self) -> bool:
        """See `ports.seen_snapshots.SeenSnapshots`."""
        if self._step is not None:
            if not self._step.done():
                return False
            step, self._step = self._step, None
            step.result()
        return True

    def close(self) -> None:
        """See `ports.seen_snapshots.SeenSnapshots`. Waits for one piece at most."""
        self._closing.set()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._scratch.unlink(missing_ok=True)

    def _write(self, pieces: Iterator[bytes]) -> None:
        unsynced = 0
        try:
            with self._scratch.open("wb") as file:
                for octets in pieces:
                    if self._closing.is_set():
                        return
                    file.write(octets)
                    unsynced += len(octets)
                    if unsynced >= SYNC_EVERY_BYTES:
                        file.flush()
                        os.fdatasync(file.fileno())
                        unsynced = 0
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._scratch.unlink(missing_ok=True)
            raise translated(error, self._path) from error

    def _publish(self) -> None:
        try:
            self._scratch.replace(self._path)
            sync_directory(self._path.parent)
        except OSError as error:
            raise translated(error, self._path) from error


def octets_of(path: Path) -> Iterator[bytes]:
    """A file in pieces; none when it is not there."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        while octets := file.read(READ_BYTES):
            yield octets
