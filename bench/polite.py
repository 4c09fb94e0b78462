"""How near a polite crawl comes to the fastest that politeness allows: `python -m bench.polite [--quick]`.

Two crawls of a lab on 64 addresses, judged by the lab's access log. `steady`: 300 hosts, a second apart. `stalling`:
3,000 hosts of 50 to 500 ms, ten seconds apart, of which one in ten is dead or never answers. Ideal is the sum over the
live hosts of 1 ÷ (delay + the host's mean latency in that log); for `steady`, whose hosts answer at once, 1 ÷ delay.
Reached is the sum of the hosts' own rates, each from its first page until its queue has run dry.
Violations are those of `gossamer audit` and of our own reading of the access log. Needs two cores and nothing else.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, NamedTuple

from bench.process_tree import TreeCost, measure
from gossamer.adapters.files.contact_log import read_contacts
from gossamer.core.contacts import BeginContact
from gossamer.core.politeness import gap_s
from gossamer.testing.lab_access import AccessRecord, read_access_log
from gossamer.testing.lab_hosts import Fate, LabConfig, Profile
from gossamer.testing.lab_process import LabOptions, running_lab
from gossamer.testing.lab_web import LabWeb

PROGRAM = str(Path(sys.executable).with_name("gossamer"))
ADDRESSES = 64
CLOCK_S = 0.005  # the server's moments: what it sees of a pause is never shorter than the pause, but for its own clock
LATENESS_P99_MAX_S = 0.5


class Run(NamedTuple):
    """One of the two crawls. `bar`: the least share of the ideal."""

    name: str
    bar: float
    delay_s: float
    counts_latency: bool
    lab: LabConfig
    quick_pages: int
    words: tuple[str, ...]


RUNS = (
    Run(
        "steady",
        0.98,
        1.0,
        False,
        LabConfig(profile=Profile.POLITE, hosts=300, pages_per_host=40),
        20,
        ("--delay", "1", "--per-address-delay", "0.1"),
    ),
    Run(
        "stalling",
        0.95,
        10.0,
        True,
        LabConfig(
            profile=Profile.POLITE,
            hosts=3_000,
            pages_per_host=10,
            latency_min_s=0.05,
            latency_max_s=0.5,
            dead_share=0.05,
            stalling_share=0.05,
        ),
        5,
        ("--delay", "10", "--delay-factor", "0", "--per-address-delay", "0.01"),
    ),
)


class Figures(NamedTuple):
    """What came of a run. Rates are pages a second; lateness is against the moment that the contact log allows.

    `spread_s`: from the first contact until the last host has had its first page.
    """

    run: Run
    rate: float
    ideal: float
    spread_s: float
    pages: int
    lateness_p50_s: float
    lateness_p99_s: float
    violations: list[str]
    cost: TreeCost

    @property
    def ratio(self) -> float:
        return self.rate / self.ideal


def crawl(run: Run, directory: Path, pages: int) -> Figures:
    """Crawl the lab of a run in `directory`, which is to be empty, until its queues have run dry."""
    config = LabConfig(**{**{name: getattr(run.lab, name) for name in run.lab.__slots__}, "pages_per_host": pages})
    log, data = directory / "access.log", directory / "data"
    live = {plan.name for plan in LabWeb(config).plans if plan.fate is Fate.ANSWERS}
    with running_lab(LabOptions(config=config, addresses=ADDRESSES, access_log=str(log))) as lab:
        routes = [word for rule in lab.description.connect_to for word in ("--connect-to", rule)]
        routes += ["--allow-address", lab.description.allow_address]
        budget = ("--max-pages", str(len(live) * pages))  # hosts that never answer would be asked again for hours
        command = [PROGRAM, "crawl", *lab.description.seeds, *routes, *run.words, *budget, "--data", str(data)]
        cost = measure(command, cwd=directory)
    if cost.exit_code:
        raise subprocess.CalledProcessError(cost.exit_code, f"{PROGRAM} crawl … ({run.name})")
    log_of_all = read_access_log(log)
    hosts = by_host([record for record in log_of_all if record.host in live])
    late = quantiles(lateness(data, live), n=100)
    return Figures(
        run,
        sum(pace(host) for host in hosts.values()),
        sum(1 / (run.delay_s + (latency(host) if run.counts_latency else 0.0)) for host in hosts.values()),
        max(pages_of(host)[0].start_mono for host in hosts.values()) - log_of_all[0].start_mono,
        sum(len(host) for host in hosts.values()),
        late[49],
        late[98],
        audited(data) + seen_by_the_server(log_of_all, run.delay_s),
        cost,
    )


def pages_of(host: Sequence[AccessRecord]) -> list[AccessRecord]:
    """Without robots.txt."""
    return [record for record in host if record.target != "/robots.txt"]


def pace(host: Sequence[AccessRecord]) -> float:
    """Pages a second of one host, from its first page to its last."""
    pages = pages_of(host)
    return (len(pages) - 1) / (pages[-1].start_mono - pages[0].start_mono)


def latency(host: Sequence[AccessRecord]) -> float:
    """How long the host took to answer, in the mean."""
    return mean(record.end_mono - record.start_mono for record in host)


def lateness(data: Path, live: set[str]) -> list[float]:
    """By how much contacts with live hosts began after their pause was over."""
    late, under_way, due = list[float](), dict[str, BeginContact](), dict[str, float]()
    for record in read_contacts(data / "contacts"):
        if isinstance(record, BeginContact):
            if record.host in due:
                late.append(record.monotonic_s - due[record.host])
            if record.host in live:
                under_way[record.id] = record
        elif (begin := under_way.pop(record.id, None)) is not None:
            pause_s = gap_s(begin.delays.rules, begin.delays.crawl_delay_s, record.duration_s)
            due[begin.host] = record.monotonic_s + pause_s
    return late


def audited(data: Path) -> list[str]:
    """What `gossamer audit` finds."""
    done = subprocess.run([PROGRAM, "audit", "--json", "--data", str(data)], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, "gossamer audit", done.stdout, done.stderr)
    view: dict[str, Any] = json.loads(done.stdout)
    return [f"audit: {each['kind']} {each['url']} at {each['at']}" for each in view["violations"]]


def seen_by_the_server(seen: Sequence[AccessRecord], delay_s: float) -> list[str]:
    """Requests that came sooner after the end of the host's last one than the delay."""
    return [
        f"server: {after.start_mono - before.end_mono:.3f} s before {name}{after.target}"
        for name, host in by_host(seen).items()
        for before, after in pairwise(host)
        if after.start_mono - before.end_mono < delay_s - CLOCK_S
    ]


