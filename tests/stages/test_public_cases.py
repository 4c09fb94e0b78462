"""Mistakes that other crawlers made and their users reported, as scenarios in a simulated world. Expected facts only.

Where a report is debatable, the answer is the one that its reading of the standards recommends.
"""

import gc
from itertools import pairwise
from random import Random

import pytest

from gossamer.core.outcome import Reason, Truncation
from gossamer.core.rows import State
from gossamer.core.warc import read_record
from gossamer.ports.dns import Unresolved
from gossamer.stages.host_queue import HostQueue
from gossamer.stages.runner import GRACE_S, End
from gossamer.stages.store import GROUP_MAX
from gossamer.stages.tallies import GENERATION_MAX as TALLIES_A_GENERATION
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_web import Answer, Script, any_page, failing, hanging, page, plain, redirect, refusal
from gossamer.testing.world import World, hosts_of

HOME = "http://example.com/"


# robots.txt.


@pytest.mark.parametrize(
    ("robots", "is_page_requested"),
    [
        pytest.param(Answer(status=404, body=b"gone"), True, id="h-robots-04-a"),
        pytest.param(Answer(status=500, body=b"<h1>Error</h1>"), False, id="h-robots-04-b"),
        pytest.param(failing(Reason.CONNECT_REFUSED), False, id="h-robots-04-c"),
        pytest.param(failing(Reason.FIRST_BYTE_TIMEOUT, 30), False, id="h-robots-04-d"),
        pytest.param(plain(""), True, id="h-robots-04-e"),
        pytest.param(refusal(429, "60"), False, id="h-robots-04-f"),
        pytest.param(Answer(status=410), True, id="neighbour-gone"),
        pytest.param(Answer(status=403), True, id="neighbour-forbidden"),
        pytest.param(refusal(503), False, id="neighbour-503"),
        pytest.param(failing(Reason.TLS_FAILED), False, id="neighbour-tls"),
        pytest.param(redirect("/robots.txt?", 301), False, id="neighbour-redirects-to-nothing-else"),
        pytest.param(
            Answer(body=b"User-agent: *\nAllow: /", truncated=Truncation.DISCONNECT), False, id="neighbour-cut"
        ),
        pytest.param(redirect("http://[broken", 301), False, id="neighbour-bad-location"),
    ],
)
def test_a_page_is_asked_for_only_where_robots_txt_was_answered(robots: Answer, is_page_requested: bool) -> None:
    world = World("https://example.com/page")
    world.web.answers = {"https://example.com/robots.txt": robots, "https://example.com/page": page()}
    end = world.at(7_200, world.stop).crawl()
    assert ("https://example.com/page" in world.requests()) is is_page_requested
    assert world.states() == ({"fetched": 1} if is_page_requested else {"ready": 1})
    assert end is (End.COMPLETED if is_page_requested else End.STOPPED)
    assert_accounts(world)


def test_h_robots_04_g_a_closed_site_opens_when_robots_txt_comes_back() -> None:
    world = World("https://example.com/page")
    world.web.answers = {
        "https://example.com/robots.txt": [refusal(503), plain("User-agent: *\nAllow: /\n")],
        "https://example.com/page": page(),
    }
    assert world.crawl() is End.COMPLETED
    requested = [exchange.url.rpartition("/")[2] for exchange in world.web.exchanges]
    assert requested == ["robots.txt", "robots.txt", "page"]
    assert_accounts(world)


# Refusals.


def test_h_retry_02_a_refusal_rests_the_whole_host() -> None:
    world = World(*(f"{HOME}{n}" for n in range(1, 21)), delay_s=0.1, delay_factor=0, concurrency=8, retry_base_s=1)
    for n in range(1, 21):
        world.web.answers[f"{HOME}{n}"] = page()
    world.web.answers[f"{HOME}1"] = [refusal(429, "10"), page()]
    assert world.crawl() is End.COMPLETED
    begins = [(e.began_at, e.status) for e in world.web.exchanges]
    refused_at = next(at for at, status in begins if status == 429)
    assert min(at for at, _ in begins if at > refused_at) >= refused_at + 10
    assert len(world.fetched()) == 20
    assert max(world.requests().values()) <= 3
    assert_accounts(world)


# Redirects.


