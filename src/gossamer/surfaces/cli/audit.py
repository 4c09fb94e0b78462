"""`gossamer audit`: was every contact polite? It reads the contact log and the stored robots.txt, and nothing else."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import click

from gossamer.adapters.files.contact_log import ContactLogDamaged, read_contacts
from gossamer.core.contacts import BeginContact, ContactRecord, RunFacts
from gossamer.core.url import UrlFault
from gossamer.surfaces.cli.opened import Look, MachineFailed, Opened, looking, opened
from gossamer.surfaces.cli.printing import BOLD, Ticker, pairs, printable, styled, write_document, write_lines
from gossamer.views.audit import AuditScope, AuditView, ViolationView, audit_view
from gossamer.views.lookup import host_meant

VIOLATIONS_SHOWN_MAX = 20


@click.command("audit", short_help="Prove from the contact log that the crawl was polite.")
@click.option("--host", metavar="H", help="Count contacts of this host only.")
@looking
def audit(look: Look, host: str | None) -> None:
    """Replay the contact log against the rules, and name every contact that broke one.

    All crawls of the directory count, for a host is one host to them. Exit code 1 on any violation.
    """
    name = _host(host)
    ticker = Ticker()
    with opened(look) as found:
        scope = AuditScope(_facts(found), name, ticker.tick)
        try:
            view = audit_view(found.partition, _records(found), scope)
        except ContactLogDamaged as error:
            raise MachineFailed(str(error)) from error
        except OSError as error:
            raise MachineFailed(f"the contact log can't be read: {error}") from error
    ticker.done()
    if look.as_json:
        write_document(view)
    else:
        write_lines(_prose(view))
    if view.violations_total:
        raise click.exceptions.Exit(1)


def _host(written: str | None) -> str | None:
    if written is None:
        return None
    host = host_meant(written)
    if isinstance(host, UrlFault):
        raise click.UsageError(f"--host {written!r} is no host: {host.value}")
    return host


def _records(found: Opened) -> Iterator[ContactRecord]:
    """The log; of a crawl that runs, what was there when its state was opened: later contacts may obey later rules."""
    records = read_contacts(found.reading.directory.contacts)
    return _until(records, datetime.fromtimestamp(found.now, UTC)) if found.is_running else records


def _until(records: Iterable[ContactRecord], now: datetime) -> Iterator[ContactRecord]:
    for record in records:
        if isinstance(record, BeginContact) and record.wall_time > now:
            return
        yield record


def _facts(found: Opened) -> RunFacts:
    """By the options of the crawl, for a log whose first file is gone."""
    config = found.config
    return RunFacts(
        started_at=datetime.fromtimestamp(found.crawl.created_at, UTC),
        started_monotonic_s=0.0,
        agent=config.user_agent,
        robots_unreachable=found.robots_mode,
        robots_off=tuple(config.robots),
    )


def _prose(view: AuditView) -> Iterator[str]:
    """The verdict, what it rests on, and each violation."""
    verdict = styled("no violation", {"fg": "green"})
    if view.violations_total:
        count = view.violations_total
        verdict = styled(f"{count:,} violation{'s' if count > 1 else ''}", {"fg": "red"})
    yield f"{styled('contact log', BOLD)}  {verdict}"
    yield ""
    rows = [("contacts", f"{view.contacts:,}  with {view.hosts:,} host{'' if view.hosts == 1 else 's'}")]
    if view.unfinished:
        rows.append(("without end", f"{view.unfinished:,}  under way, or when a process was killed"))
    if view.smallest_margin_ms is not None:
        rows.append(("tightest", f"{view.smallest_margin_ms:,.3f} ms beyond the pause that was due"))
    yield from pairs(rows)
    shown = view.violations[:VIOLATIONS_SHOWN_MAX]
    if shown:
        yield ""
    for violation in shown:
        yield f"  {printable(_sentence(violation))}"
    if view.violations_total > len(shown):
        yield f"  and {view.violations_total - len(shown):,} more"


def _sentence(violation: ViolationView) -> str:
    words = [violation.at, violation.kind, violation.url]
    if violation.needed_seconds is not None and violation.had_seconds is not None:
        words.append(f"{violation.had_seconds:.3f} s of {violation.needed_seconds:.3f} s")
    if violation.detail:
        words.append(f"({violation.detail})")
    return "  ".join([*words, f"contact {violation.contact_id}"])


COMMANDS = [audit]
