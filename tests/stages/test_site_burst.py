"""Farms of hosts and of sites, in a simulated world: they end, also when the crawl dies in between."""

import pytest

from gossamer.core.site_traps import HOSTS_FREE, SITES_FREE, TEXTS_PER_SITE, SiteTrap
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import Answer, Script, page
from gossamer.testing.world import World, hosts_of

TEXT = "Each page of a farm says something of its own, at a length that is enough to be judged by: this one is of "


def farm(domain: str, doors: int) -> World:
    """`seed.test` leads to the first of endless hosts, each of which leads to three that nobody else names."""
    world = World("http://seed.test/", scope="any", max_pages=500)

    def answer(url: str) -> Script:
        if url.endswith("/robots.txt"):
            return Answer(status=404)
        if url == "http://seed.test/":
            return page(*(f"http://w{n}{domain}/" for n in range(doors)), text=TEXT + url)
        number = int(url.removeprefix("http://w").partition(".")[0])
        return page(*(f"http://w{3 * number + n + doors}{domain}/" for n in range(3)), text=TEXT + url)

    world.web.elsewhere = answer
    return world


@pytest.mark.parametrize("kill_at", [None, 1.5])
def test_a_farm_over_many_domains_ends(kill_at: float | None) -> None:
    world = farm(".test", 1)
    if kill_at is not None:
        assert world.crawl(kill_at=kill_at) is None
    assert world.crawl() is End.COMPLETED
    sites = SITES_FREE * TEXTS_PER_SITE // (TEXTS_PER_SITE - 1) + 1
    assert SITES_FREE < len(hosts_of(world)) <= 2 + sites
    assert world.life.crawl.counters.refused[SiteTrap.SITE_BURST] > 0
    assert_accounts(world)


@pytest.mark.parametrize("kill_at", [None, 1.5])
def test_a_farm_of_hosts_ends(kill_at: float | None) -> None:
    world = farm(".seed.test", 3)
    if kill_at is not None:
        assert world.crawl(kill_at=kill_at) is None
    assert world.crawl() is End.COMPLETED
    assert len(hosts_of(world)) == HOSTS_FREE
    assert world.life.crawl.counters.refused[SiteTrap.HOST_BURST] > 0
    assert_accounts(world)


def test_all_sites_that_a_seed_leads_to_are_welcome() -> None:
    world = World("http://seed.test/", scope="any")
    world.web.elsewhere = lambda url: Answer(status=404) if url.endswith("/robots.txt") else page()
    world.web.answers["http://seed.test/"] = page(*(f"http://s{n}.test/" for n in range(3 * SITES_FREE)))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 3 * SITES_FREE + 1
    assert_accounts(world)
