"""What becomes of robots.txt: redirects over hosts, outages, bodies that can't be read, sitemaps, restarts."""

import gzip
from typing import Any

import pytest

import gossamer.stages.store as store_module
from gossamer.core.outcome import Reason
from gossamer.core.rows import HostRow, State, load
from gossamer.core.url import Url, link_keys
from gossamer.ports.dns import Unresolved
from gossamer.ports.partition_store import Family
from gossamer.stages.host_queue import ORIGINS_MAX
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import NOT_FOUND, Answer, Script, any_page, failing, page, plain, redirect, refusal
from gossamer.testing.world import World, hosts_of

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
DENY_ALL, ALLOW_ALL = "User-agent: *\nDisallow: /", "User-agent: *\nAllow: /"


def world_of(*seeds: str, **options: Any) -> World:
    settings: dict[str, Any] = {"scope": "any", "delay_s": 1, "delay_factor": 0}
    world = World(*seeds, **(settings | options))
    world.web.elsewhere = any_page
    return world


def host_row(world: World, url: str) -> HostRow:
    stored = world.partition.get(Family.HOSTS, link_keys([Url(url)])[0][:8])
    assert stored is not None
    return load(HostRow, stored)


# Redirects.


def test_a_redirect_to_another_host_is_a_contact_of_that_host() -> None:
    world = world_of(f"{A}1", f"{B}1", f"{B}2")
    world.web.robots("a.test", redirect(f"{B}robots.txt"))
    world.web.robots("b.test", "User-agent: *\nDisallow: /1")
    assert world.crawl() is End.COMPLETED
    assert (world.rows[f"{A}1"].state, world.rows[f"{B}1"].state) == (State.DENIED, State.DENIED)
    assert world.fetched() == [f"{B}2"]
    assert_accounts(world)


def test_a_crawl_delay_that_another_host_tells_counts_from_then() -> None:
    world = world_of(A)
    world.web.robots("a.test", redirect(f"{B}robots.txt"))
    world.web.robots("b.test", plain("User-agent: *\nCrawl-delay: 7\n"))
    assert world.crawl() is End.COMPLETED
    (told_at,) = world.starts(f"{B}robots.txt")
    assert world.starts(A) == pytest.approx([told_at + 7], abs=0.01)


def test_two_hosts_that_redirect_to_each_other_are_both_closed_and_end_asking() -> None:
    world = world_of(f"{A}1", f"{B}1")
    world.web.robots("a.test", redirect(f"{B}robots.txt"))
    world.web.robots("b.test", redirect(f"{A}robots.txt"))
    assert world.at(50, world.stop).crawl() is End.STOPPED
    assert world.states() == {"ready": 2}
    assert world.requests().total() == 2 * 6  # five redirects each
    assert_accounts(world)


def test_a_host_that_is_asking_itself_answers_for_others_all_the_same() -> None:
    """b is slow to answer for itself; a's question waits its turn in b's queue, and both get their rules."""
    world = world_of(f"{A}1", f"{B}1")
    world.web.robots("a.test", redirect(f"{B}robots.txt"))
    world.web.robots("b.test", Answer(body=ALLOW_ALL.encode(), latency_s=5))
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}1", f"{B}1"]
    assert_accounts(world)


def test_a_redirect_within_the_host_keeps_its_gap() -> None:
    world = world_of(f"{A}1", delay_s=4)
    world.web.robots("a.test", redirect("/real-robots"))
    world.web.answers[f"{A}real-robots"] = plain(ALLOW_ALL)
    assert world.crawl() is End.COMPLETED
    assert world.starts("a.test") == pytest.approx([0, 4, 8], abs=1e-3)
    assert_accounts(world)


def test_more_than_five_redirects_close_the_host() -> None:
    world = world_of(f"{A}1")
    for n in range(10):
        world.web.answers[f"{A}r{n}"] = redirect(f"/r{n + 1}")
    world.web.robots("a.test", redirect("/r0"))
    assert world.at(30, world.stop).crawl() is End.STOPPED
    assert world.requests().total() == 6
    assert world.states() == {"ready": 1}
    assert_accounts(world)


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", None])
def test_a_redirect_to_where_we_may_not_or_cannot_go_is_an_outage_not_a_failed_page(address: str | None) -> None:
    world = world_of(f"{A}1")
    world.web.robots("a.test", redirect("http://inside.test/robots.txt"))
    world.web.names["inside.test"] = [address] if address else Unresolved(Reason.DNS_NOT_FOUND)
    assert world.at(30, world.stop).crawl() is End.STOPPED
    assert hosts_of(world) == {"a.test"}
    assert world.states() == {"ready": 1}
    assert host_row(world, A).origins["http://a.test"].copy.attempts == 1
    assert_accounts(world)


