"""Contacts that robots.txt forbids, each planted in a log that is clean without it."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.core.contact_story import NOON, OPEN, PLAIN, ContactStory

from gossamer.core.robots_copy import UnreachableMode

A = "http://a.test/"
PRIVATE = "http://a.test/private/x"
DAY_S = 24 * 3600.0
GOOGLE = UnreachableMode.GOOGLE


def outage(fetched_s: float | None = None, body: str = "") -> dict[str, Any]:
    at = None if fetched_s is None else NOON + timedelta(seconds=fetched_s)
    return {"rule_reason": "outage", "rule_body": body, "rule_fetched_at": at}


# Nothing disallowed.


@pytest.mark.parametrize("purpose", ["page", "sitemap"])
def test_what_the_stored_rules_forbid_is_a_violation_with_its_line(purpose: str) -> None:
    (found,) = ContactStory().robots(0).page(2, PRIVATE, purpose=purpose).violations()
    assert (found.wrong, found.begin.url) == ("disallowed", PRIVATE)
    assert found.detail == "Disallow: /private (line 2)"
    assert found.needed_s is None


def test_the_rules_are_those_for_the_agent_of_the_process() -> None:
    told = ContactStory(agent="tester").robots(0).page(2, rule_body="dd")
    told.restart(3, agent="other").page(4, rule_body="dd")
    assert [found.begin.monotonic_s for found in told.violations()] == [2]


def test_robots_txt_itself_needs_no_leave() -> None:
    robots: dict[str, Any] = {"purpose": "robots", "rules_for": "http://a.test", "rule_body": "dd"}
    told = ContactStory(agent="tester").robots(0)
    assert told.page(2, "http://a.test/elsewhere.txt", **robots).wrongs() == []


def test_a_host_whose_robots_txt_is_switched_off_is_asked_freely() -> None:
    assert ContactStory(robots_off=("a.test",)).page(0, PRIVATE, rule_reason="unknown").wrongs() == []
    assert len(ContactStory(robots_off=("b.test",)).page(0, PRIVATE, rule_reason="unknown").wrongs()) == 2


@pytest.mark.parametrize("body", ["", "ee"])
def test_rules_that_can_not_be_shown_prove_nothing(body: str) -> None:
    assert ContactStory().robots(0).page(2, rule_body=body).wrongs() == [f"robots-missing {A}"]


def test_where_robots_txt_is_absent_there_are_no_rules() -> None:
    assert ContactStory().robots(0, status=404).page(2, rule_reason="absent", rule_body="").wrongs() == []


def test_a_host_that_asks_for_too_long_a_delay_is_left_alone() -> None:
    patient: dict[str, Any] = {"delays": msgspec.structs.replace(PLAIN, crawl_delay_s=90.0)}
    (found,) = ContactStory().robots(0).page(200, **patient).violations()
    assert found.wrong == "left-alone"
    assert "90 s" in found.detail


# No older than a day.


def test_no_page_before_robots_txt() -> None:
    assert ContactStory().page(0, rule_reason="unknown", rule_body="", rule_fetched_at=None).wrongs() == [
        f"robots-age {A}"
    ]
    assert ContactStory().robots(0, "b.test").page(0.5).wrongs() == [f"robots-age {A}"]  # said, but not in the log


def test_http_and_https_have_a_robots_txt_each() -> None:
    told = ContactStory().robots(0)
    assert told.page(2, "https://a.test/").wrongs() == ["robots-age https://a.test/"]
    told = ContactStory().robots(0, rules_for="https://a.test")
    assert told.page(2, "https://a.test/").wrongs() == []


def test_rules_hold_for_a_day() -> None:
    assert ContactStory().robots(0).page(DAY_S).wrongs() == []
    (found,) = ContactStory().robots(0).page(DAY_S + 3600).violations()
    assert (found.wrong, found.needed_s, found.had_s) == ("robots-age", DAY_S, DAY_S + 3600)
    assert ContactStory().robots(0).robots(DAY_S).page(DAY_S + 3600).wrongs() == []


def test_a_begin_that_names_an_older_copy_than_the_log_shows_is_old() -> None:
    old: dict[str, Any] = {"rule_fetched_at": NOON - timedelta(days=2)}
    assert ContactStory().robots(0).page(2, **old).wrongs() == [f"robots-age {A}"]


def test_a_robots_txt_behind_a_redirect_is_learned_when_the_last_answer_comes() -> None:
    elsewhere: dict[str, Any] = {"rules_for": "http://a.test"}
    told = ContactStory().robots(0, status=302).robots(1, "b.test", **elsewhere)
    assert told.page(2, rule_fetched_at=NOON).wrongs() == []
    told = ContactStory().robots(0, status=302)
    assert told.page(2, rule_fetched_at=NOON).wrongs() == [f"robots-age {A}"]


@pytest.mark.parametrize("status", [None, 429, 500, 503])
def test_without_an_answer_to_rely_on_a_host_is_closed(status: int | None) -> None:
    assert ContactStory().robots(0, status=status).page(4000, **outage()).wrongs() == [f"robots-outage {A}"]


def test_in_an_outage_a_copy_of_the_day_serves() -> None:
    failing = ContactStory().robots(0).robots(3600, status=500)
    assert failing.page(7200, **outage(0, OPEN)).wrongs() == []
    assert failing.page(DAY_S + 3600, **outage(0, OPEN)).wrongs() == [f"robots-outage {A}"]
    failing = ContactStory().robots(0).robots(3600, status=500)
    assert failing.page(7200, PRIVATE, **outage(0, OPEN)).wrongs() == [f"disallowed {PRIVATE}"]


def test_after_a_month_the_last_copy_serves() -> None:
    failing = ContactStory().robots(0).robots(3600, status=500)
    assert failing.page(31 * DAY_S, **outage(0, OPEN)).wrongs() == []
    failing = ContactStory().robots(0, status=404).robots(3600, status=500)
    assert failing.page(31 * DAY_S, **outage(0)).wrongs() == [f"robots-outage {A}"]


def test_the_other_mode_opens_after_twelve_hours_and_forgets_the_rules_after_a_month() -> None:
    def failing() -> ContactStory:
        return ContactStory(robots_unreachable=GOOGLE).robots(0).robots(3600, status=500)

    assert failing().page(7200, **outage(0, OPEN)).wrongs() == [f"robots-outage {A}"]
    assert failing().page(13 * 3600, **outage(0, OPEN)).wrongs() == []
    assert failing().page(13 * 3600, PRIVATE, **outage(0, OPEN)).wrongs() == [f"disallowed {PRIVATE}"]
    assert failing().page(31 * DAY_S, PRIVATE, **outage(0, OPEN)).wrongs() == []
