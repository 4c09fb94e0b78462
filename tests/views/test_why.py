"""The story of a URL: its steps in order, for URLs of the crawl and for those that it never took."""

from pathlib import Path

import pytest
from tests.views.stored_crawl import START, StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.keys import url_row_key
from gossamer.core.outcome import Denied, Failed, Fetched, Reason, Redirected, Unreachable
from gossamer.core.robots_copy import VALID_S, Absent, Body, Unavailable, after_answer
from gossamer.core.rows import Kind, OutlinkRow
from gossamer.core.url import Url, normalize
from gossamer.ports.partition_store import Family
from gossamer.stages.events import HostChanged
from gossamer.views.lookup import key_of
from gossamer.views.why import WhyView, explain
from gossamer.views.why_case import Step
from gossamer.views.why_found import CHAIN_MAX

A = "http://a.test/"
ROBOTS = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n"


def world(tmp_path: Path, **options: object) -> StoredCrawl:
    return StoredCrawl(MemoryPartitionStore(), tmp_path, (A,), **options).robots("http://a.test", Body(), ROBOTS)


def story(crawl: StoredCrawl, written: str, *, is_over: bool = False) -> WhyView:
    url = normalize(written)
    return explain(crawl.case, written, Url(url), lambda: is_over)


def steps(view: WhyView, what: str) -> list[Step]:
    return [step for step in view.steps if step.what == what]


def step(view: WhyView, what: str) -> Step:
    (only,) = steps(view, what)
    return only


def test_a_fetched_page_tells_its_whole_life_in_order(tmp_path: Path) -> None:
    crawl = world(tmp_path).fetch(A)
    view = story(crawl, "HTTP://A.test:80/#top")
    assert view.state == "fetched"
    order = list(dict.fromkeys(each.what for each in view.steps))
    assert order == [
        "url", "scope", "traps", "found", "hops", "budget", "robots", "delay", "event", "answer", "stored", "parsed", "next",
    ]  # fmt: skip
    assert step(view, "url").decision == A
    assert "HTTP://A.test:80/#top" in step(view, "url").because
    assert step(view, "found").because == "a seed, hop 0"
    assert [event.decision for event in steps(view, "event")] == ["captured", "fetched"]
    assert step(view, "answer").decision == "status 200"
    assert [each.decision for each in steps(view, "stored")] == ["raw", "text"]


def test_the_chain_leads_back_to_the_seed(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.admit("http://a.test/1", hop=1, parent=A)
    crawl.admit("http://a.test/2", hop=2, parent="http://a.test/1")
    view = story(crawl, "http://a.test/2")
    assert step(view, "found").because == "first linked from http://a.test/1, hop 2"
    assert [via.decision for via in steps(view, "via")] == ["http://a.test/1", A]
    assert steps(view, "via")[-1].because == "a seed, hop 0"


def test_a_chain_of_any_length_has_an_end(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    parent = A
    for number in range(CHAIN_MAX + 5):
        crawl.admit(f"http://a.test/{number}", hop=number + 1, parent=parent)
        parent = f"http://a.test/{number}"
    shown = steps(story(crawl, parent), "via")
    assert len(shown) == CHAIN_MAX + 1
    assert shown[-1].decision == "…"


def test_a_denial_names_the_rule_and_its_line(tmp_path: Path) -> None:
    crawl = world(tmp_path).admit("http://a.test/private/x", hop=1, parent=A)
    crawl.settle("http://a.test/private/x", Denied(Reason.ROBOTS_DISALLOWED))
    view = story(crawl, "http://a.test/private/x")
    robots = step(view, "robots")
    assert (robots.decision, robots.line) == ("denied", 2)
    assert "/private" in (robots.rule or "")
    assert "line 2" in robots.because
    assert robots.at == "2026-01-01T00:00:00.000Z"
    assert step(view, "next").decision == "nothing"


def test_an_allowing_rule_is_named_too(tmp_path: Path) -> None:
    crawl = world(tmp_path).admit("http://a.test/private/open", hop=1, parent=A)
    robots = step(story(crawl, "http://a.test/private/open"), "robots")
    assert (robots.decision, robots.line) == ("allowed", 3)


def test_a_host_without_robots_is_asked_first(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,))
    view = story(crawl, A)
    assert step(view, "robots").decision == "not asked yet"
    assert "held up by robots" in step(view, "next").because


def test_an_outage_says_until_when(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,)).robots("http://a.test", Unavailable("503"))
    robots = step(story(crawl, A), "robots")
    assert robots.decision == "closed"
    assert "asked again at 2026-01-01T00:01:00" in robots.because


