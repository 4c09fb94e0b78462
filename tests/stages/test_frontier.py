"""Which URL is next: order, rests, ceilings and robots.txt, told in simulated time."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from gossamer.core.outcome import Reason
from gossamer.core.rows import State
from gossamer.stages.host_queue import RUN_MAX, HostQueue
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_loop import SimLoop
from gossamer.testing.sim_web import NOT_FOUND, Answer, Script, any_page, failing, page, plain, refusal
from gossamer.testing.world import World

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def unpaced(*seeds: str, **options: Any) -> World:
    """No delay but what the test names."""
    settings: dict[str, Any] = {"delay_s": 0, "delay_factor": 0, "per_address_delay_s": 0, "scope": "any"}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def kept_busy(world: World, until_s: float) -> World:
    """A page that takes that long keeps the crawl from ending before what the test does later."""
    world.web.robots("busy.test", NOT_FOUND)
    world.web.answers["http://busy.test/"] = page(latency_s=until_s)
    return world.at(0.001, lambda: world.discover("http://busy.test/"))


def host_of(world: World, name: str) -> HostQueue:
    return next(host for host in world.life.stages.frontier.hosts.values() if host.row.host == name)


# Worked examples.


def test_a_gap_of_ten_downloads_delays_only_its_own_host() -> None:
    """Worked example 1: six fetches, one at a time, end at 5.0 s; c rests until 11.6 and delays nobody."""
    urls = [f"{A}1", f"{A}2", f"{B}1", f"{B}2", f"{B}3", f"{C}1"]
    world = unpaced(*urls, delay_factor=10, delay_max_s=60, concurrency=1, robots="off-for=a.test,b.test,c.test")
    for url in urls:
        world.web.answers[url] = page(latency_s={A: 0.4, B: 0.2, C: 1.0}[url[:-1]])
    rests: list[float] = []
    world.at(4.9, lambda: rests.append(host_of(world, "c.test").next_at if world.life.stages.frontier.hosts else 0))
    assert world.crawl() is End.COMPLETED
    spans = [(e.host[0], round(e.began_at, 5), round(e.ended_at or 0, 5)) for e in world.web.exchanges]
    assert spans == [
        ("a", 0.0, 0.4),
        ("b", 0.4, 0.6),
        ("c", 0.6, 1.6),
        ("b", 2.6, 2.8),
        ("a", 4.4, 4.8),
        ("b", 4.8, 5.0),
    ]
    busy_s = sum(end - begin for _, begin, end in spans)
    assert (round(busy_s, 5), round(busy_s / 5.0, 2)) == (2.4, 0.48)
    assert_accounts(world)


def test_the_heap_holds_hosts_by_the_moment_of_their_next_contact() -> None:
    """Worked example 2: at 2.0 s it holds a 2.0, b 2.3, c 5.6; a is fetched and goes back at 3.0."""
    world = kept_busy(unpaced(f"{A}1", delay_s=1, robots="off-for=a.test,c.test"), 10)
    world.web.elsewhere = lambda url: page() if "/robots" not in url else plain("User-agent: *\nCrawl-delay: 2")
    world.web.answers[f"{C}1"] = [refusal(503, "4"), page()]
    world.at(0.3 - 0.03, lambda: world.discover(f"{B}1"))  # a group commits 30 ms after its first event
    world.at(0.9, lambda: world.discover(f"{A}2", f"{A}3", f"{A}4"))
    world.at(1.6 - 0.03, lambda: world.discover(f"{C}1", f"{C}2"))
    heaps: list[dict[str, float]] = []

    def look() -> None:
        hosts = sorted(world.life.stages.frontier.hosts.values(), key=lambda host: host.next_at)
        heaps.append({host.row.host: round(host.next_at, 2) for host in hosts if host.has_work})

    world.at(2.0 - 1e-4, look).at(2.0 + 1e-4, look)
    assert world.crawl() is End.COMPLETED
    before, after = heaps
    assert list(before.items()) == [("a.test", 2.0), ("b.test", 2.3), ("c.test", 5.6)]
    assert after["a.test"] == 3.0
    assert world.starts(f"{B}1") == pytest.approx([2.3], abs=1e-3)
    assert_accounts(world)


# Order and memory.


def test_seeds_come_before_what_they_link_to() -> None:
    world = unpaced(f"{A}1", f"{A}2", delay_s=1)
    world.web.answers[f"{A}1"] = page("/deep")
    assert world.crawl() is End.COMPLETED
    assert [e.url for e in world.web.exchanges][1:] == [f"{A}1", f"{A}2", f"{A}deep"]


def test_what_the_operator_prefers_comes_first_and_what_is_deferred_last() -> None:
    world = unpaced(A, delay_s=1, prefer=(r"/b\d",), defer=(r"/a\d",))
    world.web.answers[A] = page("/a1", "/c1", "/b1", "/a2", "/b2")
    assert world.crawl() is End.COMPLETED
    assert [e.url[-2:] for e in world.web.exchanges][2:] == ["b1", "b2", "c1", "a1", "a2"]


def test_a_url_that_sorts_before_what_was_read_is_not_lost() -> None:
    """Forty links of hop 1 are in the queue; a URL of hop 0 comes when the cursor has passed its place."""
    world = unpaced(A, delay_s=1)
    world.web.answers[A] = page(*(f"/{n}" for n in range(3 * RUN_MAX)))
    world.at(RUN_MAX + 10.5, lambda: world.discover(f"{A}late-seed"))
    assert world.crawl() is End.COMPLETED
    order = [e.url for e in world.web.exchanges]
    assert order.index(f"{A}late-seed") < len(order) - RUN_MAX
    assert len(world.fetched()) == 3 * RUN_MAX + 2
    assert_accounts(world)


def test_a_long_back_queue_is_held_a_run_at_a_time() -> None:
    world = unpaced(*(f"{A}{n}" for n in range(300)), delay_s=1)
    held: list[int] = []
    for moment in range(2, 200, 7):
        world.at(moment, lambda: held.append(len(host_of(world, "a.test").run)))
    assert world.crawl() is End.COMPLETED
    assert 0 < max(held) <= RUN_MAX
    assert_accounts(world)


def test_hosts_without_work_leave_the_memory() -> None:
    world = unpaced(*(f"http://h{n}.test/" for n in range(200)))
    in_memory: list[int] = []
    world.web.answers["http://h0.test/"] = page(latency_s=5)
    world.at(4, lambda: in_memory.append(len(world.life.stages.frontier.hosts)))
    assert world.crawl() is End.COMPLETED
    assert in_memory == [1]
    assert_accounts(world)


def test_half_of_the_fetches_are_kept_from_hosts_that_time_out() -> None:
    hanging = [f"http://slow{n}.test/{m}" for n in range(8) for m in range(3)]
    fine = [f"http://fine{n}.test/{m}" for n in range(2) for m in range(40)]
    world = unpaced(*hanging, *fine, concurrency=4, attempts=2, retry_base_s=1)

    def answer(url: str) -> Script:
        return failing(Reason.FIRST_BYTE_TIMEOUT, 30) if "slow" in url and "robots" not in url else any_page(url)

    world.web.elsewhere = answer
    world.at(100, world.stop)
    world.crawl()
    assert [url for url in world.fetched() if "fine" in url] == sorted(fine)
    slow_after_first = [e for e in world.web.exchanges if "slow" in e.url and e.status == 0 and e.began_at > 31]
    for at in (40, 60, 80):
        assert sum(e.began_at <= at and (e.ended_at or 1e9) > at for e in slow_after_first) <= 2


# Ceilings.


def mixed(url: str) -> Script:
    """Every third page is gone, every fifth one redirects to a page."""
    name = url.rpartition("/")[2]
    number = int("".join(filter(str.isdigit, name)) or 0)
    if name == "robots.txt" or number % 3 == 0:
        return NOT_FOUND
    return Answer(status=302, fields=(("location", f"/t{number}x1"),)) if number % 5 == 0 else page(latency_s=0.5)


@pytest.mark.slow
def test_a_ceiling_is_exact_with_a_thousand_in_flight() -> None:
    world = unpaced(*(f"http://h{n}.test/{n}" for n in range(2_000)), max_pages=701, concurrency=1_000)
    world.web.elsewhere = mixed
    assert world.crawl() is End.BUDGET_SPENT
    assert world.life.crawl.counters.fetched == len(world.fetched()) == 701
    assert_accounts(world)


def test_ceilings_of_hosts_are_exact_and_end_the_crawl() -> None:
    world = unpaced(
        *(f"http://h{host}.test/{n}" for host in range(5) for n in range(40)), max_pages_per_host=7, concurrency=50
    )
    world.web.elsewhere = mixed
    assert world.crawl() is End.BUDGET_SPENT
    for host in range(5):
        assert sum(url.startswith(f"http://h{host}.test/") for url in world.fetched()) == 7
    assert_accounts(world)


@pytest.mark.parametrize("ceiling", ["max_pages", "max_pages_per_host"])
def test_a_higher_ceiling_goes_on(ceiling: str) -> None:
    world = unpaced(*(f"{A}{n}" for n in range(10)), **{ceiling: 3})
    assert world.crawl() is End.BUDGET_SPENT
    assert_accounts(world)
    assert world.crawl(**{ceiling: 5}) is End.BUDGET_SPENT
    assert len(world.fetched()) == 5
    assert world.crawl(**{ceiling: None}) is End.COMPLETED
    assert len(world.fetched()) == 10
    assert max(world.requests().values()) == 1
    assert_accounts(world)


def test_a_ceiling_that_nobody_reaches_ends_as_completed() -> None:
    world = unpaced(A, max_pages=1)
    assert world.crawl() is End.COMPLETED
    assert_accounts(world)


def test_a_unit_given_back_is_used_by_a_host_that_waits_for_it() -> None:
    """One unit: a has it until its page turns out to be gone, then b has its turn."""
    world = unpaced(A, B, max_pages=1)
    world.web.answers[A] = Answer(status=404, latency_s=10)
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [B]
    assert world.starts(B)[0] == pytest.approx(10.03, abs=0.01)
    assert_accounts(world)


def test_a_unit_of_a_postponed_lease_is_not_lost_to_the_others() -> None:
    """a leases the unit, must wait for its address, and its robots.txt closes meanwhile: b goes on."""
    world = unpaced(f"{A}1", f"{A}2", f"{C}1", f"{B}1", max_pages=2, per_address_delay_s=30)
    world.web.names = {"a.test": ["93.184.216.34"], "c.test": ["93.184.216.34"]}
    assert world.crawl() is End.BUDGET_SPENT
    assert len(world.fetched()) == 2
    assert_accounts(world)


def test_a_spent_budget_asks_nobody_for_robots_txt_any_more() -> None:
    world = unpaced(A, max_pages=1)
    world.parsing.job_s = 20
    world.at(10, lambda: world.discover(*(f"http://h{n}.test/" for n in range(100))))
    assert world.crawl() is End.BUDGET_SPENT
    assert world.requests() == {f"{A}robots.txt": 1, A: 1}
    assert world.states() == {"fetched": 1, "ready": 100}
    assert_accounts(world)


def test_nobody_is_asked_for_robots_txt_where_the_ceiling_of_the_host_is_reached() -> None:
    world = unpaced(f"{A}1", f"{A}2", f"{B}1", max_pages_per_host=1, delay_s=1)
    world.crawl()
    world.now_s += 25 * 3_600  # the copy of a's robots.txt is too old by now
    world.crawl()
    assert world.requests()[f"{A}robots.txt"] == 1
    assert_accounts(world)


# robots.txt.


def test_denied_urls_end_at_once_without_a_gap_for_each() -> None:
    world = unpaced(*(f"{A}no/{n}" for n in range(50)), f"{A}yes", delay_s=1)
    world.web.robots("a.test", "User-agent: *\nDisallow: /no/")
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"denied": 50, "fetched": 1}
    assert world.now_s < 3
    assert {row.reason for row in world.rows.values() if row.state is State.DENIED} == {"robots-disallowed"}
    assert_accounts(world)


def test_a_crawl_delay_beyond_ours_leaves_the_host_alone() -> None:
    world = unpaced(f"{A}1", "https://a.test/2", B, delay_max_s=60)
    world.web.robots("a.test", "User-agent: *\nCrawl-delay: 61")
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [B]
    assert world.rows[f"{A}1"].reason == "crawl-delay-too-long"
    assert_accounts(world)


def test_the_longest_crawl_delay_of_both_schemes_holds_also_after_a_restart() -> None:
    urls = [f"{scheme}://a.test/{n}" for n in range(4) for scheme in ("http", "https")]
    world = unpaced(*urls, delay_s=1)
    world.web.robots("a.test", "User-agent: *\nCrawl-delay: 5")
    world.web.answers["https://a.test/robots.txt"] = plain("User-agent: *\nAllow: /")
    assert world.at(22, world.stop).crawl() is End.STOPPED
    assert world.crawl() is End.COMPLETED
    starts = world.starts("a.test")
    gaps = [round(later - earlier, 3) for earlier, later in pairwise(starts)]
    assert min(gaps) >= 5
    assert_accounts(world)


def test_a_crawl_delay_ends_with_the_robots_txt_that_asked_for_it() -> None:
    world = kept_busy(unpaced(f"{A}1", delay_s=1), 100_000)
    world.web.robots("a.test", "User-agent: *\nCrawl-delay: 50", NOT_FOUND)
    world.at(25 * 3_600, lambda: world.discover(f"{A}2", f"{A}3"))
    assert world.crawl() is End.COMPLETED
    starts = world.starts("a.test")[-3:]  # robots.txt again, then two pages
    assert starts[2] - starts[1] == pytest.approx(1, abs=0.1)
    assert_accounts(world)


def test_a_copy_older_than_a_day_is_asked_for_again_before_any_page() -> None:
    world = kept_busy(unpaced(f"{A}1"), 100_000)
    world.web.robots("a.test", "", "User-agent: *\nDisallow: /")
    world.at(86_500, lambda: world.discover(f"{A}2"))
    assert world.crawl() is End.COMPLETED
    assert world.requests()[f"{A}robots.txt"] == 2
    assert (world.rows[f"{A}1"].state, world.rows[f"{A}2"].state) == (State.FETCHED, State.DENIED)
    assert_accounts(world)


def test_http_and_https_are_asked_one_by_one_and_share_the_gap() -> None:
    world = unpaced(f"{A}1", "https://a.test/1", delay_s=2)
    assert world.crawl() is End.COMPLETED
    assert [e.url for e in world.web.exchanges] == [
        "http://a.test/robots.txt",
        "http://a.test/1",
        "https://a.test/robots.txt",
        "https://a.test/1",
    ]
    assert world.starts("a.test") == pytest.approx([0, 2, 4, 6], abs=1e-3)
    assert_accounts(world)


@pytest.mark.parametrize("closed", [10, 5 * RUN_MAX, pytest.param(40 * RUN_MAX, marks=pytest.mark.slow)])
def test_a_closed_origin_holds_up_no_open_one_of_its_host(closed: int) -> None:
    """http answers 503 for its robots.txt; the URLs of https lie far behind in the same back queue."""
    world = unpaced(*(f"{A}{n}" for n in range(closed)), *(f"https://a.test/{n}" for n in range(40)))
    world.web.robots("a.test", refusal(503))
    assert world.at(400, world.stop).crawl() is End.STOPPED
    assert world.fetched() == sorted(f"https://a.test/{n}" for n in range(40))
    assert world.states()["ready"] == closed
    assert_accounts(world)
    world.web.robots("a.test", "")
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == closed + 40
    assert_accounts(world)


def test_a_closed_host_costs_next_to_nothing_while_it_waits() -> None:
    world = unpaced(*(f"{A}{n}" for n in range(2_000)))
    world.web.robots("a.test", refusal(503))
    turns: list[int] = []
    for hour in (10, 20):
        world.at(hour * 3_600, lambda: turns.append(_turns(world)))
    assert world.at(20 * 3_600 + 1, world.stop).crawl() is End.STOPPED
    assert turns[1] - turns[0] < 2_000  # ten hours: a look around a minute and ten contacts
    assert_accounts(world)


def _turns(world: World) -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    return loop.turns


# Resting.


def test_hosts_are_taken_up_again_where_they_stood() -> None:
    world = unpaced(f"{A}1", f"{A}2", delay_s=30)
    assert world.at(31, world.stop).crawl() is End.STOPPED
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test") == pytest.approx([0, 30, 60], abs=1e-3)
    assert_accounts(world)


@pytest.mark.parametrize("robots", ["User-agent: *\nCrawl-delay: 20", ""])
def test_after_a_kill_a_host_rests_its_own_gap(robots: str) -> None:
    """The contact in flight may have ended just then: with a crawl-delay of 20 s the next is 20 s later."""
    world = unpaced(f"{A}1", f"{A}2", delay_s=1)
    world.web.robots("a.test", robots)
    own_gap_s = 20 if robots else 1
    world.web.answers[f"{A}1"] = [failing(Reason.TOTAL_TIMEOUT, 300), page()]
    killed_at = 2 * own_gap_s + 10
    assert world.crawl(kill_at=killed_at) is None
    assert world.crawl() is End.COMPLETED
    assert min(start for start in world.starts("a.test") if start > own_gap_s + 1) >= killed_at + own_gap_s - 1e-3
    assert_accounts(world)


def test_a_host_that_is_found_only_after_a_kill_rests_too() -> None:
    world = unpaced(A, delay_s=5)
    world.web.answers[A] = page("http://b.test/")
    assert world.crawl(kill_at=0.5) is None
    world.at(0.6, lambda: world.discover(B))
    assert world.crawl() is End.COMPLETED
    assert world.starts("b.test")[0] >= 5.5 - 1e-3
    assert_accounts(world)


def test_counts_say_what_hosts_do() -> None:
    world = unpaced(A, f"{B}1", f"{B}2", C, delay_s=10)
    world.web.answers[A] = page(latency_s=100)
    world.web.robots("c.test", refusal(503))
    seen: list[tuple[int, int, int]] = []
    world.at(25, lambda: seen.append(world.life.stages.frontier.counts(0))).at(45, world.stop)
    world.web.answers[f"{B}1"] = page("/3", "/4", "/5")
    world.crawl()
    assert seen == [(1, 1, 1)]


def test_reprs_tell_what_is_going_on() -> None:
    world = unpaced(A, f"{A}2", delay_s=10)
    said: list[str] = []
    world.at(5, lambda: said.extend([repr(host_of(world, "a.test")), repr(world.life.stages.frontier)]))
    assert world.crawl() is End.COMPLETED
    assert said == [
        "<HostQueue a.test: 2 ready, 2 in memory, next 10.00>",
        "<Frontier 1 hosts in memory, 1 queued, 0 in flight>",
    ]
