"""What the many URLs of a host and a site say about one more: its pattern, and the traps that only counts show."""

from gossamer.core.patterns import form_of, pattern_of, year_of
from gossamer.core.rows import Kind, TallyRow, UrlRow, new_tally
from gossamer.core.site_traps import (
    HostCounts,
    Novelty,
    SiteTrap,
    explain_site_trap,
    is_host_burst,
    is_site_burst,
    weigh,
)
from gossamer.core.url import Url, host_of, site_of
from gossamer.core.visits import without_visit
from gossamer.views.budgets import SiteBudgets
from gossamer.views.lookup import host_key_of, tally_row
from gossamer.views.why_case import Case, Step

WELCOME = "welcome"
RENAMED = "renamed"


def pattern_step(case: Case, url: Url, named_by: UrlRow | None, tally: TallyRow | None) -> Step:
    """How `url`, named by that page or redirect (None: by none that is known), would be taken as things stand now."""
    tally = tally or new_tally(host_of(url), site_of(host_of(url)))
    page = Url(named_by.url) if named_by is not None and named_by.kind is Kind.PAGE else None
    renamed = without_visit(url, tally.visits.dropped) if page and host_of(page) == tally.host else url
    if renamed != url:
        return Step("pattern", RENAMED, f"a parameter names a visit on this host and is dropped: {renamed}")
    form = form_of(url)
    kin = form_of(page) if page is not None and host_of(page) == tally.host else None
    weighed = weigh(tally.counts, kin, form, year_of(case.now))
    burst = _burst(case, page, tally) if page is not None and not tally.has_urls else None
    shown = _shown(url, tally.counts)
    trap = burst or weighed.trap
    if trap is not None:
        return Step("pattern", trap.value, f"{explain_site_trap(trap)}; {shown}")
    if weighed.level:
        steps = "1 step" if weighed.level == 1 else f"{weighed.level} steps"
        return Step("pattern", "later", f"{steps} behind others of its hop; {shown}")
    return Step("pattern", WELCOME, shown)


def refusal_of(step: Step) -> str | None:
    """Why such a URL does not come into the crawl; None when it does."""
    return None if step.decision in (WELCOME, "later") else step.decision


def _burst(case: Case, page: Url, tally: TallyRow) -> SiteTrap | None:
    """The host has no URL yet: whether it has to wait."""
    rows = SiteBudgets(case.partition, case.crawl.number, case.rules.ceilings)
    site, linking = rows.row(tally.site), rows.row(site_of(host_of(page)))
    if not site.hosts:
        is_behind = linking.family and is_site_burst(rows.row(linking.family))
        return SiteTrap.SITE_BURST if is_behind else None
    leading = tally_row(case.partition, case.crawl.number, host_key_of(host_of(page)))
    counts = leading.counts if leading is not None and leading.site == tally.site else None
    return SiteTrap.HOST_BURST if is_host_burst(site, counts) else None


def _shown(url: Url, counts: HostCounts) -> str:
    """The pattern and what is counted of it, and how much of the host is known."""
    pattern, key = pattern_of(url), form_of(url).pattern
    count = counts.patterns.get(key) if key is not None else None
    if pattern is None:
        shown = "no number and no query: not a URL that is counted through"
    elif count is None:
        shown = f"none of {pattern} has led to another of its kind"
    else:
        of_them = f"{count.own:,} of {pattern} were led to by their own kind"
        shown = f"{of_them}, {count.texts:,} had a new text, and they led to {count.led:,} others first"
    return shown + _repeated(counts.novelty)


def _repeated(novelty: Novelty) -> str:
    if not novelty.level:
        return ""
    return f"; of the last {novelty.new + novelty.known:,} texts of the host {novelty.known:,} were known"
