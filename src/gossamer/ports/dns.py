"""Names to addresses. Caching and one look-up in flight per name are the adapter's business."""

from dataclasses import dataclass
from typing import Protocol

from gossamer.core.outcome import Reason


@dataclass(frozen=True, slots=True)
class Resolved:
    """IP addresses in the order of the answer (IPv4 and IPv6 mixed), none of them checked yet. At most 16."""

    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """One of the DNS_* reasons. NOT_FOUND is the name's own answer, FAILED and TIMEOUT are the resolver's."""

    reason: Reason


class Dns(Protocol):
    """Resolves names; IP literals resolve to themselves."""

    async def resolve(self, host: str) -> Resolved | Unresolved:
        """Never raises for anything the network does; bounded by the adapter's own deadline."""

    async def close(self) -> None:
        """End look-ups in flight as Unresolved."""
