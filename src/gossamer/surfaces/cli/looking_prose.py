"""What the looking commands say to people. The same answers for programs come from `views` as they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gossamer.core.rows import State
from gossamer.core.url import Url
from gossamer.surfaces.cli.printing import BOLD, DIM, Column, Fit, pairs, printable, styled
from gossamer.views.forms import rfc3339
from gossamer.views.hosts import HostView
from gossamer.views.lookup import Known
from gossamer.views.pages import PageView

PAGE_COLUMNS: Final = (
    Column("STATE"),
    Column("STATUS", right=True),
    Column("HOP", right=True),
    Column("WHEN"),
    Column("URL", fit=Fit.WHOLE),
    Column("NOTE", fit=Fit.SHORT),
)
HOST_COLUMNS: Final = (
    Column("HOST", fit=Fit.WHOLE),
    Column("QUEUED", right=True),
    Column("FETCHED", right=True),
    Column("FAILED", right=True),
    Column("DENIED", right=True),
    Column("BUDGET LEFT", right=True),
    Column("REST", right=True),
    Column("NEXT CONTACT"),
    Column("ROBOTS"),
)
REASONS_SHOWN_MAX = 8
_NAMES: Final = {"outcome": "state"}  # programs have always had it as `outcome`
SEEDS_SHOWN_MAX = 3


def moment(at: str | None) -> str:
    """`2026-05-02 10:00:00Z` of an RFC 3339 time: the one form for people."""
    return at[:19].replace("T", " ") + "Z" if at else ""


def size(count: float) -> str:
    """Bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1_000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:.1f} TB"


# Status ---------------------------------------------------------------------------------------------------------------


def status_prose(document: dict[str, Any], data: Path) -> Iterator[str]:
    """The totals, what kept pages away, and how to go on."""
    yield f"{styled('crawl ' + document['crawlId'], BOLD)}  {_standing(document)}"
    yield ""
    yield from pairs([(name, value) for name, value in _status_rows(document) if value or not name])
    reasons = sorted(document["reasons"].items(), key=lambda item: -item[1])
    refused = sorted(document["refused"].items(), key=lambda item: -item[1])
    for title, counts in (("why not", reasons), ("links left out", refused)):
        if counts:
            yield ""
            yield f"  {title}"
            yield from pairs([(f"{count:>10,}", printable(name)) for name, count in counts[:REASONS_SHOWN_MAX]])
    hint = _hint(document, data)
    if hint:
        yield ""
        yield styled(hint, DIM)


def _standing(document: dict[str, Any]) -> str:
    """A crawl that has spent its budget is not finished."""
    if document.get("end") == "budget-spent":
        return styled(f"budget spent, {document['frontierSize']:,} left to do", {"fg": "yellow"})
    return styled(document["status"])


def _status_rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    states, hosts, seeds = document["states"], document["hosts"], document["seeds"]
    more = f"  and {len(seeds) - SEEDS_SHOWN_MAX:,} more" if len(seeds) > SEEDS_SHOWN_MAX else ""
    rate, eta = document["pagesPerSecond"], document["etaSeconds"]
    ending = f", about {eta / 60:.0f} min left" if eta is not None and eta >= 90 else ""
    return [
        ("seeds", "  ".join(printable(seed) for seed in seeds[:SEEDS_SHOWN_MAX]) + more),
        ("started", moment(document["createdAt"])),
        ("ended", moment(document["endedAt"])),
        ("", ""),
        ("discovered", f"{document['discovered']:>10,}"),
        ("fetched", f"{document['fetched']:>10,}  {size(document['bytes'])} received, {rate:.1f} pages/s{ending}"),
        ("redirected", f"{states['redirected']:>10,}"),
        ("failed", f"{document['failed']:>10,}"),
        ("denied", f"{document['robotsDenied']:>10,}  by robots.txt"),
        ("left to do", f"{document['frontierSize']:>10,}{_unsettled(states)}"),
        ("hosts", f"{sum(hosts.values()):>10,}  with work: " + ", ".join(f"{n:,} {what}" for what, n in hosts.items())),
        ("sitemaps", f"{document['sitemaps']['found']:>10,}" if document["sitemaps"]["found"] else ""),
        ("contacts", f"{document['contacts']['all']:>10,}  {document['contacts']['robots']:,} of them for robots.txt"),
    ]


