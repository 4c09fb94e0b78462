"""URLs: their normal form, identity keys, hosts and sites.

What may be fetched is decided elsewhere: `scope`, `traps`, `addresses`.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NewType

import ada_url
from publicsuffixlist import PublicSuffixList
from xxhash import xxh3_64_digest, xxh3_64_intdigest

Url = NewType("Url", str)
"""A URL in normal form: http or https, ASCII, no fragment, no credentials, at most URL_CHARS_MAX characters."""


class UrlFault(StrEnum):
    """Why a string does not become a Url. A str too, so ask `isinstance(x, UrlFault)`, never `isinstance(x, str)`."""

    UNPARSABLE = "unparsable"
    SCHEME_NOT_SUPPORTED = "scheme-not-supported"
    CREDENTIALS = "credentials"
    HOST_INVALID = "host-invalid"
    PORT_INVALID = "port-invalid"
    TOO_LONG = "too-long"


# RFC 9110 4.1 asks for 8,000 at least; the much lower limit of what we crawl is a trap rule.
URL_CHARS_MAX: Final = 8_192
HOST_CHARS_MAX: Final = 253  # RFC 1035 2.3.4: 255 octets on the wire
LABEL_CHARS_MAX: Final = 63
HOSTS_CACHED_MAX: Final = 32_768  # in each of three caches, about 250 B an entry: 8 MB each
_ORIGIN_CHARS_MAX: Final = len("https://") + HOST_CHARS_MAX + len(".:65535")
_PLAIN_CHARS_MAX: Final = 1_024
# Plus _PLAIN_CHARS_MAX it stays below URL_CHARS_MAX: plain joins need no length check.
_PLAIN_BASE_CHARS_MAX: Final = 4_096

TRACKING_PREFIXES: Final = ("utm_", "mtm_", "hsa_")  # Google and others; Matomo; HubSpot
# fmt: off
TRACKING_NAMES: Final = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl",  # Google
    "fbclid", "igshid", "igsh", "msclkid", "yclid", "ysclid", "_openstat",  # Meta, Microsoft, Yandex
    "twclid", "ttclid", "li_fat_id", "epik", "rdt_cid", "sccid",  # X, TikTok, LinkedIn, Pinterest, Reddit, Snapchat
    "mc_cid", "mc_eid", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",  # Mailchimp, HubSpot
    "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "vero_conv", "ml_subscriber", "ml_subscriber_hash", "_kx", "__s",
    "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content",  # Matomo
    "wickedid", "rb_clickid", "irclickid",  # affiliates
})
# fmt: on
"""Query parameters that name the way to a page and never the page. Compared in lower case."""

SESSION_PREFIXES: Final = ("aspsessionid",)
# fmt: off
SESSION_NAMES: Final = frozenset({
    "jsessionid", "phpsessid", "phpsessionid", "cfid", "cftoken", "bv_sessionid",  # Java, PHP, ColdFusion, BroadVision
    "zenid", "oscsid", "xtcsid", "modsid",  # Zen Cart, osCommerce, xt:Commerce, modified eCommerce
})
# fmt: on
"""Query parameters that name a visit. Compared in lower case.

ASP.NET's '/(S(…24 letters…))/' stays: a server that writes it redirects whoever comes without it, to the same page with
a new one. Dropped, that is a redirect to itself, and no page of the site could be had.
"""

AMBIGUOUS_SESSION_NAMES: Final = frozenset({"sid", "sess", "sessid", "sessionid", "session_id"})
"""As above, but only with a value that nobody writes by hand: `?session_id=12` may be a talk at a conference.

