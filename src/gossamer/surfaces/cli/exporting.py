"""Rows into a file: JSON Lines, CSV or Parquet by suffix, streamed. The file appears when it is complete, or not."""

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import click
import msgspec

from gossamer.surfaces.cli.printing import json_line

BATCH_ROWS: Final = 10_000
BATCH_CHARS: Final = 32 * 2**20
"""A Parquet row group ends at the first of both: 10,000 texts of 1 MB are not held in memory."""


class RowWriter(Protocol):
    """Takes rows one by one."""

    def write(self, row: msgspec.Struct) -> None:
        """One more row."""

    def close(self) -> None:
        """Write what is held back and the end of the format; the file itself stays open."""


class JsonLines:
    """One JSON object a line, in UTF-8."""

    def __init__(self, file: BinaryIO, _kind: type[msgspec.Struct]) -> None:
        self._file = file

    def write(self, row: msgspec.Struct) -> None:
        """See RowWriter."""
        self._file.write(json_line(row))

    def close(self) -> None:
        """See RowWriter."""


class Csv:
    """RFC 4180 with a header, in UTF-8 without a mark; what is not known is empty."""

    def __init__(self, file: BinaryIO, kind: type[msgspec.Struct]) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="", write_through=True)
        self._csv = csv.writer(self._text, lineterminator="\n")
        self._csv.writerow(kind.__struct_encode_fields__)

    def write(self, row: msgspec.Struct) -> None:
        """See RowWriter."""
        self._csv.writerow(msgspec.structs.astuple(row))

    def close(self) -> None:
        """See RowWriter."""
        self._text.detach()


class Parquet:
    """Typed columns: whole numbers, UTF-8 text, and times of milliseconds in UTC. zstd."""

    def __init__(self, file: BinaryIO, kind: type[msgspec.Struct]) -> None:
        self._arrow: Any = _pyarrow("pyarrow")
        self._fields = kind.__struct_fields__
        types = [self._type_of(field) for field in msgspec.structs.fields(kind)]
        self._schema = self._arrow.schema(list(zip(kind.__struct_encode_fields__, types, strict=True)))
        self._writer = _pyarrow("pyarrow.parquet").ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[msgspec.Struct] = []
        self._chars = 0

    def write(self, row: msgspec.Struct) -> None:
        """See RowWriter."""
        self._rows.append(row)
        self._chars += sum(len(value) for value in msgspec.structs.astuple(row) if isinstance(value, str))
        if len(self._rows) >= BATCH_ROWS or self._chars >= BATCH_CHARS:
            self._flush()

    def close(self) -> None:
        """See RowWriter."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        arrow, arrays = self._arrow, []
        for name, column in zip(self._fields, self._schema, strict=True):
            values = [getattr(row, name) for row in self._rows]
            is_time = arrow.types.is_timestamp(column.type)
            array = arrow.array(values, arrow.string() if is_time else column.type)
            arrays.append(array.cast(column.type) if is_time else array)
        if self._rows:
            self._writer.write_batch(arrow.record_batch(arrays, schema=self._schema))
        self._rows, self._chars = [], 0

    def _type_of(self, field: msgspec.structs.FieldInfo) -> Any:
        if field.name.endswith("_at"):
            return self._arrow.timestamp("ms", tz="UTC")
        return self._arrow.int64() if "int" in str(field.type) else self._arrow.string()


FORMATS: Final[Mapping[str, Callable[[BinaryIO, type[msgspec.Struct]], RowWriter]]] = {
    ".jsonl": JsonLines,
    ".csv": Csv,
    ".parquet": Parquet,
}


def checked_target(target: Path) -> Path:
    """`target` if rows can be written there. A usage error for another suffix, no such folder, a missing library."""
    if target.suffix.lower() not in FORMATS:
        raise click.UsageError(f"--to {target}: no format {target.suffix!r}; allowed: {', '.join(FORMATS)}")
    if target.is_dir() or not target.parent.is_dir():
        raise click.UsageError(f"--to {target}: {target if target.is_dir() else target.parent} is no place for a file")
    if target.suffix.lower() == ".parquet":
        _pyarrow("pyarrow")
    return target


def export_rows(
    kind: type[msgspec.Struct], rows: Iterable[msgspec.Struct], target: Path, tick: Callable[[str, int], None]
) -> int:
    """Write all rows and return how many. A file of that name is replaced once the new one is complete."""
    written = 0
    with _appearing(target) as file:
        writer = FORMATS[target.suffix.lower()](file, kind)
        for written, row in zip(count(1), rows, strict=False):
            writer.write(row)
            if written % 1_000 == 0:
                tick("rows written", written)
        writer.close()
    return written


@contextmanager
def _appearing(target: Path) -> Iterator[BinaryIO]:
    scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with scratch.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(target)
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def _pyarrow(name: str) -> Any:
    """The library has no types of its own and is optional."""
    try:
        return import_module(name)
    except ImportError as error:
        raise click.UsageError(
            "Parquet needs pyarrow: pip install 'gossamer[export]'; or write .jsonl or .csv"
        ) from error
