"""What a command costs together with all processes that it starts: CPU time of every one, and their memory at its peak.

Used as a program, so that nothing but the command is below it: `python -m bench.process_tree COMMAND…`. It makes itself
the subreaper of its descendants: one whose parent died comes to it, and no CPU time is lost with a process that nobody
waited for. The cost is one JSON line on stdout; what the command prints to stdout goes to stderr.
"""

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

SAMPLE_EVERY_S = 0.25
STRAYS_MAX_S = 10.0
_PR_SET_CHILD_SUBREAPER = 36
_PAGE_BYTES = resource.getpagesize()


class TreeCost(msgspec.Struct, frozen=True):
    """`cpu_s` is user + system time from exec to exit. Memory is the highest sum over the tree, 4 samples a second.

    `rss_bytes` counts shared pages in every process; `pss_bytes` shares them out: that is what the tree takes.
    """

    exit_code: int
    wall_s: float
    cpu_s: float
    rss_bytes: int
    pss_bytes: int
    processes: int  # the most at one time
    strays: int  # still alive when the command had ended


def measure(command: Sequence[str], *, cwd: Path | None = None) -> TreeCost:
    """Runs `command` to its end in a measuring process of its own. Raises CalledProcessError if the measuring fails."""
    root = Path(__file__).resolve().parent.parent
    wrapped = [sys.executable, "-m", "bench.process_tree", *command]
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(wrapped, stdout=subprocess.PIPE, check=True, cwd=cwd, env=environment)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=TreeCost)


def _parents() -> dict[int, int]:
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                stat = Path(entry.path, "stat").read_text()
            except OSError:  # it ended meanwhile
                continue
            found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def _descendants() -> list[int]:
    parents = _parents()
    tree = {os.getpid()}
    while True:  # ends: each turn adds a process or is the last
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        if not more:
            return sorted(tree - {os.getpid()})
        tree |= more


def _memory(pid: int) -> tuple[int, int]:
    """Resident and proportional bytes; zeros for one that has ended."""
    try:
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (OSError, IndexError):
        return 0, 0
    proportional = next((int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return resident, proportional


def _end_strays() -> int:
    """Waits a little for what is still below us, then kills it; all of it is reaped, so that its time counts."""
    strays, deadline = len(_descendants()), time.monotonic() + STRAYS_MAX_S
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return strays
        if pid:
            continue
        if time.monotonic() > deadline:
            for stray in _descendants():
                os.kill(stray, signal.SIGKILL)
        select.select([], [], [], 0.02)


def _run(command: Sequence[str]) -> TreeCost:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(command, stdout=sys.stderr.fileno(), stdin=subprocess.DEVNULL)
    rss = pss = processes = 0
    poller = select.poll()
    poller.register(os.pidfd_open(process.pid), select.POLLIN)
    while not poller.poll(SAMPLE_EVERY_S * 1000):
        tree = _descendants()
        memories = [_memory(pid) for pid in tree]
        rss, pss = max(rss, sum(m[0] for m in memories)), max(pss, sum(m[1] for m in memories))
        processes = max(processes, len(tree))
    wall = time.monotonic() - started
    exit_code = process.wait()
    strays = _end_strays()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return TreeCost(exit_code, wall, cpu, rss, pss, processes, strays)


if __name__ == "__main__":
    print(json.dumps(msgspec.to_builtins(_run(sys.argv[1:]))))
