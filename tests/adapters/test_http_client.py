"""The client against raw sockets that say, octet for octet, what the test wrote. Limits are short, nothing sleeps."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
import trustme
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.adapters.http.client import HttpClient, verifying_tls
from gossamer.adapters.http.limits import FetchLimits
from gossamer.core.outcome import Reason, Truncation
from gossamer.ports.web import Request, Response, Unanswered

CLOSE = object()  # end of stream
RESET = object()  # drop the connection with unsent data
HANG = object()  # say nothing more, keep the connection
Step = bytes | object
OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"

QUICK = FetchLimits(
    connect_timeout_s=0.15,
    first_byte_timeout_s=0.1,
    total_timeout_s=0.2,
    slow_window_s=0.05,
    slow_bytes_per_s=200,
    head_bytes_max=4_096,
    body_bytes_max=20_000,
    informational_max=3,
    idle_connections_max=3,
)
PATIENT = FetchLimits(total_timeout_s=5)


@dataclass
class Server:
    """Answers the n-th request of every connection with the n-th script."""

    scripts: list[Sequence[Step]]
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            for script in self.scripts:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                for step in script:
                    if step is CLOSE:
                        return
                    if step is RESET:
                        writer.transport.abort()
                        return
                    if step is not HANG:
                        assert isinstance(step, bytes)
                        writer.write(step)
                        await writer.drain()
                        await asyncio.sleep(0)
            await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.ended.set()
            writer.close()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()


@dataclass
class Story:
    client: HttpClient
    server: Server

    async def fetch(self, url: str = "http://a.test/", *headers: tuple[str, str]) -> Response | Unanswered:
        return await self.client.fetch(
            Request(url=url, address="127.0.0.1", connect_port=self.server.port, headers=headers)
        )

    async def response(self, url: str = "http://a.test/", *headers: tuple[str, str]) -> Response:
        answer = await self.fetch(url, *headers)
        assert isinstance(answer, Response), answer
        return answer


def tell(
    story: Callable[[Story], Awaitable[None]],
    *scripts: Sequence[Step],
    limits: FetchLimits = QUICK,
    server_tls: ssl.SSLContext | None = None,
    client_tls: ssl.SSLContext | None = None,
) -> None:
    async def main() -> None:
        server = Server(list(scripts))
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=server_tls)
        server.port = listening.sockets[0].getsockname()[1]
        client = HttpClient(limits, tls=client_tls or NO_TLS)
        try:
            async with asyncio.timeout(10):
                await story(Story(client, server))
        finally:
            await client.close()
            listening.close()
            server.hang_up()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading the system's certificates takes longer than a test


def answer_to(*script: Step, limits: FetchLimits = QUICK) -> Response | Unanswered:
    """What the client makes of one scripted answer."""
    answers: list[Response | Unanswered] = []

    async def story(s: Story) -> None:
        answers.append(await s.fetch())

    tell(story, list(script), limits=limits)
    return answers[0]


def response_to(*script: Step, limits: FetchLimits = QUICK) -> Response:
    answer = answer_to(*script, limits=limits)
    assert isinstance(answer, Response), answer
    return answer


# What is sent ---------------------------------------------------------------------------------------------------------


def test_the_request_is_returned_as_it_was_sent() -> None:
    async def story(s: Story) -> None:
        url = "http://a.test:8080/p?q=1#fragment"
        answer = await s.response(url, ("User-Agent", "gossamer/1 (+mail)"), ("Accept", "*/*"))
        assert answer.request_head == s.server.heads[0]
        assert answer.request_head == (
            b"GET /p?q=1 HTTP/1.1\r\nHost: a.test:8080\r\nUser-Agent: gossamer/1 (+mail)\r\nAccept: */*\r\n\r\n"
        )
        assert answer.began_at <= answer.ended_at

    tell(story, [HELLO])


# What comes -----------------------------------------------------------------------------------------------------------


def test_head_and_body_are_kept_octet_for_octet() -> None:
    head = b"HTTP/1.1  200   Fine\nX-ODD :\t value \r\nServer: s\r\n folded\r\nnocolon\r\nContent-LENGTH: 3\r\n\r\n"
    answer = response_to(head + b"\0\xff\n")
    assert answer.head == head
    assert answer.fields == (("x-odd", "value"), ("server", "s folded"), ("content-length", "3"))
    assert answer.wire_body == b"\0\xff\n"
    assert answer.payload is answer.wire_body
    assert answer.truncated is None


def test_chunks_and_trailers_are_kept_and_the_payload_has_none() -> None:
    wire = b"5;ext=1\r\nhello\r\n06\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
    answer = response_to(OK + b"Transfer-Encoding: chunked\r\n\r\n", wire)
    assert answer.wire_body == wire
    assert answer.payload == b"hello world"
    assert answer.truncated is None


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 50])
@pytest.mark.parametrize(
    "message",
    [
        HELLO,
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\n" + HELLO,
        b"\r\n" + HELLO,
    ],
    ids=["length", "chunked", "informational", "empty-line"],
)
def test_an_answer_in_pieces_is_the_same_answer(message: bytes, size: int) -> None:
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    answer = response_to(*pieces, limits=PATIENT)
    assert answer.status == 200
    assert answer.payload == b"hello"
    assert message.endswith(answer.head + answer.wire_body)


def test_a_large_body_comes_whole() -> None:
    body = bytes(range(256)) * 10_000
    answer = response_to(OK + b"Content-Length: 2560000\r\n\r\n" + body, limits=PATIENT)
    assert answer.payload == body


@pytest.mark.parametrize(
    ("head", "rest", "payload"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", b""),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"hello", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: x\r\n\r\n", b"", b""),
        (b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", b"", b""),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", b"", b""),
        (b"HTTP/1.1 999 \r\nContent-Length: 2\r\n\r\n", b"no", b"no"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"ok and more", b"ok"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\n", b"ok", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", b"ok", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n", b"2\r\nok\r\n0\r\n\r\n", b"ok"),
    ],
)  # fmt: skip
def test_a_body_ends_where_its_head_says(head: bytes, rest: bytes, payload: bytes) -> None:
    answer = response_to(head + rest)
    assert (answer.head, answer.payload, answer.truncated) == (head, payload, None)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: what\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
    ],
)
def test_a_body_without_an_announced_end_lasts_until_the_close(head: bytes) -> None:
    answer = response_to(head, b"hel", b"lo", CLOSE)
    assert (answer.payload, answer.truncated) == (b"hello", None)


@pytest.mark.parametrize(
    "script",
    [
        [OK + b"Content-Length: 5000\r\n\r\n<html><a href='/n'>n</a>", CLOSE],
        [OK + b"Content-Length: 5000\r\n\r\n<html><a href='/n'>n</a>", RESET],
        [OK + b"Content-Length: 5000\r\n\r\n", b"<html><a href='/n'>n</a>", CLOSE],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n18\r\n<html><a href='/n'>n</a>\r\n", CLOSE],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n5000\r\n<html><a href='/n'>n</a>", CLOSE],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n18\r\n<html><a href='/n'>n</a>\r\nrubbish\r\n", HANG],
        [OK + b"Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n<html><a href='/n'>n</a>", CLOSE],
    ],
    ids=["length", "reset", "pieces", "no-last-chunk", "inside-a-chunk", "broken-chunk", "coded"],
)
def test_h_http_03_a_body_that_ends_early_is_kept_and_marked(script: list[Step]) -> None:
    answer = response_to(*script)
    assert answer.truncated is Truncation.DISCONNECT
    assert answer.payload == b"<html><a href='/n'>n</a>"


def test_h_http_03_nothing_of_an_announced_body_is_marked_too() -> None:
    answer = response_to(OK + b"Content-Length: 5000\r\n\r\n", CLOSE)
    assert (answer.payload, answer.truncated) == (b"", Truncation.DISCONNECT)


def test_a_last_chunk_without_its_final_line_is_a_whole_body() -> None:
    answer = response_to(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", CLOSE)
    assert (answer.payload, answer.truncated) == (b"hello", None)


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "framed"),
    [
        (b"Content-Length: 100000", False),
        (b"Content-Length: " + b"9" * 500, False),
        (b"Transfer-Encoding: chunked", True),
        (b"Connection: close", False),
    ],
)
def test_h_http_01_a_body_over_the_limit_is_cut_and_the_connection_closed(head: bytes, framed: bool) -> None:
    async def story(s: Story) -> None:
        answer = await s.response()
        assert answer.truncated is Truncation.LENGTH
        assert len(answer.wire_body) == QUICK.body_bytes_max
        assert len(answer.payload) == QUICK.body_bytes_max - (7 if framed else 0)
        await s.server.ended.wait()

    tell(story, [OK + head + b"\r\n\r\n" + (b"186A0\r\n" if framed else b""), b"x" * 100_000])


@pytest.mark.parametrize("size", [QUICK.body_bytes_max, QUICK.body_bytes_max - 1])
def test_a_body_of_exactly_the_limit_is_whole(size: int) -> None:
    assert response_to(OK + b"Content-Length: %d\r\n\r\n" % size + b"x" * size).truncated is None
    assert response_to(OK + b"\r\n" + b"x" * size, CLOSE).truncated is None


def test_a_body_that_stops_coming_is_cut_by_time() -> None:
    answer = response_to(OK + b"Content-Length: 5000\r\n\r\nhello", HANG)
    assert (answer.payload, answer.truncated) == (b"hello", Truncation.TIME)


def test_a_body_that_never_ends_is_cut_by_time() -> None:
    async def drip(s: Story) -> None:
        answer = await s.response()
        assert answer.truncated is Truncation.TIME
        assert answer.payload.startswith(b"xx")
        assert answer.ended_at - answer.began_at < 2

    steady = FetchLimits(total_timeout_s=0.15, slow_window_s=10, body_bytes_max=2**40)
    tell(drip, [OK + b"\r\n", *[b"xx"] * 1_000_000], limits=steady)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([HANG], Reason.FIRST_BYTE_TIMEOUT),
        ([b"HTTP/1.1 200 OK\r\nX: ", HANG], Reason.TOO_SLOW),
        ([b"HTTP/1.1 103 Early\r\n\r\n", HANG], Reason.TOO_SLOW),
        ([CLOSE], Reason.CONNECTION_LOST),
        ([RESET], Reason.CONNECTION_LOST),
        ([b"HTTP/1.1 200 OK\r\nX: y\r\n", CLOSE], Reason.CONNECTION_LOST),
        ([b"HT", CLOSE], Reason.CONNECTION_LOST),
        ([b"<html>hello</html>", HANG], Reason.BAD_HTTP),
        ([b"SSH-2.0-OpenSSH_9.2\r\n", HANG], Reason.BAD_HTTP),
        ([b"ICY 200 OK\r\n\r\n", HANG], Reason.BAD_HTTP),
        ([b"HTTP/1.1 OK\r\n\r\n", HANG], Reason.BAD_HTTP),
        ([b"HTTP/1.1 20\r\n\r\n", HANG], Reason.BAD_HTTP),
        ([b"\0" * 10, HANG], Reason.BAD_HTTP),
        ([b"\x15\x03\x01\x00\x02\x02\x16", CLOSE], Reason.BAD_HTTP),
        ([b"\r\n" * 100, HANG], Reason.BAD_HTTP),
        ([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", HANG], Reason.BAD_HTTP),
        ([OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", HANG], Reason.BAD_HTTP),
        ([OK + b"X: " + b"y" * 5_000, HANG], Reason.HEAD_TOO_LARGE),
        ([OK + b"X: " + b"y" * 5_000 + b"\r\n\r\n", HANG], Reason.HEAD_TOO_LARGE),
        ([OK, *[b"X: y\r\n"] * 1_000, HANG], Reason.HEAD_TOO_LARGE),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" * 4, HANG], Reason.INFORMATIONAL_STORM),
        ([*[b"HTTP/1.1 102 Processing\r\n\r\n"] * 4, HANG], Reason.INFORMATIONAL_STORM),
    ],
)  # fmt: skip
def test_no_answer_has_a_name(script: list[Step], reason: Reason) -> None:
    answer = answer_to(*script)
    assert isinstance(answer, Unanswered)
    assert answer.reason is reason
    assert 0 < len(answer.detail) <= 120
    assert "\n" not in answer.detail


def test_a_head_that_drips_ends_by_the_total_time() -> None:
    limits = FetchLimits(total_timeout_s=0.15, slow_window_s=10, head_bytes_max=2**40)
    answer = answer_to(OK, *[b"X: y\r\n"] * 200_000, HANG, limits=limits)
    assert isinstance(answer, Unanswered)
    assert answer.reason is Reason.TOTAL_TIMEOUT


def test_a_few_informational_answers_are_passed_over() -> None:
    answer = response_to(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3 + HELLO)
    assert (answer.status, answer.payload) == (200, b"hello")
    assert answer.head + answer.wire_body == HELLO


def test_a_port_where_nobody_listens_refuses() -> None:
    async def story(s: Story) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            request = Request(url="http://a.test/", address="127.0.0.1", connect_port=port, headers=())
            answer = await s.client.fetch(request)
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.CONNECT_REFUSED

    tell(story)


def test_an_address_without_a_route_fails_by_name() -> None:
    async def story(s: Story) -> None:
        request = Request(url="http://a.test/", address="255.255.255.255", connect_port=80, headers=())
        answer = await s.client.fetch(request)
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.CONNECT_FAILED

    tell(story)


def test_only_an_address_is_connected_to_never_a_name() -> None:
    async def story(s: Story) -> None:
        request = Request(url="http://a.test/", address="localhost", connect_port=s.server.port, headers=())
        with pytest.raises(ValueError, match="localhost"):
            await s.client.fetch(request)
        assert s.server.connections == 0

    tell(story)


# Kept connections -----------------------------------------------------------------------------------------------------


def kept(*script: Step, limits: FetchLimits = QUICK) -> bool:
    """Whether a second request goes over the connection of the first."""
    seen: list[int] = []

    async def story(s: Story) -> None:
        await s.response()
        await s.fetch()
        seen.append(s.server.connections)

    tell(story, list(script), [HELLO], limits=limits)
    return seen == [1]


@pytest.mark.parametrize(
    "message",
    [
        HELLO,
        OK + b"Connection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        OK + b"Keep-Alive: timeout=5, max=100\r\nContent-Length: 0\r\n\r\n",
        OK + b"Keep-Alive: timeout=x\r\nContent-Length: 0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_connection_is_kept_where_the_answer_allows_it(message: bytes) -> None:
    assert kept(message)


@pytest.mark.parametrize(
    "message",
    [
        OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n",
        OK + b"Connection: x, Close\r\nContent-Length: 0\r\n\r\n",
        OK + b"Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n",
        OK + b"Keep-Alive: timeout=0\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 2\r\n\r\nok and more",
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        OK + b"Content-Length: 30000\r\n\r\n" + b"x" * 30_000,
    ],
)
def test_a_connection_is_not_kept_where_the_next_answer_would_be_in_doubt(message: bytes) -> None:
    assert not kept(message)


def test_no_idle_connections_means_none() -> None:
    assert not kept(HELLO, limits=FetchLimits(idle_connections_max=0))


def test_a_kept_connection_that_dies_is_lost_and_the_request_is_not_repeated() -> None:
    async def story(s: Story) -> None:
        await s.response()
        answer = await s.fetch()
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.CONNECTION_LOST
        assert len(s.server.heads) == 2
        assert s.server.connections == 1

    for end in (CLOSE, RESET):
        tell(story, [HELLO], [end])


def test_an_idle_connection_that_ends_is_dropped_and_the_next_request_connects_anew() -> None:
    async def story(s: Story) -> None:
        await s.response()
        assert repr(s.client) == "<HttpClient: 0 busy, 0 connecting, 1 idle>"
        s.server.hang_up()
        while "1 idle" in repr(s.client):
            await asyncio.sleep(0)
        s.server.scripts = [[HELLO]]
        await s.response()
        assert s.server.connections == 2

    tell(story, [HELLO])


def test_octets_that_nobody_asked_for_end_an_idle_connection() -> None:
    async def story(s: Story) -> None:
        await s.response()
        s.server._writers[0].write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        while "1 idle" in repr(s.client):
            await asyncio.sleep(0)
        assert (await s.response()).payload == b"hello"
        assert s.server.connections == 2

    tell(story, [HELLO], [HELLO])


def test_idle_connections_have_a_bound_and_the_oldest_goes() -> None:
    async def story(s: Story) -> None:
        for host in "abcd":
            await s.response(f"http://{host}.test/")
        assert repr(s.client) == "<HttpClient: 0 busy, 0 connecting, 3 idle>"
        await s.response("http://d.test/")
        assert s.server.connections == 4
        await s.response("http://a.test/")
        assert s.server.connections == 5

    tell(story, [HELLO], [HELLO])


def test_an_idle_connection_belongs_to_one_host() -> None:
    async def story(s: Story) -> None:
        await s.response("http://a.test/")
        await s.response("http://b.test/")
        assert s.server.connections == 2

    tell(story, [HELLO], [HELLO])


def test_an_idle_connection_is_not_used_beyond_its_time() -> None:
    now = 100.0

    async def story(s: Story) -> None:
        nonlocal now
        s.client = HttpClient(PATIENT, tls=NO_TLS, monotonic=lambda: now)
        await s.response()
        now += 8.9  # "timeout=10", less a second
        await s.response()
        assert s.server.connections == 1
        now += 9.0
        await s.response()
        assert s.server.connections == 2
        await s.client.close()

    tell(story, *[[OK + b"Keep-Alive: timeout=10\r\nContent-Length: 0\r\n\r\n"]] * 3)


# Ends -----------------------------------------------------------------------------------------------------------------


def test_closing_ends_exchanges_in_flight_and_later_ones() -> None:
    async def story(s: Story) -> None:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(s.fetch())
            while not s.server.heads:
                await asyncio.sleep(0)
            await s.client.close()
        for answer in (waiting.result(), await s.fetch("http://b.test/")):
            assert isinstance(answer, Unanswered)
            assert answer.reason is Reason.CONNECTION_LOST
            assert "closed" in answer.detail

    tell(story, [HANG], limits=PATIENT)


def test_closing_ends_connecting() -> None:
    async def story(s: Story) -> None:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(s.fetch("https://a.test/"))
            while not s.server.connections:
                await asyncio.sleep(0)
            await s.client.close()
        answer = waiting.result()
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.CONNECTION_LOST
        await s.server.ended.wait()

    tell(story, [HANG], limits=PATIENT)


def test_a_cancelled_fetch_leaves_no_connection_behind() -> None:
    async def story(s: Story) -> None:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(s.fetch())
            while not s.server.heads:
                await asyncio.sleep(0)
            task.cancel()
        assert repr(s.client) == "<HttpClient: 0 busy, 0 connecting, 0 idle>"
        await s.server.ended.wait()

    tell(story, [HANG], limits=PATIENT)


# TLS ------------------------------------------------------------------------------------------------------------------

AUTHORITY = trustme.CA()


def tls_server(*names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(*names).configure_cert(context)
    return context


def tls_client() -> ssl.SSLContext:
    with AUTHORITY.cert_pem.tempfile() as path:
        return verifying_tls(path)


def test_tls_asks_for_the_host_of_the_url_and_keeps_its_connection() -> None:
    asked: list[str | None] = []
    server = tls_server("a.test")
    server.sni_callback = lambda _, name, __: asked.append(name)

    async def story(s: Story) -> None:
        assert (await s.response("https://a.test/")).payload == b"hello"
        assert (await s.response("https://a.test/")).payload == b"hello"
        assert s.server.connections == 1
        assert asked == ["a.test"]

    tell(story, [HELLO], [HELLO], limits=PATIENT, server_tls=server, client_tls=tls_client())


@pytest.mark.parametrize("host", ["a.test.", "127.0.0.1"])
def test_tls_knows_absolute_names_and_addresses(host: str) -> None:
    async def story(s: Story) -> None:
        assert (await s.response(f"https://{host}/")).payload == b"hello"

    server = tls_server("a.test", "127.0.0.1")
    tell(story, [HELLO], limits=PATIENT, server_tls=server, client_tls=tls_client())


@pytest.mark.parametrize("host", ["b.test", "x.a.test", "a" * 64 + ".test", "a..test", "[::1]"])
def test_a_certificate_for_another_name_is_refused(host: str) -> None:
    async def story(s: Story) -> None:
        answer = await s.fetch(f"https://{host}/")
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.TLS_FAILED
        assert answer.detail
        assert not s.server.heads

    tell(story, [HELLO], limits=PATIENT, server_tls=tls_server("a.test"), client_tls=tls_client())


def test_a_certificate_of_an_unknown_authority_is_refused() -> None:
    async def story(s: Story) -> None:
        answer = await s.fetch("https://a.test/")
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.TLS_FAILED
        assert "certificate" in answer.detail

    tell(story, [HELLO], limits=PATIENT, server_tls=tls_server("a.test"), client_tls=verifying_tls())


def test_a_server_without_tls_fails_the_handshake() -> None:
    async def story(s: Story) -> None:
        async with speaking_first(b"HTTP/1.1 400 Bad Request\r\n\r\n") as s.server.port:
            answer = await s.fetch("https://a.test/")
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.TLS_FAILED

    tell(story, client_tls=tls_client())


@pytest.mark.parametrize(
    ("greeting", "status"), [(HELLO, 200), (b"HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n", 408)]
)
def test_a_server_that_answers_before_it_is_asked_is_heard(greeting: bytes, status: int) -> None:
    async def story(s: Story) -> None:
        async with speaking_first(greeting) as s.server.port:
            assert (await s.response()).status == status

    tell(story)


@contextlib.asynccontextmanager
async def speaking_first(greeting: bytes) -> AsyncIterator[int]:
    """A server that says `greeting` and closes; its port."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(greet, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()


