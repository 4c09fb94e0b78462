"""Lists and documents on standard output: JSON for programs, aligned and calm lines for people. Nothing is kept.

What came from the web is cleaned before a terminal sees it: no escape sequence, no control character, no change of
direction. Without a terminal nothing is cut and nothing is coloured.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, islice
from typing import Any, Final, NamedTuple, assert_never

import click
import msgspec

from gossamer.surfaces.cli.standard_output import standard_output

BUFFER_BYTES = 2**16
ROWS_MEASURED = 200
"""Rows looked at for the widths of columns; wider cells further down are cut on a terminal."""
WIDTH_MIN: Final = 60
WHOLE_CELLS_MIN: Final = 20
SHORT_CELLS_MIN: Final = 10
TICK_S: Final = 0.2
LINE_EVERY_S: Final = 10.0

# A sequence that a terminal would obey (ECMA-48: CSI, the strings OSC DCS SOS PM APC, other escapes), as a whole.
_SEQUENCE: Final = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
_SPACE: Final = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")
_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
# JSON escapes what is below U+0020; some readers end a line at U+0085 and U+2028, and terminals obey U+009B.
_RISKY_IN_JSON: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_encode = msgspec.json.Encoder().encode
_CONTROL_BUT_LINES: Final = re.compile(_CONTROL.pattern.replace("\0-\x1f", "\0-\x08\x0b-\x1f"))

Style = Mapping[str, Any]
DIM: Final[Style] = {"dim": True}
BOLD: Final[Style] = {"bold": True}
STYLES: Final[Mapping[str, Style]] = {
    word: {"fg": colour}
    for colour, words in {
        "green": "fetched completed allowed inside fresh",
        "red": "failed dead closed unreachable outage",
        "yellow": "denied waiting stopped paused spent outside expired",
        "cyan": "ready captured redirected running",
    }.items()
    for word in words.split()
}
"""Words that mean something have their colour wherever they stand."""


# Octets out -----------------------------------------------------------------------------------------------------------


def write_octets(pieces: Iterable[bytes]) -> None:
    """Write, in blocks. Raises OutputFailed."""
    held, size = [], 0
    with standard_output() as stream:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= BUFFER_BYTES:
                stream.write(b"".join(held))
                held, size = [], 0
        stream.write(b"".join(held))


def write_lines(lines: Iterable[str]) -> None:
    """Lines for people."""
    write_octets((line.rstrip() + "\n").encode("utf-8", "replace") for line in lines)


def write_json_lines(rows: Iterable[msgspec.Struct]) -> None:
    """JSON Lines, one row each."""
    write_octets(json_line(row) for row in rows)


def write_document(document: msgspec.Struct | dict[str, Any]) -> None:
    """One JSON document, indented."""
    write_octets([_escaped(msgspec.json.format(_encode(document), indent=2)), b"\n"])


def json_line(row: msgspec.Struct) -> bytes:
    """A row as JSON with its line feed. In it is no other character that anybody takes for the end of a line."""
    return _escaped(_encode(row)) + b"\n"


def _escaped(octets: bytes) -> bytes:
    """JSON of the same meaning: such characters only occur within its strings."""
    if octets.isascii():
        return octets
    return _RISKY_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", octets.decode()).encode()


# Text for terminals ---------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """`text` on one line, without anything that a terminal obeys."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", _SPACE.sub(" ", _SEQUENCE.sub("", text)))


def printable_text(text: str) -> str:
    """As `printable`, with its lines and tabs."""
    return _CONTROL_BUT_LINES.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def is_terminal() -> bool:
    """Whether a person sees standard output."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal."""
    return max(WIDTH_MIN, shutil.get_terminal_size().columns)


def styled(text: str, style: Style | None = None) -> str:
    """`text` in colour on a terminal (https://no-color.org obeyed); by default in that of the word."""
    chosen = STYLES.get(text.strip()) if style is None else style
    if not chosen or not is_terminal() or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, **chosen)


