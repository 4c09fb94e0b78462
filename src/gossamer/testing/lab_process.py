"""Runs a lab until it is told to stop, here or in a process of its own, and says how to crawl it."""

import asyncio
import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
import uvloop

from gossamer.testing.lab_access import AccessLog
from gossamer.testing.lab_hosts import LabConfig, Profile
from gossamer.testing.lab_server import FIRST_ADDRESS, LOOPBACK, LabServer, loopback_addresses
from gossamer.testing.lab_web import LabWeb

START_MAX_S = 30.0
STOP_MAX_S = 10.0
# The pace at which each lab is worth watching; 2 s before a retry, because the throttled host asks for 2 s.
_PACE: dict[Profile, tuple[str, ...]] = {
    Profile.PLAIN: ("--delay", "0.2", "--retry-base", "2"),
    Profile.POLITE: (),
    Profile.TRAPS: ("--delay", "0.05", "--max-pages", "2000"),
}


class LabDidNotStart(RuntimeError):
    """The lab's process ended or said nothing in time; the message holds what it printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabOptions:
    """A lab and where it listens: within 127.0.0.0/8 only; port 0 means any free one."""

    config: LabConfig = field(default_factory=LabConfig)
    addresses: int = 8
    first_address: str = FIRST_ADDRESS
    port: int = 0
    access_log: str | None = None

    def __post_init__(self) -> None:
        loopback_addresses(self.addresses, self.first_address)


class LabDescription(msgspec.Struct, frozen=True, rename="camel"):
    """What a crawl needs to know about a running lab; printed as JSON by `gossamer lab --json`."""

    port: int
    addresses: list[str]
    seeds: list[str]
    connect_to: list[str]  # as curl's: host:port:address:port
    allow_address: str
    pages: int  # what an honest crawl from the seeds fetches
    profile: Profile
    seed: int
    hosts: int

    def crawl_arguments(self) -> list[str]:
        """The arguments of `gossamer` that crawl this lab."""
        mapped = [word for rule in self.connect_to for word in ("--connect-to", rule)]
        return ["crawl", *self.seeds, *_PACE[self.profile], "--allow-address", self.allow_address, *mapped]

    def crawl_command(self) -> str:
        """The same for a shell, an option a line."""
        words = [shlex.quote(word) for word in ("gossamer", *self.crawl_arguments())]
        lines: list[str] = []
        line = words[0]
        for word in words[1:]:
            starts_line = word.startswith("--") or len(line) + len(word) > 110
            lines, line = ([*lines, line], word) if starts_line else (lines, f"{line} {word}")
        return " \\\n  ".join([*lines, line])


class RunningLab(NamedTuple):
    """A lab in a process of its own."""

    description: LabDescription
    pid: int


def describe(web: LabWeb, addresses: list[str], port: int) -> LabDescription:
    """Hosts are dealt to the addresses in turn; names that the lab makes up while it is crawled go to the first."""
    hosts = web.hosts if len(addresses) > 1 else []
    rules = [f"{host}::{addresses[index % len(addresses)]}:{port}" for index, host in enumerate(hosts)]
    return LabDescription(
        port=port,
        addresses=addresses,
        seeds=web.seeds,
        connect_to=[*rules, f"*::{addresses[0]}:{port}"],
        allow_address=str(LOOPBACK),
        pages=web.page_total(),
        profile=web.config.profile,
        seed=web.config.seed,
        hosts=len(web.hosts),
    )


def run_lab(options: LabOptions, announce: Callable[[LabDescription], None], *, stop_fd: int | None = None) -> None:
    """Serves until SIGINT, SIGTERM, or the end of the stream `stop_fd`. Raises OSError where the port is taken."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(options, announce, stop_fd))


async def _serve(options: LabOptions, announce: Callable[[LabDescription], None], stop_fd: int | None) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    web = LabWeb(options.config)
    addresses = loopback_addresses(options.addresses, options.first_address)
    with AccessLog(Path(options.access_log) if options.access_log else None) as log:
        server = LabServer(web, log)
        await server.start(addresses, options.port)
        if stop_fd is not None:
            loop.add_reader(stop_fd, lambda: None if os.read(stop_fd, 4_096) else stop.set())
        announce(describe(web, addresses, server.port))
        await stop.wait()
        if stop_fd is not None:
            loop.remove_reader(stop_fd)
        await server.close()


@contextlib.contextmanager
def running_lab(options: LabOptions | None = None) -> Iterator[RunningLab]:
    """A lab in a process of its own, answering within the block; its access log is complete after it.

    The process ends with the block, and by itself when the caller dies: it holds the other end of the caller's pipe.
    Raises LabDidNotStart.
    """
    command = [
        sys.executable,
        "-m",
        "gossamer.testing.lab_process",
        msgspec.json.encode(options or LabOptions()).decode(),
    ]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            yield RunningLab(_first_words(process, errors), process.pid)
        finally:
            process.terminate()
            try:
                process.wait(STOP_MAX_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_words(process: subprocess.Popen[bytes], errors: IO[bytes]) -> LabDescription:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        line = process.stdout.readline() if selector.select(START_MAX_S) else b""
    if not line:
        errors.seek(0)
        raise LabDidNotStart(errors.read().decode(errors="replace")[-2_000:] or "the lab said nothing")
    return msgspec.json.decode(line, type=LabDescription)


def _main() -> None:
    def announce(description: LabDescription) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(description) + b"\n")
        sys.stdout.flush()

    run_lab(msgspec.json.decode(sys.argv[1], type=LabOptions), announce, stop_fd=sys.stdin.fileno())


if __name__ == "__main__":
    _main()
