"""Every decision about one URL, in the order in which they fall, for URLs of the crawl and for those it never took."""

from collections.abc import Callable

import msgspec

from gossamer.core.admission import INSIDE
from gossamer.core.rows import Kind
from gossamer.core.url import Url
from gossamer.views.lookup import Known, host_row, key_of, known_url, page_row, tally_row, url_row
from gossamer.views.why_case import Case, Step
from gossamer.views.why_counts import pattern_step, refusal_of
from gossamer.views.why_found import Search, found_steps, search_naming
from gossamer.views.why_life import life_steps, next_step
from gossamer.views.why_rules import form_step, hops_step, robots_step, rules_steps, scope_step, trap_step

HOLDING_UP = frozenset({"spent", "closed", "denied", "not asked yet", "asked again first"})
"""Decisions of rules that keep a URL in the queue for now."""


class WhyView(msgspec.Struct, rename="camel"):
    """`state` is null for a URL that was never admitted."""

    url: str
    crawl_id: str
    state: str | None
    steps: list[Step]


def explain(case: Case, written: str, url: Url, is_over: Callable[[], bool]) -> WhyView:
    """The story of a URL. `is_over` bounds the search for a link to a URL that was never admitted."""
    known = known_url(case.partition, case.crawl.number, url)
    steps = [form_step(written, url), scope_step(case, url), trap_step(url)]
    if known is None:
        steps += _never_admitted(case, url, search_naming(case, url, is_over))
    else:
        steps += _admitted(case, url, known)
    return WhyView(url, case.crawl.crawl_id, known.row.state.label if known else None, steps)


def _admitted(case: Case, url: Url, known: Known) -> list[Step]:
    host = host_row(case.partition, known.key[:8])
    tally = tally_row(case.partition, case.crawl.number, known.key[:8])
    rules = rules_steps(case, url, known.row, host, tally)
    if known.row.kind is Kind.PAGE:
        parent = url_row(case.partition, case.crawl.number, known.row.via) if known.row.via else None
        pattern = pattern_step(case, url, parent, tally)
        if refusal_of(pattern) is not None:
            pattern.because += "; this one was admitted before"
        rules.insert(0, pattern)
    life = life_steps(known, page_row(case.partition, case.crawl.number, known.key))
    obstacles = [step for step in rules if step.decision in HOLDING_UP]
    return [*found_steps(case, known.row), *rules, *life, next_step(case, known, obstacles)]


def _never_admitted(case: Case, url: Url, search: Search) -> list[Step]:
    verdict = case.rules.admissibility.verdict(url)
    host = host_row(case.partition, key_of(url, Kind.PAGE)[:8])
    steps = []
    if search.naming is None:
        steps.append(Step("found", "no", _nobody(search)))
    else:
        naming = search.naming
        steps.append(
            Step("found", naming.how, f"on {naming.by.url} (hop {naming.by.hop}); verdict on it: {naming.verdict}")
        )
        if verdict == INSIDE:
            tally = tally_row(case.partition, case.crawl.number, key_of(url, Kind.PAGE)[:8])
            steps.append(pattern_step(case, url, naming.by, tally))
            steps.append(hops_step(case, naming.by.hop + 1))
    if host is not None:
        steps.append(robots_step(case, url, host))
    reason = _reason(case, steps, verdict, search)
    return [*steps, Step("next", "nothing", f"it was never admitted: {reason}")]


def _nobody(search: Search) -> str:
    if search.is_complete:
        return f"no page or redirect of this crawl names it ({search.rows:,} rows read)"
    return f"none of the first {search.rows:,} rows names it; the search stopped there"


def _reason(case: Case, steps: list[Step], verdict: str, search: Search) -> str:
    if verdict != INSIDE:
        return verdict
    if search.naming is None:
        return "nobody named it"
    if any(step.decision == "too-many-hops" for step in steps):
        return "too-many-hops"
    if search.naming.verdict != INSIDE:
        return search.naming.verdict
    for step in steps:
        if step.what == "pattern" and (refusal := refusal_of(step)) is not None:
            return refusal
    if case.rules.seen == "bloom":
        return "the filter of --seen bloom took it for known"
    return "its turn has not come when this was read"
