"""Length-prefixed messages on a pipe: four bytes big-endian, then that many bytes of msgpack."""

import os
import struct
from typing import BinaryIO

import msgspec

from gossamer.core.messages import Parsed, ParseJob

HEADER = struct.Struct(">I")
FRAME_BYTES_MAX = 2**28
"""A batch of results stays far below: links are capped a page, texts never cross."""

encode = msgspec.msgpack.Encoder().encode
decode_jobs = msgspec.msgpack.Decoder(list[ParseJob]).decode
decode_results = msgspec.msgpack.Decoder(list[Parsed]).decode


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


decode_plan = msgspec.msgpack.Decoder(WorkerPlan).decode


def frame(message: object) -> bytes:
    """A message with its length in front."""
    body = encode(message)
    return HEADER.pack(len(body)) + body


def read_frame(pipe: BinaryIO) -> bytes | None:
    """The next message, None at the end of the pipe. Blocks."""
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    body = pipe.read(HEADER.unpack(header)[0])
    return body if len(body) == HEADER.unpack(header)[0] else None


def write_frame(fd: int, message: object) -> None:
    """Write all of a message. Raises BrokenPipeError when the other side is gone. Blocks."""
    left = memoryview(frame(message))
    while left:
        left = left[os.write(fd, left) :]
