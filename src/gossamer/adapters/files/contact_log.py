"""The contact log: two JSON lines for every contact with a host, the first written before a byte is sent.

It is the evidence that `gossamer audit` replays; what a contact was allowed to be, is decided elsewhere.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.adapters.files.durable import append_or_cut, translated
from gossamer.core.contacts import BeginContact, ContactRecord, Delays, EndContact, RunFacts
from gossamer.core.retry_after import parse_retry_after
from gossamer.ports.contacts import Contact, ContactEnd

LOG_BYTES_MAX = 64 * 2**20
LINE_BYTES_MAX = 2**20
TAIL_LOGS = 2  # a kill may come just after a rotation

_BOOT = re.compile(r"[A-Za-z0-9-]{1,64}")
_LOG_NAME = re.compile(r"contacts-(\d{8,})-[A-Za-z0-9-]{1,64}\.jsonl")


class ContactLogDamaged(Exception):
    """A whole line of the log is no record; the message names file and line."""


class LoggedContact(NamedTuple):
    """A contact from both its lines. `end` is None when it was in flight as the process died."""

    begin: BeginContact
    end: EndContact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who contacts: `boot` scopes the monotonic clock, `owner_epoch` the hold on the partition."""

    crawl: str
    boot: str
    owner_epoch: int = 0
    run: RunFacts | None = None


@dataclass(slots=True)
class _OpenLog:
    path: Path
    fd: int
    size_bytes: int = 0


_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[ContactRecord] = msgspec.json.Decoder(BeginContact | EndContact)


class ContactLog:
    """Appends records; each is one unbuffered write, so a kill right after it loses nothing. One writer a directory.

    A new process begins a new file: nothing is ever appended behind a torn line. Names sort in the order of writing.
    """

    def __init__(self, directory: Path, author: Author, log_bytes_max: int = LOG_BYTES_MAX) -> None:
        if not _BOOT.fullmatch(author.boot):
            raise ValueError(f"boot id must be 1 to 64 letters, digits or '-', got {author.boot!r}")
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._author = author
        self._log_bytes_max = log_bytes_max
        self._serial = max((_serial(path) for path in contact_logs(directory)), default=0)
        # The boot may be that of the process before; its files are not ours, so their serial tells the runs apart.
        self._run = self._serial + 1
        self._number = 0
        self._facts = author.run  # until a record has them
        self._open: _OpenLog | None = None

    def __repr__(self) -> str:
        return f"<ContactLog {self._open.path.name if self._open else 'not open'}: {self._number} contacts>"

    def begin(self, contact: Contact) -> int:
        """Write down a contact, before its first byte is sent. DiskFull: it must not be made."""
        self._number += 1
        self._append(_ENCODER.encode(begin_record(contact, f"{self._run}-{self._number}", self._author, self._facts)))
        self._facts = None
        return self._number

    def end(self, end: ContactEnd) -> None:
        """Write down how a contact ended. DiskFull: call again when there is room."""
        self._append(_ENCODER.encode(end_record(end, f"{self._run}-{end.number}")))

    def close(self) -> None:
        """Sync and close the file. Blocks. Writing again begins another file."""
        if self._open is not None:
            os.fdatasync(self._open.fd)
            os.close(self._open.fd)
            self._open = None

    def _append(self, line: bytes) -> None:
        log = self._open
        if log is None or log.size_bytes + len(line) >= self._log_bytes_max:
            log = self._rotate()
        append_or_cut(log.fd, line + b"\n", log.size_bytes, log.path)
        log.size_bytes += len(line) + 1

    def _rotate(self) -> _OpenLog:
        """The next file; the old one is closed without a sync, the kernel has it."""
        self._serial += 1
        path = self._directory / f"contacts-{self._serial:08d}-{self._author.boot}.jsonl"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise translated(error, path) from error
        if self._open is not None:
            os.close(self._open.fd)
        self._open = _OpenLog(path, fd)
        return self._open


