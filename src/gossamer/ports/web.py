"""One HTTP exchange with one pinned address.

No redirects, no cookies, no retries, no content decoding: those are decisions and belong to the stages and `core`.
"""

from dataclasses import dataclass
from typing import Protocol

from gossamer.core.outcome import Reason, Truncation


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A GET of `url`. `address` was resolved and checked by the caller; the connection goes there and nowhere else.

    `connect_port` differs from the URL's port only under `--connect-to`.
    """

    url: str
    address: str
    connect_port: int
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came, octet for octet, and what it means. Times are monotonic seconds.

    head: status line and fields with the final empty line, as received.
    fields: (lower-case name, value) decoded as Latin-1, in order, repeated ones kept.
    wire_body: as received, transfer coding included; payload: transfer coding removed, content coding kept
    (the same object as `wire_body` when there was none).
    """

    request_head: bytes
    status: int
    head: bytes
    fields: tuple[tuple[str, str], ...]
    wire_body: bytes
    payload: bytes
    truncated: Truncation | None
    began_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """No usable response head arrived. Times are monotonic seconds; `detail` is for people, one short line."""

    reason: Reason
    detail: str
    began_at: float
    ended_at: float


class Web(Protocol):
    """Fetches. At most one exchange per host at a time is the caller's promise."""

    async def fetch(self, request: Request) -> Response | Unanswered:
        """One contact, bounded in time, header and body size. Never raises for anything the server does."""

    async def close(self) -> None:
        """Close idle connections; exchanges in flight end as Unanswered."""
