"""`make crawl [URL=…] [ARGS=…]`: a first crawl with sensible limits, of a site or of the lab web, and what to look at.

It is `gossamer crawl` with a few options filled in: again with the same words goes on with what is unfinished, and
begins another crawl when the last one is complete.
"""

import json
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import Final, NamedTuple

import click
from click.core import ParameterSource

from gossamer.config import CrawlConfig
from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import CrawlRow, State, UrlRow, load
from gossamer.ports.partition_store import Family, StoreCorrupt, StoreLocked
from gossamer.reading import NothingThere, Reading, open_reading
from gossamer.surfaces.cli.crawl import GUIDED, INTERRUPTED, crawl
from gossamer.surfaces.cli.options import configuration
from gossamer.surfaces.cli.progress import higher_ceiling
from gossamer.surfaces.cli.seeds import normal_seeds
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabDescription, LabDidNotStart, LabOptions, running_lab

PAGES: Final = 200
"""Pages of a first look at a site, and of each further one: some four minutes at a page a second."""
LAB_DIRECTORY: Final = Path("gossamer-lab")
LAB_PORT: Final = 8_788
"""Of the lab, so that a resumed crawl finds it where it was; any free one where it is taken."""
ROWS_SEARCHED_MAX: Final = 1_000
COMMAND_CHARS_MAX: Final = 100
"""Of the command to type again, as far as it is repeated."""


class Plan(NamedTuple):
    """The crawl to run, what to say before it, and the command to type for more of it.

    `raises_ceiling`: the same command again allows more pages.
    """

    context: click.Context
    words: tuple[str, ...]
    again: str
    is_lab: bool = False
    raises_ceiling: bool = False

    @property
    def data(self) -> Path:
        """Where it goes."""
        data: Path = self.context.params["data"]
        return data


def run(arguments: Sequence[str]) -> int:
    """Crawl what `arguments` (those of `gossamer crawl`) say, without a seed the lab. Gives the exit code.

    An orderly stop is success here: make would call it an error.
    """
    asked, again = _parsed(arguments), _again(arguments)
    if asked.params["seeds"]:
        plan = _of_site(asked, again)
        code = _crawled(plan)
    else:
        with _lab() as lab:
            plan = _of_lab(_parsed([*lab.crawl_arguments()[1:], *arguments]), lab, again)
            code = _crawled(plan)
    return 0 if _told(plan, code) == INTERRUPTED else code


# What to crawl.


def _parsed(arguments: Sequence[str]) -> click.Context:
    context = crawl.make_context("crawl", list(arguments))
    context.meta[GUIDED] = True
    return context


def _again(arguments: Sequence[str]) -> str:
    """The same as it was typed for make."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    parts = ["make crawl"]
    for name, value in (("URL", " ".join(words)), ("ARGS", shlex.join(arguments[len(words) :]))):
        if value:
            parts.append(f"{name}={shlex.quote(value.replace('$', '$$'))}")
    typed = " ".join(parts)
    return typed if len(typed) <= COMMAND_CHARS_MAX else "the same command again"


def _of_site(asked: click.Context, again: str) -> Plan:
    data: Path = asked.params["data"]
    seeds, known = ", ".join(normal_seeds(asked.params["seeds"])), _newest(data)
    another = _another_when_complete(asked, known)
    fetched = 0 if known is None or asked.params["new"] else known.counters.fetched
    config = _configuration(asked, (fetched // PAGES + 1) * PAGES)
    is_ours = _configuration(asked, 1).max_pages != config.max_pages
    asked.params["max_pages"] = "none" if config.max_pages is None else str(config.max_pages)
    limit = "without a limit" if config.max_pages is None else f"at most {config.max_pages} pages"
    limit = f"{PAGES} pages at a time" if is_ours else limit
    words = (
        *another,
        f"Crawling {seeds} into {data}: {limit}, {config.delay_s:g} s or more between two contacts of a host.",
        "Ctrl-C stops it and loses nothing; the same command goes on with it.",
        "Say who you are, so that site owners can ask: ARGS='--contact you@example.org'",
    )
    return Plan(asked, words[:-1] if config.contact else words, again, raises_ceiling=is_ours)


def _configuration(asked: click.Context, max_pages: int | None = None) -> CrawlConfig:
    """What the user chose, wherever it is set; `max_pages` if nothing is said of that."""
    given = {name: value for name, value in asked.params.items() if name not in {"seeds", "data", "config", "new"}}
    return configuration(given, asked.params["config"], {"max_pages": max_pages})


def _of_lab(asked: click.Context, lab: LabDescription, again: str) -> Plan:
    if asked.get_parameter_source("data") is ParameterSource.DEFAULT:
        asked.params["data"] = LAB_DIRECTORY
    delay_s = _configuration(asked).delay_s
    words = (
        *_another_when_complete(asked, _newest(asked.params["data"])),
        f"No URL given: crawling the lab, a web of {lab.hosts} hosts and {lab.pages} pages inside this machine,",
        f"into {asked.params['data']}, {delay_s:g} s or more between two contacts of a host.",
        "Ctrl-C stops it and loses nothing; the same command goes on with it.",
    )
    return Plan(asked, words, again, is_lab=True)


def _another_when_complete(asked: click.Context, known: CrawlRow | None) -> tuple[str, ...]:
    """Nobody wants to go on with nothing. Gives the words for it."""
    if asked.params["new"] or known is None or not _is_complete(known):
        return ()
    asked.params["new"] = True
    return (f"The last crawl in {asked.params['data']} is complete; this is another.",)


def _is_complete(known: CrawlRow) -> bool:
    """Nothing is left of it; one that never got as far as its seeds is not."""
    counters = known.counters
    return bool(counters.discovered) and not counters.unsettled and not counters.sitemaps_open


def _newest(data: Path) -> CrawlRow | None:
    """The crawl that `gossamer crawl` would go on with. What is wrong with the directory is for that to say."""
    try:
        with open_reading(data) as reading:
            return reading.crawls[-1] if reading.crawls else None
    except (NothingThere, StoreCorrupt, StoreLocked):
        return None


@contextmanager
def _lab() -> Iterator[LabDescription]:
    """The plain lab. Ctrl-C on the terminal must not reach it: contacts under way end with their answers."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a child inherits the mask
    for port in (LAB_PORT, 0):
        lab = running_lab(LabOptions(config=LabConfig(), port=port))
        try:
            running = lab.__enter__()
        except LabDidNotStart as error:
            if port == 0:
                raise click.ClickException(f"the lab did not start: {error}") from error
            continue
        break
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        yield running.description
    finally:
        lab.__exit__(None, None, None)


