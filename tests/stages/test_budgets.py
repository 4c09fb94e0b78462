"""Ceilings of sites, of hosts and days, and STAR, told in simulated time."""

from collections import Counter
from typing import Any

import pytest

from gossamer.core.keys import LAST, crawl_prefix
from gossamer.core.rows import SiteRow, load
from gossamer.core.star import LEAST
from gossamer.ports.partition_store import Family
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_clock import WALL_START_S
from gossamer.testing.sim_web import NOT_FOUND, any_page, page
from gossamer.testing.world import World

DAY_S = 86_400


def unpaced(*seeds: str, **options: Any) -> World:
    settings: dict[str, Any] = {"delay_s": 0, "delay_factor": 0, "per_address_delay_s": 0, "scope": "any"}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def by_site(world: World) -> dict[str, SiteRow]:
    prefix = crawl_prefix(world.life.crawl.number)
    rows = (load(SiteRow, stored) for _, stored in world.partition.scan(Family.SITES, prefix, prefix + LAST))
    return {row.site: row for row in rows}


def fetched_by(world: World, ending: str) -> int:
    return sum(ending in url for url in world.fetched())


@pytest.mark.parametrize("places", [None, 1])
def test_the_hosts_of_a_site_share_its_ceiling_exactly(places: int | None) -> None:
    seeds = [f"http://h{host}.a.test/{number}" for host in range(4) for number in range(10)]
    world = unpaced(*seeds, "http://b.test/1", max_pages_per_site=7, places=places)
    assert world.crawl() is End.BUDGET_SPENT
    assert fetched_by(world, ".a.test") == 7
    assert fetched_by(world, "b.test") == 1
    assert by_site(world)["a.test"].fetched == 7
    assert_accounts(world)


def test_a_unit_of_the_site_that_ends_without_a_page_goes_to_another_host() -> None:
    seeds = [f"http://h{host}.a.test/{number}" for host in range(3) for number in range(4)]
    world = unpaced(*seeds, max_pages_per_site=3)
    for number in range(4):
        world.web.answers[f"http://h0.a.test/{number}"] = NOT_FOUND
    assert world.crawl() is End.BUDGET_SPENT
    assert fetched_by(world, ".a.test") == 3
    assert_accounts(world)


def test_a_higher_ceiling_of_sites_releases_what_waits() -> None:
    world = unpaced(
        *(f"http://h{host}.a.test/{number}" for host in range(3) for number in range(4)), max_pages_per_site=5
    )
    assert world.crawl() is End.BUDGET_SPENT
    assert {row.parked for row in by_site(world).values()} == {3}
    assert world.crawl(max_pages_per_site=8) is End.BUDGET_SPENT
    assert fetched_by(world, ".a.test") == 8
    assert world.crawl(max_pages_per_site=None) is End.COMPLETED
    assert fetched_by(world, ".a.test") == 12
    assert {row.parked for row in by_site(world).values()} == {0}
    assert_accounts(world)


def test_a_ceiling_of_sites_holds_through_kills() -> None:
    seeds = [f"http://h{host}.a.test/{number}" for host in range(4) for number in range(30)]
    world = unpaced(*seeds, max_pages_per_site=50, delay_s=0.5, places=2)
    for _ in range(4):
        assert world.crawl(kill_at=world.now_s + 3.3) is None
        assert_accounts(world)
    assert world.crawl() is End.BUDGET_SPENT
    assert fetched_by(world, ".a.test") == 50
    assert_accounts(world)


def test_a_host_has_its_pages_of_the_day_and_goes_on_at_midnight() -> None:
    world = unpaced(*(f"http://a.test/{number}" for number in range(7)), max_pages_per_host_day=3)
    assert world.crawl() is End.COMPLETED
    begun = [exchange.began_at for exchange in world.web.exchanges if "robots" not in exchange.url]
    days = Counter(int((WALL_START_S + at) // DAY_S) for at in begun)
    assert sorted(days.values()) == [1, 3, 3]
    assert len(world.fetched()) == 7
    assert_accounts(world)


def test_a_killed_crawl_remembers_what_it_had_today() -> None:
    world = unpaced(*(f"http://a.test/{number}" for number in range(7)), max_pages_per_host_day=3, delay_s=1)
    assert world.crawl(kill_at=60) is None
    world.at(world.now_s + 100, world.stop)
    world.crawl()
    assert len(world.fetched()) == 3
    assert_accounts(world)


def test_star_gives_little_to_sites_that_nobody_links_to_and_much_to_those_that_others_do() -> None:
    pages = [f"http://www.famous.test/{number}" for number in range(40)]
    lonely = [f"http://www.lonely.test/{number}" for number in range(40)]
    linking = [f"http://www.site{number}.test/" for number in range(3)]
    world = unpaced(*linking, *lonely, site_budgets="star")
    for url in linking:
        world.web.answers[url] = page(*pages)
    assert world.crawl() is End.BUDGET_SPENT
    assert fetched_by(world, "lonely") == LEAST
    assert fetched_by(world, "famous") == 40
    assert by_site(world)["famous.test"].in_degree == 3
    assert_accounts(world)


def test_links_between_hosts_of_one_site_do_not_count_and_each_linking_site_counts_once() -> None:
    world = unpaced("http://one.a.test/", "http://two.a.test/", "http://b.test/", "http://b.test/2")
    for url in ("http://one.a.test/", "http://two.a.test/", "http://b.test/", "http://b.test/2"):
        world.web.answers[url] = page("http://three.a.test/", "http://b.test/3", "http://c.test/")
    assert world.crawl() is End.COMPLETED
    assert {site: row.in_degree for site, row in by_site(world).items()} == {"a.test": 1, "b.test": 1, "c.test": 2}
    assert by_site(world)["a.test"].hosts == 3


def test_a_budget_that_grows_releases_the_hosts_that_waited_for_it() -> None:
    """The site is known by its seed alone at first; later others link to it."""
    waiting = [f"http://www.late.test/{number}" for number in range(30)]
    world = unpaced(*waiting, site_budgets="star")
    world.web.robots("slow.test", NOT_FOUND)
    world.web.answers["http://slow.test/"] = page("http://www.late.test/0", latency_s=100)
    counts: list[int] = []
    world.at(0.01, lambda: world.discover("http://slow.test/"))
    world.at(90, lambda: counts.append(fetched_by(world, "late")))
    assert world.crawl() is End.COMPLETED
    assert counts == [LEAST]
    assert fetched_by(world, "late") == 30
    assert_accounts(world)
