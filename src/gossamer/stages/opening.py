"""Which crawl a command is about: a new one, or the unfinished one of the directory with what changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from gossamer.core.rows import CrawlRow, State

CEILINGS = ("max_pages", "max_pages_per_host", "max_pages_per_site")
BUDGET_SPENT = "budget-spent"
SEEN_BEFORE = "exact"
"""What a crawl has whose options do not name it."""


class SeenKindDiffers(Exception):
    """A crawl can't go on with another kind of seen set; nothing was changed. The message says what to do."""


class Change(NamedTuple):
    """An option that has another value now; None is not set."""

    key: str
    old: object
    new: object

    @property
    def sentence(self) -> str:
        """For people."""
        return f"{self.key}: {_shown(self.old)} → {_shown(self.new)}"


@dataclass(frozen=True, slots=True)
class Opening:
    """The crawl to run. `changes` are sentences about options that differ from last time, `added` seeds it had not
    (all of a new one).

    `still_spent`: its budget was spent, and no ceiling is higher now: there is nothing to do.
    """

    crawl: CrawlRow
    is_new: bool
    changes: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    still_spent: bool = False


def open_crawl(
    known: Sequence[CrawlRow], seeds: Sequence[str], options: dict[str, object], *, new: bool, now: float
) -> Opening:
    """The newest crawl of the directory with these seeds added and these options in force, or another one.

    Changes the row of a resumed crawl; nothing is stored yet. Raises SeenKindDiffers.
    """
    text = json.dumps(options, sort_keys=True)
    if new or not known:
        number = max((row.number for row in known), default=0) + 1
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
        given = tuple(dict.fromkeys(seeds))
        return Opening(CrawlRow(number, f"{stamp}-{number}", now, list(given), text), is_new=True, added=given)
    crawl = known[-1]
    before = json.loads(crawl.options)
    _refuse_other_kind(crawl, before.get("seen", SEEN_BEFORE), options.get("seen", SEEN_BEFORE))
    changes = tuple(change.sentence for change in changes_of(before, json.loads(text)))
    had = set(crawl.seeds)
    added = tuple(seed for seed in dict.fromkeys(seeds) if seed not in had)
    still_spent = not added and _is_still_spent(crawl, before, options)
    if still_spent:
        return Opening(crawl, is_new=False, changes=changes, still_spent=True)
    crawl.options = text
    crawl.seeds = [*crawl.seeds, *added]
    crawl.ended_at, crawl.end = None, ""
    return Opening(crawl, is_new=False, changes=changes, added=added)


def _refuse_other_kind(crawl: CrawlRow, before: object, after: object) -> None:
    if before != after:
        raise SeenKindDiffers(
            f"crawl {crawl.crawl_id} knows its URLs by --seen {before} and can't go on with --seen {after}; "
            f"resume it with --seen {before}, or begin another crawl with --new"
        )


def _is_still_spent(crawl: CrawlRow, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Only after an orderly end: a run that was killed may have captures to parse."""
    counters = crawl.counters
    if not crawl.clean or counters.states[State.CAPTURED] or not (counters.unsettled or counters.sitemaps_open):
        return False
    most = after.get("max_pages")
    if isinstance(most, int) and counters.fetched >= most:
        return True
    is_other = before.get("site_budgets") != after.get("site_budgets")
    is_higher = any(_is_higher(before.get(key), after.get(key)) for key in CEILINGS)
    return crawl.end == BUDGET_SPENT and not (is_higher or is_other)


def _is_higher(before: object, after: object) -> bool:
    if not isinstance(before, int):
        return False
    return not isinstance(after, int) or after > before


def change_options(crawl: CrawlRow, values: Mapping[str, object]) -> list[Change]:
    """Other values for some options of a crawl, None for no limit; gives those that differ from before.

    A crawl that ended because its budget was spent may go on when a ceiling is higher now.
    """
    before = json.loads(crawl.options)
    after = {key: value for key, value in {**before, **values}.items() if value is not None}
    crawl.options = json.dumps(after, sort_keys=True)
    if crawl.end == BUDGET_SPENT and any(_is_higher(before.get(key), after.get(key)) for key in CEILINGS):
        crawl.end = ""
    return changes_of(before, after)


def changes_of(before: Mapping[str, object], after: Mapping[str, object]) -> list[Change]:
    """Options that differ, by their keys."""
    keys = sorted(before.keys() | after.keys())
    return [Change(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]


def _shown(value: object) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} entries"
    return "not set" if value is None else str(value)
