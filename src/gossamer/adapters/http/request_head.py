"""The head of a GET as it is sent, and the origin it belongs to. Nothing from outside can add a line to it."""

import re
from functools import lru_cache
from typing import NamedTuple

from gossamer.ports.web import Request

HEADERS_CACHED_MAX = 64  # header sets differ by crawl, and by validators for refetches

_URL = re.compile(
    r"(https?)://(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.]+\]|[^\x00-\x20\x7f-\U0010ffff:/?#\[\]@\\]+)(?::(\d{0,5}))?(?=[/?#]|\Z)([^#]*)",
    # Without ASCII the Kelvin sign would be a 'k' in another case, and 'k' no letter of a host.
    re.ASCII | re.IGNORECASE,
)
_DEFAULT_PORT = {"http": 80, "https": 443}
_NOT_IN_TARGET = re.compile(r"[^\x21-\x7e]")
_NOT_IN_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Whoever writes the framing must own these (RFC 9112 3.2, 6).
_OWN_FIELDS = frozenset({"host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "expect"})


class Origin(NamedTuple):
    """What two requests must share to use one connection."""

    scheme: str
    host: str
    address: str
    port: int


def plan_request(request: Request) -> tuple[Origin, bytes]:
    """Where to connect and what to send. ValueError for a URL or a field name that is our own mistake.

    Fields of the caller that belong to the framing (Host, Connection, …) are left out: the client writes its own.
    """
    parts = _URL.match(request.url)
    if parts is None:
        raise ValueError(f"no absolute http URL: {request.url[:100]!r}")
    scheme, host, port, target = parts[1].lower(), parts[2].lower(), parts[3], parts[4]
    if target[:1] != "/":
        target = "/" + target
    if _NOT_IN_TARGET.search(target):
        target = _NOT_IN_TARGET.sub(_percent, target)
    has_own_port = port and int(port) != _DEFAULT_PORT[scheme]
    authority = f"{host}:{int(port)}" if has_own_port else host
    head = f"GET {target} HTTP/1.1\r\nHost: {authority}\r\n".encode("ascii") + _field_lines(request.headers)
    return Origin(scheme, host, request.address, request.connect_port), head


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in match[0].encode("utf-8", "replace"))


@lru_cache(HEADERS_CACHED_MAX)
def _field_lines(headers: tuple[tuple[str, str], ...]) -> bytes:
    """Field lines and the empty line. Controls in values become spaces: an ETag is sent back as the web gave it."""
    lines: list[bytes] = []
    for name, value in headers:
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"no field name: {name[:100]!r}")
        if name.lower() not in _OWN_FIELDS:
            lines.append(name.encode("ascii") + b": " + _field_value(value) + b"\r\n")
    return b"".join(lines) + b"\r\n"


def _field_value(value: str) -> bytes:
    clean = _NOT_IN_VALUE.sub(" ", value).strip(" \t")
    try:
        return clean.encode("latin-1")  # what was decoded from a field goes back octet for octet
    except UnicodeEncodeError:
        return clean.encode("utf-8", "replace")
