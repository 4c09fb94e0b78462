"""`gossamer crawl`: run a crawl in the foreground, show how it goes, and end with a report."""

import asyncio
import gc
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import tomli_w
import uvloop

from gossamer.bootstrap import (
    Installation,
    OpenCrawl,
    open_crawl_stages,
    open_installation,
    raise_file_limit,
    wall_time,
)
from gossamer.config import CrawlConfig, as_plain, unknown_variables
from gossamer.core.rows import CrawlRow, Kind
from gossamer.core.url import Url, link_keys
from gossamer.stages.events import Discovered
from gossamer.stages.opening import Opening, SeenKindDiffers, open_crawl
from gossamer.stages.runner import End
from gossamer.surfaces.cli.control_socket import serve_control
from gossamer.surfaces.cli.faults import NothingBegun, named_faults, nothing_left_behind
from gossamer.surfaces.cli.live import Live
from gossamer.surfaces.cli.options import GroupedOptions, configuration, crawl_options, data_option
from gossamer.surfaces.cli.progress import Progress, Screen, go_on, next_steps, report
from gossamer.surfaces.cli.seeds import normal_seeds, sentence, unresolvable

INTERRUPTED = 130
GUIDED = "gossamer.guided"
"""In the context's `meta`: whoever calls says how to look at the crawl and how to go on."""
ADDED_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Order:
    """What the user asked for, read and checked."""

    data: Path
    seeds: tuple[Url, ...]
    given: dict[str, Any]
    file: Path | None
    new: bool
    is_guided: bool = False

    def config(self, stored: dict[str, Any] | None = None) -> CrawlConfig:
        """All options; `stored` are those that a crawl to go on with had before."""
        return configuration(self.given, self.file, stored)


@click.command("crawl", cls=GroupedOptions)
@click.argument("seeds", nargs=-1, metavar="[SEED]…")
@data_option
@crawl_options
@click.option("--new", is_flag=True, help="Another crawl in the same directory.")
def crawl(seeds: tuple[str, ...], data: Path, config: Path | None, new: bool, **given: Any) -> None:  # noqa: FBT001
    """Crawl from SEEDs until nothing is left or the budget is spent.

    In a directory with an unfinished crawl it goes on with that one. Ctrl-C ends it in an orderly way; the same
    command resumes it.
    """
    is_guided = bool(click.get_current_context().meta.get(GUIDED))
    order = Order(data, normal_seeds(seeds), given, config, new, is_guided)
    order.config()  # faults are told before anything is touched
    for warning in unknown_variables(os.environ):
        click.echo(f"gossamer: {warning}", err=True)
    with nothing_left_behind(data), named_faults(data), open_installation(data) as installation:
        code = uvloop.run(_crawl(order, installation))
    raise SystemExit(code)


async def _crawl(order: Order, installation: Installation) -> int:
    goes_on = installation.crawls and not order.new
    was_orderly = all(row.clean for row in installation.crawls)
    config = order.config(json.loads(installation.crawls[-1].options) if goes_on else None)
    options = as_plain(config)
    try:
        opening = open_crawl(installation.crawls, order.seeds, options, new=order.new, now=wall_time())
    except SeenKindDiffers as differs:
        raise NothingBegun(str(differs)) from differs
    if not opening.crawl.seeds:
        raise NothingBegun("no seed given, and no crawl to go on with; write: gossamer crawl https://example.com/")
    screen = Screen()
    raise_file_limit()
    if opening.still_spent:
        screen.say(_still_spent(opening.crawl, order))
        return 0
    async with open_crawl_stages(installation, opening.crawl, config, screen.say) as open_:
        interrupts = _Interrupts(open_, screen)
        await _check_names(open_, opening, config)
        for line in _told(opening, order):
            screen.say(line)
        installation.directory.resolved_config.write_text(tomli_w.dumps(options), encoding="utf-8")
        # After a kill nobody knows when hosts were contacted last, whichever crawl it was.
        await _admit_seeds(open_, rest_s=0.0 if was_orderly else config.delay_s)
        code = await _run(open_, order, installation, screen)
        return INTERRUPTED if interrupts.count else code


