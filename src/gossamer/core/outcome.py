"""How a fetch can end: one sum type and the named reasons.

What follows from an outcome is in `politeness` (for the host) and `url_life` (for the URL).
"""

from dataclasses import dataclass
from enum import StrEnum


class Truncation(StrEnum):
    """Why a stored body is shorter than what the server meant to send (ISO 28500, WARC-Truncated)."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"


class Reason(StrEnum):
    """Why there is no usable answer. The web did this; none of these is an error of ours."""

    DNS_NOT_FOUND = "dns-not-found"
    DNS_FAILED = "dns-failed"
    DNS_TIMEOUT = "dns-timeout"
    ADDRESS_NOT_ALLOWED = "address-not-allowed"
    CONNECT_TIMEOUT = "connect-timeout"
    CONNECT_REFUSED = "connect-refused"
    CONNECT_FAILED = "connect-failed"
    TLS_FAILED = "tls-failed"
    CONNECTION_LOST = "connection-lost"
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    TOTAL_TIMEOUT = "total-timeout"
    TOO_SLOW = "too-slow"
    HEAD_TOO_LARGE = "head-too-large"
    BAD_HTTP = "bad-http"
    INFORMATIONAL_STORM = "informational-storm"
    INCOMPLETE = "incomplete"
    BAD_LOCATION = "bad-location"
    REDIRECT_LOOP = "redirect-loop"
    REDIRECT_CHAIN_TOO_LONG = "redirect-chain-too-long"
    STATUS_UNKNOWN = "status-unknown"
    ROBOTS_DISALLOWED = "robots-disallowed"
    CRAWL_DELAY_TOO_LONG = "crawl-delay-too-long"
    HOST_DEAD = "host-dead"


@dataclass(frozen=True, slots=True)
class Fetched:
    """A 2xx answer, stored. `truncated` tells when the body was cut."""

    status: int
    truncated: Truncation | None = None


@dataclass(frozen=True, slots=True)
class Redirected:
    """A 3xx answer with a usable target, already normalised."""

    status: int
    target: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A final answer that is no page: 4xx except 429, a 304 nobody asked for, a redirect that leads nowhere."""

    status: int
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """429 or 503: the host asked for less. `retry_after_s` is its wish, None when it named none."""

    status: int
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServerFailed:
    """Any other 5xx: transient until the attempts are spent."""

    status: int


@dataclass(frozen=True, slots=True)
class Unreachable:
    """No complete answer: DNS, connect, TLS, time limits, resets. Transient until the attempts are spent."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Denied:
    """Nobody was asked for this URL: robots.txt, a refused address or a crawl-delay beyond ours forbids it."""

    reason: Reason


Outcome = Fetched | Redirected | Failed | Throttled | ServerFailed | Unreachable | Denied