def test_an_absent_robots_allows_all_until_it_expires(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,)).robots("http://a.test", Absent(404))
    assert step(story(crawl, A), "robots").decision == "allowed"
    crawl.clock.wall = START + VALID_S
    assert step(story(crawl, A), "robots").decision == "asked again first"


def test_a_too_long_crawl_delay_leaves_the_host_alone(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,))
    crawl.robots("http://a.test", Body(), b"User-agent: *\nCrawl-delay: 600\n")
    robots = step(story(crawl, A), "robots")
    assert robots.decision == "denied"
    assert robots.because.startswith("Crawl-delay: 600 is longer than the 60 s")


def test_a_lost_robots_body_is_asked_for_again(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,)).robots("http://a.test", Body())
    robots = step(story(crawl, A), "robots")
    assert robots.decision == "asked again first"
    assert robots.because == "the stored robots.txt is missing; no page before that"


@pytest.mark.parametrize("own", [Body(), Absent(404)])
def test_a_too_long_crawl_delay_of_another_origin_holds_for_the_whole_host(tmp_path: Path, own: Body | Absent) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,))
    crawl.robots("http://a.test", own, ROBOTS if isinstance(own, Body) else b"")
    crawl.robots("https://a.test", Body(), b"User-agent: *\nCrawl-delay: 600\n")
    robots = step(story(crawl, A), "robots")
    assert robots.decision == "denied"
    assert robots.because.startswith("Crawl-delay: 600 of https://a.test/robots.txt is longer than the 60 s")


def test_an_outage_that_lifts_the_rules_is_the_reason_not_they(tmp_path: Path) -> None:
    crawl = world(tmp_path, robots_unreachable="google")
    host = crawl.frontier.host(key_of(Url(A), Kind.PAGE)[:8], "a.test")
    origin = host.row.origins["http://a.test"]
    for day in (1, 32):
        crawl.clock.wall = START + day * VALID_S
        origin.copy = after_answer(origin.copy, Unavailable("503"), crawl.clock.wall)
    robots = step(story(crawl.post(HostChanged(host)), A), "robots")
    assert robots.decision == "allowed"
    assert robots.because.endswith("--robots-unreachable google allows all")