def test_the_target_of_a_redirect_rests_over_a_restart_too() -> None:
    world = world_of(f"{A}1", delay_s=10)
    world.web.robots("a.test", redirect(f"{C}robots.txt"))
    world.web.robots("c.test", refusal(429, "300"))
    assert world.at(3, world.stop).crawl() is End.STOPPED
    assert host_row(world, C).manners.next_allowed_at > 0
    world.at(5, lambda: world.discover(f"{C}1")).at(400, world.stop)
    world.web.robots("c.test", "")
    world.crawl()
    assert world.starts("c.test")[1] >= 300
    assert_accounts(world)


# Outages and bodies.


def test_a_closed_host_is_asked_again_after_one_two_four_minutes() -> None:
    world = world_of(f"{A}1")
    world.web.robots("a.test", failing(Reason.CONNECT_REFUSED))
    assert world.at(4_000, world.stop).crawl() is End.STOPPED
    assert world.starts("a.test") == pytest.approx([0, 60, 180, 420, 900, 1_860, 3_780], abs=1)
    assert_accounts(world)


def test_a_copy_serves_through_an_outage_while_it_is_fresh() -> None:
    """Fetched at 0 s; when it expires after a day robots.txt can't be had any more, and nothing is fetched."""
    world = world_of(*(f"{A}{n}" for n in range(20)), delay_s=6_000, delay_max_s=6_000)
    world.web.robots("a.test", ALLOW_ALL, refusal(503))
    assert world.at(100_000, world.stop).crawl() is End.STOPPED
    last_page_at = max(e.began_at for e in world.web.exchanges if not e.url.endswith("robots.txt"))
    assert last_page_at < 86_400 < last_page_at + 6_000 + 1
    assert_accounts(world)


@pytest.mark.parametrize("closed_s", [10, 3_000])
def test_the_rules_hold_over_a_restart(closed_s: int) -> None:
    world = world_of(f"{A}yes/1", f"{A}no/1", delay_s=2)
    world.web.robots("a.test", "User-agent: *\nDisallow: /no/", failing(Reason.TOTAL_TIMEOUT))
    assert world.crawl(kill_at=2.5) is None
    world.now_s += closed_s
    world.at(world.now_s, lambda: world.discover(f"{A}no/2", f"{A}yes/2"))
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}yes/1", f"{A}yes/2"]
    assert_accounts(world)


@pytest.mark.parametrize("commit_s", [0, 0.5])
@pytest.mark.parametrize("kill_at", [0.01, 0.04, 0.2, 0.6, 1.2])
def test_rules_and_their_text_are_durable_together(kill_at: float, commit_s: float) -> None:
    """Wherever the kill comes: never a copy that is in force without its body."""
    world = world_of(f"{A}no/1", f"{A}no/2")
    world.web.robots("a.test", DENY_ALL)
    world.partition.commit_s = commit_s
    world.crawl(kill_at=kill_at)
    stored = world.partition.get(Family.HOSTS, link_keys([Url(A)])[0][:8])
    for origin in load(HostRow, stored).origins.values() if stored else ():
        assert origin.copy.last_good_at is None or world.partition.get(Family.ROBOTS, origin.body_key) is not None
    world.crawl()
    assert set(world.requests()) == {f"{A}robots.txt"}
    assert_accounts(world)


