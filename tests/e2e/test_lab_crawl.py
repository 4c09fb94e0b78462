"""The plain lab: every class of URL as the lab's own graph has it, at a pace that its access log confirms."""

from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.gossamer_command import UNHURRIED, assert_verified, pages
from tests.e2e.lab import LabCrawl, crawl_lab, is_for_robots, requested
from tests.e2e.links import recorded_links
from tests.e2e.manners import (
    CLOCK_S,
    address_gaps_too_short,
    gaps_too_short,
    logged_address_gaps_too_short,
    robots_not_first,
    together_at_a_host,
)

from gossamer.testing.lab_hosts import Fate, LabConfig, Profile
from gossamer.testing.lab_web import LabWeb, Reachable

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DELAY_S = 0.2
FACTOR = 4.0
PER_ADDRESS_S = 0.1
PACE = ("--delay", "0.2", "--delay-factor", "4", "--per-address-delay", "0.1", "--retry-base", "2")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> LabCrawl:
    return crawl_lab(LabConfig(), tmp_path_factory.mktemp("plain"), *PACE)


@pytest.fixture(scope="module")
def expected(plain: LabCrawl) -> Reachable:
    return plain.web.reachable()


# What is found --------------------------------------------------------------------------------------------------------


def test_every_class_of_url_is_that_of_the_graph(plain: LabCrawl, expected: Reachable) -> None:
    assert plain.done.code == 0, plain.done.err
    found = plain.found()
    assert found["fetched"] == expected.pages
    # The lab's circle of two redirects is followed to the one that would close it.
    circles = {url for url in expected.redirects if url.endswith("/loop/1")}
    assert found["failed"] == expected.missing | circles
    assert found["redirected"] == expected.redirects - circles
    assert found["denied"] == expected.disallowed
    assert found.keys() == {"fetched", "failed", "redirected", "denied"}


def test_external_links_are_recorded_and_not_followed(plain: LabCrawl, expected: Reachable) -> None:
    linked = recorded_links(plain.data)["outside"]
    redirected_to = {row["redirectTo"] for row in pages(plain.data, "--state", "redirected")}
    assert linked <= expected.external <= linked | redirected_to
    assert {contact.host for contact in plain.contacts} == set(plain.web.hosts)


def test_each_page_is_asked_for_once_and_only_refusals_again(plain: LabCrawl, expected: Reachable) -> None:
    answered = plain.answered()
    assert sorted(answered) == sorted(expected.pages)
    refused = requested(plain.contacts, status=429)
    asked = requested(plain.contacts)
    assert refused
    assert len(asked) - len(set(asked)) == len(refused)


def test_the_accounts_of_the_crawl_are_right(plain: LabCrawl) -> None:
    assert_verified(plain.data)


# At which pace --------------------------------------------------------------------------------------------------------


def test_no_host_is_contacted_before_its_delay_is_over(plain: LabCrawl) -> None:
    assert gaps_too_short(plain.contacts, DELAY_S) == []


def test_a_crawl_delay_is_kept(plain: LabCrawl) -> None:
    patient = {plan.name: plan.crawl_delay_s for plan in plain.web.plans if plan.crawl_delay_s}
    assert patient
    for host, delay_s in patient.items():
        contacts = [contact for contact in plain.contacts if contact.host == host]
        assert len(contacts) > 5
        assert gaps_too_short(contacts, delay_s) == []


def test_a_slow_host_rests_in_proportion(plain: LabCrawl) -> None:
    (slow,) = [plan for plan in plain.web.plans if plan.latency_min_s]
    contacts = [contact for contact in plain.contacts if contact.host == slow.name]
    assert len(contacts) > 5
    assert gaps_too_short(contacts, FACTOR * slow.latency_min_s) == []


def test_a_host_that_refuses_rests_as_long_as_it_asked(plain: LabCrawl) -> None:
    for refused in [contact for contact in plain.contacts if contact.status == 429]:
        later = [c for c in plain.contacts if c.host == refused.host and c.start_mono > refused.start_mono]
        assert min(c.start_mono for c in later) - refused.end_mono >= 2.0 - CLOCK_S


def test_no_address_is_contacted_too_often_whatever_the_host(plain: LabCrawl) -> None:
    assert len({contact.address for contact in plain.contacts}) == 8
    assert address_gaps_too_short(plain.contacts, PER_ADDRESS_S) == []
    assert logged_address_gaps_too_short(plain.data, PER_ADDRESS_S) == []


def test_a_host_has_one_connection_at_a_time(plain: LabCrawl) -> None:
    assert together_at_a_host(plain.contacts) == []


def test_the_first_request_to_a_host_is_for_robots_txt(plain: LabCrawl) -> None:
    assert robots_not_first(plain.contacts) == []


def test_nothing_disallowed_is_requested(plain: LabCrawl, expected: Reachable) -> None:
    asked = set(requested(plain.contacts))
    assert expected.disallowed
    assert not asked & expected.disallowed
    assert asked <= expected.pages | expected.missing | expected.redirects | {
        url for url in asked if is_for_robots(url)
    }


def test_every_request_says_who_asks(plain: LabCrawl) -> None:
    assert {contact.user_agent.partition("/")[0] for contact in plain.contacts} == {"gossamer"}
    assert {contact.method for contact in plain.contacts} == {"GET"}


# Hosts that don't answer ----------------------------------------------------------------------------------------------


def test_pages_of_hosts_that_are_dead_become_dead_letters_and_cost_the_others_nothing(tmp_path: Path) -> None:
    # Two attempts of four URLs: below the ten failures that would park the host for an hour.
    config = LabConfig(profile=Profile.POLITE, hosts=10, pages_per_host=4, dead_share=0.2)
    dead = [plan.name for plan in LabWeb(config).plans if plan.fate is Fate.RESETS]
    ladder = ("--attempts", "2", "--retry-base", "0.2", "--robots", f"off-for={','.join(dead)}")
    crawl = crawl_lab(config, tmp_path, *UNHURRIED, *ladder)
    expected = crawl.web.reachable()
    assert crawl.found() == {"fetched": expected.pages, "dead": expected.unreachable}
    asked = Counter(url for url in requested(crawl.contacts) if url in expected.unreachable)
    assert asked == Counter(dict.fromkeys(expected.unreachable, 2))
    assert all(row["reason"] for row in pages(crawl.data, "--state", "dead"))
    assert_verified(crawl.data)
