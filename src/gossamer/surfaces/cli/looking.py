"""The commands that look at the rows of a crawl: `status pages hosts why verify`. Each works while one runs."""

import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from gossamer.core.rows import State
from gossamer.core.url import UrlFault
from gossamer.surfaces.cli.looking_prose import (
    HOST_COLUMNS,
    PAGE_COLUMNS,
    host_cells,
    not_stored,
    page_cells,
    page_detail,
    status_prose,
)
from gossamer.surfaces.cli.opened import (
    AnswerIsNo,
    Look,
    Opened,
    listing,
    live_status,
    looking,
    opened,
    urls_of,
)
from gossamer.surfaces.cli.printing import (
    Ticker,
    table,
    write_document,
    write_json_lines,
    write_lines,
)
from gossamer.views.forms import states_named
from gossamer.views.hosts import HostRules, HostView, host_views
from gossamer.views.lookup import first_known, host_meant, page_row
from gossamer.views.pages import PageFilter, PageRows, PageView, page_view, page_views
from gossamer.views.status import stored_status

if TYPE_CHECKING:
    from gossamer.views.verify_seen import SavedFilter

SEARCH_S = 2.0
"""How long `why` looks for a link to a URL that was never admitted."""
HOSTS_SORTED_MAX = 10_000
"""Hosts that people see busiest first; a longer list comes in the order of the store."""


@click.command("status", short_help="How far a crawl is.")
@click.argument("crawl", required=False)
@looking
def status(look: Look, crawl: str | None) -> None:
    """Say how far a crawl is: from the process that runs it, or else from what is stored.

    CRAWL is its id, by default the newest.
    """
    if crawl and look.crawl_id:
        raise click.UsageError(f"CRAWL = {crawl} and --crawl {look.crawl_id} are both given; one of them is enough")
    asked = Look(look.data, crawl or look.crawl_id, look.as_json)
    with opened(asked) as found:
        live = live_status(found.reading.directory.socket) if found.is_running else None
        if live is None or live["crawlId"] != found.crawl.crawl_id:
            live = stored_status(found.partition, found.crawl, found.now, found.robots_mode, is_held=found.is_running)
        if look.as_json:
            write_document(live)
        else:
            write_lines(status_prose(live, look.data))


