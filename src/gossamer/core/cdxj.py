"""CDXJ: one line a capture, sorted by SURT, as pywb and other replay tools read it. Files are `adapters.files`."""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol
from urllib.parse import unquote_to_bytes

import msgspec

URL_CHARS_MAX = 8_192  # a longer one is no URL of ours, and the patterns below may look back over all of it
UNQUOTE_ROUNDS_MAX = 8
FOUND_MAX = 10_000

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):/*([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_WWW = re.compile(r"www\d*\.")
_UNSAFE = re.compile(rb"[^\x21-\x22\x24\x26-\x7e]")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
# Session marks that the Internet Archive's rules leave out of the key, so that one page has one key.
_QUERY_SESSIONS = tuple(
    re.compile(pattern + r"(?:&(.*))?$", re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"^(.*)jsessionid=[0-9a-z]{32}",
        r"^(.*)phpsessid=[0-9a-z]{32}",
        r"^(.*)sid=[0-9a-z]{32}",
        r"^(.*)aspsessionid[a-z]{8}=[a-z]{24}",
        r"^(.*)cfid=[^&]++&cftoken=[^&]++",
    )
)
_PATH_SESSIONS = (
    re.compile(r"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$", re.DOTALL),
    re.compile(r"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$", re.DOTALL),
)


class CdxEntry(NamedTuple):
    """Where a capture lies. `timestamp`: 14 digits, UTC; `digest`: of the payload, labelled; `mime` empty = unknown."""

    url: str
    timestamp: str
    mime: str
    status: int
    digest: str
    length: int
    offset: int
    filename: str


class Sorted(Protocol):
    """The bytes of a sorted index: `bytes` or a memory map."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> bytes: ...
    def find(self, what: bytes, start: int, /) -> int: ...
    def rfind(self, what: bytes, start: int, stop: int, /) -> int: ...


class _Fields(msgspec.Struct, frozen=True):
    """The JSON of a line; numbers are text, as every reader of the format expects."""

    url: str
    mime: str
    status: str
    digest: str
    length: str
    offset: str
    filename: str


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(_Fields)


def surt(url: str) -> str:
    """The sort key of a URL: `com,example)/path?a=1&b=2`, by the Internet Archive's rules that pywb looks up with.

    Scheme, user, default port, leading www, fragment, trailing slash and session ids are gone; all is lower case and
    the query is sorted. What is no URL with an authority comes back in visible ASCII.
    """
    url = url.strip()
    found = _URL.match(url) if len(url) <= URL_CHARS_MAX else None
    if found is None or not url.startswith("://", found.end(1)):
        return _escaped(url.encode("utf-8", "replace")).lower()
    scheme, authority, path, query = found.groups()
    key = _surt_host(scheme.lower(), authority) + ")" + _surt_path(path)
    query = _surt_query(query or "")
    return f"{key}?{query}" if query else key


def cdxj_line(entry: CdxEntry) -> bytes:
    """One line with its line feed. It holds no other control character, whatever the web sent."""
    fields = _Fields(
        url=_escaped(entry.url.encode("utf-8", "replace"), keep=b"#%"),
        mime=_mime(entry.mime),
        status=str(entry.status),
        digest=entry.digest,
        length=str(entry.length),
        offset=str(entry.offset),
        filename=entry.filename,
    )
    return b"%b %b %b\n" % (surt(entry.url).encode("ascii"), entry.timestamp.encode("ascii"), _ENCODER.encode(fields))


def parse_line(line: bytes) -> CdxEntry | None:
    """A line back as an entry; None when it is not one."""
    key_and_time, brace, rest = line.partition(b" {")
    timestamp = key_and_time.rpartition(b" ")[2]
    try:
        fields = _DECODER.decode(brace[1:] + rest)
        numbers = int(fields.status), int(fields.length), int(fields.offset)
    except (msgspec.MsgspecError, ValueError):
        return None
    status, length, offset = numbers
    return CdxEntry(
        fields.url,
        timestamp.decode("ascii", "replace"),
        fields.mime,
        status,
        fields.digest,
        length,
        offset,
        fields.filename,
    )


def sorted_index(lines: Iterable[bytes]) -> bytes:
    """The index file of these lines: in order of octets, as binary search and `LC_ALL=C sort -m` expect."""
    return b"".join(sorted(lines))


def find(index: Sorted, url: str) -> tuple[CdxEntry, ...]:
    """The captures of `url` in a sorted index, oldest first; at most FOUND_MAX. Reads O(log n) lines and the hits."""
    prefix = surt(url).encode("ascii") + b" "
    position = _first_line_not_below(index, prefix)
    entries: list[CdxEntry] = []
    while position < len(index) and len(entries) < FOUND_MAX:
        end = index.find(b"\n", position)
        line = index[position : end if end >= 0 else len(index)]
        if not line.startswith(prefix):
            break
        entry = parse_line(line)
        if entry is not None:
            entries.append(entry)
        position += len(line) + 1
    return tuple(entries)


def _first_line_not_below(index: Sorted, prefix: bytes) -> int:
    low, high = 0, len(index)  # both at the start of a line, or at the end
    while low < high:
        middle = index.rfind(b"\n", low, (low + high) // 2) + 1 or low
        if index[middle : middle + len(prefix)] < prefix:
            end = index.find(b"\n", middle)
            low = end + 1 if end >= 0 else len(index)
        else:
            high = middle
    return low


def _surt_host(scheme: str, authority: str) -> str:
    hostport = authority.rpartition("@")[2].lower()
    host, colon, port = hostport.rpartition(":")
    if not colon or (port and not (port.isascii() and port.isdigit())):
        host, port = hostport, ""
    if host.startswith("["):
        reverse = host.strip("[]")
    else:
        leading = _WWW.match(host)
        labels = host[leading.end() if leading else 0 :].split(".")
        reverse = ",".join(label for label in reversed(labels) if label)
    suffix = "" if not port or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return _escaped(reverse.encode("utf-8", "replace")) + suffix


def _surt_path(path: str) -> str:
    kept: list[str] = []
    for segment in _canonical(path).lower().split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    plain = "/" + "/".join(segment for segment in kept if segment)
    for session in _PATH_SESSIONS:
        found = session.match(plain)
        plain = found[1] + found[2] if found else plain
    return plain


def _surt_query(query: str) -> str:
    plain = _canonical(query)
    for session in _QUERY_SESSIONS:
        found = session.match(plain)
        if found:
            plain = found[1] + (found[2] or "")
    return "&".join(sorted(plain.lower().split("&"), key=lambda part: part.split("=", 1)))


def _canonical(part: str) -> str:
    """Percent-decoded until nothing changes, then only what must be escaped is: the same page, one spelling."""
    octets = part.encode("utf-8", "replace")
    for _ in range(UNQUOTE_ROUNDS_MAX):
        plain = unquote_to_bytes(octets)
        if plain == octets:
            break
        octets = plain
    return _escaped(octets)


def _escaped(octets: bytes, keep: bytes = b"") -> str:
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else b"%%%02x" % found[0][0], octets).decode("ascii")


def _mime(content_type: str) -> str:
    essence = content_type.partition(";")[0].strip().lower()
    return essence if essence and essence.isascii() and essence.isprintable() and " " not in essence else "unk"
