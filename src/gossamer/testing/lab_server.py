"""Serves a lab web over HTTP/1.1 on one port of many loopback addresses. Not here: what the answers are (lab_web)."""

import asyncio
import contextlib
import ipaddress
import resource
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from typing import cast

import httptools

from gossamer.testing.lab_access import AccessLog, AccessRecord
from gossamer.testing.lab_hosts import Fate
from gossamer.testing.lab_web import LabRequest, LabResponse, LabWeb

LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
ADDRESSES_MAX = 4_096
FIRST_ADDRESS = "127.0.1.1"
REQUEST_BYTES_MAX = 65_536  # head and body of one request
PIPELINED_MAX = 64
CONNECTIONS_MAX = 20_000
IDLE_MAX_S = 75.0
STALL_MAX_S = 600.0
FLUSH_EVERY_S = 0.5
VISITS_MAX = 100_000  # URLs of throttled hosts whose visits are counted
PORT_TRIES_MAX = 20
BACKLOG = 1_024
CLOSE_TURNS_MAX = 100
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class NotLoopback(ValueError):
    """The lab was asked to listen where others could reach it."""


def loopback_addresses(count: int, first: str = FIRST_ADDRESS) -> list[str]:
    """`count` addresses from `first` on. Raises NotLoopback for anything that is not wholly within 127.0.0.0/8."""
    if not 1 <= count <= ADDRESSES_MAX:
        raise ValueError(f"addresses must be in 1…{ADDRESSES_MAX}, got {count}")
    try:
        start = ipaddress.IPv4Address(first)
    except ValueError as error:
        raise NotLoopback(f"the lab listens only within {LOOPBACK}; {first!r} is not an address of it") from error
    if start not in LOOPBACK or int(start) + count - 1 >= int(LOOPBACK.broadcast_address):
        raise NotLoopback(f"the lab listens only within {LOOPBACK}; {count} addresses from {first} are not all in it")
    return [str(start + offset) for offset in range(count)]


def bind_all(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """One socket an address, all on one port; port 0 finds one that is free on all. Raises OSError."""
    for address in addresses:
        loopback_addresses(1, address)
    for _ in range(PORT_TRIES_MAX - 1):
        with contextlib.suppress(OSError):
            return _bind(addresses, port)
        if port != 0:
            break
    return _bind(addresses, port)


def _bind(addresses: Sequence[str], port: int) -> list[socket.socket]:
    with contextlib.ExitStack() as opened:
        made = []
        for address in addresses:
            sock = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address, port))
            port = sock.getsockname()[1]
            made.append(sock)
        opened.pop_all()
        return made


