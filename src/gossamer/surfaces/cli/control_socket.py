"""The socket in `state/`: commands that change a crawl go through it to the process that holds the directory.

One JSON line in (`{"do": "status" | "pause" | "resume" | "stop" | "set"}`; `crawl` when one is meant, with `set` the
`options`), one JSON line out: the crawl's status, the changes, or an `error`.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from gossamer.bootstrap import OpenCrawl
from gossamer.config import read_changes
from gossamer.config_faults import ConfigFaults
from gossamer.core.rows import CrawlRow
from gossamer.stages.opening import Change
from gossamer.surfaces.cli.live import Live

REQUEST_BYTES_MAX = 4_096
REQUEST_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 2.0


@asynccontextmanager
async def serve_control(path: Path, open_: OpenCrawl, live: Live) -> AsyncIterator[None]:
    """Answer on `path` while the crawl runs. Only this user may connect."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, TimeoutError, asyncio.LimitOverrunError, ValueError):
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                document = _act(await reader.readline(), open_, live)
                writer.write(json.dumps(document).encode() + b"\n")
                await writer.drain()
        writer.close()

    listening = _listen(path)
    server = await asyncio.start_unix_server(answer, sock=listening, limit=REQUEST_BYTES_MAX)
    try:
        yield
    finally:
        server.close()
        _unlink(path)


def ask(path: Path, do: str, **more: Any) -> dict[str, Any] | None:
    """What the process that holds the directory answers; None when there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client, suppress(OSError, ValueError):
        client.settimeout(ANSWER_TIMEOUT_S)
        with _short(path) as short:
            client.connect(short)
        client.sendall(json.dumps({"do": do, **more}).encode() + b"\n")
        with client.makefile("rb") as lines:
            document: dict[str, Any] = json.loads(lines.readline())
            return document
    return None


def _act(line: bytes, open_: OpenCrawl, live: Live) -> dict[str, Any]:
    try:
        request = json.loads(line)
        do, meant = request["do"], request.get("crawl")
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return {"error": 'one JSON line is expected: {"do": "status" | "pause" | "resume" | "stop" | "set"}'}
    if meant not in (None, open_.crawl.crawl_id):
        return {"crawlId": open_.crawl.crawl_id, "error": f"crawl {meant} is not running"}
    match do:
        case "status":
            pass
        case "pause":
            open_.runner.pause()
            open_.crawl.status = "paused"
            open_.stages.store.touch()
        case "resume":
            open_.runner.resume()
            open_.crawl.status = "running"
            open_.stages.store.touch()
        case "stop":
            open_.runner.stop()
        case "set":
            return _set(request.get("options"), open_)
        case _:
            return {"error": f"do = {do!r} is not known; allowed: status, pause, resume, stop, set"}
    return live.document()


def _set(options: Any, open_: OpenCrawl) -> dict[str, Any]:
    if open_.runner.is_ending:
        return {"error": f"crawl {open_.crawl.crawl_id} is ending; try again when it has ended"}
    try:
        values = read_changes(options if isinstance(options, dict) else {})
    except ConfigFaults as faults:
        return {"error": str(faults)}
    return changes_document(open_.crawl, open_.change(values), is_running=True)


def changes_document(crawl: CrawlRow, changes: Iterable[Change], *, is_running: bool) -> dict[str, Any]:
    """What `gossamer set --json` prints."""
    return {
        "crawlId": crawl.crawl_id,
        "isRunning": is_running,
        "changes": [change._asdict() for change in changes],
    }


def _unlink(path: Path) -> None:
    path.unlink(missing_ok=True)


def _listen(path: Path) -> socket.socket:
    _unlink(path)  # left by a process that was killed: we hold the directory's lock now
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with _short(path) as short:
        listening.bind(short)
    path.chmod(0o600)
    listening.listen()
    return listening


class _short:  # noqa: N801  reads as a verb phrase: with _short(path) as short
    """The path through a descriptor of its directory: addresses of sockets hold 107 characters, paths do not care."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> str:
        self._fd = os.open(self._path.parent, os.O_PATH | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._fd}/{self._path.name}"

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
