"""The owner's side of a parser process: start it, send batches, take results, end it when it hangs or grows."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress

from gossamer.adapters.processes.frames import (
    HEADER,
    DiskFailed,
    Ending,
    FrameTooLarge,
    WorkerPlan,
    body_length,
    decode_answer,
    frame,
)
from gossamer.core.messages import Parsed, ParseJob, Unparsed
from gossamer.ports.parsing import NoRoomForText, ParserDied, ParserUnusable

CALL_TIMEOUT_S = 30.0
"""For a call of whatever size: a batch that needs longer is tried one by one. A page's own limit is JOB_CPU_S."""
CLOSE_TIMEOUT_S = 5.0
START_TIMEOUT_S = 60.0
"""Imports take 0.3 s; on a machine that is swapping, much longer."""
MEMORY = {"MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_MMAP_THRESHOLD_": "67108864", "MALLOC_TOP_PAD_": "4194304"}
"""A tree a page: without these glibc gives its memory back after each page and faults it in again (0.5 ms a page)."""
ENDINGS: dict[int, str] = {
    Ending.OUT_OF_MEMORY: "ran out of memory",
    Ending.FRAME_TOO_LARGE: "found too much",
    Ending.NO_ROOM: "found no room on the disk",
    Ending.DISK_FAILED: "met a fault of the disk",
    -signal.SIGPROF: "took too long",
}


class ParserProcess:
    """See `ports.parsing.Parser`. `plan` makes the first frame of each new process."""

    def __init__(self, plan: Callable[[], WorkerPlan]) -> None:
        self._plan = plan
        self._process: Process | None = None
        self._starting = asyncio.Lock()
        self._reading = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<ParserProcess {self._process.pid if self._process else 'not started'}>"

    async def start(self) -> None:
        """See `ports.parsing.Parser`."""
        await self._running()

    async def _running(self) -> Process:
        """The running process, made when there is none. It tells with an empty answer that it is ready."""
        async with self._starting:
            if self._process is not None and _stdin(self._process).is_closing():
                await self._end(self._process, "died")  # while it had nothing to do: no page is to blame
            if self._process is None:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "gossamer.parser_process", stdin=PIPE, stdout=PIPE, env=os.environ | MEMORY
                )
                await self._greet(process)
                self._process = process
            return self._process

    async def _greet(self, process: Process) -> None:
        """Send the plan and wait until the parser is ready. Raises ParserUnusable."""
        answer: object = None
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                _stdin(process).write(frame(self._plan()))
                answer = decode_answer(await _read(process))
        except asyncio.CancelledError:
            _kill(process)
            raise
        except (TimeoutError, FrameTooLarge, asyncio.IncompleteReadError, ConnectionError):
            pass
        if answer != []:
            how = await self._ended(process)
            how = answer.sentence if isinstance(answer, DiskFailed) else how
            raise ParserUnusable(f"a parser process can't start: {how}")

    async def parse(self, jobs: Sequence[ParseJob]) -> list[Parsed | Unparsed]:
        """See `ports.parsing.Parser`. Answers come in the order of the calls, so the lock is the queue."""
        process = await self._running()
        _stdin(process).write(frame(list(jobs)))
        try:
            async with self._reading:
                return await self._answer(process)
        except asyncio.CancelledError:  # a stop; the next call would take this one's answer for its own
            _kill(process)
            raise

    async def _answer(self, process: Process) -> list[Parsed | Unparsed]:
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                answer = decode_answer(await _read(process))
        except TimeoutError:
            raise ParserDied(await self._end(process, "took too long")) from None
        except FrameTooLarge:
            raise ParserDied(await self._end(process, "sent too much")) from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _fault(process, await self._ended(process)) from None
        if isinstance(answer, DiskFailed):
            await self._ended(process)
            raise ParserUnusable(f"a parser can't go on: {answer.sentence}")
        return answer

    async def close(self) -> None:
        """See `ports.parsing.Parser`."""
        process, self._process = self._process, None
        if process is None:
            return
        _stdin(process).close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            await self._end(process, "did not end")

    async def _ended(self, process: Process) -> str:
        """How it ended. The pipe closed: it is ending by itself, and its status says why."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await process.wait()
        await self._end(process, "died")
        code = process.returncode or 0
        return f"parser {ENDINGS.get(code) or (f'died (signal {-code})' if code < 0 else 'died')}"

    async def _end(self, process: Process, what: str) -> str:
        """Make sure that it is gone, and say why."""
        if self._process is process:
            self._process = None
        _kill(process)
        await process.wait()
        return f"parser {what}"


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def _fault(process: Process, how: str) -> ParserDied | NoRoomForText | ParserUnusable:
    """Whose fault it is that a process ended: its status tells."""
    match process.returncode:
        case Ending.NO_ROOM:
            return NoRoomForText(how)
        case Ending.DISK_FAILED:
            return ParserUnusable(how)
        case _:
            return ParserDied(how)


def _stdin(process: Process) -> asyncio.StreamWriter:
    assert process.stdin is not None
    return process.stdin


async def _read(process: Process) -> bytes:
    assert process.stdout is not None
    header = await process.stdout.readexactly(HEADER.size)
    return await process.stdout.readexactly(body_length(header))