def _raise_open_files() -> None:
    """A lab of thousands of names needs more than the usual 1,024 files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class LabServer:
    """The listening sockets, the connections and the visit counts of one lab."""

    def __init__(self, web: LabWeb, log: AccessLog) -> None:
        self.web = web
        self.log = log
        self.port = 0
        self.connections: set[Connection] = set()
        self._servers: list[asyncio.Server] = []
        self._visits: dict[tuple[str, str], int] = {}
        self._flushing: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<LabServer port {self.port}: {len(self.connections)} connections, {self.log.requests} requests>"

    async def start(self, addresses: Sequence[str], port: int = 0) -> None:
        """Listens; `port` of the server is then the real one. Raises NotLoopback, OSError."""
        _raise_open_files()
        loop = asyncio.get_running_loop()
        sockets = bind_all(addresses, port)
        self.port = sockets[0].getsockname()[1]
        self._servers = [await loop.create_server(lambda: Connection(self), sock=s, backlog=BACKLOG) for s in sockets]
        self._flush()

    def _flush(self) -> None:
        self.log.flush()
        self._flushing = asyncio.get_running_loop().call_later(FLUSH_EVERY_S, self._flush)

    async def close(self) -> None:
        """Stops listening, drops all connections and writes what the log still holds."""
        for server in self._servers:
            server.close()
        for connection in list(self.connections):
            connection.abort()
        if self._flushing is not None:
            self._flushing.cancel()
        for _ in range(CLOSE_TURNS_MAX):  # until connection_lost of the aborted ones has made their records
            if not self.connections:
                break
            await asyncio.sleep(0)
        self.log.flush()

    def visit(self, host: str, target: str) -> int:
        """How often this URL was asked for before; counted only where the answer depends on it."""
        plan = self.web.plan(host)
        if plan is None or not plan.is_throttled:
            return 0
        before = self._visits.get((host, target), 0)
        if before or len(self._visits) < VISITS_MAX:
            self._visits[host, target] = before + 1
        return before


class _Incoming:
    """A request while its bytes arrive."""

    __slots__ = ("headers", "is_last", "method", "start_mono", "start_wall", "target")

    def __init__(self) -> None:
        self.start_mono = time.monotonic()
        self.start_wall = time.time_ns() / 1e9
        self.headers: dict[str, str] = {}
        self.target = b""
        self.method = ""
        self.is_last = False

    @property
    def host(self) -> str:
        return self.headers.get("host", "").partition(":")[0].lower().rstrip(".")

    @property
    def path(self) -> str:
        """The target in origin form; a proxy-style absolute target loses its origin."""
        text = self.target.decode("latin-1")
        if text.startswith("/"):
            return text
        _, _, rest = text.partition("://")
        return "/" + rest.partition("/")[2]


class Connection(asyncio.Protocol):
    """One client connection: requests are answered one after another, each after its host's latency."""

    def __init__(self, server: LabServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[_Incoming] = deque()
        self._incoming: _Incoming | None = None
        self._answering: _Incoming | None = None
        self._received = 0
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    # -- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name
        self._address = transport.get_extra_info("sockname")[0]
        peer = transport.get_extra_info("peername")
        self._peer = f"{peer[0]}:{peer[1]}"
        if len(self._server.connections) >= CONNECTIONS_MAX:
            self._transport.abort()
            return
        self._server.connections.add(self)
        self._rest()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._server.connections.discard(self)
        self._wake()
        if self._answering is not None:
            self._record(self._answering, None, 0)
            self._answering = None
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > REQUEST_BYTES_MAX or len(self._waiting) > PIPELINED_MAX:
            self._refuse(431)
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._refuse(400)
            return
        if self._answering is None:
            self._answer_next()

    def abort(self) -> None:
        self._transport.abort()

    # -- httptools

    def on_message_begin(self) -> None:
        self._incoming = _Incoming()

    def on_url(self, url: bytes) -> None:
        assert self._incoming is not None
        self._incoming.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        assert self._incoming is not None
        self._incoming.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_message_complete(self) -> None:
        incoming, self._incoming, self._received = self._incoming, None, 0
        assert incoming is not None
        incoming.method = self._parser.get_method().decode("latin-1")
        incoming.is_last = not self._parser.should_keep_alive()
        self._waiting.append(incoming)

    # -- answering

    def _answer_next(self) -> None:
        if not self._waiting or self._transport.is_closing():
            return
        self._wake()
        incoming = self._answering = self._waiting.popleft()
        host, target = incoming.host, incoming.path
        response = self._server.web.respond(
            LabRequest(host, target, incoming.headers, self._server.visit(host, target))
        )
        if incoming.method not in {"GET", "HEAD"}:
            response = LabResponse(405, (("Allow", "GET, HEAD"),), b"", response.behaviour)
        match response.behaviour.fate:
            case Fate.RESETS:
                self._reset()
            case Fate.STALLS:
                self._timer = self._loop.call_later(STALL_MAX_S, self.abort)
            case Fate.ANSWERS if response.behaviour.latency_s > 0:
                self._timer = self._loop.call_later(response.behaviour.latency_s, self._send, incoming, response)
            case Fate.ANSWERS:
                self._send(incoming, response)

    def _send(self, incoming: _Incoming, response: LabResponse) -> None:
        self._wake()
        self._answering = None
        # Before the write: it wakes the client, who may be given our processor before we read the clock.
        self._record(incoming, response.status, len(response.body))
        self._transport.write(_wire(response, is_head=incoming.method == "HEAD", is_last=incoming.is_last))
        if incoming.is_last:
            self._transport.close()
        elif self._waiting:
            self._loop.call_soon(self._answer_next)
        else:
            self._rest()

    def _reset(self) -> None:
        """Ends the connection with RST and not with FIN: a lingering time of zero says so to the kernel."""
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self._transport.abort()

    def _refuse(self, status: int) -> None:
        self._wake()
        self._transport.write(_wire(LabResponse(status, (), b""), is_head=False, is_last=True))
        self._transport.close()

    def _record(self, incoming: _Incoming, status: int | None, body_bytes: int) -> None:
        self._server.log.add(
            AccessRecord(
                start_mono=incoming.start_mono,
                end_mono=time.monotonic(),
                start_wall=incoming.start_wall,
                end_wall=time.time_ns() / 1e9,
                host=incoming.host,
                method=incoming.method,
                target=incoming.target.decode("latin-1"),
                address=self._address,
                peer=self._peer,
                status=status,
                user_agent=incoming.headers.get("user-agent", ""),
                body_bytes=body_bytes,
            )
        )

    def _rest(self) -> None:
        self._timer = self._loop.call_later(IDLE_MAX_S, self._transport.close)

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _wire(response: LabResponse, *, is_head: bool, is_last: bool) -> bytes:
    lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Unknown')}", "Server: gossamer-lab"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if response.status != 304:
        lines.append(f"Content-Length: {len(response.body)}")
    lines.append("Connection: close" if is_last else "Connection: keep-alive")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if is_head else head + response.body
