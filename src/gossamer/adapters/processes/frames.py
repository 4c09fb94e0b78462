"""Length-prefixed messages on a pipe: four bytes big-endian, then that many bytes of msgpack."""

import os
import struct
from enum import IntEnum
from typing import BinaryIO

import msgspec

from gossamer.core.messages import Parsed, ParseJob, Unparsed

HEADER = struct.Struct(">I")
FRAME_BYTES_MAX = 2**28
"""Links are capped a page and texts never cross: one result has at most 100 MB, of a sitemap with the longest URLs.

Only a whole batch of such can be larger; its captures then come one by one."""
MEMORY_BYTES_MAX = 2**31
"""Address space of a parser. The mean process needs 120 MB; the worst markup found, 20 MB of empty paragraphs, 1.3 GB.

A page that wants more costs one process, not the machine."""
JOB_CPU_S = 10.0
"""Of a processor's time for one capture, however busy the machine is. The slowest honest page measured needs 0.3 s, a
sitemap of 50 MB 1.5 s."""

encode = msgspec.msgpack.Encoder().encode
decode_jobs = msgspec.msgpack.Decoder(list[ParseJob]).decode


class Ending(IntEnum):
    """Exit statuses of a parser that ends itself; Python's own are 1 and 2."""

    OUT_OF_MEMORY = 3
    FRAME_TOO_LARGE = 4
    NO_ROOM = 5
    DISK_FAILED = 6


class FrameTooLarge(Exception):
    """A message beyond FRAME_BYTES_MAX, or a length that no sender of ours writes."""


class DiskFailed(msgspec.Struct, tag=True, frozen=True):
    """The last frame of a parser that ends with Ending.DISK_FAILED: the file, and what the system says of it."""

    sentence: str


class WorkerPlan(msgspec.Struct, frozen=True):
    """The first frame to a worker: all it needs to know.

    `options` is the configuration as `config.as_plain` gives it; directories are absolute.
    """

    crawl_id: str
    seeds: list[str]
    options: dict[str, object]
    raw_directory: str
    text_directory: str
    serial: int
    memory_bytes_max: int = MEMORY_BYTES_MAX
    job_cpu_s: float = JOB_CPU_S


decode_plan = msgspec.msgpack.Decoder(WorkerPlan).decode
decode_answer = msgspec.msgpack.Decoder(list[Parsed | Unparsed] | DiskFailed).decode


def frame(message: object) -> bytes:
    """A message with its length in front. Raises FrameTooLarge."""
    body = encode(message)
    if len(body) > FRAME_BYTES_MAX:
        raise FrameTooLarge(f"a message has {len(body)} bytes, at most {FRAME_BYTES_MAX} are sent")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """How many bytes follow. Raises FrameTooLarge."""
    length: int = HEADER.unpack(header)[0]
    if length > FRAME_BYTES_MAX:
        raise FrameTooLarge(f"a message of {length} bytes is announced, at most {FRAME_BYTES_MAX} are read")
    return length


def read_frame(pipe: BinaryIO) -> bytes | None:
    """The next message, None at the end of the pipe. Raises FrameTooLarge. Blocks."""
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length = body_length(header)
    body = pipe.read(length)
    return body if len(body) == length else None


def write_frame(fd: int, message: object) -> None:
    """Write all of a message. Raises FrameTooLarge, or BrokenPipeError when the other side is gone. Blocks."""
    left = memoryview(frame(message))
    while left:
        left = left[os.write(fd, left) :]
