"""The words of a running crawl and of its end."""

import json
from pathlib import Path

import pytest
from rich.text import Text

from gossamer.core.rows import CrawlRow, State
from gossamer.stages.runner import End
from gossamer.surfaces.cli.progress import _whole_in_lines, next_steps

GO_ON = "go on: gossamer crawl --data d"


def ended(options: dict[str, int], *, fetched: int, ready: int, end: End) -> str:
    crawl = CrawlRow(1, "c1", 0.0, ["http://a.test/"], json.dumps(options), end=end.value)
    crawl.counters.fetched, crawl.counters.states[State.READY] = fetched, ready
    return next_steps(crawl, end, Path("d")).partition("\n")[2]


@pytest.mark.parametrize(
    ("options", "end", "last"),
    [
        ({"max_pages": 10}, End.BUDGET_SPENT, f"{GO_ON} --max-pages 20"),
        ({"max_pages": 99, "max_pages_per_host": 3}, End.BUDGET_SPENT, f"{GO_ON} --max-pages-per-host 6"),
        ({"max_pages": 99, "max_pages_per_host": 3}, End.STOPPED, GO_ON),
        ({"max_pages": 10}, End.STOPPED, f"{GO_ON} --max-pages 20"),
        ({}, End.STOPPED, GO_ON),
    ],
)
def test_the_way_on_has_a_higher_ceiling_where_one_is_reached(options: dict[str, int], end: End, last: str) -> None:
    assert ended(options, fetched=10, ready=5, end=end) == last


def test_a_complete_crawl_has_no_way_on() -> None:
    assert ended({"max_pages": 10}, fetched=10, ready=0, end=End.COMPLETED) == ""


def test_reasons_are_never_broken() -> None:
    counts = [("status 404", 24), ("redirect-loop", 6), ("status 410", 3), ("status 429", 1_000)]
    lines = [Text.from_markup(line).plain for line in _whole_in_lines(counts, 40)]
    assert lines == ["status 404 24   redirect-loop 6", "status 410 3   status 429 1,000"]
    assert _whole_in_lines([], 40) == []
    assert len(_whole_in_lines(counts, 3)) == 4
