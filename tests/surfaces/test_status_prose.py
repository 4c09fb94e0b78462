"""What `status` tells people about how a crawl stands."""

from pathlib import Path
from typing import Any

import pytest

from gossamer.core.rows import CrawlRow, State
from gossamer.surfaces.cli.looking_prose import status_prose
from gossamer.views.status import HostCounts, status_document


def prose(end: str, ready: int) -> str:
    row = CrawlRow(1, "c1", 0.0, ["http://a.test/"], "{}", status="completed", end=end)
    row.counters.states[State.READY] = ready
    document: dict[str, Any] = status_document(row, HostCounts(0, 1, 0), pages_per_second=1.0, eta_seconds=None)
    return "\n".join(status_prose(document, Path("d")))


def test_a_spent_budget_does_not_look_finished() -> None:
    text = prose("budget-spent", 1_234)
    assert "budget spent, 1,234 left to do" in text
    assert "completed" not in text
    assert "go on: gossamer crawl --data d with a higher --max-pages" in text


@pytest.mark.parametrize("end", ["completed", ""])
def test_a_complete_crawl_does(end: str) -> None:
    text = prose(end, 0)
    assert "completed" in text
    assert "go on" not in text
