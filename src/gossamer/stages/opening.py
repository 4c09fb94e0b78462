"""Which crawl a command is about: a new one, or the unfinished one of the directory with what changed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gossamer.core.rows import CrawlRow


@dataclass(frozen=True, slots=True)
class Opening:
    """The crawl to run. `changes` are sentences about options that differ from last time."""

    crawl: CrawlRow
    is_new: bool
    changes: tuple[str, ...] = ()


def open_crawl(
    known: Sequence[CrawlRow], seeds: Sequence[str], options: dict[str, object], *, new: bool, now: float
) -> Opening:
    """The newest crawl of the directory with these seeds added and these options in force, or another one.

    Changes the row of a resumed crawl; nothing is stored yet.
    """
    text = json.dumps(options, sort_keys=True)
    if new or not known:
        number = max((row.number for row in known), default=0) + 1
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
        return Opening(CrawlRow(number, f"{stamp}-{number}", now, list(dict.fromkeys(seeds)), text), is_new=True)
    crawl = known[-1]
    changes = tuple(_changes(json.loads(crawl.options), json.loads(text)))
    crawl.options = text
    crawl.seeds = list(dict.fromkeys([*crawl.seeds, *seeds]))
    crawl.ended_at = None
    return Opening(crawl, is_new=False, changes=changes)


def _changes(before: dict[str, object], after: dict[str, object]) -> list[str]:
    keys = sorted(before.keys() | after.keys())
    return [
        f"{key}: {_shown(before.get(key))} → {_shown(after.get(key))}"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _shown(value: object) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} entries"
    return "not set" if value is None else str(value)
