"""The commands that hand out what a crawl stored: `text raw export`. Each works while one runs."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from gossamer.core.warc import StoredRecord
from gossamer.surfaces.cli.looking_prose import not_stored
from gossamer.surfaces.cli.opened import AnswerIsNo, Look, MachineFailed, looking, looking_at_octets, opened, urls_of
from gossamer.surfaces.cli.printing import (
    Ticker,
    is_terminal,
    printable_text,
    write_document,
    write_lines,
    write_octets,
)
from gossamer.views.links import LinkView, link_views
from gossamer.views.lookup import Known, first_known, page_row
from gossamer.views.pages import PageFilter, PageView, page_views
from gossamer.views.records import record_at, stored_body
from gossamer.views.texts import TextView, text_views

PROBLEMS_SHOWN_MAX = 10


@click.command("text", short_help="The stored text of a URL.")
@click.argument("url")
@looking
def text(look: Look, url: str) -> None:
    """Print the text of a page as it is stored, in UTF-8."""
    with opened(look) as found, found.text() as texts:
        meant, known = first_known(found.partition, found.crawl.number, urls_of(url))
        page = page_row(found.partition, found.crawl.number, known.key) if known else None
        if known is None or page is None or page.text_key is None:
            raise AnswerIsNo(not_stored(meant, known, "text", found.crawl.crawl_id))
        _print_text(look, known, _whole(record_at(texts, page.text_key)).block)


@click.command("raw", short_help="The stored bytes of a URL.")
@click.argument("url")
@click.option("--headers", is_flag=True, help="The status line and header fields before it, exactly as received.")
@click.option("--as-received", is_flag=True, help="Keep transfer and content coding: the octets of the connection.")
@looking_at_octets
def raw(look: Look, url: str, headers: bool, as_received: bool) -> None:  # noqa: FBT001  click's way
    """Print the body that a URL answered with, octet for octet.

    Chunks and compression are taken off, as browsers and `curl --compressed` do; --as-received keeps them.
    """
    with opened(look) as found, found.raw() as records:
        meant, known = first_known(found.partition, found.crawl.number, urls_of(url))
        if known is None or known.row.fetch is None:
            raise AnswerIsNo(not_stored(meant, known, "answer", found.crawl.crawl_id))
        body = stored_body(_whole(record_at(records, known.row.fetch.raw_key)))
        if body.fault and not as_received:
            click.echo(f"gossamer: {meant}: {body.fault}", err=True)
        octets = body.wire if as_received else body.body
        _print_raw((body.head if headers else b"") + octets)


@click.command("export", short_help="Write pages, links or texts to a file.")
@click.argument("what", type=click.Choice(["pages", "links", "text"]))
@click.option("--to", "target", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where to.")
@click.option("--include-noindex", is_flag=True, help="With text: also pages that ask not to be indexed.")
@looking
def export(look: Look, what: str, target: Path, include_noindex: bool) -> None:  # noqa: FBT001  click's way
    """Write pages, links or texts to a .jsonl, .csv or .parquet file.

    The file appears when it is complete; one of that name is replaced then. Exit code 1 when something could not be
    read: the rest is written all the same.
    """
    from gossamer.surfaces.cli.exporting import checked_target, export_rows  # noqa: PLC0415  the only command

    checked_target(target)
    ticker, problems = Ticker(), _Problems()
    with opened(look) as found, found.text() as texts:
        kind: type[msgspec.Struct]
        rows: Iterator[msgspec.Struct]
        match what:
            case "pages":
                kind, rows = PageView, page_views(found.partition, found.crawl.number, PageFilter())
            case "links":
                kind, rows = LinkView, link_views(found.partition, found.crawl.number)
            case _:
                wanted = (found.partition, found.crawl.number, texts, problems.add)
                kind, rows = TextView, text_views(*wanted, include_noindex=include_noindex)
        try:
            count = export_rows(kind, rows, target, ticker.tick)
        except OSError as error:
            raise MachineFailed(f"{target} can't be written: {error.strerror or error}") from error
    ticker.done()
    problems.tell()
    if look.as_json:
        write_document({"file": str(target), "rows": count, "problems": problems.count})
    else:
        write_lines([f"{count:,} rows in {target}"])
    if problems.count:
        raise click.exceptions.Exit(1)


# Parts ---------------------------------------------------------------------------------------------------------------


class _Problems:
    """What could not be read: all counted, the first told."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, sentence: str) -> None:
        self.count += 1
        if self.count <= PROBLEMS_SHOWN_MAX:
            click.echo(f"gossamer: {sentence}", err=True)

    def tell(self) -> None:
        if self.count > PROBLEMS_SHOWN_MAX:
            click.echo(f"gossamer: and {self.count - PROBLEMS_SHOWN_MAX:,} more", err=True)


def _whole(record: StoredRecord | str) -> StoredRecord:
    if isinstance(record, str):
        raise MachineFailed(f"{record}; `gossamer verify` looks at everything")
    return record


def _print_text(look: Look, known: Known, octets: bytes) -> None:
    shown = octets.decode("utf-8", "replace")
    if look.as_json:
        write_document({"url": known.row.url, "text": shown})
    elif is_terminal():
        write_lines([printable_text(shown)])
    else:
        write_octets([octets])


def _print_raw(octets: bytes) -> None:
    """A terminal gets text without what it would obey, and nothing binary, as from curl."""
    if not is_terminal():
        write_octets([octets])
    elif b"\0" in octets[:8_192]:
        raise click.UsageError(f"{len(octets):,} bytes that are no text; send them to a file with >")
    else:
        write_lines([printable_text(octets.decode("utf-8", "replace"))])


COMMANDS: list[click.Command] = [text, raw, export]
