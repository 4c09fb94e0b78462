"""Real parser processes: what they are sent, what they may cost, and how they end."""

import asyncio
import io
import os
import resource
import signal
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gossamer.adapters.files.segments import SegmentKind, SegmentPlan, SegmentWriter
from gossamer.adapters.processes import frames
from gossamer.adapters.processes.frames import (
    FRAME_BYTES_MAX,
    HEADER,
    MEMORY_BYTES_MAX,
    FrameTooLarge,
    WorkerPlan,
    frame,
    read_frame,
    write_frame,
)
from gossamer.adapters.processes.parser import CLOSE_TIMEOUT_S, ParserProcess
from gossamer.config import as_plain, resolve
from gossamer.core.messages import Parsed, ParseJob
from gossamer.core.rows import CaptureRow, Kind
from gossamer.core.url import Url, link_keys
from gossamer.core.warc import CapturedExchange, exchange_records, warcinfo_record
from gossamer.ports.parsing import NoRoomForText, ParserDied, ParserUnusable
from gossamer.stages.parse_capture import RECORD_DAMAGED, RECORD_UNREADABLE

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
TEA = b"<title>Tea</title><p>Green tea"
SMALL_BYTES = 500 * 2**20
HUGE = b"<html>" + b"<p>x" * (5 * 2**20)
"""20 MB of markup: 1.2 GB of tree."""
SLOW = b"".join(b"<html " + b" ".join(b"a%d_%d" % (tag, n) for n in range(9_000)) + b">" for tag in range(16))
"""1.2 MB of markup: 9 s of merging attributes."""
BRIEF_S = 0.5


class Bench:
    """A directory with captures, and a parser for them."""

    def __init__(self, root: Path, **limits: Any) -> None:
        options = as_plain(resolve({}, {}, None))
        plan = WorkerPlan("c1", ["http://a.test/"], options, str(root / "raw"), str(root / "text"), 0, **limits)
        self.parser = ParserProcess(lambda: plan)
        self.raw = SegmentWriter(
            SegmentPlan(
                directory=root / "raw",
                prefix="gossamer-c1",
                timestamp=lambda: "20260101000000",
                first_record=lambda name: warcinfo_record(name, 0.0, bytes(16), ()),
                kind=SegmentKind.RAW,
            )
        )

    def job(self, number: int, body: bytes) -> ParseJob:
        url = f"http://a.test/{number}"
        exchange = CapturedExchange(
            url=url,
            address="192.0.2.1",
            fetched_at=5.0,
            request_head=b"GET / HTTP/1.1\r\n\r\n",
            head=HEAD,
            wire_body=body,
            payload=body,
            content_encoding="",
            truncated=None,
            response_id=bytes(16),
            request_id=bytes(16),
        )
        key = self.raw.append(exchange_records(exchange).response)
        return ParseJob(number, CaptureRow(link_keys([Url(url)])[0], url, Kind.PAGE, 0, key, 5.0))

    async def each(self, jobs: Sequence[ParseJob]) -> list[str]:
        """What became of the captures, one at a time: the title or why the parser died."""
        told = []
        for job in jobs:
            try:
                (page,) = await self.parser.parse([job])
                told.append(page.page.title if isinstance(page, Parsed) else page.fault)
            except ParserDied as died:
                told.append(str(died))
        await self.parser.close()
        return told


# Frames.


def test_a_message_beyond_the_limit_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "FRAME_BYTES_MAX", 100)
    assert len(frame("x" * 98)) == HEADER.size + 100
    with pytest.raises(FrameTooLarge):
        frame("x" * 99)
    with pytest.raises(FrameTooLarge):
        write_frame(-1, "x" * 99)


@pytest.mark.parametrize("length", [FRAME_BYTES_MAX + 1, 2**32 - 1])
def test_a_length_beyond_the_limit_is_not_read(length: int) -> None:
    with pytest.raises(FrameTooLarge):
        read_frame(io.BytesIO(HEADER.pack(length) + b"x"))


@pytest.mark.parametrize("octets", [b"", b"\0\0", HEADER.pack(3) + b"ab", HEADER.pack(FRAME_BYTES_MAX) + b"ab"])
def test_a_pipe_that_ends_within_a_message_has_ended(octets: bytes) -> None:
    assert read_frame(io.BytesIO(octets)) is None


@pytest.mark.slow
def test_a_child_that_announces_too_much_is_ended(tmp_path: Path) -> None:
    """No sender of ours does, so another program plays the child."""

    async def scenario() -> str:
        bench = Bench(tmp_path)
        lying = "".join(f"\\{octet:03o}" for octet in HEADER.pack(FRAME_BYTES_MAX + 1))
        bench.parser._process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", f"printf '{lying}'; exec cat >/dev/null", stdin=PIPE, stdout=PIPE
        )
        (first,) = await bench.each([bench.job(1, TEA)])
        return first

    assert asyncio.run(scenario()) == "parser sent too much"


@pytest.mark.slow
def test_a_child_that_is_announced_too_much_ends(tmp_path: Path) -> None:
    async def scenario() -> int:
        bench = Bench(tmp_path)
        process = await bench.parser._running()
        assert process.stdin is not None
        process.stdin.write(HEADER.pack(FRAME_BYTES_MAX + 1))
        return await process.wait()

    assert asyncio.run(scenario()) == frames.Ending.FRAME_TOO_LARGE


# Memory.


