"""Delays, ceilings and concurrency that change while a crawl runs, told in simulated time."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from tests.stages.random_world import LIFE_MAX_S, draw

from gossamer.core.outcome import Reason
from gossamer.core.rows import TallyRow, load
from gossamer.core.site_traps import ceiling_of
from gossamer.core.url import Url, host_of
from gossamer.ports.dns import Unresolved
from gossamer.ports.partition_store import Family
from gossamer.stages.frontier import Frontier
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_clock import WALL_START_S
from gossamer.testing.sim_web import NOT_FOUND, any_page, page, plain
from gossamer.testing.world import World

A, B = "http://a.test/", "http://b.test/"
DAY_S = 86_400
PAGES = 12


def world_of(*seeds: str, **options: Any) -> World:
    """Every host has an address of its own, no robots.txt, and no rest but what the test names."""
    settings: dict[str, Any] = {"delay_s": 0, "delay_factor": 0, "per_address_delay_s": 0, "scope": "any"}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def one_host(**options: Any) -> World:
    return world_of(*(f"{A}{number}" for number in range(PAGES)), **options)


def crowd(hosts: int, pages: int, **options: Any) -> World:
    return world_of(*(f"http://h{host}.test/{number}" for host in range(hosts) for number in range(pages)), **options)


def kept_busy(world: World, until_s: float) -> World:
    """A page that takes that long keeps the crawl from ending before what the test does later."""
    world.web.robots("busy.test", NOT_FOUND)
    world.web.answers["http://busy.test/"] = page(latency_s=until_s)
    return world.at(0.001, lambda: world.discover("http://busy.test/"))


def fetched_of_hosts(world: World) -> Counter[str]:
    return Counter(host_of(Url(url)) for url in world.fetched())


# Delays.


def test_a_longer_delay_moves_the_contact_that_was_planned() -> None:
    world = one_host(delay_s=2)
    world.at(5, lambda: world.change(delay_s=10))
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test")[:5] == pytest.approx([0, 2, 4, 14, 24])
    assert_accounts(world)


def test_a_shorter_delay_holds_after_the_next_contact() -> None:
    world = one_host(delay_s=10)
    world.at(25, lambda: world.change(delay_s=1))
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test")[:6] == pytest.approx([0, 10, 20, 30, 31, 32])
    assert_accounts(world)


def test_a_higher_factor_stretches_the_rest_after_an_answer_of_before() -> None:
    world = one_host(delay_s=1, delay_factor=1, robots="off-for=a.test")
    world.web.elsewhere = lambda _url: page(latency_s=2)
    world.at(2.5, lambda: world.change(delay_factor=4))
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test")[:3] == pytest.approx([0, 10, 20])
    assert_accounts(world)


def test_a_look_up_that_fails_afterwards_hides_no_long_answer() -> None:
    """The contact that took 2 s is still the one that the factor stretches."""
    world = one_host(delay_s=1, delay_factor=0, robots="off-for=a.test")
    world.web.elsewhere = lambda _url: page(latency_s=2)
    fails = Unresolved(Reason.DNS_FAILED)
    world.web.names["a.test"] = lambda at_s: fails if 2.9 < at_s < 3.1 else ["93.184.216.34"]
    world.at(3.2, lambda: world.change(delay_factor=20))
    assert world.crawl() is End.COMPLETED
    assert len(world.web.look_ups) == 1 + PAGES
    assert world.starts("a.test")[1] >= 2 + 40
    assert_accounts(world)


def test_a_lease_that_waits_for_its_address_waits_for_the_new_delay_too() -> None:
    world = one_host(delay_s=1, robots="off-for=a.test")
    world.web.look_up_s["a.test"] = 0.5
    world.at(1.7, lambda: world.change(delay_s=5))  # between the decision at 1.5 and the contact at 2.0
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test")[:3] == pytest.approx([0.5, 6.0, 11.5])
    assert_accounts(world)


def test_a_crawl_delay_that_has_become_too_long_stops_the_lease_that_waits_for_its_address() -> None:
    world = one_host(delay_s=1)
    world.web.robots("a.test", "User-agent: *\nCrawl-delay: 8")
    world.web.look_up_s["a.test"] = 0.5
    world.at(8.7, lambda: world.change(delay_max_s=5))
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test") == [0.5]
    assert world.states() == {"denied": PAGES}
    assert {row.reason for row in world.rows.values()} == {Reason.CRAWL_DELAY_TOO_LONG}
    assert_accounts(world)


def test_a_host_that_is_not_in_memory_keeps_the_longer_delay_as_well() -> None:
    world = crowd(6, 3, delay_s=2, places=1)
    world.at(3, lambda: world.change(delay_s=30))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 18
    assert_accounts(world)


def test_a_longer_delay_given_between_two_runs_holds_from_the_first_contact() -> None:
    world = one_host(delay_s=1)
    world.at(4.5, world.stop).crawl()
    assert world.crawl(delay_s=20) is End.COMPLETED
    before, after = world.starts("a.test")[4:6]
    assert after - before == pytest.approx(20)
    assert_accounts(world)


def test_a_longer_delay_holds_after_a_kill_too() -> None:
    world = one_host(delay_s=1)
    world.crawl(kill_at=4.5)
    world.at(4.6, lambda: world.change(delay_s=9))
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test")[4:6] == pytest.approx([4, 4 + 9])
    assert_accounts(world)


@pytest.mark.parametrize("before_s", [0, 0.1])
def test_a_longer_gap_of_an_address_holds_at_once(before_s: float) -> None:
    world = crowd(40, 1, per_address_delay_s=before_s, delay_s=1, robots="obey")
    world.web.names = {f"h{host}.test": ["93.184.216.34"] for host in range(40)}
    world.at(0.55, lambda: world.change(per_address_delay_s=3))
    assert world.crawl() is End.COMPLETED
    begun = [contact.monotonic_s for contact in world.contacts.begun]
    last, *later = [at for at in begun if at > 0.55 - max(before_s, 1)][-40:]
    assert all(two - one >= 3 - 1e-6 for one, two in zip([last, *later], later, strict=False) if two > 0.55 + 3)
    assert not [at for at in begun if 0.55 < at < 3]
    assert_accounts(world)


def test_more_fetches_at_once_begin_at_once() -> None:
    world = crowd(6, 1, concurrency=1)
    world.web.elsewhere = lambda url: NOT_FOUND if "robots" in url else page(latency_s=10)
    world.at(5, lambda: world.change(concurrency=6))
    assert world.crawl() is End.COMPLETED
    assert max(world.starts(f"http://h{host}.test/0")[0] for host in range(6)) == pytest.approx(5, abs=0.1)
    assert_accounts(world)


# Ceilings.


def test_a_higher_ceiling_lets_the_crawl_go_on() -> None:
    world = one_host(delay_s=1, max_pages=5)
    world.at(4, lambda: world.change(max_pages=9))
    assert world.crawl() is End.BUDGET_SPENT
    assert len(world.fetched()) == 9
    assert_accounts(world)


def test_a_ceiling_below_what_is_spent_ends_the_crawl() -> None:
    world = one_host(delay_s=1)
    world.at(6.5, lambda: world.change(max_pages=3))
    assert world.crawl() is End.BUDGET_SPENT
    assert len(world.fetched()) == 6
    assert_accounts(world)


def test_a_lower_ceiling_is_exact_for_what_is_not_under_way() -> None:
    world = one_host(delay_s=1)
    world.at(6.5, lambda: world.change(max_pages=8))
    assert world.crawl() is End.BUDGET_SPENT
    assert len(world.fetched()) == 8
    assert_accounts(world)


@pytest.mark.parametrize("places", [None, 2])
@pytest.mark.parametrize("most", [4, None])
def test_hosts_over_their_budget_go_on_with_a_higher_one(most: int | None, places: int | None) -> None:
    world = kept_busy(crowd(6, 6, max_pages_per_host=2, places=places), 200)
    world.at(100, lambda: world.change(max_pages_per_host=most))
    assert world.crawl() is (End.COMPLETED if most is None else End.BUDGET_SPENT)
    assert set((fetched_of_hosts(world) - Counter({"busy.test": 1})).values()) == {most or 6}
    assert_accounts(world)


@pytest.mark.parametrize("at_s", [2.0 + step / 200 for step in range(1, 24)])
def test_a_ceiling_that_is_raised_while_a_host_leaves_for_it_forgets_no_host(at_s: float) -> None:
    world = kept_busy(crowd(3, 4, max_pages_per_host=1, delay_s=1), 20)
    world.partition.commit_s = 0.05
    world.at(at_s, lambda: world.change(max_pages_per_host=None))
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 13
    assert_accounts(world)


@pytest.mark.parametrize("places", [None, 2])
@pytest.mark.parametrize(("before", "after"), [(3, 7), (3, None), (None, 8), (5, 2)])
def test_the_ceiling_of_sites_may_come_go_and_change(before: int | None, after: int | None, places: int | None) -> None:
    seeds = [f"http://h{host}.a.test/{number}" for host in range(3) for number in range(5)]
    world = kept_busy(world_of(*seeds, max_pages_per_site=before, delay_s=1, places=places), 300)
    world.web.elsewhere = lambda url: NOT_FOUND if "robots" in url else page(latency_s=0.7)
    world.at(3.2, lambda: world.change(max_pages_per_site=after))  # some are stored, some are under way
    assert world.crawl() is (End.COMPLETED if after is None else End.BUDGET_SPENT)
    fetched = sum(".a.test" in url for url in world.fetched())
    assert 2 <= fetched <= 5 if after == 2 else fetched == (after or 15)
    assert_accounts(world)


@pytest.mark.parametrize("places", [None, 2])
def test_a_higher_ceiling_of_hosts_and_days_does_not_wait_for_midnight(places: int | None) -> None:
    world = kept_busy(crowd(3, 5, max_pages_per_host_day=2, places=places), DAY_S / 2)
    world.at(600, lambda: world.change(max_pages_per_host_day=4))
    world.at(1_200, lambda: counted.append(fetched_of_hosts(world)["h1.test"]))
    counted: list[int] = []
    assert WALL_START_S % DAY_S + 1_200 < DAY_S, "midnight comes later"
    assert world.crawl() is End.COMPLETED
    assert counted == [4]
    assert_accounts(world)


def test_a_host_that_waited_for_midnight_is_parked_no_longer() -> None:
    world = crowd(3, 5, max_pages_per_host_day=2, delay_s=10)
    parked: list[int] = []

    def look() -> None:
        parked.append(world.life.stages.frontier.counts(0)[2])

    world.at(599, look).at(600, lambda: world.change(max_pages_per_host_day=None)).at(601, look)
    assert world.crawl() is End.COMPLETED
    assert parked == [3, 0]
    assert_accounts(world)


def test_a_change_is_kept_for_the_next_run() -> None:
    world = one_host(delay_s=1)
    world.at(3, lambda: world.change(delay_s=4)).at(3.5, world.stop)
    world.crawl()
    assert '"delay_s": 4' in world.life.crawl.options
    assert world.crawl() is End.COMPLETED
    assert_accounts(world)


def test_a_pause_outlives_a_change() -> None:
    world = one_host(delay_s=1)
    world.at(3.5, world.pause).at(10, lambda: world.change(delay_s=2)).at(50, world.resume)
    assert world.crawl() is End.COMPLETED
    assert [at for at in world.starts("a.test") if 3.5 < at < 50] == []
    assert_accounts(world)


def test_robots_txt_that_is_asked_for_meanwhile_is_asked_once() -> None:
    world = one_host(delay_s=1)
    world.web.robots("a.test", plain("User-agent: *\nAllow: /"))
    world.web.look_up_s["a.test"] = 1
    world.at(0.5, lambda: world.change(delay_s=3, max_pages=4))
    assert world.crawl() is End.BUDGET_SPENT
    assert world.requests()[f"{A}robots.txt"] == 1
    assert_accounts(world)


# Everything at once.

CHOICES: dict[str, tuple[float | None, ...]] = {
    "delay_s": (0, 0.1, 1, 7),
    "delay_factor": (0, 10, 40),
    "per_address_delay_s": (0, 0.1, 1, 4),
    "concurrency": (1, 3, 20),
    "max_pages": (None, 7, 30, 60),
    "max_pages_per_host": (None, 1, 5, 20),
    "max_pages_per_site": (None, 3, 9, 40),
    "max_pages_per_host_day": (None, 2, 8),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_whatever_changes_the_accounts_are_right_and_nothing_waits_that_may_go_on(seed: int) -> None:
    world, rng = draw(seed).world, Random(seed)

    def change() -> None:
        if not world.life.runner.is_ending:
            world.change(**{key: rng.choice(values) for key, values in CHOICES.items() if rng.random() < 0.3})

    for _ in range(12):
        world.at(rng.expovariate(0.05), change)
    world.at(LIFE_MAX_S, world.stop)  # some robots.txt is never had, and asked for every hour
    end = world.crawl()
    assert_accounts(world)
    frontier = world.life.stages.frontier
    if end is End.BUDGET_SPENT and not frontier.budget.is_spent:
        stored = world.partition.scan(Family.TALLIES, b"", b"\xff" * 20)
        waiting = [tally for tally in (load(TallyRow, row) for _, row in stored) if tally.ready]
        assert [tally.host for tally in waiting if not is_over(frontier, tally)] == []


def is_over(frontier: Frontier, tally: TallyRow) -> bool:
    ceilings = frontier.rules.ceilings
    most = ceiling_of(ceilings.pages_per_host, tally.counts.novelty)
    is_host_over = most is not None and tally.fetched >= most
    return is_host_over or (ceilings.has_site_budgets and frontier.sites.of(tally.site).budget.is_spent)
