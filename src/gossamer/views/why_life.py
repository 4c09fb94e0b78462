"""What happened to a URL and what comes next: its last events, what is stored, what parsing made of it."""

from gossamer.core.keys import ready_key
from gossamer.core.rows import HISTORY_MAX, CaptureKey, FetchFacts, Kind, PageRow, State, UrlRow
from gossamer.ports.partition_store import Family
from gossamer.views.forms import rfc3339
from gossamer.views.lookup import Known
from gossamer.views.why_case import Case, Step

AHEAD_MAX = 10_000
"""URLs counted in front of one that waits in the queue of its host."""


def life_steps(known: Known, page: PageRow | None) -> list[Step]:
    """The events in order, then what came of them."""
    steps = [_event_step(at, what) for at, what in known.row.history]
    if len(steps) >= HISTORY_MAX:
        steps.insert(0, Step("event", "…", f"only the last {HISTORY_MAX} events are kept"))
    if known.row.fetch is not None:
        steps += _fetch_steps(known.row.fetch)
    if page is not None:
        steps += _page_steps(page)
    return steps


def _event_step(at: float, what: str) -> Step:
    state, _, reason = what.partition(": ")
    return Step("event", state, reason, rfc3339(at))


def _fetch_steps(fetch: FetchFacts) -> list[Step]:
    because = f"{fetch.content_type or 'no content type'}, {fetch.wire_bytes:,} bytes in {fetch.duration_s:.2f} s"
    if fetch.truncated:
        because += f"; cut: {fetch.truncated}"
    if fetch.redirect_to:
        because += f"; it redirects to {fetch.redirect_to}"
    answer = Step("answer", f"status {fetch.status}", because, rfc3339(fetch.fetched_at))
    return [answer, Step("stored", "raw", _place(fetch.raw_key))]


def _place(key: CaptureKey) -> str:
    return f"{key.length:,} bytes (gzip) at {key.offset:,} of {key.segment}"


def _page_steps(page: PageRow) -> list[Step]:
    title = f", “{page.title}”" if page.title else ""
    links = f"; {page.links:,} links, {page.links_admissible:,} of them to follow"
    marks = "".join(f"; it says {name}" for name, is_set in _marks(page) if is_set)
    fault = f"; {page.fault}" if page.fault else ""
    steps = [
        Step(
            "parsed", page.kind, f"{page.charset or 'no charset'}{title}{links}{marks}{fault}", rfc3339(page.parsed_at)
        )
    ]
    if page.text_key is not None:
        steps.append(Step("stored", "text", f"{page.text_chars:,} characters, {_place(page.text_key)}"))
    return steps


def _marks(page: PageRow) -> tuple[tuple[str, bool], ...]:
    return ("noindex", page.noindex), ("nofollow", page.nofollow)


def next_step(case: Case, known: Known, obstacles: list[Step]) -> Step:
    """What comes next and when. `obstacles`: the steps of the rules, as far as they hold it up."""
    row = known.row
    match row.state:
        case State.READY:
            return Step("next", "fetch", _ready_because(case, known, obstacles))
        case State.WAITING:
            because = f"try {row.attempts + 1} is due{_unless_running(case)}"
            return Step("next", "try again", because, rfc3339(row.due_at))
        case State.CAPTURED:
            return Step("next", "parse", f"it lies in the queue of the parsers{_unless_running(case)}")
        case _:
            return Step("next", "nothing", _settled_because(row))


def _ready_because(case: Case, known: Known, obstacles: list[Step]) -> str:
    ahead = _count_ahead(case, known)
    queue = (
        f"{ahead:,} URLs of its host are before it"
        if ahead < AHEAD_MAX
        else f"{AHEAD_MAX:,} URLs or more are before it"
    )
    if ahead < 2:
        queue = "one URL of its host is before it" if ahead else "it is the first in the queue of its host"
    held = "".join(f"; held up by {step.what}: {step.decision}" for step in obstacles)
    return queue + held + _unless_running(case)


def _count_ahead(case: Case, known: Known) -> int:
    start = ready_key(case.crawl.number, known.key[:8], 0, 0)
    stop = ready_key(case.crawl.number, known.key[:8], known.row.priority, known.row.sequence)
    ahead = 0
    for _ in case.partition.scan(Family.READY, start, stop):
        ahead += 1
        if ahead >= AHEAD_MAX:
            break
    return ahead


def _unless_running(case: Case) -> str:
    if case.crawl.status == "paused":
        return "; the crawl is paused: `gossamer resume`"
    return "" if case.is_running else "; no process crawls here now: `gossamer crawl` goes on"


def _settled_because(row: UrlRow) -> str:
    if row.kind is Kind.SITEMAP and row.state is State.FETCHED:
        return "this sitemap is read; the pages that it names are URLs of their own"
    return {
        State.FETCHED: "it is fetched and parsed",
        State.REDIRECTED: f"it redirects {row.reason}; a target that is followed is a URL of its own",
        State.FAILED: f"{row.reason} is a final answer",
        State.DENIED: f"{row.reason}: nobody is asked for it",
        State.DEAD: f"given up after {row.attempts} attempts, the last one {row.reason}",
    }[row.state]
