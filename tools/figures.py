"""Measured figures in the docs come from `docs/figures/NAME.json`, with date and machine, and from nowhere else.

python -m bench.NAME | python -m tools.figures record NAME    # keeps the last line, which is JSON
python -m tools.figures                                       # fills the parts `<!-- figures:NAME -->` of the pages
"""

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from tools.sections import ROOT, fill

FIGURES: Final = ROOT / "docs" / "figures"
ABOUT: Final = ("date", "machine", "command")
NOT_MEASURED: Final = "*Not measured on this version yet; see [performance.md]({performance}).*"
Figures = Mapping[str, Any]


class Incomplete(Exception):
    """A file of figures lacks what makes them worth something; the message names file and key."""


def read(path: Path) -> tuple[Figures, Figures]:
    """When, where and how it was measured, and the result. Raises Incomplete."""
    document = json.loads(path.read_text(encoding="utf-8"))
    missing = [key for key in ABOUT if not document.get(key)]
    if missing:
        raise Incomplete(f"{path.name}: no {', '.join(missing)}")
    result = document.get("result") or {key: value for key, value in document.items() if key not in ABOUT}
    return {key: document[key] for key in ABOUT}, result


def render(name: str) -> str:
    """The part of that name: `all` for every file there is."""
    if name == "all":
        names = sorted(path.stem for path in FIGURES.glob("*.json"))
        return "\n\n".join(f"### {name}\n\n{render(name)}" for name in names) or NOT_MEASURED.format(
            performance="#how-to-run-the-benchmarks"
        )
    path = FIGURES / f"{name}.json"
    if not path.is_file():
        return NOT_MEASURED.format(performance="docs/performance.md")
    about, result = read(path)
    rows = TABLES.get(name, plain)(result)
    measured = f"Measured {date.fromisoformat(about['date']):%-d %B %Y} on {about['machine']}: `{about['command']}`."
    return f"{rows}\n\n{measured}"


def plain(result: Figures) -> str:
    """Every number of a result, by its own name."""
    numbers = {key: value for key, value in result.items() if isinstance(value, int | float)}
    return "\n".join(
        ["| figure | |", "| --- | ---: |", *(f"| {key} | {_number(value)} |" for key, value in numbers.items())]
    )


def scrapy_compare(result: Figures) -> str:
    """The same pages, the same machine, in turns."""
    rows = [
        "| CPU time of all processes, for a page | |",
        "| --- | ---: |",
        f"| Scrapy, which extracts links and keeps nothing | {_number(result['scrapyCpuMsPerPage'])} ms |",
        f"| Gossamer, which keeps WARC, text, page and link rows | {_number(result['cpuMsPerPage'])} ms |",
        f"| **ratio** | **{_number(result['ratio'])}** |",
    ]
    if result.get("ratioMainText"):
        rows.append(f"| ratio with `--text main` | {_number(result['ratioMainText'])} |")
    if result.get("rssMb"):
        rows.append(f"| memory of Gossamer, all processes | {_number(result['rssMb'])} MB |")
    return "\n".join([*rows, "", f"{result['pages']:,} pages of real documentation sites from a local nginx."])


def frontier(result: Figures) -> str:
    """Rates at size, what they were in the first million, memory and disk."""
    leases, commits = result["leaseSettleSteps"], ("commitMsMedian", "commitMsP99", "commitMsMax")
    lease = " | ".join(map(_number, (result["leaseSettlePerSecond"], leases[0], leases[-1])))
    commit = ", ".join(_number(result[key]) for key in commits)
    rows = [
        f"| {result['urls']:,} URLs over {result['hosts']:,} hosts | all | first step | last step |",
        "| --- | ---: | ---: | ---: |",
        _at_size(result, "checks of links a second", "checksPerSecond"),
        _at_size(result, "URLs admitted a second", "admitsPerSecond"),
        f"| URLs leased and settled a second | {lease} |",
        f"| a commit of 512 events: median, 99 %, worst | {commit} ms | | |",
        f"| peak memory | {_number(result['rssMb'])} MB | | |",
        f"| from a kill to the first lease | {_number(result['reopenSeconds'])} s | | |",
        f"| disk, after compaction | {_number(result['bytesPerUrl'])} bytes a URL | | |",
        "",
        "![rates and memory against the number of URLs](images/frontier.svg)",
    ]
    return "\n".join(rows)


def _at_size(result: Figures, title: str, key: str) -> str:
    steps = result["steps"]
    return f"| {title} | {_number(result[key])} | {_number(steps[0][key])} | {_number(steps[-1][key])} |"


TABLES: Final[Mapping[str, Callable[[Figures], str]]] = {"scrapy_compare": scrapy_compare, "frontier": frontier}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"


def machine() -> str:
    """Cores, kind of processor and memory, as far as Linux tells."""
    processor = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    memory_kib = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {processor}, {memory_kib / 2**20:.0f} GiB, Python {python}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).is_file() else []


def record(name: str, output: str) -> Path:
    """Keep the last line of a benchmark's output with date and machine. Raises ValueError where it is no JSON."""
    result = json.loads(output.strip().splitlines()[-1])
    document = {
        "date": datetime.now(UTC).date().isoformat(),  # noqa: TID251  a program for people, not a part of the crawler
        "machine": machine(),
        "command": f"python -m bench.{name}",
        "result": result,
    }
    path = FIGURES / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Record what comes in, if asked to; then fill the pages."""
    match sys.argv[1:]:
        case ["record", name]:
            sys.stderr.write(f"{record(name, sys.stdin.read()).relative_to(ROOT)} is written\n")
        case []:
            pass
        case _:
            sys.exit(__doc__)
    fill("figures", render)


if __name__ == "__main__":
    main()
