"""The lab over real sockets of this machine, and no others."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gossamer.testing.lab_access import AccessLog, AccessRecord, read_access_log
from gossamer.testing.lab_hosts import Fate, LabConfig, Profile
from gossamer.testing.lab_server import (
    ADDRESSES_MAX,
    REQUEST_BYTES_MAX,
    LabServer,
    NotLoopback,
    bind_all,
    loopback_addresses,
)
from gossamer.testing.lab_web import LabRequest, LabWeb

TIMEOUT_S = 10.0
UNEQUAL = LabConfig(profile=Profile.POLITE, hosts=3, pages_per_host=3, dead_share=0.3, stalling_share=0.3)
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter, LabServer], Awaitable[None]]


def converse(talk: Talk, path: Path, config: LabConfig | None = None) -> list[AccessRecord]:
    """Runs `talk` on one connection to a lab and returns what the lab logged."""

    async def run() -> None:
        with AccessLog(path) as log:
            server = LabServer(LabWeb(config or LabConfig()), log)
            await server.start(["127.0.1.1", "127.0.1.2"])
            reader, writer = await asyncio.open_connection("127.0.1.2", server.port)
            async with asyncio.timeout(TIMEOUT_S):
                await talk(reader, writer, server)
            writer.close()
            await server.close()

    asyncio.run(run())
    return read_access_log(path)


def request(host: str, target: str = "/", method: str = "GET", *headers: str) -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
    return int(lines[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


def host_with(fate: Fate) -> str:
    return next(plan.name for plan in LabWeb(UNEQUAL).plans if plan.fate is fate)


def test_hosts_of_one_port_are_told_apart_and_a_connection_is_kept(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: LabServer) -> None:
        for host in ("site00.test", "SITE02.test:80"):
            writer.write(request(host, "/", "GET", "User-Agent: tester/1"))
            status, _, body = await answer(reader)
            expected = server.web.respond(LabRequest(host.lower().removesuffix(":80"), "/", {}))
            assert (status, body) == (200, expected.body)

    records = converse(talk, tmp_path / "log")
    assert [(r.host, r.target, r.status, r.address, r.user_agent) for r in records] == [
        ("site00.test", "/", 200, "127.0.1.2", "tester/1"),
        ("site02.test", "/", 200, "127.0.1.2", "tester/1"),
    ]
    assert len({r.peer for r in records}) == 1
    assert records[0].start_mono <= records[0].end_mono <= records[1].start_mono


def test_pipelined_requests_are_answered_in_order(tmp_path: Path) -> None:
    targets = ["/", "/robots.txt", "/nowhere", "/sitemap.xml"]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        writer.write(b"".join(request("site00.test", target) for target in targets))
        assert [(await answer(reader))[0] for _ in targets] == [200, 200, 404, 200]

    assert [r.target for r in converse(talk, tmp_path / "log")] == targets


def test_head_has_the_length_and_no_body_and_other_methods_are_refused(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        writer.write(request("site00.test", "/", "HEAD"))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: 0\r\n" not in head
        writer.write(request("site00.test", "/", "DELETE", "Connection: close"))
        assert (await answer(reader))[0] == 405
        assert await reader.read() == b""

    assert [r.method for r in converse(talk, tmp_path / "log")] == ["HEAD", "DELETE"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"\x16\x03\x01 hello\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nX: " + b"a" * (REQUEST_BYTES_MAX + 1), 431)],
    ids=["garbage", "endless-header"],
)
def test_what_is_not_a_request_is_refused_and_the_connection_closed(sent: bytes, status: int, tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        writer.write(sent)
        assert (await answer(reader))[0] == status
        writer.close()

    assert converse(talk, tmp_path / "log") == []


def test_a_dead_host_resets_the_connection_and_is_logged_without_status(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        writer.write(request(host_with(Fate.RESETS)))
        with pytest.raises(ConnectionError):
            await reader.readexactly(1)

    assert [r.status for r in converse(talk, tmp_path / "log", UNEQUAL)] == [None]


def test_a_stalling_host_never_answers_and_is_logged_when_the_client_leaves(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: LabServer) -> None:
        writer.write(request(host_with(Fate.STALLS)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.05)
        assert server.log.requests == 0
        writer.transport.abort()

    assert [r.status for r in converse(talk, tmp_path / "log", UNEQUAL)] == [None]


def test_a_slow_host_takes_its_time(tmp_path: Path) -> None:
    slow = LabConfig(profile=Profile.POLITE, hosts=1, latency_min_s=0.05, latency_max_s=0.06)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        writer.write(request("site00.test"))
        assert (await answer(reader))[0] == 200

    (record,) = converse(talk, tmp_path / "log", slow)
    assert record.end_mono - record.start_mono >= 0.05


def test_a_throttled_url_is_refused_once_over_the_wire(tmp_path: Path) -> None:
    web = LabWeb(LabConfig())
    (host,) = [plan.name for plan in web.plans if plan.is_throttled]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: LabServer) -> None:
        for expected in (429, 200):
            writer.write(request(host, "/news/along-april-1/"))
            status, headers, body = await answer(reader)
            assert status == expected
            assert len(body) > 0
            assert ("retry-after" in headers) == (expected == 429)

    assert [r.status for r in converse(talk, tmp_path / "log")] == [429, 200]


@pytest.mark.parametrize(
    ("count", "first"),
    [(1, "0.0.0.0"), (1, "192.0.2.1"), (1, "::1"), (1, "localhost"), (1, ""), (1, "128.0.0.1"), (3, "127.255.255.253")],
)
def test_no_address_beyond_loopback_is_ever_bound(count: int, first: str) -> None:
    with pytest.raises(NotLoopback, match=r"127\.0\.0\.0/8"):
        loopback_addresses(count, first)
    with pytest.raises(NotLoopback):
        bind_all([first] if count == 1 else ["127.0.1.1", "127.255.255.255"], 0)


def test_addresses_are_consecutive_and_their_number_is_bounded() -> None:
    assert loopback_addresses(3) == ["127.0.1.1", "127.0.1.2", "127.0.1.3"]
    assert loopback_addresses(ADDRESSES_MAX)[-1] == "127.0.17.0"
    with pytest.raises(ValueError, match="addresses"):
        loopback_addresses(ADDRESSES_MAX + 1)


def test_one_free_port_is_found_on_all_addresses() -> None:
    sockets = bind_all(loopback_addresses(20), 0)
    assert len({sock.getsockname()[1] for sock in sockets}) == 1
    assert len({sock.getsockname()[0] for sock in sockets}) == 20
    for sock in sockets:
        sock.close()


def test_a_taken_port_is_told_by_an_oserror() -> None:
    (taken,) = bind_all(["127.0.1.1"], 0)
    taken.listen()
    with pytest.raises(OSError, match="in use"):
        bind_all(["127.0.1.1"], taken.getsockname()[1])
    taken.close()
