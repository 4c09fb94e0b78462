"""How soon a crawl asks its first question, and how soon after that its first page: `python -m bench.first_contact`.

From exec of `gossamer crawl` to the first octet of the request for robots.txt at the server; then from that contact's
end to the first page, beyond the delay. Times are the lab server's, on the machine's own clock. The environment is
warm: one crawl is made before. The best round counts, a busy machine can only be slower.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from gossamer.testing.lab_access import read_access_log
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabOptions, running_lab

ROUNDS = 3
QUICK_ROUNDS = 1
DELAY_S = 1.0  # the default
CRAWL_MAX_S = 60.0


class FirstContact(NamedTuple):
    """Of one crawl, in seconds."""

    robots_after_exec_s: float
    page_after_robots_s: float

    @property
    def page_beyond_delay_s(self) -> float:
        return self.page_after_robots_s - DELAY_S


def first_contact(directory: Path) -> FirstContact:
    """Crawl one page of a lab in `directory`, which is to be empty. Raises CalledProcessError when that fails."""
    log = directory / "access.log"
    with running_lab(LabOptions(config=LabConfig(hosts=1), access_log=str(log))) as lab:
        seed, routes = lab.description.seeds[0], lab.description.connect_to
        program = str(Path(sys.executable).with_name("gossamer"))
        command = [program, "crawl", seed, "--max-pages", "1", "--no-sitemaps", "--data", str(directory / "data")]
        command += [word for rule in routes for word in ("--connect-to", rule)]
        command += ["--allow-address", lab.description.allow_address]
        exec_at = time.monotonic()
        subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=CRAWL_MAX_S)
    robots, page = read_access_log(log)[:2]
    assert (robots.target, page.target) == ("/robots.txt", "/")
    return FirstContact(robots.start_mono - exec_at, page.start_mono - robots.end_mono)


def measure(rounds: int) -> list[FirstContact]:
    """`rounds` crawls after one that only warms the machine."""
    found = []
    for _ in range(rounds + 1):
        with tempfile.TemporaryDirectory() as scratch:
            found.append(first_contact(Path(scratch)))
    return found[1:]


def best(found: list[FirstContact]) -> FirstContact:
    """The least of each figure."""
    return FirstContact(
        min(each.robots_after_exec_s for each in found), min(each.page_after_robots_s for each in found)
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.first_contact", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS} round instead of {ROUNDS}")
    rounds = QUICK_ROUNDS if parser.parse_args().quick else ROUNDS
    found = measure(rounds)
    print(f"{'round':>5}  {'exec to robots.txt':>18}  {'robots.txt to page':>18}  {'beyond the delay':>16}")
    for number, each in enumerate(found, 1):
        print(
            f"{number:5}  {each.robots_after_exec_s:16.3f} s  {each.page_after_robots_s:16.3f} s  "
            f"{each.page_beyond_delay_s:14.3f} s"
        )
    least = best(found)
    result = {
        "robotsAfterExecSeconds": round(least.robots_after_exec_s, 3),
        "pageAfterRobotsSeconds": round(least.page_after_robots_s, 3),
        "pageBeyondDelaySeconds": round(least.page_beyond_delay_s, 3),
        "delaySeconds": DELAY_S,
        "rounds": rounds,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