@pytest.mark.slow
def test_a_parser_may_not_have_more_memory_than_its_limit(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, list[str]]:
        bench = Bench(tmp_path)
        jobs = [bench.job(1, TEA)]
        process = await bench.parser._running()
        await bench.parser.parse(jobs)
        limit = resource.prlimit(process.pid, resource.RLIMIT_AS)[0]
        return limit, await bench.each(jobs)

    assert asyncio.run(scenario()) == (MEMORY_BYTES_MAX, ["Tea"])


@pytest.mark.slow
def test_a_page_that_bloats_the_parser_costs_one_process(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        bench = Bench(tmp_path, memory_bytes_max=SMALL_BYTES)
        return await bench.each([bench.job(1, TEA), bench.job(2, HUGE), bench.job(3, TEA)])

    assert asyncio.run(scenario()) == ["Tea", "parser ran out of memory", "Tea"]


@pytest.mark.slow
def test_a_record_that_cannot_be_read_costs_no_process(tmp_path: Path) -> None:
    async def scenario() -> tuple[bool, list[str]]:
        bench = Bench(tmp_path)
        jobs = [bench.job(number, TEA) for number in range(3)]
        key = jobs[1].capture.raw_key
        path = tmp_path / "raw" / key.segment
        octets = bytearray(path.read_bytes())
        octets[key.offset + 12] ^= 0xFF
        path.write_bytes(octets[: jobs[2].capture.raw_key.offset + 5])
        process = await bench.parser._running()
        told = [page.page.title if isinstance(page, Parsed) else page.fault for page in await bench.parser.parse(jobs)]
        is_alive = process.returncode is None
        await bench.parser.close()
        return is_alive, told

    assert asyncio.run(scenario()) == (True, ["Tea", RECORD_DAMAGED, RECORD_UNREADABLE])


@pytest.mark.slow
def test_a_parser_that_cannot_start_is_no_page_s_fault(tmp_path: Path) -> None:
    async def scenario() -> None:
        bench = Bench(tmp_path)
        (tmp_path / "text").write_text("in the way")
        await bench.each([bench.job(1, TEA)])

    with pytest.raises(ParserUnusable, match=r"can't start: \S+/text: File exists$"):
        asyncio.run(scenario())


@pytest.mark.slow
def test_a_parser_that_is_killed_says_by_which_signal(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        bench = Bench(tmp_path)
        job = bench.job(1, TEA)
        process = await bench.parser._running()
        os.kill(process.pid, 6)
        return await bench.each([job, job])

    assert asyncio.run(scenario()) == ["parser died (signal 6)", "Tea"]


@pytest.mark.slow
def test_a_parser_that_died_idle_costs_no_page(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        bench = Bench(tmp_path)
        process = await bench.parser._running()
        process.kill()
        await process.wait()
        return await bench.each([bench.job(1, TEA)])

    assert asyncio.run(scenario()) == ["Tea"]


# Time.


@pytest.mark.slow
def test_a_page_that_keeps_its_parser_busy_costs_one_process_and_its_neighbours_nothing(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, list[str]]:
        bench = Bench(tmp_path, job_cpu_s=BRIEF_S)
        jobs = [bench.job(number, SLOW if number == 2 else TEA) for number in range(4)]
        with pytest.raises(ParserDied) as died:
            await bench.parser.parse(jobs)
        return str(died.value), await bench.each(jobs)

    late = "parser took too long"
    assert asyncio.run(scenario()) == (late, ["Tea", "Tea", late, "Tea"])


@pytest.mark.slow
def test_many_short_pages_may_take_longer_than_one(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        bench = Bench(tmp_path, job_cpu_s=BRIEF_S)
        quarter = HUGE[: len(HUGE) // 20]
        pages = await bench.parser.parse([bench.job(number, quarter) for number in range(12)])
        await bench.parser.close()
        return [type(page).__name__ for page in pages]

    assert asyncio.run(scenario()) == ["Parsed"] * 12


@pytest.mark.slow
@pytest.mark.parametrize("calls", [1, 2])
def test_a_parser_whose_calls_are_given_up_is_closed_at_once(tmp_path: Path, calls: int) -> None:
    async def scenario() -> tuple[int | None, float]:
        bench = Bench(tmp_path)
        process = await bench.parser._running()
        under_way = [asyncio.ensure_future(bench.parser.parse([bench.job(number, SLOW)])) for number in range(calls)]
        await asyncio.wait(under_way, timeout=BRIEF_S)
        for call in under_way:
            call.cancel()
        began_at = asyncio.get_running_loop().time()
        await asyncio.wait(under_way)
        await bench.parser.close()
        return process.returncode, asyncio.get_running_loop().time() - began_at

    status, took_s = asyncio.run(scenario())
    assert status == -signal.SIGKILL
    assert took_s < CLOSE_TIMEOUT_S / 2


# The disk.


@pytest.mark.slow
def test_a_text_that_cannot_be_written_is_no_page_s_fault_and_names_its_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        bench = Bench(tmp_path)
        await bench.parser.start()
        (tmp_path / "text").rmdir()
        await bench.each([bench.job(1, TEA)])

    with pytest.raises(ParserUnusable, match=r"^a parser can't go on: \S+\.wet\.gz: No such file or directory$"):
        asyncio.run(scenario())


@pytest.mark.slow
def test_a_text_without_room_is_no_page_s_fault(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        bench = Bench(tmp_path)
        job = bench.job(1, TEA)
        process = await bench.parser._running()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        with pytest.raises(NoRoomForText, match="no room on the disk"):
            await bench.parser.parse([job])
        return await bench.each([job])

    assert asyncio.run(scenario()) == ["Tea"]
