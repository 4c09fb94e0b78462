"""JSON Lines in, one answer a line out, and the other forms of an answer. What is asked is in `rules`."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import click

from gossamer.surfaces.cli.standard_output import standard_output

LINE_BYTES_MAX: Final = 128 * 2**20
"""A sitemap of 50 MiB in hexadecimal fits."""
FILE_BYTES_MAX: Final = 64 * 2**20
"""More than the largest sitemap (50 MiB)."""
SHOWN_CHARS_MAX: Final = 60

Answer = dict[str, object]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# What would move the cursor, colour the screen or turn the direction of text; web pages bring all of them.
_NOT_FOR_TERMINALS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FORBIDDEN_IN_FIELD: Final = str.maketrans("\0\r\n", "   ")  # RFC 9110 5.5
_KINDS: Final = {str: "a string", list: "a list", dict: "an object", bool: "true or false", int: "a number"}


class BadRequest(Exception):
    """What was asked has no answer; the message is one sentence for the asker."""


class Request:
    """The object on one line. A key that is null counts as absent; keys that nobody asks for are ignored."""

    def __init__(self, keys: Mapping[str, object]) -> None:
        self._keys = keys

    def text(self, key: str) -> str:
        """A string, lone surrogates replaced by U+FFFD. Raises BadRequest, as all of these."""
        text = self.optional_text(key)
        if text is None:
            raise BadRequest(f"{key} is missing: it must be a string")
        return text

    def optional_text(self, key: str) -> str | None:
        """As `text`, None where the key is absent."""
        value = self._keys.get(key)
        return None if value is None else _text(value, key)

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        value = self._keys.get(key)
        if not isinstance(value, list):
            raise BadRequest(f"{key} must be a list of strings, not {_kind(value)}")
        return [_text(each, f"{key}[{place}]") for place, each in enumerate(value)]

    def octets(self, key: str) -> bytes:
        """Octets as UTF-8 text under `key`, or as hexadecimal digits under `keyHex`; from a file as they are."""
        value = self._keys.get(key)
        if isinstance(value, bytes):  # never out of JSON
            return value
        text, digits = self.optional_text(key), self.optional_text(f"{key}Hex")
        if (text is None) == (digits is None):
            raise BadRequest(f"give either {key} or {key}Hex" + ("" if text is None else ", not both"))
        if digits is None:
            return (text or "").encode()
        try:
            return bytes.fromhex(digits)
        except ValueError:
            raise BadRequest(f"{key}Hex must be pairs of hexadecimal digits, got {shown(digits)}") from None

    def fields(self, key: str) -> dict[str, str]:
        """Header fields: names in lower case, repeated ones (a list, or a name in two cases) joined by commas."""
        value = self._keys.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise BadRequest(f"{key} must be an object of header fields, not {_kind(value)}")
        fields: dict[str, list[str]] = {}
        for name, given in value.items():
            values = given if isinstance(given, list) else [given]
            texts = [_text(each, f"{key}[{shown(name)}]").translate(_FORBIDDEN_IN_FIELD).strip() for each in values]
            fields.setdefault(name.strip().lower(), []).extend(texts)
        return {name: ", ".join(values) for name, values in fields.items()}


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"{key} must be a string, not {_kind(value)}")
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def _kind(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), "a number")


def shown(text: str) -> str:
    """`text` in quotes and ASCII, cut: fit for a sentence, whatever it is."""
    return ascii(text if len(text) <= SHOWN_CHARS_MAX else text[:SHOWN_CHARS_MAX] + "...")


# In -------------------------------------------------------------------------------------------------------------------


def answer_lines(answer: Callable[[Request], Answer]) -> None:
    """Answer each line of standard input with one line, at once; a bad line gets `{"error": …}`, an empty one too."""
    for number, line in enumerate(_lines(standard_input())):
        octets = line.removeprefix(b"\xef\xbb\xbf") if line is not None and number == 0 else line
        try:
            reply = answer(_request(octets))
        except BadRequest as fault:
            reply = {"error": str(fault)}
        write_json_line(reply)


def standard_input() -> BinaryIO:
    """Raises UsageError where there is none."""
    if sys.stdin is None:
        raise click.UsageError("standard input is closed: nothing can be read from it")
    return sys.stdin.buffer


def read_file(name: str, path: str) -> bytes:
    """The octets of a file, or of standard input for '-'. Raises UsageError; `name` is what the command calls it."""
    try:
        if path == "-":
            body = standard_input().read(FILE_BYTES_MAX + 1)
        else:
            with Path(path).open("rb") as file:
                body = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        why = getattr(fault, "strerror", None) or str(fault)
        raise click.UsageError(f"{name} = {shown(path)} cannot be read ({why}); allowed: a file, or -") from fault
    if len(body) > FILE_BYTES_MAX:
        raise click.UsageError(f"{name} = {shown(path)} is too large; allowed: at most {FILE_BYTES_MAX} bytes")
    return body


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None stands for one that is longer than LINE_BYTES_MAX."""
    while line := stream.readline(LINE_BYTES_MAX + 1):
        if len(line) <= LINE_BYTES_MAX or line.endswith(b"\n"):
            yield line
            continue
        del line
        while (rest := stream.readline(2**20)) and not rest.endswith(b"\n"):
            pass
        yield None


def _request(line: bytes | None) -> Request:
    if line is None:
        raise BadRequest(f"the line is longer than {LINE_BYTES_MAX} bytes")
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as fault:
        raise BadRequest(f"the line is not valid UTF-8 at byte {fault.start}") from None
    except json.JSONDecodeError as fault:
        raise BadRequest(f"the line is no JSON: {fault.msg} at column {fault.colno}") from None
    except (ValueError, RecursionError):  # an integer of more than 4,300 digits; lists in lists in lists
        raise BadRequest("the line is JSON with larger numbers or deeper nesting than is read") from None
    if not isinstance(value, dict):
        raise BadRequest(f"the line must be a JSON object, not {_kind(value)}")
    return Request(value)


# Out ------------------------------------------------------------------------------------------------------------------


def write_json_line(answer: Answer) -> None:
    """One line, in ASCII: some readers take U+2028 for the end of a line."""
    _write(json.dumps(answer).encode() + b"\n")


def write_document(answer: Answer) -> None:
    """One JSON document, for programs and for people."""
    _write(json.dumps(answer, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def write_text(text: str) -> None:
    """Lines for people: what would steer a terminal is replaced."""
    _write(_NOT_FOR_TERMINALS.sub("\ufffd", text).encode("utf-8", "replace") + b"\n")


def _write(octets: bytes) -> None:
    with standard_output() as stream:
        stream.write(octets)