def _unsettled(states: dict[str, int]) -> str:
    parts = [f"{states[name]:,} {name}" for name in ("ready", "waiting", "captured") if states[name]]
    return "  " + ", ".join(parts) if parts else ""


def _hint(document: dict[str, Any], data: Path) -> str:
    if document["status"] == "paused":
        return f"go on: gossamer resume --data {data}"
    if document.get("end") == "budget-spent":
        return f"go on: gossamer crawl --data {data} with a higher --max-pages or --max-pages-per-host"
    if document["status"] != "running" and document["frontierSize"]:
        return f"go on: gossamer crawl --data {data}"
    return ""


# Lists ----------------------------------------------------------------------------------------------------------------


def page_cells(view: PageView) -> tuple[str, ...]:
    """A line of `pages`. The note is what matters most: why not, where to, or the title."""
    why_and_where = filter(None, (view.reason, f"→ {view.redirect_to}" if view.redirect_to else None))
    note = " ".join(why_and_where) or view.title or ""
    status = str(view.status) if view.status else ""
    return view.outcome, status, str(view.hop), moment(view.fetched_at), view.url, note


def page_detail(view: PageView) -> Iterator[str]:
    """Everything about one URL."""
    yield styled(printable(view.url), BOLD)
    yield ""
    values = zip(view.__struct_encode_fields__, view.__struct_fields__, strict=True)
    known = [(name, getattr(view, field)) for name, field in values if field != "url"]
    yield from pairs(
        [(_NAMES.get(name, name), _shown(name, value)) for name, value in known if value not in (None, "")]
    )


def _shown(name: str, value: object) -> str:
    text = printable(str(value))
    return moment(text) if name.endswith("At") else text


def host_cells(view: HostView, now: float) -> tuple[str, ...]:
    """A line of `hosts`."""
    counts = (view.queued, view.fetched, view.failed, view.robots_denied)
    left = "" if view.budget_left is None else f"{view.budget_left:,}"
    rest = f"{view.delay_seconds:.3g} s"
    return view.host, *(f"{count:,}" for count in counts), left, rest, _next_contact(view, now), view.robots.reason


def _next_contact(view: HostView, now: float) -> str:
    if view.breaker == "dead":
        return "given up"
    if view.front_level == "over-budget":
        return "over budget"
    at = view.next_allowed_at
    upcoming = "now" if at is None or at <= (rfc3339(now) or "") else moment(at)
    return f"{upcoming}, a probe" if view.breaker == "open" else upcoming


# Absence --------------------------------------------------------------------------------------------------------------


def not_stored(url: Url, known: Known | None, what: str, crawl_id: str) -> str:
    """One sentence: why there is no such thing for this URL."""
    if known is None:
        return f"{url} was never admitted to crawl {crawl_id}; `gossamer why` tells more"
    row = known.row
    match row.state:
        case State.READY:
            because = "it is ready, but not fetched yet"
        case State.WAITING:
            because = f"it waits for its next try at {moment(rfc3339(row.due_at))} ({row.reason})"
        case State.CAPTURED:
            because = "it is captured, but not parsed yet"
        case State.FETCHED:
            kind = row.fetch.content_type if row.fetch else ""
            because = f"it is fetched, but none was found in it ({kind or 'no content type'})"
        case State.REDIRECTED:
            because = f"it is redirected {row.reason}"
        case _:
            because = f"it is {row.state.label}: {row.reason}"
    return printable(f"{url} has no stored {what}: {because}")
