"""The access log of the lab: one JSON line a request, in the order of their ends."""

from pathlib import Path
from typing import Self

import msgspec

BUFFERED_MAX = 1_000  # lines


class AccessRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One request as the server saw it. Monotonic times are the machine's, so they compare across processes."""

    start_mono: float  # the first byte of the request arrived
    end_mono: float  # the answer was about to go to the kernel, or the connection had ended without one
    start_wall: float
    end_wall: float
    host: str
    method: str
    target: str
    address: str  # the local one
    peer: str
    status: int | None  # None: reset, stalled, or the client left first
    user_agent: str
    body_bytes: int


class AccessLog:
    """Collects lines and writes them by the batch; complete after `close`."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("ab") if path is not None else None
        self._lines: list[bytes] = []
        self._encoder = msgspec.json.Encoder()
        self.requests = 0

    def add(self, record: AccessRecord) -> None:
        self.requests += 1
        if self._file is None:
            return
        self._lines.append(self._encoder.encode(record))
        if len(self._lines) >= BUFFERED_MAX:
            self.flush()

    def flush(self) -> None:
        if self._file is not None and self._lines:
            self._file.write(b"\n".join(self._lines) + b"\n")
            self._file.flush()
            self._lines.clear()

    def close(self) -> None:
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_access_log(path: Path) -> list[AccessRecord]:
    """All records of a log; a last line that is still being written is left out."""
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    decoder = msgspec.json.Decoder(AccessRecord)
    return [decoder.decode(line) for line in whole.splitlines()]
