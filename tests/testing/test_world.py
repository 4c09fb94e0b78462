"""The simulated world: it does what its scripts say, twice the same, and its checks find what does not add up."""

from random import Random

import pytest

from gossamer.core.keys import url_row_key
from gossamer.core.rows import State, dump
from gossamer.core.url import Url, link_keys
from gossamer.ports.partition_store import Family
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts, assert_polite
from gossamer.testing.sim_web import Exchange, any_page, page, refusal
from gossamer.testing.world import World

HOME = "http://a.test/"


def test_a_scenario_reads_as_a_story() -> None:
    world = World(HOME, delay_s=2)
    world.web.answers = {HOME: page("/b", text="home"), "http://a.test/b": page(text="the end")}
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [HOME, "http://a.test/b"]
    assert world.text("http://a.test/b").strip() == "the end"
    assert world.starts("a.test") == pytest.approx([0, 2, 4], abs=1e-5)
    assert_accounts(world)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_world(seed: int) -> None:
    def run() -> tuple[list[Exchange], dict[str, bytearray]]:
        world = World(*(f"http://h{n}.test/" for n in range(5)), rng=Random(seed))
        world.web.elsewhere = any_page
        for n in range(5):
            world.web.answers[f"http://h{n}.test/"] = [refusal(503), page("/x", "/y")]
        world.crawl()
        return world.web.exchanges, world.raw.files

    assert run() == run()


def test_a_killed_process_leaves_what_it_had_committed() -> None:
    world = World(HOME, delay_s=1)
    world.web.answers = {HOME: page("/b", "/c")}
    world.web.elsewhere = any_page
    assert world.crawl(kill_at=2.5) is None
    assert world.states() == {"fetched": 2, "ready": 1}
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"fetched": 3}
    assert_accounts(world)


def test_a_row_in_a_wrong_state_does_not_add_up() -> None:
    world = World(HOME)
    world.web.elsewhere = any_page
    world.crawl()
    row = world.rows[HOME]
    row.state = State.WAITING
    key = url_row_key(world.life.crawl.number, link_keys([Url(HOME)])[0])
    world.partition._apply(Family.URLS, key, dump(row))
    with pytest.raises(AssertionError):
        assert_accounts(world)


def test_a_contact_too_early_is_seen() -> None:
    world = World(HOME)
    world.web.elsewhere = any_page
    world.crawl()
    world.web.exchanges[1].began_at -= 0.5
    with pytest.raises(AssertionError):
        assert_polite(world)