# Doing it and telling.


def _crawled(plan: Plan) -> int:
    for line in plan.words:
        click.echo(line, err=True)
    click.echo("", err=True)
    try:
        with plan.context:
            crawl.invoke(plan.context)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def _told(plan: Plan, code: int) -> int:
    try:
        with open_reading(plan.data) as reading:
            lines = _next_steps(reading, plan)
    except (NothingThere, StoreCorrupt, StoreLocked):
        return code  # the crawl has said what is wrong
    click.echo("\n" + "\n".join(lines), err=True)
    return code


def _next_steps(reading: Reading, plan: Plan) -> list[str]:
    newest = reading.crawls[-1]
    page = _example(reading, newest)
    command, data = _command(), _data_option(plan)
    steps = [
        ("how far it is", f"{command} status{data}"),
        ("what failed, and why", f"{command} pages --state failed{data}"),
        ("all about one page", f"{command} why {shlex.quote(page or newest.seeds[0])}{data}"),
    ]
    if page:
        steps.append(("its text", f"{command} text {shlex.quote(page)}{data}"))
    segments = plan.data / "warc" / newest.crawl_id
    if any(segments.glob("*.warc.gz")):
        steps.append(("the octets on the wire", f"zless {shlex.quote(str(segments))}/*.warc.gz"))
    if _is_complete(newest) and plan.is_lab:
        steps.append(("crawl a real site", "make crawl URL=https://example.com/"))
    width = max(len(what) for what, _ in steps)
    lines = ["look at it", *(f"  {what:<{width}}  {step}" for what, step in steps)]
    if plan.is_lab and newest.counters.states[State.FAILED]:
        lines.append("failed: the lab breaks some links on purpose")
    return [*lines, *_go_on(newest, plan)]


def _go_on(newest: CrawlRow, plan: Plan) -> list[str]:
    if _is_complete(newest):
        return []
    raised = higher_ceiling(json.loads(newest.options), newest)
    if not raised or plan.raises_ceiling:
        return [f"go on: {plan.again}"]
    return [f"go on: {plan.again}, with a higher limit in ARGS: {raised}"]


def _data_option(plan: Plan) -> str:
    is_default = plan.data == Path(crawl.make_context("crawl", [], resilient_parsing=True).params["data"])
    return "" if is_default else f" --data {shlex.quote(str(plan.data))}"


def _example(reading: Reading, newest: CrawlRow) -> str | None:
    """A page that was fetched, as near to a seed as there is one."""
    start = crawl_prefix(newest.number)
    stored = islice(reading.partition.scan(Family.URLS, start, start + LAST), ROWS_SEARCHED_MAX)
    rows = [load(UrlRow, row) for _, row in stored]
    fetched = [row for row in rows if row.state is State.FETCHED and row.fetch and "html" in row.fetch.content_type]
    return min(fetched, key=lambda row: (row.hop, row.discovered_at, row.url)).url if fetched else None


def _command() -> str:
    """`gossamer` as it can be typed here."""
    beside = Path(sys.executable).with_name("gossamer")
    found = shutil.which("gossamer")
    if found is not None and Path(found) == beside:
        return "gossamer"
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


def main() -> None:
    """Entry point of `make crawl`."""
    try:
        code = run(sys.argv[1:])
    except click.ClickException as error:
        click.echo(f"gossamer: {error.format_message()}", err=True)
        code = error.exit_code
    except click.exceptions.Exit as end:
        code = end.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
