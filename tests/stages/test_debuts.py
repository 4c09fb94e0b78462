"""First contacts are spread over one gap; a small crawl does not wait."""

from collections import Counter

import pytest

from gossamer.stages.debuts import FREE, Debuts
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import any_page, page
from gossamer.testing.world import World


def moments(debuts: Debuts, count: int, hosts: int, gap_s: float, now: float = 50.0) -> list[float]:
    return [debuts.take(now, hosts, gap_s) for _ in range(count)]


def test_the_first_hosts_begin_at_once() -> None:
    assert moments(Debuts(), FREE, FREE, 10.0) == [50.0] * FREE


def test_more_hosts_are_spread_over_one_gap() -> None:
    found = moments(Debuts(), 3_000, 3_000, 10.0)
    assert found[:FREE] == [50.0] * FREE
    assert found == sorted(found)
    assert found[-1] == pytest.approx(60.0, abs=0.5)
    assert max(Counter(int(at) for at in found[FREE:]).values()) <= 301


def test_hosts_that_come_later_begin_at_once_again() -> None:
    debuts = Debuts()
    moments(debuts, 1_000, 1_000, 1.0)
    assert debuts.take(60.0, 1_000, 1.0) == 60.0


def test_without_a_gap_nobody_waits() -> None:
    assert set(moments(Debuts(), 1_000, 1_000, 0.0)) == {50.0}


@pytest.mark.slow
def test_hosts_of_a_large_crawl_stay_spread() -> None:
    world = World(*(f"http://h{n}.test/" for n in range(400)), delay_s=10, delay_factor=0, per_address_delay_s=0)
    world.web.elsewhere = lambda url: any_page(url) if url.endswith("robots.txt") else page("/1", "/2", "/3")
    assert world.crawl() is End.COMPLETED
    seconds = Counter(int(exchange.began_at) for exchange in world.web.exchanges)
    assert seconds[0] <= FREE + 41
    assert all(seconds[second] in range(35, 46) for second in range(1, 7))
    assert world.now_s < 5 * 10 + 1
    assert_accounts(world)