def begin_record(contact: Contact, contact_id: str, author: Author, run: RunFacts | None = None) -> BeginContact:
    """The record of a contact about to be made; `run` goes into the first of a process."""
    delays = Delays(
        gap_s=contact.gap_s,
        crawl_delay_s=contact.crawl_delay_s,
        per_address_delay_s=contact.per_address_delay_s,
        delay_s=contact.delay.delay_s,
        delay_factor=contact.delay.delay_factor,
        delay_max_s=contact.delay.delay_max_s,
    )
    fetched_at = contact.robots_fetched_at
    return BeginContact(
        id=contact_id,
        crawl=author.crawl,
        wall_time=_utc(contact.wall_s),
        monotonic_s=contact.monotonic_s,
        boot=author.boot,
        owner_epoch=author.owner_epoch,
        host=contact.host,
        address=contact.address,
        port=contact.port,
        method="GET",
        url=contact.url,
        purpose=contact.purpose,
        rule_epoch=contact.robots_epoch,
        rule_reason=contact.robots_reason,
        rule_body=contact.robots_body,
        delays=delays,
        rule_fetched_at=None if fetched_at is None else _utc(fetched_at),
        rules_for=contact.robots_for,
        run=run,
    )


def end_record(end: ContactEnd, contact_id: str) -> EndContact:
    """The record of how it ended."""
    return EndContact(
        id=contact_id,
        wall_time=_utc(end.wall_s),
        monotonic_s=end.monotonic_s,
        outcome=end.outcome,
        status=end.status or None,
        retry_after_s=parse_retry_after(end.retry_after, end.wall_s) if end.retry_after else None,
        duration_s=end.duration_s,
    )


def _utc(wall_s: float) -> datetime:
    return datetime.fromtimestamp(wall_s, UTC)


def contact_logs(directory: Path) -> list[Path]:
    """The files of a log in the order in which they were written; none for a directory that is not there."""
    if not directory.is_dir():
        return []
    return sorted((path for path in directory.iterdir() if _LOG_NAME.fullmatch(path.name)), key=_serial)


def read_contacts(directory: Path) -> Iterator[ContactRecord]:
    """All records in the order of writing, a line in memory at a time; may run beside the writer.

    The torn last line that a kill leaves in a file is passed over. ContactLogDamaged for any other line that cannot be
    read.
    """
    yield from _read(contact_logs(directory))


def newest_contacts(directory: Path) -> Iterator[ContactRecord]:
    """The records of the last TAIL_LOGS files: what a killed process wrote since its last batch, and much before it."""
    yield from _read(contact_logs(directory)[-TAIL_LOGS:])


def _read(paths: Sequence[Path]) -> Iterator[ContactRecord]:
    for path in paths:
        with path.open("rb") as log:
            number = 0
            while (line := log.readline(LINE_BYTES_MAX)).endswith(b"\n"):
                number += 1
                try:
                    yield _DECODER.decode(line)
                except msgspec.MsgspecError as error:
                    raise ContactLogDamaged(f"{path}, line {number}: {error}") from error
            if len(line) == LINE_BYTES_MAX:
                raise ContactLogDamaged(f"{path}, line {number + 1}: longer than {LINE_BYTES_MAX} bytes")


def paired(records: Iterable[ContactRecord]) -> Iterator[LoggedContact]:
    """Contacts as they end, then those that never did, in order of beginning. Memory: the contacts in flight.

    An end whose beginning is unknown is passed over: its file may have been removed.
    """
    in_flight: dict[str, BeginContact] = {}
    for record in records:
        if isinstance(record, BeginContact):
            in_flight[record.id] = record
        elif (begin := in_flight.pop(record.id, None)) is not None:
            yield LoggedContact(begin, record)
    for begin in in_flight.values():
        yield LoggedContact(begin, None)


def _serial(path: Path) -> int:
    found = _LOG_NAME.fullmatch(path.name)
    return int(found[1]) if found else 0
