"""How a crawl is shown while it runs: a live view on a terminal, a line every ten seconds elsewhere; then a report."""

import asyncio
import json
import os
import shlex
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gossamer.core.rows import CrawlRow, State
from gossamer.stages.runner import End
from gossamer.surfaces.cli.live import Live

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live as RichLive

TICK_S: Final = 0.5
LINE_EVERY_S: Final = 10.0
REASONS_SHOWN_MAX: Final = 5
BAR_CELLS: Final = 32
PANEL_CELLS: Final = 84
LABEL_CELLS: Final = 17
"""Of a line of the panel: the frame, the longest label and what is between."""
_LFLAG: Final = 3


class Screen:
    """Standard error: sentences go above the live view while there is one, and Ctrl-C is not echoed into it."""

    def __init__(self) -> None:
        self._view: RichLive | None = None
        self._fd = -1
        self._echo: list[Any] | None = None

    def say(self, sentence: str) -> None:
        """One line for people."""
        if self._view is None:
            click.echo(sentence, err=True)
        else:
            self._view.console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def open(self) -> "RichLive":
        """Begin a live view; `close` ends it."""
        from rich.console import Console  # noqa: PLC0415  26 ms that a piped crawl need not pay
        from rich.live import Live as RichLive  # noqa: PLC0415

        self._hide_control_echo()
        self._view = RichLive(console=Console(file=sys.__stderr__), refresh_per_second=4, transient=True)
        self._view.start()
        return self._view

    def close(self) -> None:
        """Take the live view away and leave the terminal as it was. Again does nothing."""
        view, self._view = self._view, None
        if view is not None:
            view.stop()
        if self._echo is not None and self._is_ours():
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, self._echo)
        self._echo = None

    def _hide_control_echo(self) -> None:
        with suppress(termios.error, OSError):
            self._fd = sys.stderr.fileno()
            if not self._is_ours():
                return
            before, quiet = termios.tcgetattr(self._fd), termios.tcgetattr(self._fd)
            quiet[_LFLAG] &= ~termios.ECHOCTL
            termios.tcsetattr(self._fd, termios.TCSANOW, quiet)
            self._echo = before

    def _is_ours(self) -> bool:
        """In the background a change of the terminal would stop us."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return False


class Progress:
    """Ticks until cancelled; the caller's task ends it."""

    def __init__(self, live: Live, screen: Screen) -> None:
        self._live = live
        self._screen = screen

    async def run(self) -> None:
        """Show the crawl on stderr."""
        if sys.stderr.isatty():
            await self._view()
        else:
            await self._lines()

    async def _lines(self) -> None:
        next_line = LINE_EVERY_S
        while True:
            await asyncio.sleep(TICK_S)
            self._live.tick()
            next_line -= TICK_S
            if next_line <= 0:
                next_line = LINE_EVERY_S
                click.echo(line(self._live.document()), err=True)

    async def _view(self) -> None:
        view = self._screen.open()
        try:
            while True:
                view.update(panel(self._live, min(PANEL_CELLS, view.console.width)))
                await asyncio.sleep(TICK_S)
        finally:
            self._screen.close()


def line(document: dict[str, Any]) -> str:
    """One line: `1,204 pages, 31.0/s, 4,480 queued, hosts 9 busy 1 waiting 0 parked, 3 failed`."""
    hosts, eta = document["hosts"], document["etaSeconds"]
    parts = [
        f"{document['fetched']:,} pages",
        f"{document['pagesPerSecond']:.1f}/s",
        f"{document['frontierSize']:,} queued",
        f"hosts {hosts['busy']} busy {hosts['waiting']} waiting {hosts['parked']} parked",
        f"{document['failed']:,} failed",
    ]
    if document["status"] == "paused":
        parts.append("paused")
    elif eta is not None:
        parts.append(f"about {span(eta)} left")
    return ", ".join(parts)


