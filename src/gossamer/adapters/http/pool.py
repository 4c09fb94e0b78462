"""Idle connections: one an origin, each with its own end, all of them bounded."""

import asyncio
from collections.abc import Callable
from functools import partial

from gossamer.adapters.http.connection import Connection
from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.http.request_head import Origin
from gossamer.core.http_message import Fields, field_values

SWEEP_EVERY_S = 1.0
# A request must not meet the server's own close on the way (RFC 9112 9.5), so we leave a second earlier.
IDLE_MARGIN_S = 1.0


class IdlePool:
    """Keeps connections between exchanges. `take` never hands out one that is known to be dead or over its time."""

    def __init__(self, limits: FetchLimits, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._idle: dict[Origin, tuple[Connection, float]] = {}  # oldest first; with the time when each ends
        self._sweeper: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def __repr__(self) -> str:
        return f"<IdlePool {len(self)} of {self._limits.idle_connections_max}>"

    def take(self, origin: Origin) -> Connection | None:
        """An open connection to `origin`, no longer in the pool, or None."""
        if origin not in self._idle:
            return None
        connection, ends_at = self._idle.pop(origin)
        connection.on_lost = None
        if connection.is_open and self._monotonic() < ends_at:
            return connection
        connection.abort()
        return None

    def put(self, origin: Origin, connection: Connection, fields: Fields) -> None:
        """Keep `connection` as long as its last answer allows; a full pool closes its oldest."""
        idle_s = idle_seconds(fields, self._limits)
        if not connection.is_open or idle_s <= 0 or not self._limits.idle_connections_max:
            connection.abort()
            return
        self._drop(origin)
        if len(self._idle) >= self._limits.idle_connections_max:
            self._drop(next(iter(self._idle)))
        self._idle[origin] = (connection, self._monotonic() + idle_s)
        connection.on_lost = partial(self._forget, origin)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(SWEEP_EVERY_S, self._sweep)

    def close(self) -> None:
        """Drop every idle connection."""
        for origin in list(self._idle):
            self._drop(origin)
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    def _drop(self, origin: Origin) -> None:
        if origin in self._idle:
            connection, _ = self._idle.pop(origin)
            connection.on_lost = None
            connection.abort()

    def _forget(self, origin: Origin) -> None:
        self._idle.pop(origin, None)

    def _sweep(self) -> None:
        """One timer for all: 256 comparisons a second instead of a timer set and cancelled with every fetch."""
        now = self._monotonic()
        for origin in [origin for origin, (_, ends_at) in self._idle.items() if now >= ends_at]:
            self._drop(origin)
        again = asyncio.get_running_loop().call_later(SWEEP_EVERY_S, self._sweep) if self._idle else None
        self._sweeper = again


def idle_seconds(fields: Fields, limits: FetchLimits) -> float:
    """How long the server is trusted to wait: `Keep-Alive: timeout=N` (RFC 2068 19.7.1.1) less a margin, else ours."""
    for value in field_values(fields, "keep-alive"):
        for parameter in value.split(",", 8):
            name, _, seconds = parameter.partition("=")
            seconds = seconds.strip(' \t"')
            if name.strip().lower() == "timeout" and seconds.isascii() and seconds.isdigit():
                # Nine digits are 30 years; int() of more is work for nobody.
                return min(int(seconds[:9]) - IDLE_MARGIN_S, limits.idle_timeout_max_s)
    return limits.idle_timeout_s