def test_h_redirect_02_pages_that_redirect_to_themselves_are_recorded_failures() -> None:
    page_url, loop = "https://example.com/page", "https://example.com/loop"
    world = World(page_url, loop)
    world.web.answers = {
        page_url: Answer(status=302, fields=(("location", "/page"), ("set-cookie", "ok=1"))),
        loop: redirect("/loop"),
    }
    assert world.crawl() is End.COMPLETED
    assert {url: (row.state, row.reason) for url, row in world.rows.items()} == {
        page_url: (State.FAILED, "redirect-loop"),
        loop: (State.FAILED, "redirect-loop"),
    }
    assert world.requests()[loop] <= 11
    assert_accounts(world)


@pytest.mark.parametrize("length", [2, 3, 7])
def test_h_redirect_02_a_longer_circle_ends_in_a_recorded_failure_too(length: int) -> None:
    world = World(f"{HOME}0")
    for n in range(length):
        world.web.answers[f"{HOME}{n}"] = redirect(f"/{(n + 1) % length}")
    assert world.crawl() is End.COMPLETED
    states = {url: (row.state, row.reason) for url, row in world.rows.items()}
    assert states.pop(f"{HOME}{length - 1}") == (State.FAILED, "redirect-loop")
    assert {state for state, _ in states.values()} == {State.REDIRECTED}
    assert set(world.requests().values()) == {1}
    assert_accounts(world)


def test_two_pages_that_redirect_to_one_third_are_no_circle() -> None:
    world = World(f"{HOME}0", f"{HOME}1")
    world.web.answers = {f"{HOME}0": redirect("/1"), f"{HOME}1": redirect("/2"), f"{HOME}2": page("/0", "/1")}
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"redirected": 2, "fetched": 1}
    assert_accounts(world)


def test_an_endless_chain_of_redirects_ends_as_a_failure() -> None:
    world = World(f"{HOME}0")
    world.web.elsewhere = lambda url: (
        redirect(f"/{int(url.rpartition('/')[2]) + 1}") if url[-1].isdigit() else Answer(status=404)
    )
    assert world.crawl() is End.COMPLETED
    assert world.states() == {"redirected": 10, "failed": 1}
    assert world.rows[f"{HOME}10"].reason == "redirect-chain-too-long"
    assert_accounts(world)


def test_h_redirect_03_a_redirect_does_not_pull_the_crawl_onto_a_foreign_site() -> None:
    world = World("https://example.com/", scope="host")
    world.web.answers = {
        "https://example.com/": page("/in", "/out"),
        "https://example.com/in": page(),
        "https://example.com/out": redirect("https://other.example.org/a"),
        "https://other.example.org/a": page("/b", "https://example.com/back"),
        "https://other.example.org/b": page(),
    }
    assert world.crawl() is End.COMPLETED
    assert hosts_of(world) == {"example.com"}
    row = world.rows["https://example.com/out"]
    assert (row.state, row.reason) == (State.REDIRECTED, "to https://other.example.org/a, not followed: outside")
    assert_accounts(world)


# Sitemaps.


def test_h_sitemap_02_an_index_that_lists_itself_ends() -> None:
    site = "https://example.com"
    names = "".join(f"<sitemap><loc>{site}/{name}.xml</loc></sitemap>" for name in ("index", "child", "moved"))
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    world = World(f"{site}/start")
    world.web.answers = {
        f"{site}/robots.txt": plain(f"Sitemap: {site}/robots.txt\nSitemap: {site}/index.xml"),
        f"{site}/start": page(),
        f"{site}/index.xml": plain(f"<sitemapindex {space}>{names}</sitemapindex>", "application/xml"),
        f"{site}/moved.xml": redirect("/index.xml", 301),
        f"{site}/child.xml": plain(f"<urlset {space}><url><loc>{site}/p</loc></url></urlset>", "application/xml"),
        f"{site}/p": page(),
    }
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{site}/p", f"{site}/start"]
    requests = world.requests()
    assert requests[f"{site}/index.xml"] <= 2
    assert requests[f"{site}/child.xml"] == requests[f"{site}/moved.xml"] == requests[f"{site}/p"] == 1
    assert_accounts(world)


# Names.