def span(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def size(count: float) -> str:
    """Bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1_000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:.1f} TB"


def panel(live: Live, cells: int = PANEL_CELLS) -> "RenderableType":
    """The live view: a bar of what is done, hosts, errors by reason, and what is waited for."""
    from rich.panel import Panel  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    document, crawl = live.document(), live.open.crawl
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", justify="right")
    grid.add_column()
    eta = document["etaSeconds"]
    ending = "" if eta is None else f"   about {span(eta)} left"
    grid.add_row("pages", f"[bold]{document['fetched']:,}[/]   {document['pagesPerSecond']:.1f}/s{ending}")
    grid.add_row("", _bar(live))
    grid.add_row("queue", f"{document['frontierSize']:,} URLs")
    hosts = document["hosts"]
    grid.add_row(
        "hosts", f"[green]{hosts['busy']}[/] busy   {hosts['waiting']} waiting   [yellow]{hosts['parked']}[/] parked"
    )
    grid.add_row("received", size(document["bytes"]))
    reasons = sorted(crawl.counters.reasons.items(), key=lambda item: -item[1])[:REASONS_SHOWN_MAX]
    grid.add_row("not fetched", "\n".join(_whole_in_lines(reasons, cells - LABEL_CELLS)) or "none")
    waiting = waits_for(live)
    if waiting:
        grid.add_row("waits for", waiting)
    title = f"gossamer · {crawl.crawl_id}" + (" · paused" if document["status"] == "paused" else "")
    return Panel(grid, title=title, title_align="left", border_style="dim", width=cells)


def _whole_in_lines(counts: Sequence[tuple[str, int]], cells: int) -> list[str]:
    """`reason count` side by side, never broken: Rich breaks lines at no-break spaces too."""
    lines: list[str] = []
    used = cells
    for reason, count in counts:
        needed = len(f"{reason} {count:,}")
        word = f"{reason} [bold]{count:,}[/]"
        if used + needed + 3 > cells:
            lines, used = [*lines, word], needed
        else:
            lines[-1], used = f"{lines[-1]}   {word}", used + needed + 3
    return lines


def waits_for(live: Live) -> str:
    """What the crawl waits for and until when; empty while it is busy."""
    stages = live.open.stages
    if not stages.store.room.for_leases:
        return "space on the disk"
    if stages.frontier.in_flight or stages.parse.pending:
        return ""
    now = live.clock.monotonic()
    moments = []
    if (wake_at := stages.frontier.wake_at) is not None:
        moments.append((wake_at - now, "a host to be allowed again"))
    due_at = stages.store.ledger.next_due_at
    if due_at < float("inf"):
        moments.append((due_at - live.clock.now(), "a retry to be due"))
    if not moments:
        return ""
    seconds, what = min(moments)
    return f"{what}, in {span(seconds)}" if seconds > 1 else ""


def _bar(live: Live) -> str:
    """Of the budget where that ends the crawl; otherwise of what is discovered so far, which grows."""
    counters, budget = live.open.crawl.counters, live.open.stages.frontier.budget
    done, of, what = counters.discovered - counters.unsettled, counters.discovered, "discovered so far"
    if budget.ceiling is not None and live.left() < counters.unsettled:
        done, of, what = counters.fetched, budget.ceiling, "pages at most"
    share = min(1.0, done / of) if of else 0.0
    full = int(share * BAR_CELLS)
    return f"[cyan]{'━' * full}[/][dim]{'━' * (BAR_CELLS - full)}[/] {share:.0%} of {of:,} {what}"


def report(live: Live, end: End, data: Path) -> str:
    """What came of it, and where it lies."""
    crawl, counters = live.open.crawl, live.open.crawl.counters
    states = counters.states
    first = {
        End.COMPLETED: f"crawl {crawl.crawl_id} is complete",
        End.BUDGET_SPENT: f"crawl {crawl.crawl_id} has spent its budget",
        End.STOPPED: f"crawl {crawl.crawl_id} is stopped",
    }[end]
    rows = [
        ("fetched", f"{counters.fetched:,} pages, {size(counters.wire_bytes)} in {span(crawl.active_s)}"),
        ("redirected", f"{states[State.REDIRECTED]:,}"),
        ("failed", f"{states[State.FAILED] + states[State.DEAD]:,}"),
        ("denied", f"{states[State.DENIED]:,} by robots.txt"),
        ("not settled", f"{counters.unsettled:,}"),
        ("outside", f"{counters.refused.get('outside', 0):,} links"),
        ("contacts", f"{counters.contacts:,}, each in {data}/contacts/"),
        ("files", f"{data}/warc/{crawl.crawl_id}/  {data}/text/{crawl.crawl_id}/"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join([first, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def next_steps(crawl: CrawlRow, end: End, data: Path) -> str:
    """How to look at it or go on."""
    where = shlex.quote(str(data))
    look = f"look: gossamer pages --data {where}    gossamer why URL --data {where}"
    if end is End.COMPLETED or not (crawl.counters.unsettled or crawl.counters.sitemaps_open):
        return look
    return f"{look}\n{go_on(crawl, data)}"


def go_on(crawl: CrawlRow, data: Path) -> str:
    """The command that goes on with it, with a higher ceiling where the budget is spent."""
    raised = higher_ceiling(json.loads(crawl.options), crawl)
    return f"go on: gossamer crawl --data {shlex.quote(str(data))}{raised and ' '}{raised}"


def higher_ceiling(options: Mapping[str, Any], crawl: CrawlRow) -> str:
    """The option that would let a crawl with a spent budget go on; empty for any other."""
    most, most_of_host = options.get("max_pages"), options.get("max_pages_per_host")
    if most is not None and crawl.counters.fetched >= most:
        return f"--max-pages {2 * most}"
    if most_of_host is not None and crawl.end == End.BUDGET_SPENT:
        return f"--max-pages-per-host {2 * most_of_host}"
    most_of_site = options.get("max_pages_per_site")
    if most_of_site is not None and crawl.end == End.BUDGET_SPENT:
        return f"--max-pages-per-site {2 * most_of_site}"
    return ""
