"""How a crawl is shown while it runs: a live view on a terminal, a line every ten seconds elsewhere; then a report."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gossamer.core.rows import State
from gossamer.stages.runner import End
from gossamer.surfaces.cli.live import Live

if TYPE_CHECKING:
    from rich.console import RenderableType

TICK_S: Final = 0.5
LINE_EVERY_S: Final = 10.0
REASONS_SHOWN_MAX: Final = 5
BAR_CELLS: Final = 32


class Progress:
    """Ticks until cancelled; the caller's task ends it."""

    def __init__(self, live: Live) -> None:
        self._live = live

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
        from rich.console import Console  # noqa: PLC0415  26 ms that a piped crawl need not pay
        from rich.live import Live as RichLive  # noqa: PLC0415

        console = Console(file=sys.__stderr__)
        with RichLive(console=console, refresh_per_second=4, transient=True, redirect_stderr=True) as view:
            while True:
                view.update(panel(self._live))
                await asyncio.sleep(TICK_S)


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


def panel(live: Live) -> "RenderableType":
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
    grid.add_row("", _bar(document["fetched"], live.left()))
    grid.add_row("queue", f"{document['frontierSize']:,} of {document['discovered']:,} discovered")
    hosts = document["hosts"]
    grid.add_row(
        "hosts", f"[green]{hosts['busy']}[/] busy   {hosts['waiting']} waiting   [yellow]{hosts['parked']}[/] parked"
    )
    grid.add_row("received", size(document["bytes"]))
    reasons = sorted(crawl.counters.reasons.items(), key=lambda item: -item[1])[:REASONS_SHOWN_MAX]
    grid.add_row("not fetched", "   ".join(f"{reason} [bold]{count:,}[/]" for reason, count in reasons) or "none")
    waiting = waits_for(live)
    if waiting:
        grid.add_row("waits for", waiting)
    title = f"gossamer · {crawl.crawl_id}" + (" · paused" if document["status"] == "paused" else "")
    return Panel(grid, title=title, title_align="left", border_style="dim", expand=False)


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


def _bar(done: int, left: int) -> str:
    share = done / (done + left) if done + left else 0.0
    full = round(share * BAR_CELLS)
    return f"[cyan]{'━' * full}[/][dim]{'━' * (BAR_CELLS - full)}[/] {share:.0%}"


def report(live: Live, end: End, data: Path) -> str:
    """The last words: what came of it, where it lies, how to look at it or go on."""
    crawl, counters = live.open.crawl, live.open.crawl.counters
    states = counters.states
    took = crawl.active_s
    first = {
        End.COMPLETED: f"crawl {crawl.crawl_id} is complete",
        End.BUDGET_SPENT: f"crawl {crawl.crawl_id} has spent its budget",
        End.STOPPED: f"crawl {crawl.crawl_id} is stopped",
    }[end]
    rows = [
        ("fetched", f"{counters.fetched:,} pages, {size(counters.wire_bytes)} in {span(took)}"),
        ("redirected", f"{states[State.REDIRECTED]:,}"),
        ("failed", f"{states[State.FAILED] + states[State.DEAD]:,}"),
        ("denied", f"{states[State.DENIED]:,} by robots.txt"),
        ("not settled", f"{counters.unsettled:,}"),
        ("outside", f"{counters.refused.get('outside', 0):,} links"),
        ("contacts", f"{counters.contacts:,}, each in {data}/contacts/"),
        ("files", f"{data}/warc/{crawl.crawl_id}/  {data}/text/{crawl.crawl_id}/"),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [first, *(f"  {name:<{width}}  {value}" for name, value in rows)]
    lines.append(f"look: gossamer pages --data {data}    gossamer why URL --data {data}")
    if counters.unsettled and end is not End.COMPLETED:
        lines.append(f"go on: gossamer crawl --data {data}")
    return "\n".join(lines)
