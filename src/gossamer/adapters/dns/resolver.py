"""The port `Dns` on c-ares: deadlines, one look-up a name, lifetimes. What is remembered is `cache`."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, SOCK_STREAM
from typing import Final

import pycares

from gossamer.adapters.dns.cache import DnsCache
from gossamer.core.outcome import Reason
from gossamer.ports.dns import Resolved, Unresolved

ADDRESSES_MAX: Final = 16  # ports.dns; the largest sites publish 8
TRIES: Final = 3
# c-ares keeps what it was told by its own rules (up to an hour, a missing name by its SOA). A channel of five minutes
# bounds that, and with it everything negative (RFC 2308 7.1).
CHANNEL_LIFE_S: Final = 300.0
NEGATIVE_TTL_MAX_S: Final = 300.0

_AI_NOSORT: Final = 1 << 7  # ares.h; sorting opens a socket for every address
_NAME: Final = re.compile(r"[!-~]{1,253}")
_NOT_FOUND: Final = frozenset(
    {
        pycares.errno.ARES_ENODATA,
        pycares.errno.ARES_ENOTFOUND,
        pycares.errno.ARES_ENONAME,
        pycares.errno.ARES_EBADNAME,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsLimits:
    """Lifetimes in seconds: answers live as long as their records say, within the two TTL bounds; failures briefly."""

    dns_timeout_s: float = 5.0
    positive_ttl_min_s: float = 60.0  # 0 is a habit of load balancers, not a wish to be asked for every page
    positive_ttl_max_s: float = 3_600.0
    dns_negative_ttl_s: float = 30.0
    entries_max: int = 10_000
    servers: tuple[str, ...] = field(default=())  # "address" or "address:port"; none: the system's

    def __post_init__(self) -> None:
        if not 0 < self.dns_negative_ttl_s <= NEGATIVE_TTL_MAX_S:
            raise ValueError(
                f"dns_negative_ttl_s must be in (0, {NEGATIVE_TTL_MAX_S:g}], got {self.dns_negative_ttl_s}"
            )
        if not 0 < self.dns_timeout_s <= 60:
            raise ValueError(f"dns_timeout_s must be in (0, 60], got {self.dns_timeout_s}")
        if not 0 <= self.positive_ttl_min_s <= self.positive_ttl_max_s:
            raise ValueError(f"positive_ttl_min_s must be in [0, positive_ttl_max_s], got {self.positive_ttl_min_s}")
        if self.entries_max < 1:
            raise ValueError(f"entries_max must be at least 1, got {self.entries_max}")


class CaresDns:
    """Resolves A and AAAA together, IPv4 first. Made and used inside a running loop."""

    def __init__(self, limits: DnsLimits, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._loop = asyncio.get_running_loop()
        self._cache = DnsCache(limits.entries_max)
        self._in_flight: dict[str, asyncio.Future[Resolved | Unresolved]] = {}
        self._channel: pycares.Channel | None = None
        self._channel_ends_at = 0.0
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<CaresDns: {len(self._in_flight)} in flight, {self._cache!r}>"

    async def resolve(self, host: str) -> Resolved | Unresolved:
        """As `ports.dns.Dns`. A name is absolute: no search domain is ever added."""
        if literal := _literal(host):
            return Resolved((literal,))
        name = host.lower().removesuffix(".")
        if not _NAME.fullmatch(name):
            return Unresolved(Reason.DNS_NOT_FOUND)
        if (known := self._cache.get(name, self._monotonic())) is not None:
            return known
        if self._is_closed:
            return Unresolved(Reason.DNS_FAILED)
        answer = self._in_flight.get(name) or self._look_up(name)
        return await asyncio.shield(answer)  # who leaves early must not end the look-up of the others

    async def close(self) -> None:
        """As `ports.dns.Dns`; what is remembered is still answered."""
        self._is_closed = True
        for name in list(self._in_flight):
            self._settle(name, Unresolved(Reason.DNS_FAILED), None)
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _look_up(self, name: str) -> "asyncio.Future[Resolved | Unresolved]":
        answer: asyncio.Future[Resolved | Unresolved] = self._loop.create_future()
        self._in_flight[name] = answer
        timed_out = Unresolved(Reason.DNS_TIMEOUT)
        deadline = self._loop.call_later(
            self._limits.dns_timeout_s, self._settle, name, timed_out, self._limits.dns_negative_ttl_s
        )
        answer.add_done_callback(lambda _: deadline.cancel())
        self._open_channel().getaddrinfo(
            name, None, type=SOCK_STREAM, flags=_AI_NOSORT, callback=partial(self._from_cares, name, answer)
        )
        return answer

    def _open_channel(self) -> pycares.Channel:
        """The channel of these five minutes. An older one ends with its last look-up, or ours would fail with it."""
        now = self._monotonic()
        if self._channel is None or now >= self._channel_ends_at:
            # A dead server is tried TRIES times before our own deadline, each try longer than the one before.
            self._channel = pycares.Channel(
                flags=pycares.ARES_FLAG_NOSEARCH,
                timeout=self._limits.dns_timeout_s / 8,
                tries=TRIES,
                servers=self._limits.servers or None,
            )
            self._channel_ends_at = now + CHANNEL_LIFE_S
        return self._channel

    def _from_cares(
        self,
        name: str,
        asked: "asyncio.Future[Resolved | Unresolved]",
        result: pycares.AddrInfoResult | None,
        error: int | None,
    ) -> None:
        """Runs in c-ares' thread: only computes, and hands the answer to the loop."""
        answer, ttl_s = self._judged(result, error)
        with suppress(RuntimeError):  # the loop may be gone: then nobody waits
            self._loop.call_soon_threadsafe(self._arrive, name, asked, answer, ttl_s)

    def _judged(self, result: pycares.AddrInfoResult | None, error: int | None) -> tuple[Resolved | Unresolved, float]:
        limits = self._limits
        if result is not None and (addresses := _addresses(result)):
            ttl_s = min([node.ttl for node in result.nodes] + [alias.ttl for alias in result.cnames])
            return Resolved(addresses), min(max(ttl_s, limits.positive_ttl_min_s), limits.positive_ttl_max_s)
        reason = Reason.DNS_NOT_FOUND if result is not None else _reason(error)
        return Unresolved(reason), limits.dns_negative_ttl_s

    def _arrive(
        self,
        name: str,
        asked: "asyncio.Future[Resolved | Unresolved]",
        answer: Resolved | Unresolved,
        ttl_s: float,
    ) -> None:
        # After the deadline another look-up of this name may be in flight: it gets its own answer.
        if self._in_flight.get(name) is asked:
            self._settle(name, answer, ttl_s)

    def _settle(self, name: str, answer: Resolved | Unresolved, ttl_s: float | None) -> None:
        if ttl_s is not None:
            self._cache.put(name, answer, self._monotonic() + ttl_s)
        waiting = self._in_flight.pop(name, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)


def _literal(host: str) -> str | None:
    """`host` in plain form when it is an IP address, with or without brackets."""
    bare = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    if not (":" in bare or bare[-1:].isdigit()):
        return None
    try:
        return str(ip_address(bare))
    except ValueError:
        return None


def _addresses(result: pycares.AddrInfoResult) -> tuple[str, ...]:
    """Distinct addresses, IPv4 before IPv6: which family answered first is chance, and IPv6 is often not routed."""
    of_family: dict[int, dict[str, None]] = {AF_INET: {}, AF_INET6: {}}
    for node in result.nodes:
        text = node.addr[0]
        of_family[node.family][text.decode("ascii") if isinstance(text, bytes) else text] = None
    return tuple(of_family[AF_INET] | of_family[AF_INET6])[:ADDRESSES_MAX]


def _reason(error: int | None) -> Reason:
    if error in _NOT_FOUND:
        return Reason.DNS_NOT_FOUND
    return Reason.DNS_TIMEOUT if error == pycares.errno.ARES_ETIMEOUT else Reason.DNS_FAILED
