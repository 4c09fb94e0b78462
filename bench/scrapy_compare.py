"""CPU time of a page, Gossamer against Scrapy, same real pages, in turns: `python -m bench.scrapy_compare [--quick]`.

CPU time is that of all processes of a crawl from exec to exit; nginx is outside. Medians over the rounds; the pages are
those that nginx logged as sent. Scrapy keeps no pages, so whatever Gossamer stores counts against Gossamer.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.process_tree import TreeCost, measure
from bench.pydoc_sites import CACHE, ROOT, Fetch, Served, SetupFailed, Site, prepare, reachable, serve

LOCK = ROOT / "bench" / "requirements-scrapy.txt"
VENV = ROOT / ".cache" / "scrapy-venv"
SPIDER = ROOT / "bench" / "scrapy_spider.py"
SITES, ROUNDS = 10, 3
QUICK_SITES, QUICK_ROUNDS = 2, 1
CREW = ("scrapy", "gossamer", "gossamer --text main")

Command = Callable[[int, Path, Sequence[Site]], list[str]]


class Run(NamedTuple):
    """One crawl: what it cost and what nginx saw of it."""

    tool: str
    cost: TreeCost
    pages: int  # answered 200, robots.txt not counted
    fetches: int  # everything asked for
    problem: str  # empty when it fetched exactly what the walk of the files found

    @property
    def cpu_ms_per_page(self) -> float:
        return self.cost.cpu_s * 1000 / max(self.pages, 1)

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.cost.wall_s


# -- the two tools


def scrapy_python() -> Path:
    """The interpreter of Scrapy's own venv, made anew when the lock file has changed. Raises CalledProcessError."""
    stamp, lock = VENV / "lock.sha256", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != lock:
        tell(f"making {VENV} from {LOCK.name} …")
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(LOCK)], check=True, stdout=sys.stderr)
        stamp.write_text(lock)
    return VENV / "bin" / "python"


def scrapy_command(port: int, state: Path, sites: Sequence[Site]) -> list[str]:
    return [str(scrapy_python()), str(SPIDER), str(port), str(state), *(site.host for site in sites)]


def gossamer_command(port: int, state: Path, sites: Sequence[Site]) -> list[str]:
    """No pauses at all: loopback minds none, and pauses cost no CPU time."""
    program = str(Path(sys.executable).parent / "gossamer")
    seeds = [f"http://{site.host}/" for site in sites]
    pace = ["--delay", "0", "--delay-factor", "0", "--per-address-delay", "0"]
    place = ["--connect-to", f"*::127.0.0.1:{port}", "--allow-address", "127.0.0.0/8", "--data", str(state / "data")]
    return [program, "crawl", *seeds, *pace, *place]


def main_text_command(port: int, state: Path, sites: Sequence[Site]) -> list[str]:
    return [*gossamer_command(port, state, sites), "--text", "main"]


COMMANDS: dict[str, Command] = dict(zip(CREW, (scrapy_command, gossamer_command, main_text_command), strict=True))


# -- runs


def tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def run(tool: str, served: Served, sites: Sequence[Site], expected: frozenset[str]) -> Run:
    """One crawl of `sites` from nothing, in a scratch directory on the disk that holds the sites."""
    since = served.log_bytes()
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="run-") as state:
        cost = measure(COMMANDS[tool](served.port, Path(state), sites), cwd=Path(state))
    fetches = served.fetches(since)
    sent = [fetch for fetch in fetches if fetch.status == 200 and fetch.target != "/robots.txt"]
    made = Run(tool, cost, len(sent), len(fetches), problem_of(cost, sent, expected))
    tell(
        f"{tool:22} {made.pages:6} pages {made.cpu_ms_per_page:8.2f} ms CPU/page {made.pages_per_second:8.1f} pages/s "
        f"{cost.rss_bytes / 2**20:6.0f} MB RSS {cost.pss_bytes / 2**20:6.0f} MB PSS {made.problem}"
    )
    return made


def problem_of(cost: TreeCost, sent: Sequence[Fetch], expected: frozenset[str]) -> str:
    urls = [f"http://{fetch.host}{fetch.target}" for fetch in sent]
    found = set(urls)
    faults = {
        f"exit code {cost.exit_code}": cost.exit_code != 0,
        f"{cost.strays} processes left behind": cost.strays > 0,
        f"{len(expected - found)} pages not fetched": bool(expected - found),
        f"{len(found - expected)} pages too many": bool(found - expected),
        f"{len(urls) - len(found)} fetched twice": len(urls) > len(found),
    }
    return ", ".join(words for words, is_so in faults.items() if is_so)