def test_h_dns_01_a_resolver_outage_kills_no_host() -> None:
    world = World(
        *(f"http://a.example.com/{n}" for n in range(5)), attempts=6, retry_base_s=0.5, delay_s=0.1, delay_factor=0
    )
    world.web.elsewhere = lambda _: page()
    world.web.answers["http://a.example.com/robots.txt"] = Answer(status=404)
    world.web.names["a.example.com"] = lambda at_s: ["93.184.216.34"] if at_s > 3 else Unresolved(Reason.DNS_FAILED)
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 5
    assert_accounts(world)


def test_h_dns_02_a_name_that_never_resolves_holds_up_nobody() -> None:
    dead, fine = "http://dead.example.com/", "http://ok.example.com/"
    world = World(dead, fine, attempts=2, retry_base_s=1)
    world.web.look_up_s["dead.example.com"] = 3.0
    world.web.names["dead.example.com"] = Unresolved(Reason.DNS_TIMEOUT)
    world.web.answers[fine] = page()
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [fine]
    assert world.starts(fine)[0] <= 2
    assert (world.rows[dead].state, world.rows[dead].reason) == (State.DEAD, "dns-timeout")
    assert hosts_of(world) == {"ok.example.com"}
    assert world.now_s <= 15
    assert_accounts(world)


# Answers.


def test_h_http_03_half_a_page_is_tried_again_and_kept_with_a_mark() -> None:
    world = World(HOME)
    world.web.answers[HOME] = Answer(
        fields=(("content-type", "text/html"), ("etag", '"v1"')),
        body=b"<html><a href='/n'>n</a>",
        truncated=Truncation.DISCONNECT,
    )
    world.web.answers[f"{HOME}n"] = page()
    assert world.crawl() is End.COMPLETED
    assert world.requests()[HOME] == 5
    row = world.rows[HOME]
    assert row.fetch is not None
    assert (row.state, row.reason) == (State.FETCHED, "incomplete: disconnect")
    assert (row.fetch.truncated, row.fetch.etag) == ("disconnect", "")
    assert b"WARC-Truncated: disconnect" in _record(world, HOME)
    assert world.fetched() == [HOME, f"{HOME}n"]
    assert_accounts(world)


def _record(world: World, url: str) -> bytes:
    fetch = world.rows[url].fetch
    assert fetch is not None
    return b"\n".join(f"{name}: {value}".encode() for name, value in read_record(world.raw.read(fetch.raw_key)).fields)


# Duplicates.


def test_h_dedup_01_one_page_has_one_identity() -> None:
    world = World("http://example.com")
    world.web.answers = {
        HOME: page("#a", "/", "http://EXAMPLE.com", "http://example.com:80/#b", "/p", "/p#x", "/p?"),
        f"{HOME}p": page(),
    }
    assert world.crawl() is End.COMPLETED
    requests = world.requests()
    assert requests[HOME] == requests[f"{HOME}p"] == 1
    assert set(requests) <= {HOME, f"{HOME}p", f"{HOME}p?", f"{HOME}robots.txt"}
    assert hosts_of(world) == {"example.com"}
    assert_accounts(world)


@pytest.mark.parametrize("commit_s", [0.0, 0.1])
def test_h_dedup_02_pages_that_all_link_to_each_other_are_fetched_once(commit_s: float) -> None:
    world = World("https://example.com/", delay_s=0, delay_factor=0, concurrency=50, per_address_delay_s=0, parsers=2)
    links = [f"/{n}" for n in range(1, 51)]
    world.web.elsewhere = lambda _: page(*links, latency_s=0.05)
    world.web.answers["https://example.com/"] = page(*links)
    world.web.answers["https://example.com/robots.txt"] = Answer(status=404)
    world.partition.commit_s = commit_s
    assert world.crawl() is End.COMPLETED
    requests = world.requests()
    del requests["https://example.com/robots.txt"]
    assert requests.total() == 51
    assert max(requests.values()) == 1
    assert_accounts(world)


# The frontier.


