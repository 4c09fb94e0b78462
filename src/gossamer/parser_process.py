"""A parser process: the composition root of the child. Reads batches from stdin, writes results to stdout until EOF."""

import gc
import os
import resource
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from gossamer.adapters.files.segments import SegmentKind, SegmentPlan, SegmentReader, SegmentWriter
from gossamer.adapters.processes.frames import (
    DiskFailed,
    Ending,
    FrameTooLarge,
    WorkerPlan,
    decode_jobs,
    decode_plan,
    read_frame,
    write_frame,
)
from gossamer.adapters.system.clock import SystemClock
from gossamer.adapters.system.random import fresh_random
from gossamer.config import resolve
from gossamer.core.messages import Parsed, ParseJob, Unparsed
from gossamer.core.page import ParseOptions, TextKind
from gossamer.core.warc import warcinfo_record
from gossamer.ports.segments import DiskFull
from gossamer.stages.parse_capture import CaptureParser, ParseRules


def main() -> int:
    """Serve batches; the exit status is 0 when the owner went, whatever way it went, or one of `Ending`."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a terminal's Ctrl-C reaches us too; the owner closes the pipe
        signal.signal(number, signal.SIG_IGN)
    pipe, results = sys.stdin.buffer, os.dup(1)
    os.dup2(2, 1)  # nothing that a library prints may get between the frames
    try:
        return _ending(pipe, results)
    except BrokenPipeError:
        return 0


def _ending(pipe: BinaryIO, results: int) -> int:
    try:
        _serve(pipe, results)
    except MemoryError:
        return Ending.OUT_OF_MEMORY
    except FrameTooLarge:
        return Ending.FRAME_TOO_LARGE
    except DiskFull:
        return Ending.NO_ROOM
    except BrokenPipeError:
        raise
    except OSError as error:
        write_frame(results, DiskFailed(f"{error.filename or 'a file'}: {error.strerror or error}"))
        return Ending.DISK_FAILED
    return 0


def _serve(pipe: BinaryIO, results: int) -> None:
    first = read_frame(pipe)
    if first is None:
        return
    plan = decode_plan(first)
    limit_memory(plan.memory_bytes_max)
    parser = parser_of(plan)
    gc.freeze()
    gc.set_threshold(50_000)  # a page makes thousands of tuples and no cycles
    write_frame(results, [])  # ready
    while (frame := read_frame(pipe)) is not None:
        write_frame(results, [_parsed(parser, job, plan.job_cpu_s) for job in decode_jobs(frame)])


def _parsed(parser: CaptureParser, job: ParseJob, cpu_s: float) -> Parsed | Unparsed:
    """One capture; beyond `cpu_s` of processor time SIGPROF ends the process, even in the middle of a library."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    return parser.parse(job)


def limit_memory(bytes_max: int) -> None:
    """No more address space than that for this process, or than it was given: what asks for more gets MemoryError."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = bytes_max if hard == resource.RLIM_INFINITY else min(bytes_max, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def parser_of(plan: WorkerPlan) -> CaptureParser:
    """The parser that a plan describes."""
    config = resolve(plan.options, {}, None)
    rules = ParseRules(config.admissibility(plan.seeds), ParseOptions(TextKind(config.text), config.user_agent))
    clock, rng = SystemClock(), fresh_random()
    about = (("software", "Gossamer"), ("description", f"text: {config.text}"))
    text = SegmentWriter(
        SegmentPlan(
            directory=Path(plan.text_directory),
            prefix=f"gossamer-{plan.crawl_id}-p{plan.serial}",
            timestamp=lambda: datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%d%H%M%S"),
            first_record=lambda name: warcinfo_record(name, clock.now(), rng.randbytes(16), about),
            kind=SegmentKind.TEXT,
        )
    )
    return CaptureParser(SegmentReader(Path(plan.raw_directory)), text, rules, clock, rng)


if __name__ == "__main__":
    sys.exit(main())
