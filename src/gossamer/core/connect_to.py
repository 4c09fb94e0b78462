"""`--connect-to`: which address and port stand in for those of a URL, for labs and staging sites. Connects nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gossamer.core.url import UrlFault, host_of, normalize

ANY_HOST: Final = "*"
PORT_MAX: Final = 65_535
SPEC_CHARS_MAX: Final = 1_024
ROUTES_REMEMBERED_MAX: Final = 8_192  # a look-up costs 5 µs, a remembered one 0.1

# HOST:PORT:ADDR:PORT, where only brackets may hold colons of their own
_SPEC: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]*):([^:]*):(\[[^\]]*\]|[^:\[\]]*):([^:]*)").fullmatch
_FORM: Final = "HOST:PORT:ADDR:PORT (HOST may be * or *.suffix, a PORT or ADDR may be empty, IPv6 goes in brackets)"
_SHOWN_CHARS_MAX: Final = 80


class ConnectTo(NamedTuple):
    """One entry. `host`: a name in normal form, '*' or '*.suffix'; None stands for any port, and for unchanged."""

    host: str
    port: int | None
    to_address: str | None
    to_port: int | None


def parse_connect_to(spec: str) -> ConnectTo | str:
    """The entry that `spec` (curl's form) describes, or a sentence that names the fault and what is allowed.

    As curl, an empty HOST is any host. Names are put in normal form (lower case, punycode, no final dot); IPv6
    addresses lose their brackets.
    """
    match = _SPEC(spec.strip()) if len(spec) <= SPEC_CHARS_MAX else None
    if match is None:
        return f"{_shown(spec)} is not of the form {_FORM}"
    host, port, to_address, to_port = match.groups()
    pattern = _host_pattern(host)
    if pattern is None:
        return f"{_shown(spec)}: {host!r} is no host name, no address, and neither * nor *.suffix"
    target = _host(to_address) if to_address else None
    if to_address and target is None:
        return f"{_shown(spec)}: {to_address!r} is no address and no host name; leave it empty to keep the host"
    for part in (port, to_port):
        if part and not _is_port(part):
            return f"{_shown(spec)}: {part!r} is no port; write 1 to {PORT_MAX}, or nothing"
    return ConnectTo(pattern, int(port) if port else None, target, int(to_port) if to_port else None)


def _shown(spec: str) -> str:
    return repr(spec if len(spec) <= _SHOWN_CHARS_MAX else spec[: _SHOWN_CHARS_MAX - 1] + "…")


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) <= PORT_MAX


def _host_pattern(text: str) -> str | None:
    if text in {"", ANY_HOST}:
        return ANY_HOST
    if text.startswith("*."):
        suffix = _host(text[2:])
        return None if suffix is None else f"*.{suffix}"
    return _host(text)


def _host(text: str) -> str | None:
    """A host as in a Url but without brackets, or None. Spellings of one address ('127.1') become one."""
    if any(c <= " " or c in "/\\?#@*" for c in text):
        return None
    url = normalize(f"http://{text}/")
    return None if isinstance(url, UrlFault) else host_of(url).strip("[]")


class Route(NamedTuple):
    """Where to connect: `address` (or name) None is the host's own."""

    address: str | None
    port: int


@dataclass(frozen=True, slots=True, init=False)
class ConnectMap:
    """Entries in the order given; the first that matches wins. A look-up costs a host's labels, not the entries."""

    entries: tuple[ConnectTo, ...]
    _first: dict[tuple[str, int | None], int]
    _remembered: dict[tuple[str, int], Route]

    def __init__(self, entries: Sequence[ConnectTo]) -> None:
        first: dict[tuple[str, int | None], int] = {}
        for index, entry in enumerate(entries):
            first.setdefault((entry.host, entry.port), index)
        object.__setattr__(self, "entries", tuple(entries))
        object.__setattr__(self, "_first", first)
        object.__setattr__(self, "_remembered", {})

    def route(self, host: str, port: int) -> Route:
        """`host` as in a Url; brackets of an IPv6 address are optional. '*.a.test' is every name below a.test."""
        if not self.entries:
            return Route(None, port)
        known = self._remembered.get((host, port))
        if known is None:
            if len(self._remembered) >= ROUTES_REMEMBERED_MAX:
                self._remembered.clear()
            known = self._remembered[host, port] = self._find(host, port)
        return known

    def _find(self, host: str, port: int) -> Route:
        index = min(self._matches(host.strip("[]"), port), default=None)
        if index is None:
            return Route(None, port)
        entry = self.entries[index]
        return Route(entry.to_address, entry.to_port or port)

    def _matches(self, host: str, port: int) -> list[int]:
        patterns = [host, ANY_HOST]
        labels = host.split(".")
        patterns += [f"*.{'.'.join(labels[up:])}" for up in range(1, len(labels))]
        keys = [(pattern, wanted) for pattern in patterns for wanted in (port, None)]
        return [self._first[key] for key in keys if key in self._first]
