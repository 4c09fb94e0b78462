"""What goes wrong with a data directory, as one sentence and its exit code (docs/commands.md); mapped here only."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from gossamer.adapters.files.contact_log import ContactLogDamaged
from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.system.lock import DirectoryInUse, DirectoryLock
from gossamer.bootstrap import NoRoom
from gossamer.ports.parsing import ParserUnusable
from gossamer.ports.partition_store import StoreCorrupt, StoreFull, StoreLocked
from gossamer.ports.segments import DiskFull
from gossamer.reading import NothingThere

MACHINE_FAULTS = (ContactLogDamaged, DiskFull, NoRoom, ParserUnusable, StoreCorrupt, StoreFull, StoreLocked)


class MachineFailed(click.ClickException):
    """The store, the disk or the directory: exit code 3."""

    exit_code = 3


class NothingBegun(click.UsageError):
    """No crawl could begin: exit code 2, and nothing is left of the attempt."""


@contextmanager
def nothing_left_behind(data: Path) -> Iterator[None]:
    """Remove what was made in and for `data` when NothingBegun is raised inside; what was there before stays."""
    made = [place for place in (data, *data.parents) if not place.exists()]
    before = set(data.iterdir()) if data.is_dir() else set()
    try:
        yield
    except NothingBegun:
        with suppress(OSError, DirectoryInUse):
            _remove(data, before)
            for place in made:
                place.rmdir()
        raise


def _remove(data: Path, before: set[Path]) -> None:
    lock = DirectoryLock(DataDirectory(data.absolute()).lock)  # nobody else has begun a crawl here meanwhile
    try:
        for place in set(data.iterdir()) - before:
            if place.is_dir():
                shutil.rmtree(place)
    finally:
        lock.release()


@contextmanager
def named_faults(data: Path) -> Iterator[None]:
    """Raise what happens to `data` inside as a usage error (2) or as the machine's failure (3)."""
    try:
        with _one_of_group():
            yield
    except DirectoryInUse as busy:
        raise click.UsageError(
            f"{busy}; look with `gossamer status --data {data}`, end it with `gossamer stop`"
        ) from busy
    except NothingThere as nothing:
        raise click.UsageError(str(nothing)) from nothing
    except MACHINE_FAULTS as failed:
        raise MachineFailed(str(failed)) from failed
    except OSError as failed:
        if not data.is_dir():
            raise MachineFailed(f"{data} cannot be made: {failed.strerror or failed}") from failed
        raise MachineFailed(f"{failed.filename or data}: {failed.strerror or failed}") from failed


@contextmanager
def _one_of_group() -> Iterator[None]:
    """Stages run in task groups, which make a group of what one of them raises: the first that we know is it."""
    try:
        yield
    except ExceptionGroup as group:
        known = group.subgroup((*MACHINE_FAULTS, OSError))
        if known is None:
            raise
        fault: Exception = known
        while isinstance(fault, ExceptionGroup):
            fault = fault.exceptions[0]
        raise fault from group
