"""No CPU time of a measured command is lost, whoever its processes leave behind."""

import sys

import pytest
from bench.process_tree import measure

# Burns half a second of CPU time and holds 64 MB meanwhile.
BURN = "import time; held = bytearray(64 << 20)\nwhile time.process_time() < 0.5: pass"


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        BURN,
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])",
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {BURN!r}]); p.returncode = 0",
    ],
    ids=["itself", "a-child", "a-child-that-outlives-it"],
)
def test_all_cpu_time_below_the_command_is_counted(program: str) -> None:
    cost = measure([sys.executable, "-c", program])
    assert cost.exit_code == 0
    assert 0.5 <= cost.cpu_s < 1.5


@pytest.mark.slow
def test_memory_is_summed_over_the_tree() -> None:
    cost = measure([sys.executable, "-c", f"import os; os.fork()\n{BURN}"])
    assert cost.rss_bytes > 2 * 64 << 20
    assert 0 < cost.pss_bytes < cost.rss_bytes
    assert cost.processes == 2


def test_the_exit_code_of_the_command_is_told() -> None:
    assert measure([sys.executable, "-S", "-c", "raise SystemExit(7)"]).exit_code == 7
