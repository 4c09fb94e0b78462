"""One transport, one exchange at a time, one timer. Connecting is `client`, keeping is `pool`."""

import asyncio
from collections.abc import Callable
from typing import cast

from gossamer.adapters.http.faults import loss_detail
from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.http.reader import ResponseReader
from gossamer.core.outcome import Reason


class Connection(asyncio.Protocol):
    """Sends one request head, feeds what comes to a reader, and stops it when its time is up.

    Three deadlines share one timer, set anew only when an answer takes more than one read: first byte, window, total.
    """

    __slots__ = (
        "_answer",
        "_deadline_at",
        "_limits",
        "_loop",
        "_monotonic",
        "_reader",
        "_request_head",
        "_timer",
        "_total_at",
        "_transport",
        "_window_bytes",
        "is_open",
        "on_lost",
    )

    def __init__(self, limits: FetchLimits, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._answer: asyncio.Future[ResponseReader] | None = None
        self._request_head = b""
        self._timer: asyncio.TimerHandle | None = None
        self._deadline_at = 0.0  # of the first byte, then of the window
        self._total_at = 0.0
        self._window_bytes = -1  # below zero until the first byte
        self.is_open = False
        self.on_lost: Callable[[], None] | None = None

    def __repr__(self) -> str:
        state = "busy" if self._reader else "idle" if self.is_open else "closed"
        return f"<Connection {state}>"

    def exchange(self, request_head: bytes, total_at: float) -> asyncio.Future[ResponseReader]:
        """Send `request_head` now, or as soon as there is a transport; resolves to a finished reader.

        Begun before connecting, so that an answer that comes with the connection finds its reader.
        total_at: monotonic seconds, when it ends at the latest.
        """
        assert self._reader is None, "one exchange at a time"
        self._reader = ResponseReader(self._limits)
        self._answer = answer = self._loop.create_future()
        self._request_head = request_head
        self._window_bytes = -1
        self._total_at = total_at
        if self._transport is not None:
            self._send()
        return answer

    def _send(self) -> None:
        assert self._transport is not None
        self._wake_within(self._limits.first_byte_timeout_s, self._monotonic())
        self._transport.write(self._request_head)

    def give_up(self, detail: str) -> None:
        """End an exchange in flight as lost, and the connection with it."""
        if self._reader is not None:
            self._reader.end_of_stream(detail)
            self._finish()
        self.abort()

    def abort(self) -> None:
        """Drop the connection now, without waiting for the other side. Safe to repeat."""
        self.is_open = False
        self._reader = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    # What the transport tells -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        if self._reader is None:  # given up while connecting
            self._transport.abort()
            return
        self.is_open = True
        self._send()

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            self._drop_idle()  # nobody asked: what follows could be taken for the next answer
        elif reader.feed(data):
            self._finish()
        elif self._window_bytes < 0:
            self._window_bytes = 0
            self._wake_within(self._limits.slow_window_s, self._monotonic())
        else:
            self._window_bytes += len(data)

    def eof_received(self) -> None:
        if self._reader is not None:
            self._reader.end_of_stream()
            self._finish()
        self._drop_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._transport = None
        if self._reader is not None:
            reason, detail = loss_detail(exc)
            self._reader.end_of_stream(detail)
            if self._reader.fault is Reason.CONNECTION_LOST and reason is not None:
                self._reader.fault = reason
            self._finish()
        self._drop_idle()

    # Ends -------------------------------------------------------------------------------------------------------------

    def _drop_idle(self) -> None:
        self.abort()
        if self.on_lost is not None:
            self.on_lost()
            self.on_lost = None

    def _finish(self) -> None:
        reader, answer, timer = self._reader, self._answer, self._timer
        assert reader is not None
        assert answer is not None
        if timer is not None:
            timer.cancel()
            self._timer = None
        self._reader = self._answer = None
        if not reader.is_reusable:
            self.abort()
        if not answer.done():
            answer.set_result(reader)

    # Time -------------------------------------------------------------------------------------------------------------

    def _wake_within(self, seconds: float, now: float) -> None:
        self._deadline_at = now + seconds
        self._sleep(now)

    def _sleep(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # uvloop rounds to milliseconds and may be one early: never zero, or it would spin.
        self._timer = self._loop.call_later(max(min(self._deadline_at, self._total_at) - now, 0.001), self._wake)

    def _wake(self) -> None:
        now = self._monotonic()
        limits, reader = self._limits, self._reader
        if reader is None:
            return
        if now >= self._total_at:
            reader.expire(Reason.TOTAL_TIMEOUT, f"not whole after {limits.total_timeout_s:g} s")
        elif now < self._deadline_at:
            self._sleep(now)
        elif self._window_bytes < 0:
            reader.expire(Reason.FIRST_BYTE_TIMEOUT, f"no answer within {limits.first_byte_timeout_s:g} s")
        elif self._window_bytes < limits.slow_bytes_per_s * limits.slow_window_s:
            reader.expire(Reason.TOO_SLOW, f"below {limits.slow_bytes_per_s:g} octets a second")
        else:
            self._window_bytes = 0
            self._wake_within(limits.slow_window_s, now)
        if reader.is_finished:
            self._finish()
