"""The accounts: every URL in one state through retries, redirects, sitemaps and several events in one batch."""

from typing import Any

import pytest

import gossamer.stages.ledger as module
from gossamer.core.outcome import Reason
from gossamer.core.rows import State
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import Answer, Script, any_page, failing, page, plain, redirect, refusal
from gossamer.testing.world import World

A, B = "http://a.test/", "http://b.test/"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
LOST = failing(Reason.CONNECTION_LOST)


def unpaced(*seeds: str, **options: Any) -> World:
    """No delays, no robots.txt: only the ladder of the URL is left."""
    return World(
        *seeds, scope="any", robots="off-for=a.test,b.test", delay_s=0, delay_factor=0, per_address_delay_s=0, **options
    )


# Retries.


def test_a_url_that_fails_climbs_the_ladder_and_becomes_a_dead_letter() -> None:
    """Worked example 3: attempts at 0, 1, 3, 7 and 15 minutes."""
    world = unpaced(A)
    world.web.answers[A] = failing(Reason.FIRST_BYTE_TIMEOUT)
    assert world.crawl() is End.COMPLETED
    assert world.starts(A) == pytest.approx([0, 60, 180, 420, 900], abs=1e-3)
    row = world.rows[A]
    assert (row.state, row.reason, row.attempts) == (State.DEAD, "first-byte-timeout", 5)
    assert_accounts(world)


def test_a_retry_without_any_wait_is_made() -> None:
    world = unpaced(A, retry_base_s=0)
    world.web.answers[A] = [LOST, LOST, page()]
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"fetched": 1}
    assert world.now_s < 1
    assert_accounts(world)


def test_a_url_that_fails_in_the_batch_that_promotes_another_is_tried_again_in_time() -> None:
    world = unpaced(A).at(50, lambda: world.discover(B))
    world.web.answers = {A: [LOST, page()], B: [failing(Reason.CONNECTION_LOST, latency_s=9.95), page()]}
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"fetched": 2}
    assert world.starts(B)[1] == pytest.approx(120, abs=0.1)
    assert_accounts(world)


def test_urls_that_wait_are_promoted_while_their_host_is_not_in_memory() -> None:
    world = unpaced(A)
    world.web.answers[A] = [LOST, page("/x")]
    world.web.elsewhere = any_page
    hosts_at_rest: list[int] = []
    world.at(30, lambda: hosts_at_rest.append(len(world.life.stages.frontier.hosts)))
    assert world.crawl() is End.COMPLETED
    assert hosts_at_rest == [0]
    assert world.states() == {"fetched": 2}
    assert_accounts(world)


def test_waiting_urls_are_due_again_after_a_kill() -> None:
    world = unpaced(A)
    world.web.answers[A] = [LOST, page()]
    assert world.crawl(kill_at=30) is None
    assert_accounts(world)
    assert world.crawl() is End.COMPLETED
    assert world.starts(A) == pytest.approx([0, 60], abs=0.1)
    assert_accounts(world)


def test_more_due_urls_than_one_batch_takes_all_have_their_turn() -> None:
    world = unpaced(*(f"{A}{n}" for n in range(1_100)), attempts=2)
    world.web.elsewhere = lambda _: [LOST, page()]
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"fetched": 1_100}
    assert_accounts(world)


# Discovery.


def test_a_url_found_by_two_pages_in_one_batch_is_admitted_once() -> None:
    world = unpaced(f"{A}1", f"{B}1")
    world.web.answers = {f"{A}1": page("/new", f"{B}new"), f"{B}1": page(f"{A}new", "/new", "/new")}
    world.web.elsewhere = any_page
    assert world.crawl() is End.COMPLETED
    assert world.requests() == {f"{A}1": 1, f"{B}1": 1, f"{A}new": 1, f"{B}new": 1}
    assert_accounts(world)


def test_a_url_found_one_hop_too_far_may_still_be_found_nearer() -> None:
    world = unpaced(A, f"{B}seed", max_hops=1)
    world.web.answers = {A: page("/one"), f"{A}one": page(f"{B}x"), f"{B}seed": page("/x", latency_s=5)}
    world.web.elsewhere = any_page
    assert world.crawl() is End.COMPLETED
    assert f"{B}x" in world.fetched()
    assert world.life.crawl.counters.refused == {"too-many-hops": 1}
    assert_accounts(world)


def test_the_target_of_a_redirect_keeps_the_hop_of_its_source() -> None:
    world = unpaced(A, max_hops=0)
    world.web.answers = {A: redirect("/moved"), f"{A}moved": page("/too-far")}
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}moved"]
    assert (world.rows[f"{A}moved"].hop, world.rows[f"{A}moved"].redirects) == (0, 1)
    assert_accounts(world)


