"""More hosts than places in memory: who comes, who makes room, and that nobody is lost on the way."""

from itertools import pairwise
from typing import Any

import pytest

from gossamer.core.keys import LAST, crawl_prefix, split_front_key
from gossamer.core.rows import OVER_BUDGET, RESTING, Kind, TallyRow, dump, load
from gossamer.core.site_traps import Novelty, ceiling_of
from gossamer.ports.partition_store import Family
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_loop import simulate
from gossamer.testing.sim_web import NOT_FOUND, any_page, page, plain, refusal
from gossamer.testing.world import World


def crowd(hosts: int, pages: int = 1, **options: Any) -> World:
    settings: dict[str, Any] = {"delay_s": 1, "delay_factor": 0, "per_address_delay_s": 0, "scope": "any"}
    seeds = [f"http://h{host}.test/{number}" for host in range(hosts) for number in range(pages)]
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def most_in_memory(world: World, until_s: int) -> list[int]:
    counts: list[int] = []
    for moment in range(1, until_s):
        world.at(moment + 0.5, lambda: counts.append(len(world.life.stages.frontier.hosts)))
    return counts


def waiting(world: World) -> dict[str, int]:
    """The level at which each host waits."""
    prefix = crawl_prefix(world.life.crawl.number)
    tallies = {key[4:]: load(TallyRow, row) for key, row in world.partition.scan(Family.TALLIES, prefix, prefix + LAST)}
    places = (split_front_key(key) for key, _ in world.partition.scan(Family.FRONT, prefix, prefix + LAST))
    return {tallies[host].host: level for level, _, host in places}


def test_memory_holds_as_many_hosts_as_there_are_places() -> None:
    world = crowd(40, pages=20, places=3)
    counts = most_in_memory(world, 100)
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 800
    assert 0 < max(counts) <= 3
    assert_accounts(world)


def test_a_host_leaves_when_its_run_is_used_so_that_all_have_their_turn() -> None:
    world = crowd(4, pages=60, places=1)
    assert world.crawl() is End.COMPLETED
    turns = [exchange.host for exchange in world.web.exchanges if "robots" not in exchange.url]
    changes = sum(one != two for one, two in pairwise(turns))
    assert changes > 8
    assert_accounts(world)


def test_a_crash_loses_no_host_on_or_off_the_workbench() -> None:
    world = crowd(12, pages=20, places=2)
    for moment in (3.0, 7.7, 30.1, 55.5):
        assert world.crawl(kill_at=world.now_s + moment) is None
        assert_accounts(world)
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 240
    assert_accounts(world)


def test_a_host_that_asks_for_an_hour_makes_room_and_comes_back_after_it() -> None:
    world = crowd(3, pages=2, places=1)
    world.web.answers["http://h0.test/0"] = [refusal(503, "3600"), page()]
    levels: list[dict[str, int]] = []
    world.at(100, lambda: levels.append(waiting(world)))
    assert world.crawl() is End.COMPLETED
    others = [at for host in ("h1.test", "h2.test") for at in world.starts(host)]
    assert max(others) < 60
    assert levels == [{"h0.test": RESTING}]
    assert min(at for at in world.starts("h0.test") if at > 60) == pytest.approx(3_600, abs=60)
    assert len(world.fetched()) == 6
    assert_accounts(world)


def test_a_host_whose_robots_txt_cannot_be_had_makes_room() -> None:
    world = crowd(3, places=1)
    world.web.robots("h0.test", refusal(500))
    world.at(7_000, world.stop)
    world.crawl()
    assert world.fetched() == ["http://h1.test/0", "http://h2.test/0"]
    assert max(world.starts("http://h2.test/0")) < 200
    assert_accounts(world)


def test_a_host_over_its_budget_leaves_the_memory_and_is_not_looked_at_again() -> None:
    world = crowd(6, pages=5, max_pages_per_host=2)
    world.web.robots("busy.test", NOT_FOUND)
    world.web.answers["http://busy.test/"] = page(latency_s=50)
    world.at(0.5, lambda: world.discover("http://busy.test/"))
    seen: list[int] = []
    world.at(40, lambda: seen.append(len(world.life.stages.frontier.hosts)))
    assert world.crawl() is End.BUDGET_SPENT
    assert seen == [1]
    assert set(waiting(world).values()) == {OVER_BUDGET}
    assert len(world.fetched()) == 13
    assert_accounts(world)


def test_a_higher_ceiling_releases_the_hosts_that_were_over_theirs() -> None:
    world = crowd(6, pages=5, max_pages_per_host=2, places=2)
    assert world.crawl() is End.BUDGET_SPENT
    assert world.crawl(max_pages_per_host=3) is End.BUDGET_SPENT
    assert len(world.fetched()) == 18
    assert world.crawl(max_pages_per_host=None) is End.COMPLETED
    assert len(world.fetched()) == 30
    assert_accounts(world)


def test_a_sitemap_is_fetched_though_the_pages_of_its_host_are_over_the_budget() -> None:
    world = crowd(1, pages=3, max_pages_per_host=1, places=1, per_address_delay_s=0)
    world.web.robots("h0.test", plain("User-agent: *\nDisallow:"))
    world.web.answers["http://busy.test/"] = page(latency_s=50)
    world.web.answers["http://h0.test/late.xml"] = plain("http://h0.test/0")
    world.at(0.5, lambda: world.discover("http://busy.test/"))

    world.at(20, lambda: world.discover("http://h0.test/late.xml", kind=Kind.SITEMAP))
    assert world.crawl() is End.BUDGET_SPENT
    assert world.starts("http://h0.test/late.xml")
    assert_accounts(world)


def test_a_host_that_repeats_itself_has_its_smaller_budget_from_the_moment_it_comes_to_memory() -> None:
    world = crowd(1, pages=9, max_pages_per_host=200)
    assert world.crawl(kill_at=3.5) is None
    (key, stored), *_ = world.partition.scan(Family.TALLIES, b"", LAST)
    tally = load(TallyRow, stored)
    tally.counts.novelty = Novelty(0, 64)
    batch = world.partition.batch()
    batch.put(Family.TALLIES, key, dump(tally))
    simulate(world.partition.commit(batch))
    ceilings: list[int | None] = []
    world.at(6, lambda: ceilings.extend(host.budget.ceiling for host in world.life.stages.frontier.hosts.values()))
    assert world.crawl(kill_at=6.5) is None
    assert ceilings == [ceiling_of(200, tally.counts.novelty)]
    assert ceilings != [200]