def test_h_frontier_01_a_slow_host_holds_up_nobody() -> None:
    fast_hosts = [f"h{n}.example.com" for n in range(1, 11)]
    seeds = [f"http://slow.example.com/{n}" for n in range(1_000)]
    seeds += [f"http://{host}/{n}" for host in fast_hosts for n in range(50)]
    world = World(*seeds, delay_s=0.1, delay_factor=0, concurrency=4, per_address_delay_s=0)
    world.web.elsewhere = any_page
    world.web.robots("slow.example.com", "User-agent: *\nCrawl-delay: 5")
    assert world.at(20, world.stop).crawl() is End.STOPPED
    for host in fast_hosts:
        assert sum(url.startswith(f"http://{host}/") for url in world.fetched()) == 50
    slow = world.starts("slow.example.com")
    assert len(slow) <= 5
    assert min(later - earlier for earlier, later in pairwise(slow)) >= 5
    assert_accounts(world)


@pytest.mark.parametrize("seed", range(5))
def test_h_frontier_02_parallel_workers_never_get_a_host_within_its_delay(seed: int) -> None:
    urls = [f"https://example.com/{n}" for n in range(1, 31)]
    world = World(*urls, rng=Random(seed), delay_s=0.2, delay_factor=0, concurrency=20, parsers=2)
    for url in urls:
        world.web.answers[url] = page(latency_s=0.005)
    assert world.crawl() is End.COMPLETED
    starts = world.starts("example.com")
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 0.2
    assert world.fetched() == sorted(urls)
    assert_accounts(world)


def test_h_trap_01_a_link_that_grows_with_every_fetch_ends() -> None:
    home = "https://example.com/"
    real = [f"/real/{n}" for n in range(1, 11)]

    def answer(url: str) -> Script:
        if url.endswith("/robots.txt"):
            return Answer(status=404)
        if url.startswith(f"{home}real/"):
            return page(text=f"real {url.rpartition('/')[2]}")
        return page("www.example.org/partners/", *real, text="static text")

    world = World(home, max_pages=1_000)
    world.web.elsewhere = answer
    assert world.crawl() is End.COMPLETED
    requests = world.requests()
    assert all(requests[home + path.lstrip("/")] == 1 for path in real)
    assert requests.total() <= 60
    assert world.life.crawl.counters.refused["repeated-segments"] >= 1
    assert_accounts(world)


def test_h_trap_02_a_calendar_ends_and_starves_nobody() -> None:
    home = "https://example.com/"

    def answer(url: str) -> Script:
        if url.endswith("/robots.txt"):
            return Answer(status=404)
        if "/cal?" not in url:
            return page(text=f"What document {url} has to say about itself, at some length. " * 3)
        year, month = (int(value.partition("=")[2]) for value in url.partition("?")[2].split("&"))
        around = [divmod(year * 12 + month - 1 + step, 12) for step in (1, -1)]
        links = [f"/cal?y={other}&amp;m={at + 1}" for other, at in around]
        return page(*links, text=f"Nothing is planned for month {month} of the year {year}. " * 3)

    world = World(home, max_pages=500)
    world.web.elsewhere = answer
    world.web.answers[home] = page("/cal?y=2026&amp;m=1", *(f"/doc/{n}" for n in range(1, 31)))
    assert world.crawl() is End.COMPLETED
    requested = [exchange.url for exchange in world.web.exchanges]
    docs = [at for at, url in enumerate(requested, 1) if "/doc/" in url]
    assert len(docs) == 30
    assert docs[-1] <= 150
    assert 10 < sum("/cal?" in url for url in requested) <= 120
    assert world.life.crawl.counters.refused.keys() & {"endless-calendar", "far-date"}
    assert_accounts(world)


# Memory.