@pytest.mark.parametrize("step", range(12))
def test_rules_and_their_text_are_durable_together_however_small_the_batches(
    monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Events of one host in batches of their own: its row is written by the first, the rules come with the last."""
    monkeypatch.setattr(store_module, "GROUP_MAX", 1)
    world = world_of(f"{A}1", f"{A}2", "https://a.test/1", f"{A}3", delay_s=0)
    world.web.robots("a.test", ALLOW_ALL)
    world.web.answers["https://a.test/robots.txt"] = plain("User-agent: *\nDisallow: /1")
    world.partition.commit_s = 0.05
    world.crawl(kill_at=0.05 + 0.04 * step)
    stored = world.partition.get(Family.HOSTS, link_keys([Url(A)])[0][:8])
    for origin in load(HostRow, stored).origins.values() if stored else ():
        assert origin.copy.last_good_at is None or world.partition.get(Family.ROBOTS, origin.body_key) is not None
    assert world.crawl() is End.COMPLETED
    assert world.rows["https://a.test/1"].state is State.DENIED
    assert_accounts(world)


def test_a_host_that_was_contacted_while_its_last_batch_was_written_is_not_forgotten_with_it() -> None:
    """c's page is settled in a batch that takes 0.3 s; meanwhile c answers 429 to a's question. Then b asks c."""
    world = world_of(f"{C}1", f"{A}1", delay_s=0.05, robots="off-for=c.test", per_address_delay_s=0)
    world.web.robots("a.test", Answer(status=302, fields=(("location", f"{C}robots.txt"),), latency_s=0.06))
    world.web.robots("b.test", redirect(f"{C}robots.txt"))
    world.web.robots("c.test", refusal(429, "100"), "")
    world.partition.commit_s = 0.3
    world.at(0.7, lambda: world.discover(f"{B}1"))
    assert world.crawl() is End.COMPLETED
    first, second, third = world.starts("c.test")[:3]
    assert second - first < 0.3
    assert third >= second + 100
    assert_accounts(world)


def test_a_lost_text_does_not_open_the_host() -> None:
    world = world_of(f"{A}1", f"{A}2", delay_s=60)
    world.web.robots("a.test", "User-agent: *\nDisallow: /2")
    assert world.at(30, world.stop).crawl() is End.STOPPED
    for key, _ in list(world.partition.scan(Family.ROBOTS, b"", b"\xff" * 32)):
        world.partition._apply(Family.ROBOTS, key, None)
    assert world.crawl() is End.COMPLETED
    assert world.requests()[f"{A}robots.txt"] == 2
    assert world.rows[f"{A}2"].state is State.DENIED
    assert_accounts(world)


def coded(body: bytes, coding: str) -> Answer:
    return Answer(body=body, fields=(("content-encoding", coding), ("content-type", "text/plain")))


@pytest.mark.parametrize(
    ("robots", "state"),
    [
        (coded(gzip.compress(DENY_ALL.encode()), "gzip"), "denied"),
        (coded(gzip.compress(ALLOW_ALL.encode()), "gzip"), "fetched"),
        (coded(DENY_ALL.encode(), "gzip"), "denied"),
        (coded(DENY_ALL.encode(), "utf-8"), "denied"),
        (coded(ALLOW_ALL.encode(), "UTF-8"), "fetched"),
        (coded(gzip.compress(ALLOW_ALL.encode() * 99)[:-20], "gzip"), "ready"),
        (coded(b"\x1f\x9d\x90\x00\x01", "compress"), "ready"),
        (coded(b"", "gzip"), "fetched"),
        (coded(gzip.compress(DENY_ALL.encode())[:10], "gzip"), "ready"),
        (coded(b"\xff\xff\xff\xff", "br"), "ready"),
        (coded(b"\x78\x9c\xff\xff", "deflate"), "ready"),
        (coded(b"\x28\xb5\x2f\xfd", "zstd"), "ready"),
    ],
    ids=[
        "gzip-deny",
        "gzip-allow",
        "gzip-lie",
        "label-deny",
        "label-allow",
        "gzip-torn",
        "unknown-binary",
        "empty",
        "gzip-nothing",
        "br-nothing",
        "deflate-nothing",
        "zstd-nothing",
    ],
)
def test_rules_that_cannot_be_read_allow_nothing(robots: Answer, state: str) -> None:
    world = world_of(f"{A}1")
    world.web.robots("a.test", robots)
    world.at(30, world.stop).crawl()
    assert world.states() == {state: 1}
    assert_accounts(world)


def test_an_absent_robots_txt_replaces_the_rules_of_before() -> None:
    world = world_of(f"{A}2", f"{A}1", delay_s=50_000, delay_max_s=60_000)
    world.web.robots("a.test", "User-agent: *\nDisallow: /2\nDisallow: /3", NOT_FOUND)
    world.web.answers[f"{A}1"] = page("/3")
    assert world.crawl() is End.COMPLETED
    assert {url[-1]: row.state for url, row in world.rows.items()} == {
        "2": State.DENIED,
        "1": State.FETCHED,
        "3": State.FETCHED,
    }
    assert world.requests()[f"{A}robots.txt"] == 2
    assert_accounts(world)


def test_a_copy_that_expired_unused_is_not_used_after_all() -> None:
    """Only a denied URL on the first day: the next one is not judged by the rules of yesterday."""
    world = world_of(f"{A}no", "http://busy.test/")
    world.web.answers["http://busy.test/"] = page(latency_s=100_000)
    world.web.robots("a.test", "User-agent: *\nDisallow: /no", DENY_ALL)
    world.at(90_000, lambda: world.discover(f"{A}yes"))
    assert world.crawl() is End.COMPLETED
    assert world.rows[f"{A}yes"].state is State.DENIED
    assert_accounts(world)


# Bounds and sitemaps.


def test_ports_without_end_are_forgotten_in_turn() -> None:
    ports = range(8_000, 8_000 + 2 * ORIGINS_MAX)
    world = world_of(*(f"http://a.test:{port}/" for port in ports), per_address_delay_s=0)
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == len(ports)
    assert len(host_row(world, A).origins) == ORIGINS_MAX
    assert_accounts(world)


def test_sitemaps_may_lie_anywhere_and_their_pages_only_inside() -> None:
    world = world_of(f"{A}1", scope="host")
    world.web.robots("a.test", f"Sitemap: /own.xml\nSitemap: {B}theirs.xml\nSitemap: ftp://a.test/x\nSitemap:")
    world.web.answers |= {
        f"{A}own.xml": plain(f"{A}2\n{B}3\n"),
        f"{B}theirs.xml": plain(f"{A}4\n{C}5\n"),
    }
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}1", f"{A}2", f"{A}4"]
    assert hosts_of(world) == {"a.test", "b.test"}
    assert_accounts(world)


@pytest.mark.parametrize("scope", ["host", "site", "prefix"])
def test_a_foreign_host_on_which_a_sitemap_lies_names_no_more_of_them(scope: str) -> None:
    """Else each host leads to the next, without end, and none of them is in scope."""

    def answer(url: str) -> Script:
        number = int(url.removeprefix("http://h").partition(".")[0])
        if url.endswith("robots.txt"):
            return plain(f"Sitemap: http://h{number + 1}.test/map.xml")
        return plain(f"http://h0.test/{number}\n") if url.endswith("map.xml") else page()

    world = world_of("http://h0.test/", scope=scope, per_address_delay_s=0)
    world.web.elsewhere = answer
    world.at(1_000, world.stop)
    for _ in range(2):  # a known robots.txt is read again by the next run
        assert world.crawl() is End.COMPLETED
        assert hosts_of(world) == {"h0.test", "h1.test"}
        assert world.fetched() == ["http://h0.test/", "http://h0.test/1"]
        assert_accounts(world)


def test_sitemaps_are_left_alone_when_told_so() -> None:
    world = world_of(f"{A}1", sitemaps=False)
    world.web.robots("a.test", f"Sitemap: {A}map.xml")
    assert world.crawl() is End.COMPLETED
    assert set(world.requests()) == {f"{A}robots.txt", f"{A}1"}


def test_robots_txt_is_ignored_only_where_the_operator_said_so() -> None:
    world = world_of(f"{A}1", f"{B}1", robots="off-for=a.test")
    world.web.robots("a.test", DENY_ALL)
    world.web.robots("b.test", DENY_ALL)
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}1"]
    assert f"{A}robots.txt" not in world.requests()
    assert_accounts(world)


def test_a_name_that_does_not_resolve_is_the_failure_of_its_urls() -> None:
    world = world_of(*(f"{A}{n}" for n in range(3)), attempts=2, retry_base_s=5)
    world.web.names["a.test"] = Unresolved(Reason.DNS_NOT_FOUND)
    assert world.crawl() is End.COMPLETED
    assert {(row.state, row.reason, row.attempts) for row in world.rows.values()} == {(State.DEAD, "dns-not-found", 2)}
    assert world.web.exchanges == []
    assert_accounts(world)


def test_google_rules_close_for_twelve_hours_and_then_allow() -> None:
    world = world_of(f"{A}1", robots_unreachable="google")
    world.web.robots("a.test", refusal(503))
    assert world.crawl() is End.COMPLETED
    assert 12 * 3_600 <= world.starts(f"{A}1")[0] <= 13.1 * 3_600
    assert_accounts(world)
