"""The port `Web` over sockets: connect or take a kept connection, exchange once, say what came. Nothing is repeated."""

import asyncio
import re
import ssl
import time
from collections.abc import Callable
from ipaddress import ip_address

from gossamer.adapters.http.connection import Connection
from gossamer.adapters.http.faults import connect_fault
from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.http.pool import IdlePool
from gossamer.adapters.http.reader import ResponseReader
from gossamer.adapters.http.request_head import Origin, plan_request
from gossamer.core.outcome import Reason
from gossamer.ports.web import Request, Response, Unanswered

# What the ssl module accepts as a name, labels of 1 to 63; it raises ValueError for others, once it is connected.
_CERTIFIABLE = re.compile(r"[^.]{1,63}(?:\.[^.]{1,63})*", re.ASCII)
_CLOSED = "the client was closed"


def verifying_tls(ca_file: str | None = None) -> ssl.SSLContext:
    """Certificates and names are checked, against the system's store or against `ca_file` (PEM) alone.

    Raises OSError or ssl.SSLError when `ca_file` cannot be read.
    """
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context


class HttpClient:
    """One contact a call. Made and used inside a running loop."""

    def __init__(
        self,
        limits: FetchLimits,
        *,
        tls: ssl.SSLContext | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._tls = tls or verifying_tls()
        self._monotonic = monotonic
        self._pool = IdlePool(limits, monotonic)
        self._busy: set[Connection] = set()
        self._connecting: set[asyncio.Timeout] = set()
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<HttpClient: {len(self._busy)} busy, {len(self._connecting)} connecting, {len(self._pool)} idle>"

    async def fetch(self, request: Request) -> Response | Unanswered:
        """As `ports.web.Web`. ValueError: a URL, address or field name that no caller may pass."""
        began_at = self._monotonic()
        origin, request_head = plan_request(request)
        total_at = began_at + self._limits.total_timeout_s
        connection = self._pool.take(origin)
        is_new = connection is None
        connection = connection or Connection(self._limits, self._monotonic)
        self._busy.add(connection)
        try:
            answering = connection.exchange(request_head, total_at)
            fault = await self._connect(origin, connection) if is_new else None
            if fault is not None:
                connection.abort()
                return self._unanswered(*fault, began_at)
            answer = await answering
        except asyncio.CancelledError:
            connection.abort()
            raise
        finally:
            self._busy.discard(connection)
        if answer.fault is not None:
            return self._unanswered(answer.fault, answer.detail, began_at)
        if answer.is_reusable and not self._is_closed:
            self._pool.put(origin, connection, answer.fields)
        return self._response(answer, request_head, began_at)

    async def close(self) -> None:
        """As `ports.web.Web`; fetches begun afterwards are Unanswered too."""
        self._is_closed = True
        self._pool.close()
        for connection in list(self._busy):
            connection.give_up(_CLOSED)
        now = asyncio.get_running_loop().time()
        for timeout in self._connecting:
            if not timeout.expired():
                timeout.reschedule(now)

    async def _connect(self, origin: Origin, connection: Connection) -> tuple[Reason, str] | None:
        """Give `connection` its transport; else say why there is none."""
        if self._is_closed:
            return Reason.CONNECTION_LOST, _CLOSED
        ip_address(origin.address)  # ValueError: a name here would be resolved behind the back of every check
        limits = self._limits
        tls = self._tls if origin.scheme == "https" else None
        server_name = origin.host.strip("[]").removesuffix(".")  # neither in SNI nor in a certificate (RFC 6066 3)
        if tls is not None and not _CERTIFIABLE.fullmatch(server_name):
            return Reason.TLS_FAILED, "no certificate can name this host"
        try:
            async with asyncio.timeout(min(limits.connect_timeout_s, limits.total_timeout_s)) as timeout:
                self._connecting.add(timeout)
                try:
                    await asyncio.get_running_loop().create_connection(
                        lambda: connection,
                        origin.address,
                        origin.port,
                        ssl=tls,
                        server_hostname=server_name if tls else None,
                    )
                finally:
                    self._connecting.discard(timeout)
        except OSError as error:
            return (Reason.CONNECTION_LOST, _CLOSED) if self._is_closed else connect_fault(error, origin.scheme)
        return None

    def _response(self, answer: ResponseReader, request_head: bytes, began_at: float) -> Response:
        return Response(
            request_head=request_head,
            status=answer.status,
            head=answer.head,
            fields=answer.fields,
            wire_body=answer.wire_body,
            payload=answer.payload,
            truncated=answer.truncated,
            began_at=began_at,
            ended_at=self._monotonic(),
        )

    def _unanswered(self, reason: Reason, detail: str, began_at: float) -> Unanswered:
        return Unanswered(reason=reason, detail=detail, began_at=began_at, ended_at=self._monotonic())