@click.command("pages", short_help="The URLs of a crawl and what became of them.")
@click.option("--url", metavar="U", help="This URL only.")
@click.option("--host", metavar="H", help="URLs of this host.")
@click.option("--state", "labels", metavar="S", multiple=True, help="URLs in this state; may be given again.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="So many URLs at most.  [default: all]")
@listing
def pages(look: Look, url: str | None, host: str | None, labels: tuple[str, ...], limit: int | None) -> None:
    """List the URLs of a crawl: what was asked, what came, what parsing made of it.

    States: ready, waiting, captured, fetched, redirected, failed, denied, dead. In a narrow terminal notes are
    shortened, URLs are not: they are there to be copied.
    """
    try:
        wanted = PageFilter(_host(host), states_named(labels) if labels else frozenset(State))
    except ValueError as error:
        raise click.UsageError(f"--state: {error}") from error
    with opened(look) as found:
        if url is not None:
            _print_page(look, _one_page(found, url, wanted))
            return
        views = islice(page_views(found.partition, found.crawl.number, wanted), limit)
        if look.as_json:
            write_json_lines(views)
        else:
            _print_table(PAGE_COLUMNS, map(page_cells, views), "no URL matches")


@click.command("hosts", short_help="The hosts of a crawl and their manners.")
@click.option("--host", metavar="H", help="This host only.")
@listing
def hosts(look: Look, host: str | None) -> None:
    """List the hosts of a crawl: queue, results, what its budget leaves, how long each rests, and its robots.txt."""
    name = _host(host)
    with opened(look) as found:
        rules = HostRules(found.config.delay_rules, found.config.ceilings)
        views = host_views(found.partition, found.crawl.number, rules, found.now, host=name)
        if look.as_json:
            write_json_lines(views)
        else:
            cells = (host_cells(view, found.now) for view in _busiest_first(views))
            _print_table(HOST_COLUMNS, cells, "no host matches")


@click.command("why", short_help="Every decision about a URL, in order.")
@click.argument("url")
@looking
def why(look: Look, url: str) -> None:
    """Tell every decision about a URL in order: found, scoped, budgeted, allowed, tried, stored, and what comes next.

    Also for a URL that the crawl never took: which rule refused it, and which page links to it.
    """
    from gossamer.surfaces.cli.why_prose import why_prose  # noqa: PLC0415  the only command that needs them
    from gossamer.views.why import explain  # noqa: PLC0415

    with opened(look) as found:
        meant, _ = first_known(found.partition, found.crawl.number, urls_of(url))
        ends_at = time.monotonic() + SEARCH_S
        story = explain(found.case, url, meant, lambda: time.monotonic() >= ends_at)
        if look.as_json:
            write_document(story)
        else:
            write_lines(why_prose(story))


@click.command("verify", short_help="Prove that the accounts of a crawl are right.")
@click.option("--quick", is_flag=True, help="The accounts and the lengths of files only; read no record.")
@looking
def verify(look: Look, quick: bool) -> None:  # noqa: FBT001  click's way
    """Prove that every URL is in exactly one state, that totals reconcile, and that every record reads as it should.

    Of a crawl with --seen bloom, that each URL is in the filter; whether the filter knows others too, nobody can say.
    Exit code 1 on any problem. While a crawl runs, what was committed at the start of the command is verified.
    """
    from gossamer.surfaces.cli.segment_files import segments_of  # noqa: PLC0415  the only command that needs them
    from gossamer.surfaces.cli.verify_prose import verify_prose  # noqa: PLC0415
    from gossamer.views.verify import Depth, Segments  # noqa: PLC0415
    from gossamer.views.verify import verify as verify_crawl  # noqa: PLC0415

    ticker = Ticker()
    with opened(look) as found, found.raw() as records, found.text() as texts:
        segments = Segments(segments_of(found.reading, found.crawl), records, texts)
        view = verify_crawl(found.partition, found.crawl, segments, Depth(not quick, ticker.tick), _filter_of(found))
    ticker.done()
    if look.as_json:
        write_document(view)
    else:
        write_lines(verify_prose(view, is_quick=quick))
    if view.problems_total:
        raise click.exceptions.Exit(1)


# Parts ----------------------------------------------------------------------------------------------------------------


def _host(written: str | None) -> str | None:
    if written is None:
        return None
    host = host_meant(written)
    if isinstance(host, UrlFault):
        raise click.UsageError(f"--host {written!r} is no host: {host.value}")
    return host


def _filter_of(found: Opened) -> "SavedFilter | None":
    if found.config.seen == "exact":
        return None
    from gossamer.views.verify_seen import SavedFilter  # noqa: PLC0415  `verify` alone needs it

    return SavedFilter(partial(found.reading.seen_snapshot, found.crawl), found.config.bloom_plan)


def _one_page(found: Opened, url: str, wanted: PageFilter) -> PageView | None:
    meant, known = first_known(found.partition, found.crawl.number, urls_of(url))
    if known is None:
        raise AnswerIsNo(not_stored(meant, None, "row", found.crawl.crawl_id))
    view = page_view(PageRows(known.key, known.row, page_row(found.partition, found.crawl.number, known.key)))
    return view if known.row.state in wanted.states and wanted.host in (None, view.host) else None


def _print_page(look: Look, view: PageView | None) -> None:
    if look.as_json:
        write_json_lines([] if view is None else [view])
    elif view is not None:
        write_lines(page_detail(view))


def _print_table(columns: tuple[object, ...], cells: Iterable[tuple[str, ...]], nothing: str) -> None:
    rows = iter(cells)
    first = list(islice(rows, 1))
    if first:
        write_lines(table(columns, chain(first, rows)))  # type: ignore[arg-type]
    else:
        click.echo(nothing, err=True)


def _busiest_first(views: Iterator[HostView]) -> Iterator[HostView]:
    first = list(islice(views, HOSTS_SORTED_MAX))
    rest = next(views, None)
    if rest is None:
        yield from sorted(first, key=lambda view: (-(view.queued + view.fetched), view.host))
    else:
        yield from chain(first, [rest], views)


COMMANDS: list[click.Command] = [status, pages, why, hosts, verify]