def test_an_old_copy_still_tells_its_rule(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.clock.wall = START + VALID_S
    robots = step(story(crawl, "http://a.test/private/x"), "robots")
    assert (robots.decision, robots.line) == ("denied", 2)
    assert robots.because.endswith("; the copy is old, it is asked again before the next page")


def test_robots_switched_off_is_said(tmp_path: Path) -> None:
    crawl = world(tmp_path, robots="off-for=a.test")
    assert step(story(crawl, "http://a.test/"), "robots").decision == "off"


def test_a_waiting_url_says_why_and_when(tmp_path: Path) -> None:
    crawl = world(tmp_path).settle(A, Unreachable(Reason.CONNECT_TIMEOUT))
    view = story(crawl, A)
    assert (step(view, "event").decision, step(view, "event").because) == ("waiting", "connect-timeout")
    following = step(view, "next")
    assert following.decision == "try again"
    assert following.because.startswith("try 2 is due;")
    assert (following.at or "").startswith("2026-01-01T00:01")
    assert following.at is not None


def test_a_dead_letter_says_how_often_it_was_tried(tmp_path: Path) -> None:
    crawl = world(tmp_path, attempts=1).settle(A, Unreachable(Reason.CONNECTION_LOST))
    assert step(story(crawl, A), "next").because == "given up after 1 attempts, the last one connection-lost"


def test_a_captured_url_waits_for_the_parsers(tmp_path: Path) -> None:
    crawl = world(tmp_path).answer(A, Fetched(200), b"x")
    assert step(story(crawl, A), "next").decision == "parse"


def test_a_ready_url_tells_its_place_and_what_holds_it_up(tmp_path: Path) -> None:
    crawl = world(tmp_path, max_pages=1, max_hops=3)
    crawl.fetch(A)
    crawl.admit(*(f"http://a.test/{number}" for number in range(4)), hop=1, parent=A)
    view = story(crawl, "http://a.test/3")
    assert step(view, "hops").because == "1 from a seed; at most 3 are allowed"
    assert step(view, "budget").decision == "spent"
    assert step(view, "next").because.startswith("3 URLs of its host are before it; held up by budget: spent")


def test_failures_and_redirects_are_final(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.admit("http://a.test/gone", "http://a.test/moved", hop=1, parent=A)
    crawl.answer("http://a.test/gone", Failed(410))
    crawl.answer("http://a.test/moved", Redirected(301, "http://elsewhere.test/"))
    assert step(story(crawl, "http://a.test/gone"), "next").because == "status 410 is a final answer"
    moved = story(crawl, "http://a.test/moved")
    assert "not followed: outside" in step(moved, "next").because
    assert "redirects to http://elsewhere.test/" in step(moved, "answer").because


def test_a_sitemap_has_a_story_too(tmp_path: Path) -> None:
    crawl = world(tmp_path).admit("http://a.test/sitemap.xml", how="robots.txt", kind=Kind.SITEMAP)
    view = story(crawl, "http://a.test/sitemap.xml")
    assert view.state == "ready"
    assert step(view, "found").because == "a sitemap that robots.txt names, hop 0"


# URLs that were never admitted ----------------------------------------------------------------------------------------


def test_a_url_out_of_scope_names_the_page_that_links_to_it(tmp_path: Path) -> None:
    crawl = world(tmp_path).fetch(A, links=(OutlinkRow("http://z.test/", "", "area", "outside"),))
    view = story(crawl, "http://z.test/")
    assert view.state is None
    assert step(view, "scope").decision == "outside"
    assert step(view, "found").decision == "area link"
    assert A in step(view, "found").because
    assert step(view, "next").because == "it was never admitted: outside"


def test_a_redirect_out_of_scope_is_found(tmp_path: Path) -> None:
    crawl = world(tmp_path).answer(A, Redirected(302, "http://z.test/"))
    found = step(story(crawl, "http://z.test/"), "found")
    assert found.decision == "redirect"
    assert "outside" in found.because


def test_a_nofollow_link_is_the_reason(tmp_path: Path) -> None:
    crawl = world(tmp_path).fetch(A, links=(OutlinkRow("http://a.test/n", "nofollow", "a", "nofollow"),))
    assert step(story(crawl, "http://a.test/n"), "next").because == "it was never admitted: nofollow"


def test_a_link_beyond_the_hop_limit_is_the_reason(tmp_path: Path) -> None:
    crawl = world(tmp_path, max_hops=0).fetch(A, links=(OutlinkRow("http://a.test/far", "", "a", "inside"),))
    view = story(crawl, "http://a.test/far")
    assert step(view, "hops").decision == "too-many-hops"
    assert step(view, "next").because == "it was never admitted: too-many-hops"


def test_a_trap_is_explained(tmp_path: Path) -> None:
    view = story(world(tmp_path), "http://a.test/a/a/a/a/")
    assert step(view, "traps").decision == "repeated-segments"
    assert step(view, "next").because == "it was never admitted: repeated-segments"


def test_a_url_that_the_filter_took_for_known_says_so(tmp_path: Path) -> None:
    link = OutlinkRow("http://a.test/lost", "", "a", "inside")
    crawl = world(tmp_path, seen="bloom").fetch(A, links=(link,))
    crawl.overwrite(Family.URLS, url_row_key(1, crawl.row(link.url)[0]), None)
    assert "the filter of --seen bloom took it for known" in step(story(crawl, link.url), "next").because


def test_a_trap_in_the_query_is_explained(tmp_path: Path) -> None:
    view = story(world(tmp_path), "http://a.test/login?return=%2Flogin%253Freturn%25253D%252525")
    assert step(view, "traps").decision == "nested-encoding"
    assert "within an address" in step(view, "traps").because


def test_a_url_that_nobody_names_is_unknown(tmp_path: Path) -> None:
    view = story(world(tmp_path).fetch(A), "http://a.test/nowhere")
    assert step(view, "found").decision == "no"
    assert step(view, "next").because == "it was never admitted: nobody named it"
    assert step(view, "robots").decision == "allowed"


def test_the_search_for_a_link_ends_in_time_and_says_so(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.admit(*(f"http://a.test/{number}" for number in range(600)), hop=1, parent=A)
    found = step(story(crawl, "http://a.test/nowhere", is_over=True), "found")
    assert "none of the first 256 rows names it" in found.because