def test_a_handshake_that_hangs_is_a_connect_timeout() -> None:
    async def story(s: Story) -> None:
        answer = await s.fetch("https://a.test/")
        assert isinstance(answer, Unanswered)
        assert answer.reason is Reason.CONNECT_TIMEOUT

    tell(story, [HANG], client_tls=tls_client())


# Anything at all ------------------------------------------------------------------------------------------------------

tokens = st.sampled_from(
    [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 404\r\n", b"HTTP/1.1 103\r\n\r\n", b"Content-Length: 5\r\n", b"\r\n", b"\n",
     b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n", b"hello", b"\0",
     b"Content-Length: ", b"99999999999999999999", b":", b" ", b"X: y\r\n", b"\xff"]
)  # fmt: skip
answers = st.one_of(st.binary(max_size=500), st.lists(tokens, max_size=12).map(b"".join))


@settings(max_examples=100, deadline=None)
@given(st.lists(answers, min_size=1, max_size=4), st.sampled_from([CLOSE, RESET]))
def test_any_octets_give_a_named_outcome_and_never_hang(pieces: list[bytes], end: object) -> None:
    answer = answer_to(*pieces, end)
    if isinstance(answer, Response):
        assert 200 <= answer.status <= 999
        assert answer.head + answer.wire_body in b"".join(pieces)
    else:
        assert answer.reason in (Reason.CONNECTION_LOST, Reason.BAD_HTTP, Reason.INFORMATIONAL_STORM)
    assert answer.ended_at - answer.began_at < 2