def test_each_answer_finds_its_state() -> None:
    answers = {"ok": page(), "gone": Answer(status=410), "busy": refusal(429), "odd": Answer(status=299)}
    world = unpaced(*(f"{A}{name}" for name in answers), attempts=1)
    world.web.answers = {f"{A}{name}": answer for name, answer in answers.items()}
    assert world.crawl() is End.COMPLETED
    found = {url.rpartition("/")[2]: (row.state, row.reason) for url, row in world.rows.items()}
    assert found == {
        "ok": (State.FETCHED, ""),
        "odd": (State.FETCHED, ""),
        "gone": (State.FAILED, "status 410"),
        "busy": (State.DEAD, "status 429"),
    }
    assert world.life.crawl.counters.reasons == {"status 410": 1, "status 429": 1}
    assert_accounts(world)


# Sitemaps.


def with_sitemap(text: str, **options: Any) -> World:
    world = World(A, delay_s=0, delay_factor=0, per_address_delay_s=0, **options)
    world.web.robots("a.test", f"Sitemap: {A}map.xml")
    world.web.answers |= {A: page(), f"{A}map.xml": plain(text, "application/xml")}
    world.web.elsewhere = any_page
    return world


def test_sitemaps_are_no_pages_in_any_count() -> None:
    world = with_sitemap(f"<urlset {SPACE}><url><loc>{A}p</loc></url></urlset>", max_pages=2)
    assert world.crawl() is End.COMPLETED
    counters = world.life.crawl.counters
    assert (counters.discovered, counters.fetched, counters.sitemaps, counters.sitemaps_open) == (2, 2, 1, 0)
    assert_accounts(world)


def test_a_sitemap_that_is_linked_as_a_page_is_both() -> None:
    world = with_sitemap(f"<urlset {SPACE}><url><loc>{A}p</loc></url></urlset>")
    world.web.answers[A] = page("/map.xml")
    assert world.crawl() is End.COMPLETED
    assert world.requests()[f"{A}map.xml"] == 2
    assert world.fetched() == [A, f"{A}map.xml", f"{A}p"]
    assert_accounts(world)


def test_a_sitemap_that_fails_is_tried_again_and_then_given_up() -> None:
    world = with_sitemap("")
    world.web.answers[f"{A}map.xml"] = Answer(status=500)
    assert world.crawl() is End.COMPLETED
    assert world.requests()[f"{A}map.xml"] == 5
    assert world.states() == {"fetched": 1}
    assert_accounts(world)


def test_sitemap_indexes_that_name_ever_new_indexes_end() -> None:
    def answer(url: str) -> Script:
        number = url.removeprefix(f"{A}map").removesuffix(".xml")
        if not number.isdecimal():
            return any_page(url)
        nested = f"<sitemap><loc>{A}map{int(number) + 1}.xml</loc></sitemap>"
        return plain(f"<sitemapindex {SPACE}>{nested}</sitemapindex>", "application/xml")

    world = with_sitemap(f"<sitemapindex {SPACE}><sitemap><loc>{A}map0.xml</loc></sitemap></sitemapindex>")
    world.web.elsewhere = answer
    world.at(10_000, world.stop)
    assert world.crawl() is End.COMPLETED
    assert world.life.crawl.counters.sitemaps <= 8
    assert world.life.crawl.counters.refused == {"sitemap-too-deep": 1}
    assert_accounts(world)


def index_of(*names: str) -> Script:
    nested = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
    return plain(f"<sitemapindex {SPACE}>{nested}</sitemapindex>", "application/xml")


@pytest.mark.parametrize("elsewhere", ["http://a.test/m", "http://m"], ids=["on one host", "on ever new hosts"])
def test_sitemap_indexes_that_name_ever_more_end_at_the_limit_of_the_host_where_they_began(
    monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    """Ten each, five deep, would be 111,110."""
    monkeypatch.setattr(module, "SITEMAPS_MAX", 25)

    def answer(url: str) -> Script:
        number = url.removeprefix(elsewhere).removesuffix(".test/s.xml")
        if not number.isdecimal():
            return any_page(url)
        return index_of(*(f"{elsewhere}{number}{n}.test/s.xml" for n in range(10)))

    world = with_sitemap("", scope="host")
    world.web.answers[f"{A}map.xml"] = index_of(*(f"{elsewhere}{n}.test/s.xml" for n in range(10)))
    world.web.elsewhere = answer
    world.parsing.job_s = 0.1
    assert world.crawl(kill_at=0.5) is None
    assert 10 <= world.life.crawl.counters.sitemaps < 26  # the count outlives a kill
    assert world.crawl() is End.COMPLETED
    assert world.life.crawl.counters.sitemaps == 1 + 25
    assert world.life.crawl.counters.refused == {"too-many-sitemaps": (10 + 25 * 10) - 25}
    assert_accounts(world)


# One batch, many events.


def test_a_host_forgotten_and_found_again_keeps_its_accounts() -> None:
    """Host b is done, leaves the memory, and gets another URL again and again, also in the batch that ends it."""
    world = unpaced(f"{A}0", concurrency=2)
    for n in range(20):
        world.web.answers[f"{A}{n}"] = page(f"{B}{n}", f"/{n + 1}", latency_s=0.01 * (n % 5))
        world.web.answers[f"{B}{n}"] = page(latency_s=0.013)
    assert world.crawl() is End.COMPLETED
    assert world.requests().total() == 41
    assert_accounts(world)