@pytest.mark.slow
def test_h_memory_01_hosts_that_are_done_are_forgotten() -> None:
    hosts, places = 50_000, 2_000
    seen: list[tuple[int, int, int]] = []

    def look() -> None:
        crawl, frontier = world.life.crawl, world.life.stages.frontier
        seen.append((crawl.counters.fetched, len(frontier.hosts), len(frontier.tallies)))

    world = World(*(f"http://h{n}.example{n}.com/" for n in range(hosts)), places=places, delay_s=1)
    world.web.elsewhere = any_page
    for second in range(1, 120):
        world.at(second, look)
    assert world.crawl(per_address_delay_s=0) is End.COMPLETED
    assert world.life.crawl.counters.fetched == hosts
    assert max(held for _, held, _ in seen) <= places
    assert len(world.life.stages.frontier.hosts) == 0
    # A queue of a host is big and goes when the host is done; of those that came by lately small counts are kept:
    # 50,000 at first, for the seeds are one batch, and two generations later on.
    assert max(kept for fetched, _, kept in seen if fetched > hosts // 2) <= 2 * (TALLIES_A_GENERATION + GROUP_MAX)
    held_by_others = [one for one in gc.get_objects() if type(one) is HostQueue and one.row.host.endswith(".com")]
    assert len(held_by_others) <= places


# Addresses.


def test_h_api_02_nothing_leads_to_a_private_address() -> None:
    pub = "http://pub.example.com"
    world = World("http://127.0.0.1/", f"{pub}/r1", f"{pub}/r2", f"{pub}/ok", scope="any")
    world.web.names["int.example.com"] = ["10.0.0.5"]
    world.web.answers = {
        f"{pub}/r1": redirect("http://169.254.169.254/latest/meta-data/"),
        f"{pub}/r2": redirect("http://int.example.com/"),
        f"{pub}/ok": page(),
    }
    assert world.crawl() is End.COMPLETED
    assert hosts_of(world) == {"pub.example.com"}
    assert world.fetched() == [f"{pub}/ok"]
    for url in ("http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://int.example.com/"):
        assert (world.rows[url].state, world.rows[url].reason) == (State.FAILED, "address-not-allowed")
    assert_accounts(world)


def test_h_api_02_a_name_that_turns_to_a_private_address_is_refused_at_the_next_contact() -> None:
    world = World("http://a.test/1", "http://a.test/2")
    world.web.elsewhere = any_page
    world.web.names["a.test"] = lambda at_s: ["93.184.216.34"] if at_s < 1.5 else ["::ffff:127.0.0.1"]
    assert world.crawl() is End.COMPLETED
    assert {exchange.address for exchange in world.web.exchanges} == {"93.184.216.34"}
    assert world.states() == {"fetched": 1, "failed": 1}
    assert_accounts(world)


# Ends.


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_h_shutdown_01_kills_at_random_moments_lose_nothing(seed: int) -> None:
    """300 linked pages on four hosts; each life is killed at a random moment until one comes to the end."""
    rng = Random(seed)
    urls = [f"http://h{n % 4}.example.com/{n}" for n in range(300)]
    world = World(urls[0], rng=rng, scope="site", concurrency=16, delay_s=0.05, delay_factor=0, per_address_delay_s=0)
    world.partition.commit_s, world.parsing.job_s = 0.02, 0.01

    def answer(url: str) -> Script:
        path = url.rpartition("/")[2]
        if path == "robots.txt":
            return Answer(status=404)
        return page(*(urls[n] for n in (int(path) * 2 + 1, int(path) * 2 + 2) if n < 300), latency_s=0.2)

    world.web.elsewhere = answer
    kills, end = 0, None
    while end is None:
        is_last = kills == 10
        end = world.crawl(kill_at=None if is_last else world.now_s + rng.uniform(0.1, 4))
        kills += end is None
        assert_accounts(world)
    assert end is End.COMPLETED
    assert world.fetched() == sorted(urls)
    again = sum(count - 1 for url, count in world.requests().items() if not url.endswith("/robots.txt"))
    assert again <= 16 * kills


def test_h_shutdown_02_a_stop_waits_for_a_hanging_contact_no_longer_than_its_grace() -> None:
    world = World(f"{HOME}hang", *(f"http://other.test/{n}" for n in range(50)), delay_s=0.1)
    world.web.elsewhere = any_page
    world.web.answers[f"{HOME}hang"] = hanging()
    assert world.at(3, world.stop).crawl() is End.STOPPED
    assert 3 + GRACE_S <= world.now_s <= 13
    assert world.rows[f"{HOME}hang"].state is State.READY
    assert len(world.fetched()) > 10
    assert_accounts(world)
    world.web.answers[f"{HOME}hang"] = page()
    assert world.crawl() is End.COMPLETED
    assert len(world.fetched()) == 51
    assert_accounts(world)


def test_a_stop_with_nothing_in_flight_ends_at_once() -> None:
    world = World(HOME, delay_s=100, delay_max_s=100)
    world.web.answers[HOME] = page("/a")
    world.web.elsewhere = any_page
    assert world.at(150, world.stop).crawl() is End.STOPPED
    assert 150 <= world.now_s <= 150.2
    assert_accounts(world)
