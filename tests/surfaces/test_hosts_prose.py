"""What `hosts` tells people about when a host is asked next."""

import pytest

from gossamer.core.breaker import PROBES_MAX
from gossamer.core.politeness import FAILURES_MAX, DelayRules, HostManners
from gossamer.core.rows import OVER_BUDGET, HostRow, new_tally
from gossamer.surfaces.cli.looking_prose import HOST_COLUMNS, host_cells
from gossamer.views.hosts import host_view

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("failures", "level", "left", "shown"),
    [
        (0, 0, None, ("", "2026-01-01 00:01:00Z")),
        (FAILURES_MAX, 0, 1_234, ("1,234", "2026-01-01 00:01:00Z, a probe")),
        (FAILURES_MAX + PROBES_MAX, -1, 5, ("5", "given up")),
        (0, OVER_BUDGET, 0, ("0", "over budget")),
    ],
)
def test_the_next_contact_says_what_is_in_its_way(
    failures: int, level: int, left: int | None, shown: tuple[str, str]
) -> None:
    row = HostRow("a.test", "a.test", HostManners(NOW + 60, failures=failures))
    tally = new_tally("a.test", "a.test")
    tally.level = level
    view = host_view(row, tally, DelayRules(1.0, 10.0, 60.0), left, NOW)
    cells = dict(zip([column.title for column in HOST_COLUMNS], host_cells(view, NOW), strict=True))
    assert (cells["BUDGET LEFT"], cells["NEXT CONTACT"]) == shown
