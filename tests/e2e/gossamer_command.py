"""The command as a user has it: a process of its own, its exit code and its words. Not here: what it should have done."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = str(Path(sys.executable).with_name("gossamer"))
RUN_MAX_S = 100.0
UNHURRIED = ("--delay", "0", "--delay-factor", "0", "--per-address-delay", "0")


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str
    took_s: float

    def json_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def environment() -> dict[str, str]:
    """Ours, without settings that would change a crawl."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GOSSAMER_")}


def gossamer(*words: str, cwd: Path, variables: Mapping[str, str] | None = None) -> Done:
    """Run a command to its end. `cwd` is a directory without a gossamer.toml, or with the one that is meant."""
    began = time.monotonic()
    done = subprocess.run(
        [PROGRAM, *words],
        cwd=cwd,
        env=environment() | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_MAX_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


@dataclass(slots=True)
class Life:
    """A crawl that runs: a group of processes of its own."""

    process: subprocess.Popen[bytes]
    errors: Any

    @property
    def pid(self) -> int:
        return self.process.pid

    def err(self) -> str:
        self.errors.seek(0)
        return str(self.errors.read().decode())

    def lives_for(self, seconds: float) -> bool:
        """Whether it is still running after that time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def kill_group(self) -> None:
        """kill -9 of owner and parsers at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def parsers(self) -> list[int]:
        """Its parser processes."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        found = children.read_text().split() if children.exists() else []
        return [pid for pid in map(int, found) if "gossamer.parser_process" in _command_line(pid)]

    def end(self, number: signal.Signals, timeout_s: float = 30.0) -> int:
        """Send a signal to the owner and give its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout_s)


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:  # it ended meanwhile
        return ""


@contextlib.contextmanager
def living(words: Sequence[str], cwd: Path) -> Iterator[Life]:
    """A command in a session of its own, killed with all that it started when the block ends."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [PROGRAM, *words],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        life = Life(process, errors)
        try:
            yield life
        finally:
            life.kill_group()


def pages(data: Path, *words: str) -> list[dict[str, Any]]:
    """The rows of `gossamer pages`."""
    done = gossamer("pages", "--data", str(data), "--json", *words, cwd=data.parent)
    assert done.code == 0, done.err
    return done.json_lines()


def by_outcome(data: Path) -> dict[str, set[str]]:
    """URLs by the state that they ended in."""
    found: dict[str, set[str]] = {}
    for row in pages(data):
        found.setdefault(row["outcome"], set()).add(row["url"])
    return found


def assert_verified(data: Path) -> None:
    """`gossamer verify` finds every account right and every record whole."""
    done = gossamer("verify", "--data", str(data), "--json", cwd=data.parent)
    assert done.code == 0, done.out or done.err
    assert json.loads(done.out)["problems"] == []


def assert_one_sentence(done: Done, code: int) -> None:
    """The exit code, words on stderr only, and no traceback among them."""
    assert done.code == code, (done.code, done.err)
    assert done.out == ""
    assert done.err.startswith("gossamer: "), done.err
    assert "Traceback" not in done.err
    assert "Error:" not in done.err
