"""The status document and the list of hosts, as the store gives them."""

from dataclasses import replace
from pathlib import Path

from tests.views.stored_crawl import START, StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.breaker import PROBES_MAX
from gossamer.core.outcome import Denied, Failed, Reason, Throttled
from gossamer.core.politeness import FAILURES_MAX, HostManners
from gossamer.core.robots_copy import Absent, Body, Unavailable, UnreachableMode
from gossamer.stages.events import HostChanged
from gossamer.views.hosts import HostRules, HostView, host_views
from gossamer.views.status import HostCounts, status_document, stored_status

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def world(tmp_path: Path) -> StoredCrawl:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A, B, C))
    crawl.robots("http://a.test", Body(), b"User-agent: *\nCrawl-delay: 3\n")
    crawl.robots("http://b.test", Unavailable("connect-timeout"))
    crawl.robots("http://c.test", Absent(404))
    crawl.fetch(A)
    crawl.admit("http://a.test/1", "http://a.test/2", "http://a.test/3", parent=A, hop=1)
    crawl.answer("http://a.test/1", Failed(404))
    crawl.settle("http://a.test/2", Denied(Reason.ROBOTS_DISALLOWED))
    return crawl


def stored(crawl: StoredCrawl, *, is_held: bool = False) -> dict[str, object]:
    return stored_status(crawl.store, crawl.crawl, crawl.clock.now(), UnreachableMode.RFC, is_held=is_held)


def hosts(crawl: StoredCrawl, host: str | None = None) -> dict[str, HostView]:
    rules = HostRules(crawl.config.delay_rules, crawl.config.ceilings)
    views = host_views(crawl.store, 1, rules, crawl.clock.now(), host=host)
    return {view.host: view for view in views}


def test_the_totals_are_those_of_the_glossary(tmp_path: Path) -> None:
    document = stored(world(tmp_path))
    assert (document["discovered"], document["fetched"], document["failed"]) == (6, 1, 1)
    assert (document["robotsDenied"], document["frontierSize"]) == (1, 3)
    states = document["states"]
    assert isinstance(states, dict)
    assert sum(states.values()) == 6
    assert (document["duplicates"], document["nearDuplicates"], document["etaSeconds"]) == (None, None, None)


def test_a_host_that_robots_closes_is_parked(tmp_path: Path) -> None:
    assert stored(world(tmp_path))["hosts"] == {"busy": 0, "waiting": 2, "parked": 1}


def test_a_crawl_that_says_running_while_nobody_runs_it_is_stopped(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    assert stored(crawl)["status"] == "stopped"
    assert stored(crawl, is_held=True)["status"] == "running"
    crawl.crawl.status = "paused"
    assert stored(crawl)["status"] == "paused"


def test_a_crawl_that_spent_its_budget_is_completed_with_another_end(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    assert (stored(crawl)["end"], stored(crawl, is_held=True)["end"]) == ("stopped", None)
    crawl.crawl.status = "completed"
    assert stored(crawl)["end"] == "budget-spent", "also where the row of an older version does not say it"
    crawl.crawl.end = "completed"
    assert (stored(crawl)["status"], stored(crawl)["end"]) == ("completed", "completed")


def test_the_rate_of_an_ended_crawl_is_that_of_all_its_time(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.crawl.ended_at = START + 4
    assert stored(crawl)["pagesPerSecond"] == 0.25


def test_the_document_takes_what_a_running_process_knows(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    document = status_document(crawl.crawl, HostCounts(3, 2, 1), pages_per_second=12.34567, eta_seconds=7.25)
    assert document["hosts"] == {"busy": 3, "waiting": 2, "parked": 1}
    assert (document["pagesPerSecond"], document["etaSeconds"]) == (12.346, 7.2)
    assert document["status"] == "running"
    assert document["createdAt"] == "2026-01-01T00:00:00.000Z"


def test_hosts_count_their_urls_and_show_their_robots(tmp_path: Path) -> None:
    found = hosts(world(tmp_path))
    a = found["a.test"]
    assert (a.queued, a.fetched, a.failed, a.robots_denied, a.site) == (1, 1, 1, 1, "a.test")
    assert (a.robots.state, a.robots.fetched_at, a.robots.expires_at) == (
        "fresh", "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z",
    )  # fmt: skip
    assert (found["b.test"].robots.state, found["c.test"].robots.state) == ("unreachable", "absent")
    assert found["b.test"].robots.next_try_at == "2026-01-01T00:01:00.000Z"


def test_one_host_can_be_asked_for(tmp_path: Path) -> None:
    assert set(hosts(world(tmp_path), "b.test")) == {"b.test"}
    assert hosts(world(tmp_path / "2"), "nobody.test") == {}


def test_the_rest_in_force_is_the_longest_wish(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    host = crawl.frontier.host(crawl.row(A)[0][:8], "a.test")
    assert hosts(crawl)["a.test"].delay_seconds == 1
    host.row.crawl_delay_s = 3.0
    crawl.post(HostChanged(host))
    assert hosts(crawl)["a.test"].delay_seconds == 3
    crawl.frontier.in_flight = 1
    crawl.frontier.contact_ended(host, Throttled(503), began_at=0.0, u=0.0)
    crawl.post(HostChanged(host))
    after = hosts(crawl)["a.test"]
    assert after.delay_seconds > 3
    assert after.failures == 1
    assert after.next_allowed_at is not None


def test_a_host_shows_where_it_waits_what_its_budget_leaves_and_its_breaker(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    before = hosts(crawl)["a.test"]
    assert (before.breaker, before.budget_left, before.front_level) == ("closed", None, "0")
    crawl.config = replace(crawl.config, max_pages_per_host=9, max_pages_per_site=3, max_pages_per_host_day=5)
    assert hosts(crawl)["a.test"].budget_left == 2
    crawl.config = replace(crawl.config, site_budgets="star", max_pages_per_site=None, max_pages_per_host_day=1)
    assert hosts(crawl)["a.test"].budget_left == 0
    crawl.config = replace(crawl.config, max_pages_per_host_day=None, max_pages_per_host=None)
    assert hosts(crawl)["a.test"].budget_left == 9
    host = crawl.frontier.host(crawl.row(A)[0][:8], "a.test")
    for failures, state in ((FAILURES_MAX, "open"), (FAILURES_MAX + PROBES_MAX, "dead")):
        host.row.manners = HostManners(crawl.clock.now() + 1, failures=failures)
        crawl.post(HostChanged(host))
        assert hosts(crawl)["a.test"].breaker == state


def test_a_host_that_was_never_contacted_waits(tmp_path: Path) -> None:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path)
    assert stored(crawl)["hosts"] == {"busy": 0, "waiting": 1, "parked": 0}
