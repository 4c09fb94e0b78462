"""The story of a URL: its steps in order, for URLs of the crawl and for those that it never took."""

from pathlib import Path

import pytest
from tests.views.stored_crawl import START, StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.keys import url_row_key
from gossamer.core.outcome import Denied, Failed, Fetched, Reason, Redirected, Unreachable
from gossamer.core.robots_copy import VALID_S, Absent, Body, Unavailable, after_answer
from gossamer.core.rows import Kind, OutlinkRow
from gossamer.core.site_traps import SITES_FREE
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
        "url", "scope", "traps", "found", "pattern", "hops", "budget", "robots", "delay", "event", "answer", "stored", "parsed", "next",
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


@pytest.mark.parametrize(
    ("options", "because"),
    [
        ({"max_pages_per_host": 1}, "1 of 1 pages of the host are fetched"),
        ({"max_pages_per_site": 1}, "1 of 1 pages of the site a.test are fetched"),
        (
            {"max_pages_per_host_day": 1, "max_pages_per_site": 9},
            "1 of 9 pages of the site a.test are fetched; 1 of 1 pages of the host are fetched today (UTC); the next day begins",
        ),
    ],
)
def test_the_budget_that_is_spent_is_named(tmp_path: Path, options: dict[str, int], because: str) -> None:
    crawl = world(tmp_path, **options).fetch(A)
    crawl.admit("http://a.test/1", hop=1, parent=A)
    budget = step(story(crawl, "http://a.test/1"), "budget")
    assert (budget.decision, budget.because) == ("spent", because)
    assert budget.at == ("2026-01-02T00:00:00.000Z" if "day" in because else None)


def test_budgets_that_leave_something_are_told(tmp_path: Path) -> None:
    crawl = world(tmp_path, max_pages=5, site_budgets="star", max_pages_per_host_day=2).fetch(A)
    budget = step(story(crawl, A), "budget")
    assert budget.decision == "has room"
    assert budget.because == (
        "1 of 5 pages of the crawl are fetched; 1 of 10 pages of the site a.test are fetched (--site-budgets star); "
        "1 of 2 pages of the host are fetched today (UTC)"
    )


def test_a_budget_of_yesterday_is_new_today(tmp_path: Path) -> None:
    crawl = world(tmp_path, max_pages_per_host_day=1).fetch(A)
    crawl.clock.wall += 86_400
    assert step(story(crawl, A), "budget").because == "0 of 1 pages of the host are fetched today (UTC)"


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


# What many URLs show --------------------------------------------------------------------------------------------------


def months(first: int, count: int) -> tuple[OutlinkRow, ...]:
    at = [divmod(first + month, 12) for month in range(count)]
    return tuple(OutlinkRow(f"http://a.test/cal/{2000 + year}/{month + 1}/", "", "a", "inside") for year, month in at)


def calendar(tmp_path: Path, count: int) -> StoredCrawl:
    """A page of a calendar that leads to so many others."""
    crawl = world(tmp_path).admit("http://a.test/cal/1999/1/", hop=1, parent=A)
    return crawl.fetch("http://a.test/cal/1999/1/", links=months(0, count))


def test_a_date_that_a_calendar_had_no_room_for_says_so(tmp_path: Path) -> None:
    view = story(calendar(tmp_path, 60), "http://a.test/cal/2004/12/")
    pattern = step(view, "pattern")
    assert pattern.decision == "endless-calendar"
    assert pattern.because.startswith("more than 50 dates of this pattern led to one another")
    assert pattern.because.endswith("; 50 of /cal/#/#/ were led to by their own kind, 0 had a new text, and they led to 0 others first")  # fmt: skip
    assert step(view, "next").because == "it was never admitted: endless-calendar"


def test_a_date_that_came_before_the_limit_says_so(tmp_path: Path) -> None:
    pattern = step(story(calendar(tmp_path, 60), "http://a.test/cal/2000/1/"), "pattern")
    assert pattern.decision == "endless-calendar"
    assert pattern.because.endswith("; this one was admitted before")