async def _check_names(open_: OpenCrawl, opening: Opening, config: CrawlConfig) -> None:
    """New seeds must have an address, at least one of them; nothing is stored before."""
    seeds = [Url(seed) for seed in opening.added]
    missing = await unresolvable(open_.dns, config, seeds)
    sentences = [sentence(seed, reason) for seed, reason in missing.items()]
    if seeds and len(missing) == len(seeds):
        raise NothingBegun("\n".join(sentences))
    for line in sentences:
        click.echo(line, err=True)


async def _run(open_: OpenCrawl, order: Order, installation: Installation, screen: Screen) -> int:
    crawl, clock, started_at = open_.crawl, open_.clock, open_.clock.monotonic()
    live = Live(open_, clock)
    gc.freeze()
    gc.set_threshold(50_000)  # a page makes hundreds of tuples and no cycles
    async with serve_control(installation.directory.socket, open_, live), asyncio.TaskGroup() as views:
        view = views.create_task(Progress(live, screen).run())
        end = await open_.runner.run()
        view.cancel()
    crawl.status = "stopped" if end is End.STOPPED else "completed"
    crawl.end, crawl.clean, crawl.ended_at = end.value, True, clock.now()
    crawl.active_s += clock.monotonic() - started_at
    await open_.stages.store.commit_group()
    screen.say(report(live, end, order.data))
    if not order.is_guided:
        screen.say(next_steps(crawl, end, order.data))
    return 0 if crawl.counters.fetched else 1


async def _admit_seeds(open_: OpenCrawl, *, rest_s: float) -> None:
    """Seeds are URLs like any other, through scope and traps; known ones change nothing."""
    stages, crawl = open_.stages, open_.crawl
    stages.frontier.load(rest_until=open_.clock.monotonic() + rest_s if rest_s else 0.0)
    crawl.clean = False
    crawl.status = "paused" if crawl.status == "paused" else "running"
    open_.runner.is_paused = crawl.status == "paused"
    seeds = [Url(seed) for seed in crawl.seeds]
    stages.store.submit(Discovered(list(seeds), b"".join(link_keys(seeds)), Kind.PAGE, 0, "seed"))
    await stages.store.commit_group()
    stages.parse.load()


class _Interrupts:
    """The first SIGINT or SIGTERM asks for an orderly end, the second ends the process: nothing is lost by that."""

    def __init__(self, open_: OpenCrawl, screen: Screen) -> None:
        self.count = 0
        self._screen = screen
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt, open_)

    def _interrupt(self, open_: OpenCrawl) -> None:
        self.count += 1
        if self.count > 1:
            self._screen.close()
            os._exit(INTERRUPTED)
        self._screen.say(
            "stopping: no new contacts, waiting for those under way (10 s at most); once more to stop at once"
        )
        open_.runner.stop()


def _told(opening: Opening, order: Order) -> Iterator[str]:
    """What begins, or goes on with what changed."""
    crawl = opening.crawl
    if opening.is_new:
        yield f"crawl {crawl.crawl_id} starts in {order.data}"
        return
    left = crawl.counters.unsettled + crawl.counters.sitemaps_open
    yield f"crawl {crawl.crawl_id} goes on in {order.data}: {crawl.counters.fetched} fetched, {left} URLs not settled"
    for change in opening.changes:
        yield f"  changed: {change}"
    for seed in opening.added[:ADDED_SHOWN_MAX]:
        yield f"  added: seed {seed} (--new begins another crawl)"
    if len(opening.added) > ADDED_SHOWN_MAX:
        yield f"  added: {len(opening.added) - ADDED_SHOWN_MAX:,} more seeds"


def _still_spent(crawl: CrawlRow, order: Order) -> str:
    left = crawl.counters.unsettled + crawl.counters.sitemaps_open
    sentence = f"crawl {crawl.crawl_id} has spent its budget: {crawl.counters.fetched:,} fetched, {left:,} not settled"
    return sentence if order.is_guided else f"{sentence}; {go_on(crawl, order.data)}"


COMMANDS = [crawl]
