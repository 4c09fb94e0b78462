"""A host that fails and fails: parked for an hour after ten failures, one probe an hour, given up after 24."""

from itertools import pairwise

from gossamer.core.outcome import Reason
from gossamer.core.rows import State
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import failing, page
from gossamer.testing.world import World

HOME = "http://a.test/"
DOWN = failing(Reason.CONNECT_TIMEOUT)


def test_ten_failures_park_a_host_then_one_probe_an_hour_until_one_succeeds() -> None:
    world = World(HOME, attempts=100, retry_base_s=0)
    world.web.robots("a.test", "")
    world.web.answers[HOME] = [*[DOWN] * 13, page()]
    assert world.crawl() is End.COMPLETED
    waits = [round(later - earlier) for earlier, later in pairwise(world.starts(HOME))]
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 3600, 3600, 3600, 3600]
    assert world.states() == {"fetched": 1}
    assert_accounts(world)


def test_after_24_failed_probes_all_urls_of_the_host_are_dead_letters() -> None:
    others = [f"http://a.test/{number}" for number in range(4)]
    world = World(HOME, *others, attempts=100, retry_base_s=0)
    world.web.robots("a.test", "", DOWN)
    world.web.answers |= dict.fromkeys([HOME, *others], DOWN)
    assert world.crawl() is End.COMPLETED
    assert {(row.state, row.reason) for row in world.rows.values()} == {(State.DEAD, Reason.HOST_DEAD.value)}
    contacts = sum(world.requests().values())
    assert contacts == 1 + 10 + 24
    assert_accounts(world)


def test_a_probe_costs_its_url_no_attempt() -> None:
    world = World(HOME, attempts=11, retry_base_s=0)
    world.web.robots("a.test", "")
    world.web.answers[HOME] = [*[DOWN] * 30, page()]
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"fetched": 1}
    assert_accounts(world)


def test_a_host_whose_robots_txt_never_answers_is_given_up_too() -> None:
    world = World(HOME)
    world.web.answers["http://a.test/robots.txt"] = DOWN
    assert world.crawl() is End.COMPLETED
    assert world.requests() == {"http://a.test/robots.txt": 10 + 24}
    assert {row.reason for row in world.rows.values()} == {"host-dead"}
    assert_accounts(world)


def test_a_host_given_up_delays_no_other() -> None:
    world = World(HOME, "http://b.test/")
    world.web.answers["http://a.test/robots.txt"] = DOWN
    world.web.robots("b.test", "")
    world.web.answers["http://b.test/"] = page()
    world.crawl()
    assert world.starts("http://b.test/")[0] < 2