def truth(sites: Sequence[Site]) -> frozenset[str]:
    """All URLs that answer 200. The sites are copies, so one walk tells for all."""
    walk = reachable(sites[0].directory, f"http://{sites[0].host}/")
    paths = [url.removeprefix(f"http://{sites[0].host}") for url in walk.pages | walk.files]
    return frozenset(f"http://{site.host}{path}" for site in sites for path in paths)


def rounds_of(crew: Sequence[str], served: Served, sites: Sequence[Site], rounds: int) -> dict[str, list[Run]]:
    """The tools in turns, so that whatever else the machine does meets all of them."""
    expected = truth(sites)
    made: dict[str, list[Run]] = {tool: [] for tool in crew}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}, {len(sites)} site(s), {len(expected)} pages")
        for tool in crew:
            made[tool].append(run(tool, served, sites, expected))
    return made


# -- the result


def cpu_ms(runs: Sequence[Run]) -> float:
    return median(each.cpu_ms_per_page for each in runs)


def summary(runs: dict[str, list[Run]]) -> dict[str, object]:
    """The numbers of one set of sites; a tool that was left out leaves its keys out."""
    scrapy, full, main_text = (runs.get(tool, []) for tool in CREW)
    result: dict[str, object] = {}
    if scrapy:
        result |= {
            "scrapyCpuMsPerPage": round(cpu_ms(scrapy), 3),
            "scrapyPagesPerSecond": round(median(each.pages_per_second for each in scrapy), 1),
            "scrapyRssMb": round(max(each.cost.rss_bytes for each in scrapy) / 2**20, 1),
        }
    if full:
        result |= {
            "pages": round(median(each.pages for each in full)),
            "cpuMsPerPage": round(cpu_ms(full), 3),
            "pagesPerSecond": round(median(each.pages_per_second for each in full), 1),
            "rssMb": round(max(each.cost.rss_bytes for each in full) / 2**20, 1),
            "pssMb": round(max(each.cost.pss_bytes for each in full) / 2**20, 1),
        }
    if main_text:
        result["cpuMsPerPageMainText"] = round(cpu_ms(main_text), 3)
    if scrapy and full:
        result["ratio"] = round(cpu_ms(scrapy) / cpu_ms(full), 2)
    if scrapy and main_text:
        result["ratioMainText"] = round(cpu_ms(scrapy) / cpu_ms(main_text), 2)
    return result


def table(title: str, runs: dict[str, list[Run]]) -> None:
    print(f"\n{title}\n{'':22} {'runs':>4} {'pages':>7} {'ms CPU/page':>12} {'pages/s':>9} {'RSS MB':>7} {'PSS MB':>7}")
    for tool, made in runs.items():
        print(
            f"{tool:22} {len(made):4} {median(each.pages for each in made):7.0f} {cpu_ms(made):12.2f} "
            f"{median(each.pages_per_second for each in made):9.1f} "
            f"{max(each.cost.rss_bytes for each in made) / 2**20:7.0f} "
            f"{max(each.cost.pss_bytes for each in made) / 2**20:7.0f}"
        )


def compare(crew: Sequence[str], sites: Sequence[Site], rounds: int) -> dict[str, object]:
    with serve(sites) as served:
        many = rounds_of(crew, served, sites, rounds)
        single = rounds_of(crew, served, sites[:1], rounds)
    table(f"{len(sites)} sites at once", many)
    table("one site", single)
    print("\nRSS and PSS: the highest sum over all processes of a crawl; PSS counts a shared page once.")
    every = [each for runs in (many, single) for made in runs.values() for each in made]
    problems = [f"{each.tool}: {each.problem}" for each in every if each.problem]
    return {
        **summary(many),
        "sites": len(sites),
        "rounds": rounds,
        "cores": os.cpu_count(),
        "single": summary(single),
        "problems": problems,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scrapy_compare", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SITES} sites, {QUICK_ROUNDS} round")
    parser.add_argument("--rounds", type=int, help=f"crawls of each tool (default {ROUNDS})")
    parser.add_argument("--sites", type=int, help=f"copies of the documentation (default {SITES})")
    parser.add_argument("--only", choices=CREW, action="append", help="leave the other tools out")
    options = parser.parse_args()
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    try:
        sites = prepare(options.sites or (QUICK_SITES if options.quick else SITES))
        scrapy_python()
        result = compare(options.only or CREW, sites, rounds)
    except (SetupFailed, subprocess.CalledProcessError) as error:
        tell(f"cannot compare: {error}")
        return 3
    print(json.dumps(result))
    return 1 if result["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
