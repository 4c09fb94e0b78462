"""CPU of one fetch on a kept connection, against a local nginx: ours, and aiohttp's where it is installed.

    python -m bench.http_client [--quick]

A 25 KB gzip body, 50 connections, uvloop for both. The CPU is that of this process alone.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvloop

from gossamer.adapters.http.client import HttpClient
from gossamer.adapters.http.limits import FetchLimits
from gossamer.ports.web import Request, Response

WIRE_BYTES = 25_000
CONNECTIONS = 50
START_WAIT_S = 5.0
AGENT = "gossamer-bench"
HEADERS = (("User-Agent", AGENT), ("Accept", "text/html,*/*;q=0.8"), ("Accept-Encoding", "gzip"))

NGINX_CONF = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 60;
  client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root};
  uwsgi_temp_path {root}; scgi_temp_path {root};
  server {{
    listen 127.0.0.1:{port};
    location / {{ root {root}; default_type text/html; add_header Content-Encoding gzip; add_header Vary Accept; }}
  }}
}}
"""


def gzip_page(wire_bytes: int) -> bytes:
    """About `wire_bytes` of gzip that looks like a page."""
    rng = random.Random(7)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(2_000)]
    text = " ".join(f"<a href=/{rng.choice(words)}>{rng.choice(words)}</a>" for _ in range(40_000)).encode()
    size = wire_bytes
    for _ in range(20):
        body = gzip.compress(text[:size], 6)
        if len(body) >= wire_bytes:
            break
        size = size * wire_bytes // len(body) + 100
    return body


@contextmanager
def nginx(body: bytes) -> Iterator[int]:
    """A server of our own on a loopback port; it ends with the block."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        raise SystemExit("nginx is needed: apt install nginx-light")
    with tempfile.TemporaryDirectory() as root, socket.socket() as probe:
        Path(root).chmod(0o755)  # the worker is another user when we are root
        Path(root, "page").write_bytes(body)
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        conf = Path(root, "nginx.conf")
        conf.write_text(NGINX_CONF.format(root=root, port=port))
        server = subprocess.Popen([program, "-c", str(conf), "-p", root])
        try:
            _wait_for(port)
            yield port
        finally:
            server.terminate()
            server.wait(START_WAIT_S)


def _wait_for(port: int) -> None:
    ends_at = time.monotonic() + START_WAIT_S
    while time.monotonic() < ends_at:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise SystemExit(f"nginx did not listen on {port} within {START_WAIT_S:g} s")


async def measure(fetch: Callable[[int], Awaitable[int]], fetches: int, wire_bytes: int) -> dict[str, float]:
    """CPU and rate of `fetches` over all connections; the first round connects and is not counted."""

    async def run(connection: int, count: int) -> None:
        for _ in range(count):
            received = await fetch(connection)
            if received != wire_bytes:
                raise SystemExit(f"{received} octets instead of {wire_bytes}")

    async def all_of(count: int) -> None:
        async with asyncio.TaskGroup() as group:
            for connection in range(CONNECTIONS):
                group.create_task(run(connection, count))

    await all_of(2)
    cpu, wall = time.process_time(), time.monotonic()
    await all_of(fetches // CONNECTIONS)
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    return {"cpuMsPerFetch": round(cpu / fetches * 1e3, 4), "fetchesPerSecond": round(fetches / wall)}


async def measure_ours(port: int, fetches: int, wire_bytes: int) -> dict[str, float]:
    """Our client; a host name for each connection, since it keeps one an origin."""
    client = HttpClient(FetchLimits())
    requests = [
        Request(url=f"http://h{number}.test/page", address="127.0.0.1", connect_port=port, headers=HEADERS)
        for number in range(CONNECTIONS)
    ]

    async def fetch(connection: int) -> int:
        answer = await client.fetch(requests[connection])
        if not isinstance(answer, Response):
            raise SystemExit(f"{answer.reason}: {answer.detail}")
        return len(answer.payload)

    try:
        return await measure(fetch, fetches, wire_bytes)
    finally:
        await client.close()


async def measure_aiohttp(port: int, fetches: int, wire_bytes: int) -> dict[str, float] | None:
    """The same with aiohttp, decompression off; None when it is not installed."""
    try:
        import aiohttp  # type: ignore[import-not-found]  # noqa: PLC0415
    except ImportError:
        print("aiohttp is not installed: only ours is measured (pip install aiohttp)", file=sys.stderr)
        return None
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False, headers=dict(HEADERS)) as session:

        async def fetch(_: int) -> int:
            async with session.get(f"http://127.0.0.1:{port}/page") as answer:
                return len(await answer.read())

        return await measure(fetch, fetches, wire_bytes)


def main() -> None:
    """Measure both and print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 fetches instead of 20,000")
    fetches = 2_000 if parser.parse_args().quick else 20_000
    body = gzip_page(WIRE_BYTES)
    with nginx(body) as port, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(f"{fetches} fetches of {len(body)} octets, {CONNECTIONS} connections", file=sys.stderr)
        ours = runner.run(measure_ours(port, fetches, len(body)))
        theirs = runner.run(measure_aiohttp(port, fetches, len(body)))
    for name, row in (("gossamer", ours), ("aiohttp", theirs)):
        if row:
            print(f"{name:10} {row['cpuMsPerFetch']:8.3f} ms CPU a fetch {row['fetchesPerSecond']:8.0f} fetches/s")
    cpus = os.cpu_count()
    print(json.dumps({"fetches": fetches, "wireBytes": len(body), "cpus": cpus, "gossamer": ours, "aiohttp": theirs}))


if __name__ == "__main__":
    main()