def test_what_is_no_pattern_is_welcome(tmp_path: Path) -> None:
    crawl = calendar(tmp_path, 3).admit("http://a.test/about", "http://a.test/p/1", hop=1, parent=A)
    about, numbered = (step(story(crawl, f"http://a.test/{path}"), "pattern") for path in ("about", "p/1"))
    assert about.because == "no number and no query: not a URL that is counted through"
    assert numbered.because == "none of /p/# has led to another of its kind"
    assert {about.decision, numbered.decision} == {"welcome"}


def test_a_pattern_with_nothing_to_show_comes_later(tmp_path: Path) -> None:
    links = tuple(OutlinkRow(f"http://a.test/p/{number}", "", "a", "inside") for number in range(1, 110))
    crawl = world(tmp_path).admit("http://a.test/p/0", hop=1, parent=A).fetch("http://a.test/p/0", links=links)
    pattern = step(story(crawl, "http://a.test/p/109"), "pattern")
    assert pattern.decision == "later"
    assert pattern.because.startswith("2 steps behind others of its hop; 109 of /p/# were led to")


def test_a_host_that_a_site_had_no_room_for_says_so(tmp_path: Path) -> None:
    links = tuple(OutlinkRow(f"http://w{number}.a.test/", "", "a", "inside") for number in range(12))
    view = story(world(tmp_path).fetch(A, links=links), "http://w11.a.test/")
    assert step(view, "pattern").decision == "host-burst"
    assert step(view, "next").because == "it was never admitted: host-burst"
    assert step(story(world(tmp_path).fetch(A, links=links[:5]), "http://w4.a.test/"), "pattern").decision == "welcome"


def test_a_site_that_a_family_had_no_room_for_says_so(tmp_path: Path) -> None:
    door = "http://door.test/"
    links = tuple(OutlinkRow(f"http://s{n}.test/", "", "a", "inside") for n in range(SITES_FREE + 5))
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A,), scope="any")
    crawl.fetch(A, links=(OutlinkRow(door, "", "a", "inside"),)).fetch(door, links=links)
    view = story(crawl, f"http://s{SITES_FREE}.test/")
    assert step(view, "pattern").decision == "site-burst"
    assert step(view, "next").because == "it was never admitted: site-burst"
    assert step(story(crawl, f"http://s{SITES_FREE - 1}.test/"), "pattern").decision == "welcome"


def test_a_parameter_that_names_a_visit_is_told(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    for visit, following in (("1f00ba12", "2f00ba12"), ("3f00ba12", "4f00ba12"), ("5f00ba12", "6f00ba12")):
        page = f"http://a.test/shop/?sid={visit}"
        links = tuple(OutlinkRow(f"http://a.test/shop/{n}?sid={following}", "", "a", "inside") for n in "abcd")
        crawl.admit(page, hop=1, parent=A).fetch(page, links=links)
    view = story(crawl, "http://a.test/shop/a?sid=6f00ba12")
    assert step(view, "pattern").decision == "renamed"
    assert step(view, "pattern").because.endswith("is dropped: http://a.test/shop/a")
    assert step(view, "next").because == "it was never admitted: renamed"


def test_a_host_that_repeats_itself_comes_later_and_has_less_budget(tmp_path: Path) -> None:
    crawl = world(tmp_path, max_pages_per_host=40)
    for number in range(20):
        url = f"http://a.test/{'x' * (number + 1)}"
        crawl.admit(url, hop=1, parent=A).fetch(url, text="The same long text on each of the pages of this host. " * 3)
    view = story(crawl, A)
    assert step(view, "pattern").decision == "later"
    assert "; of the last 20 texts of the host 19 were known" in step(view, "pattern").because
    assert step(view, "budget").because.startswith("20 of 20 pages of the host are fetched, fewer than others")
