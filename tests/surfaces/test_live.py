"""When a crawl may end: with its slowest host."""

import pytest

from gossamer.core.budget import Budget
from gossamer.core.politeness import DelayRules, HostManners
from gossamer.core.rows import HostRow, State, TallyRow
from gossamer.stages.host_queue import HostQueue
from gossamer.surfaces.cli.live import slowest_s

NOW = 100.0
RULES = DelayRules(delay_s=1.0)


def host(ready: int, **facts: float) -> HostQueue:
    """A host with so many URLs in its queue."""
    tally = TallyRow("a.test", "a.test", [0] * len(State), ready=ready)
    row = HostRow("a.test", "a.test", crawl_delay_s=facts.get("crawl_delay_s"))
    ceiling = int(facts["ceiling"]) if "ceiling" in facts else None
    manners = HostManners(gap_s=facts.get("gap_s", 0.0), slow_s=facts.get("slow_s", 0.0))
    return HostQueue(b"a", row, tally, Budget(ceiling), manners=manners, next_at=facts.get("next_at", 0.0))


@pytest.mark.parametrize(
    ("hosts", "seconds"),
    [
        ([], 0),
        ([host(0, next_at=NOW + 9)], 0),
        ([host(1)], 0),
        ([host(11)], 10),
        ([host(11), host(3, crawl_delay_s=20.0)], 40),
        ([host(11, gap_s=2.5)], 25),
        ([host(3, slow_s=30.0, next_at=NOW + 15)], 75),
        ([host(1_000, ceiling=5)], 4),
    ],
)
def test_the_host_with_the_longest_way_to_go_tells(hosts: list[HostQueue], seconds: float) -> None:
    assert slowest_s(hosts, RULES, NOW) == pytest.approx(seconds)