def by_host(seen: Sequence[AccessRecord]) -> dict[str, list[AccessRecord]]:
    """In the order of their beginnings."""
    hosts: dict[str, list[AccessRecord]] = defaultdict(list)
    for record in sorted(seen, key=lambda record: record.start_mono):
        hosts[record.host].append(record)
    return hosts


def show(found: Sequence[Figures]) -> None:
    head = (
        "run",
        "pages/s",
        "ideal",
        "ratio",
        "bar",
        "all at work s",
        "late p50 s",
        "late p99 s",
        "CPU ms/page",
        "RSS MB",
    )
    print("".join(f"{name:>15}" for name in head), "   violations")
    for each in found:
        cells = (
            f"{each.rate:.1f}",
            f"{each.ideal:.1f}",
            f"{each.ratio:.4f}",
            f"{each.run.bar:.2f}",
            f"{each.spread_s:.1f}",
            f"{each.lateness_p50_s:.4f}",
            f"{each.lateness_p99_s:.4f}",
            f"{each.cost.cpu_s / each.pages * 1_000:.2f}",
            f"{each.cost.rss_bytes / 2**20:.0f}",
        )
        print("".join(f"{cell:>15}" for cell in (each.run.name, *cells)), f"   {len(each.violations)}")
    for each in found:
        for violation in each.violations[:20]:
            print(f"{each.run.name}: {violation}")
        if each.lateness_p99_s > LATENESS_P99_MAX_S:
            print(f"{each.run.name}: one contact in a hundred is more than {LATENESS_P99_MAX_S} s late")


def result(found: Sequence[Figures]) -> dict[str, Any]:
    """The last line."""
    figures: dict[str, Any] = {
        "idealRatio": round(min(each.ratio / each.run.bar for each in found), 4),
        "violations": sum(len(each.violations) for each in found),
    }
    for each in found:
        name = each.run.name
        figures |= {
            f"{name}Rate": round(each.rate, 2),
            f"{name}Ideal": round(each.ideal, 2),
            f"{name}Ratio": round(each.ratio, 4),
            f"{name}AllAtWorkSeconds": round(each.spread_s, 2),
            f"{name}LatenessP99Seconds": round(each.lateness_p99_s, 4),
            f"{name}CpuMsPerPage": round(each.cost.cpu_s / each.pages * 1_000, 2),
            f"{name}RssMb": round(each.cost.rss_bytes / 2**20),
        }
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.polite", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="half as many pages: both runs take some 100 s together")
    parser.add_argument("--run", choices=[run.name for run in RUNS], help="only this one")
    asked = parser.parse_args()
    found = []
    for run in RUNS:
        if asked.run in (None, run.name):
            pages = run.quick_pages if asked.quick else run.lab.page_count
            print(f"{run.name}: {run.lab.host_count:,} hosts of {pages} pages", file=sys.stderr)
            with tempfile.TemporaryDirectory() as scratch:
                found.append(crawl(run, Path(scratch), pages))
    show(found)
    print(json.dumps(result(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
