"""How much of a crawl endless spaces take: `python -m bench.traps [--quick]`.

One crawl of 20,000 pages of a lab that has twice as many honest ones: the first page of every site leads into a trap of
one of seven kinds. All names are in scope, so that the farms of hosts and of domains are open too. Fetches
are counted from the lab's access log, robots.txt of the hosts that a trap makes up included. Needs two cores.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from bench.process_tree import TreeCost, measure
from gossamer.testing.lab_access import AccessRecord, read_access_log
from gossamer.testing.lab_hosts import LabConfig, Profile, Trap
from gossamer.testing.lab_process import LabOptions, running_lab
from gossamer.testing.lab_web import LabWeb

PROGRAM = str(Path(sys.executable).with_name("gossamer"))
PACE = ("--delay", "0", "--delay-factor", "0", "--per-address-delay", "0")
BAR = 0.05
"""The share of fetches that all traps may take together."""


class Size(NamedTuple):
    """Pages to fetch; hosts, every second one of which is the door of a trap; and pages of an average host."""

    pages: int
    hosts: int
    pages_per_host: int


WHOLE = Size(20_000, 4 * len(Trap), 1_500)
QUICK = Size(10_000, 2 * len(Trap), 1_200)
"""What a trap may take is a number, not a share: a farm 252 fetches, which is a twentieth of 5,000 pages."""


class Figures(NamedTuple):
    """Fetches as the server saw them: of each trap, of pages of the lab, and of what else was linked to."""

    traps: dict[Trap, int]
    honest: int
    other: int
    honest_in_lab: int
    pages: int
    cost: TreeCost

    @property
    def share(self) -> float:
        return sum(self.traps.values()) / (sum(self.traps.values()) + self.honest + self.other)


def crawl(size: Size, directory: Path) -> Figures:
    """Crawl a lab of traps in `directory`, which is to be empty, until the budget is spent."""
    config = LabConfig(profile=Profile.TRAPS, hosts=size.hosts, pages_per_host=size.pages_per_host)
    log, data = directory / "access.log", directory / "data"
    with running_lab(LabOptions(config=config, access_log=str(log))) as lab:
        routes = [word for rule in lab.description.connect_to for word in ("--connect-to", rule)]
        routes += ["--allow-address", lab.description.allow_address]
        words = ["--scope", "any", *PACE, "--max-pages", str(size.pages), "--data", str(data)]
        cost = measure([PROGRAM, "crawl", *lab.description.seeds, *routes, *words], cwd=directory)
    if cost.exit_code:
        raise subprocess.CalledProcessError(cost.exit_code, f"{PROGRAM} crawl …")
    return counted(LabWeb(config), read_access_log(log), size.pages, cost)


def counted(web: LabWeb, seen: Iterable[AccessRecord], pages: int, cost: TreeCost) -> Figures:
    """What the access log says. Whatever is asked of a host that a trap makes up belongs to the trap."""
    traps, honest, other = Counter[Trap](), 0, 0
    for record in seen:
        trap = web.trap(f"http://{record.host}{record.target}")
        if trap is not None:
            traps[trap] += 1
        elif web.plan(record.host) is not None:
            honest += 1
        else:
            other += 1
    return Figures({trap: traps[trap] for trap in Trap}, honest, other, web.page_total(), pages, cost)


def show(found: Figures) -> None:
    fetches = sum(found.traps.values()) + found.honest + found.other
    rows = [(f"trap: {trap}", count) for trap, count in found.traps.items()]
    rows += [("all traps", sum(found.traps.values())), ("honest hosts", found.honest), ("elsewhere", found.other)]
    print(f"{'fetches of':<20}{'count':>10}{'share':>10}")
    for name, count in (*rows, ("all", fetches)):
        print(f"{name:<20}{count:>10,}{count / fetches:>10.2%}")
    print(f"The lab has {found.honest_in_lab:,} honest pages; the traps may take {BAR:.0%}.")


def result(found: Figures) -> dict[str, Any]:
    """The last line."""
    return {
        "pages": found.pages,
        "trapShare": round(found.share, 4),
        "trapFetches": {trap.value: count for trap, count in found.traps.items()},
        "honestFetches": found.honest,
        "honestPages": found.honest_in_lab,
        "seconds": round(found.cost.wall_s, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.traps", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 pages")
    size = QUICK if parser.parse_args().quick else WHOLE
    with tempfile.TemporaryDirectory() as scratch:
        found = crawl(size, Path(scratch))
    show(found)
    print(json.dumps(result(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