def cut(text: str, cells: int, *, in_the_middle: bool = False) -> str:
    """`text` in at most that many cells, an ellipsis where something is missing."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  10 ms that JSON need not pay

    if cell_len(text) <= cells:
        return text
    if not in_the_middle or cells < 12:
        return set_cell_size(text, cells - 1).rstrip() + "…"
    tail = text[-(cells // 3) :]
    return set_cell_size(text, cells - 1 - cell_len(tail)).rstrip() + "…" + tail


def _padded(text: str, cells: int, *, right: bool) -> str:
    space = " " * max(0, cells - _cells(text))
    return space + text if right else text + space


# Tables ---------------------------------------------------------------------------------------------------------------


class Fit(Enum):
    """What becomes of a cell where the terminal is narrow."""

    FIXED = "as wide as its widest cell"
    WHOLE = "whole, even beyond its column: a URL is there to be copied; only one longer than a line is cut"
    SHORT = "cut at its end, before anything else"


class Column(NamedTuple):
    """A column of a table."""

    title: str
    right: bool = False
    fit: Fit = Fit.FIXED


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Aligned lines, one a row, as the rows come: the first of them tell the widths."""
    clean = (tuple(printable(cell) for cell in row) for row in rows)
    first = list(islice(clean, ROWS_MEASURED))
    widths = _widths(columns, first)
    yield styled(_line(columns, widths, [column.title for column in columns], is_title=True), DIM)
    for row in chain(first, clean):
        yield _line(columns, widths, row)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    widths = [max(map(_cells, cells)) for cells in zip([column.title for column in columns], *rows, strict=True)]
    return _narrowed(columns, widths) if is_terminal() else widths


def _narrowed(columns: Sequence[Column], widths: list[int]) -> list[int]:
    """What the fixed columns leave is for the whole ones first; the short ones have the rest, and never nothing."""
    room = width() - 2 * (len(columns) - 1)
    room -= sum(size for size, column in zip(widths, columns, strict=True) if column.fit is Fit.FIXED)
    narrowed = list(widths)
    kept = SHORT_CELLS_MIN * sum(column.fit is Fit.SHORT for column in columns)
    for fit, cells_min in ((Fit.WHOLE, WHOLE_CELLS_MIN), (Fit.SHORT, SHORT_CELLS_MIN)):
        for at, column in enumerate(columns):
            if column.fit is fit:
                spare = room - kept if fit is Fit.WHOLE else room
                narrowed[at] = min(widths[at], max(spare, cells_min))
                room -= narrowed[at]
    return narrowed


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[str], *, is_title: bool = False) -> str:
    cells, beyond = [], 0
    for at, (column, size, text) in enumerate(zip(columns, widths, row, strict=True)):
        shown = _fitted(column.fit, text, size - beyond) if is_terminal() else text
        is_last = at == len(columns) - 1
        padded = shown if is_last and not column.right else _padded(shown, size, right=column.right)
        beyond += max(0, _cells(padded) - size)
        cells.append(padded if is_title else styled(padded))
    return "  ".join(cells)


def _fitted(fit: Fit, text: str, cells: int) -> str:
    match fit:
        case Fit.FIXED:
            return cut(text, cells)
        case Fit.WHOLE:
            return text if _cells(text) <= width() else cut(text, cells, in_the_middle=True)
        case Fit.SHORT:
            return cut(text, max(cells, SHORT_CELLS_MIN))
        case _:
            assert_never(fit)


def _cells(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415  as above

    return cell_len(text)


def pairs(rows: Sequence[tuple[str, str]], indent: int = 2) -> list[str]:
    """Names and values below each other."""
    size = max((len(name) for name, _ in rows), default=0)
    return [" " * indent + styled(f"{name:<{size}}", DIM) + "  " + value if name else "" for name, value in rows]


# Progress -------------------------------------------------------------------------------------------------------------


class Ticker:
    """Progress on stderr: one line that changes on a terminal, elsewhere a line every ten seconds."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._every_s = TICK_S if self._is_terminal else LINE_EVERY_S
        self._next_at = time.monotonic() + self._every_s
        self._shown = 0

    def tick(self, what: str, count: int) -> None:
        """So many are done."""
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + self._every_s
        text = f"{count:,} {what} …"
        click.echo(f"\r{text:<{self._shown}}" if self._is_terminal else text, err=True, nl=not self._is_terminal)
        self._shown = len(text)

    def done(self) -> None:
        """Take the line away."""
        if self._is_terminal and self._shown:
            click.echo("\r" + " " * self._shown + "\r", err=True, nl=False)