Not among them: 's', for `?s=` and 32 hex digits is vBulletin's session and the signature of an image at imgix. What
shorter values mean, the pages of the host tell: `visits`.
"""

_DROPPED_NAMES: Final = TRACKING_NAMES | SESSION_NAMES
_DROPPED_PREFIXES: Final = TRACKING_PREFIXES + SESSION_PREFIXES
# MD5 and longer in hex; PHP 7.1 and later at its 26 characters of 5 bits, where a word of letters alone is no token.
_TOKEN_OF_A_VISIT: Final = re.compile("[0-9A-Fa-f]{32,}|(?=[0-9]*[a-v])(?=[a-v]*[0-9])[0-9a-v]{26}").fullmatch

# One triplet, or a stray '%' with what could grow into a triplet when its neighbours are decoded: '%%341' means "%41",
# while '%41' means "A". WHATWG leaves stray '%' alone, so these neighbours keep their encoding.
_PERCENT: Final = re.compile(r"%([0-9A-Fa-f]{2})|(%[0-9A-Fa-f]?)((?:%[0-9A-Fa-f]{2}){0,2})").sub
_UNRESERVED: Final = {f"{ord(c):02X}": c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"}
# A triplet in normal form: upper case, and not of an unreserved octet.
_SETTLED: Final = "%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF])"
_UNSETTLED_PERCENT: Final = re.compile(f"(?!{_SETTLED})%").search
# A segment of dots keeps its parameter: without it, it would climb ('/..;jsessionid=1/').
_PATH_SESSION: Final = re.compile(r"(?<!/\.)(?<!/\.\.);(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE).sub

_SCHEME: Final = re.compile(r"[\0- ]*([A-Za-z][A-Za-z0-9+.-]*):").match
_AUTHORITY: Final = re.compile(r"[\0- ]*(?:[Hh][Tt][Tt][Pp][Ss]?:)?[/\\]{2,}([^/\\?#]*)").match
_PORT_AT_END: Final = re.compile(r":[^:\]]*\Z").sub


# Normal form ----------------------------------------------------------------------------------------------------------


def normalize(raw: str, base: str | None = None) -> Url | UrlFault:
    """The normal form of `raw`, resolved against `base` as a browser does.

    WHATWG URL parsing, then RFC 3986 6.2.2: hex digits upper case, unreserved octets decoded, nothing else. Default
    port, fragment, empty query, the host's trailing dot, tracking and session parameters are dropped; the order of
    parameters is kept (`key_form` sorts). Idempotent, never raises. A base that cannot be parsed counts as none.
    """
    head, mark, _ = raw.partition("#")
    if len(head) > URL_CHARS_MAX:
        return _fault_of_long(head)
    href = _parse(_scalar_values(head + mark), base)
    return href if isinstance(href, UrlFault) else _normal_form(href)


def normalize_location(raw_field: str, base: str) -> Url | UrlFault:
    """As `normalize`, for a Location field decoded as Latin-1: octets above 127 are percent-encoded as received.

    RFC 9110 10.2.2 wants a URI reference; servers send raw UTF-8 (or anything), and browsers keep those octets.
    """
    if not raw_field.isascii():
        octets = raw_field.encode("latin-1" if max(raw_field) <= "\xff" else "utf-8", "surrogatepass")
        raw_field = "".join(chr(octet) if octet < 128 else f"%{octet:02X}" for octet in octets[: URL_CHARS_MAX + 1])
    return normalize(raw_field, base)


def _scalar_values(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, as the WHATWG's USVString."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parse(text: str, base: str | None) -> str | UrlFault:
    """The WHATWG serialisation of `text` against `base`."""
    if base is not None and len(base) <= URL_CHARS_MAX:
        try:
            return ada_url.join_url(_scalar_values(base), text)
        except ValueError:
            pass  # the fault may be in the base alone
    try:
        return ada_url.normalize_url(text)
    except ValueError:
        return _fault_of_unparsable(text)


def _fault_of_long(text: str) -> UrlFault:
    """A 'data:' image of 100 KB is no long URL, it is no http URL."""
    scheme = _SCHEME(text)
    is_http = scheme is None or scheme[1].lower() in {"http", "https"}
    return UrlFault.TOO_LONG if is_http else UrlFault.SCHEME_NOT_SUPPORTED


def _fault_of_unparsable(text: str) -> UrlFault:
    """Which part made the parser give up. For people: every answer refuses."""
    found = _AUTHORITY(text)
    if found is None:
        return UrlFault.UNPARSABLE
    without_port = _PORT_AT_END("", found[1])
    port_alone = without_port != found[1] and ada_url.check_url(f"http://{without_port}")
    return UrlFault.PORT_INVALID if port_alone else UrlFault.HOST_INVALID


def _normal_form(href: str) -> Url | UrlFault:
    """What RFC 3986 and our own rules ask beyond the WHATWG serialisation `href`."""
    if not href.startswith(("http://", "https://")):
        return UrlFault.SCHEME_NOT_SUPPORTED
    path_at = href.find("/", 8)  # 'http://' and one octet of host at least; the path is never empty
    if path_at > _ORIGIN_CHARS_MAX:
        return UrlFault.CREDENTIALS if "@" in href[:path_at] else UrlFault.HOST_INVALID
    origin = _checked_origin(href[:path_at])
    if isinstance(origin, UrlFault):
        return origin
    rest = href[path_at:].partition("#")[0]
    if "%" in rest and _UNSETTLED_PERCENT(rest):
        rest = _PERCENT(_normal_octet, rest)
    path, mark, query = rest.partition("?")
    if ";" in path:
        path = _PATH_SESSION("", path)
    if mark:
        query = "&".join([field for field in query.split("&") if not _is_dropped(field)])
    url = f"{origin}{path}?{query}" if query else origin + path
    return Url(url) if len(url) <= URL_CHARS_MAX else UrlFault.TOO_LONG


@lru_cache(HOSTS_CACHED_MAX)
def _checked_origin(origin: str) -> str | UrlFault:
    """`origin` ('https://h.:8443') without the host's trailing dot, if its host can be a name in DNS (RFC 1035 2.3.4).

    'h' and 'h.' are one host to every server we could ask, so they are one identity. Only lengths are checked: '_' and
    '--' are alive on the web, and the parser has refused what cannot stand in a host.
    """
    scheme, _, authority = origin.partition("://")
    if "@" in authority:
        return UrlFault.CREDENTIALS
    if authority.startswith("["):
        return origin
    host, colon, port = authority.partition(":")
    host = host.removesuffix(".")
    if len(host) > HOST_CHARS_MAX or not all(0 < len(label) <= LABEL_CHARS_MAX for label in host.split(".")):
        return UrlFault.HOST_INVALID
    return f"{scheme}://{host}{colon}{port}"


def _normal_octet(match: re.Match[str]) -> str:
    digits, stray, neighbours = match.groups()
    if digits is None:
        return str(stray + neighbours.upper())
    return _UNRESERVED.get(digits.upper()) or f"%{digits.upper()}"


def _is_dropped(field: str) -> bool:
    """Whether a query field ('name=value', unreserved octets decoded) names a visit or the way here, not the page."""
    name, _, value = field.partition("=")
    name = name.lower()
    if name in _DROPPED_NAMES or name.startswith(_DROPPED_PREFIXES):
        return True
    return name in AMBIGUOUS_SESSION_NAMES and _TOKEN_OF_A_VISIT(value) is not None


# The links of a page, in a batch --------------------------------------------------------------------------------------

# What neither the parser nor we would touch; a relative path has no ':' (it may end a scheme), no path a ';'.
_PLAIN: Final = "[A-Za-z0-9_~!$&'()*+,=@/.-]++"
_PLAIN_QUERY: Final = rf"(?:\?(?:[A-Za-z0-9_~!$&()*+,;=:@/.?|-]++|{_SETTLED})++)?"
_PLAIN_RELATIVE: Final = re.compile(f"(?![/.])(?:{_PLAIN}|{_SETTLED})*+{_PLAIN_QUERY}").fullmatch
_PLAIN_ROOTED: Final = re.compile(f"/(?![/.])(?:{_PLAIN}|:|{_SETTLED})*+{_PLAIN_QUERY}").fullmatch


def normalize_links(hrefs: Sequence[str], base: str) -> list[Url | UrlFault]:
    """`[normalize(href, base) for href in hrefs]`, at a quarter of the cost for ordinary links.

    Most hrefs of a page are plain: joined to a folder of the base they are in normal form. They skip the parser.
    """
    home = normalize(base)
    if isinstance(home, UrlFault) or len(base) > URL_CHARS_MAX or len(home) > _PLAIN_BASE_CHARS_MAX:
        return [normalize(href, base) for href in hrefs]
    join = _PlainJoin(home)
    known: dict[str, Url | UrlFault] = {"": home}
    urls = []
    for href in hrefs:
        head, mark, _ = href.partition("#")
        url = known.get(head)
        if url is None:
            url = join(head) or normalize(head + mark, base)
            if head[-1] > " ":  # 'a ' and 'a #x' differ: only the first space is trimmed
                known[head] = url
        urls.append(url)
    return urls


class _PlainJoin:
    """Joins plain hrefs to one base without parsing; None for every href that needs a closer look."""

    __slots__ = ("_document", "_folder", "_origin", "_path_at")

    def __init__(self, home: Url) -> None:
        self._document = home.partition("?")[0]
        self._folder = self._document[: self._document.rfind("/") + 1]
        self._path_at = home.find("/", 8)
        self._origin = home[: self._path_at]

    def __call__(self, head: str) -> Url | None:
        """`head` is not empty and has no fragment."""
        if len(head) > _PLAIN_CHARS_MAX:
            return None
        first = head[0]
        if first == "/":
            return self._checked(self._origin, head) if _PLAIN_ROOTED(head) else None
        if first == "h" and head.startswith(("http://", "https://")):
            path_at = head.find("/", 8)
            origin = head[:path_at]
            if not 0 < path_at <= _ORIGIN_CHARS_MAX or not _PLAIN_ROOTED(head, path_at):
                return None
            return self._checked(origin, head[path_at:]) if _is_normal_origin(origin) else None
        folder = self._folder
        while head[:3] == "../":
            head = head[3:]
            folder = folder[: folder.rfind("/", self._path_at, -1) + 1] or f"{self._origin}/"
        if not _PLAIN_RELATIVE(head):
            return None
        if first == "?":
            return self._checked(self._document, head)
        return self._checked(folder, head)

    @staticmethod
    def _checked(prefix: str, plain: str) -> Url | None:
        """Dot segments and parameters that go are the only work that plain characters can hide."""
        if "/." in plain:
            return None
        if "?" in plain and any(map(_is_dropped, plain.partition("?")[2].split("&"))):
            return None
        return Url(prefix + plain)


@lru_cache(HOSTS_CACHED_MAX)
def _is_normal_origin(origin: str) -> bool:
    """At most _ORIGIN_CHARS_MAX characters: no cache of ours can be filled with long strings."""
    return normalize(origin + "/") == origin + "/"


# Identity -------------------------------------------------------------------------------------------------------------


def key_form(url: Url) -> str:
    """The identity of `url`: its query fields sorted by name, fields of one name in their order."""
    if "&" not in url:
        return url
    place, mark, query = url.partition("?")
    return place + mark + "&".join(sorted(query.split("&"), key=_name_of_field))


def _name_of_field(field: str) -> str:
    return field.partition("=")[0]


def url_key(url: Url) -> int:
    """64 bits: xxh3 of the key form. Always used next to a host key, so a clash needs the same host."""
    return xxh3_64_intdigest(key_form(url).encode())


def host_key(host: str) -> int:
    """64 bits: xxh3 of the host as it stands in a Url (`host_of`)."""
    return xxh3_64_intdigest(host.encode("utf-8", "surrogatepass"))


def site_key(site: str) -> int:
    """64 bits: xxh3 of a site as `site_of` gives it."""
    return xxh3_64_intdigest(site.encode("utf-8", "surrogatepass"))


def link_keys(urls: Sequence[Url]) -> list[bytes]:
    """For each URL 16 bytes: host key, then URL key, both big-endian."""
    return [_authority_digest(url.split("/", 3)[2]) + xxh3_64_digest(key_form(url).encode()) for url in urls]


@lru_cache(HOSTS_CACHED_MAX)
def _authority_digest(authority: str) -> bytes:
    return xxh3_64_digest(_without_port(authority).encode())


# Parts of a Url -------------------------------------------------------------------------------------------------------


def _authority_of(url: Url) -> str:
    return url.partition("://")[2].partition("/")[0]


def _without_port(authority: str) -> str:
    return authority[: authority.find("]") + 1] if authority.startswith("[") else authority.partition(":")[0]


def host_of(url: Url) -> str:
    """The host, without port; an IPv6 address in its brackets, as a Host field has it."""
    return _without_port(_authority_of(url))


def origin_of(url: Url) -> str:
    """'https://h:8443'; a default port is omitted (RFC 6454)."""
    return url[: url.find("/", 8)]


def scheme_host_port(url: Url) -> tuple[str, str, int]:
    """('https', 'h', 443)."""
    scheme = url.partition(":")[0]
    authority = _authority_of(url)
    host = _without_port(authority)
    port = authority[len(host) + 1 :]
    return scheme, host, int(port) if port else 443 if scheme == "https" else 80


def target_of(url: Url) -> str:
    """Path and query, for the request line (RFC 9112 3.2.1)."""
    return url[url.find("/", 8) :]


# Sites ----------------------------------------------------------------------------------------------------------------

_IP_LITERAL: Final = re.compile(r"\[.*\]|[0-9]+(?:\.[0-9]+){3}").fullmatch  # in a Url, WHATWG made all IPv4 dotted


@lru_cache(HOSTS_CACHED_MAX)
def site_of(host: str) -> str:
    """The registrable domain of `host`. IP addresses and bare public suffixes are their own site.

    The list's private section counts ('alice.github.io' is a site): its names have different authors, and a crawl of
    Alice's site must neither spend its budget on Bob's nor wander to him. Unlisted top-level domains are suffixes.
    """
    if _IP_LITERAL(host):
        return host
    return _public_suffixes().privatesuffix(host) or host


@lru_cache(1)
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # 33 ms to read, so not at import
