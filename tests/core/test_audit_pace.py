"""Contacts too early, of every kind, each planted in a log that is clean without it."""

from typing import Any

import msgspec
import pytest
from tests.core.contact_story import NOON, PLAIN, ContactStory

from gossamer.core.audit_pace import Violation

A, B = "http://a.test/", "http://b.test/"


def delays(**changes: float) -> dict[str, Any]:
    return {"delays": msgspec.structs.replace(PLAIN, **changes)}


def story(**rules: Any) -> ContactStory:
    """robots.txt of both hosts is read in the first second."""
    return ContactStory(**rules).robots(0).robots(0.1, "b.test")


def only(found: list[Violation]) -> Violation:
    (violation,) = found
    return violation


# The gap.


def test_a_contact_right_at_its_time_is_clean_and_the_margin_is_told() -> None:
    told = story().page(1.25).page(2.25)
    assert told.violations() == []
    assert told.audit().smallest_margin_s == pytest.approx(0.0)
    assert told.audit().contacts == 4
    assert told.audit().hosts == 2


@pytest.mark.parametrize("early_s", [0.001, 0.5, 0.899])
def test_a_contact_before_its_time_is_a_gap_too_short(early_s: float) -> None:
    told = story().page(1).page(2 - early_s)
    found = only(told.violations())
    assert (found.wrong, found.begin.url) == ("gap", A)
    assert found.needed_s == 1.0
    assert found.had_s == pytest.approx(1 - early_s)
    assert told.audit().smallest_margin_s == pytest.approx(-early_s)


def test_the_gap_counts_from_the_end() -> None:
    assert story().page(1, took_s=0.05).page(2.05).wrongs() == []
    assert story().page(1, took_s=0.05).page(2.0).wrongs() == [f"gap {A}"]


def test_a_slow_answer_stretches_the_gap_up_to_the_longest_delay() -> None:
    assert story().page(1, took_s=2).page(23).wrongs() == []
    assert story().page(1, took_s=2).page(22).wrongs() == [f"gap {A}"]
    assert story().page(1, took_s=30).page(91).wrongs() == []
    assert story().page(1, took_s=30).page(90).wrongs() == [f"gap {A}"]


@pytest.mark.parametrize("purpose", ["robots", "sitemap", "page"])
def test_every_contact_counts_whatever_it_is_for(purpose: str) -> None:
    assert story().page(0.5, purpose=purpose).wrongs() == [f"gap {A}"]
    assert story().page(1, purpose=purpose, status=302).page(1.5).wrongs() == [f"gap {A}"]


def test_hosts_do_not_wait_for_each_other() -> None:
    assert story().page(1, A).page(1.1, B).page(2, A).wrongs() == []


def test_a_longer_delay_holds_at_once_and_a_shorter_one_needs_no_more() -> None:
    shorter, longer = delays(delay_s=0.5), delays(delay_s=5.0)
    assert story().page(1).page(1.5, **shorter).wrongs() == []
    assert story().page(1).page(1.4, **shorter).wrongs() == [f"gap {A}"]
    assert story().page(1).page(2, **longer).wrongs() == [f"gap {A}"]
    assert story().page(1).page(6, **longer).page(11, **longer).wrongs() == []
    assert story().page(1).page(6, **longer).page(10, **longer).wrongs() == [f"gap {A}"]


def test_a_longer_factor_is_applied_to_the_answer_before_it() -> None:
    longer = delays(delay_factor=20.0)
    assert story().page(1, took_s=1).page(21, **longer).wrongs() == [f"gap {A}"]
    assert story().page(1, took_s=1).page(22, **longer).wrongs() == []


def test_what_failures_doubled_may_be_that_of_the_delay_before_the_change() -> None:
    longer = delays(delay_s=1.5)
    assert story().page(1, status=500).page(3, **longer).wrongs() == []
    assert story().page(1, status=500).page(2.9, **longer).wrongs() == [f"backoff {A}"]


def test_a_longer_gap_of_an_address_holds_at_once() -> None:
    longer, address = delays(per_address_delay_s=0.5), "192.0.2.1"
    assert story().page(1.2, A, address=address).page(1.6, B, address=address, **longer).wrongs() == [
        f"address-gap {B}"
    ]
    assert story().page(1.2, A, address=address).page(1.7, B, address=address, **longer).wrongs() == []


def test_only_the_host_that_is_meant_is_counted() -> None:
    told = story().page(1, A).page(1.5, A).page(1.6, B).page(2.6, B)
    assert told.wrongs("b.test") == []
    assert told.wrongs("a.test") == [f"gap {A}"]
    counted = told.audit("b.test")
    assert (counted.contacts, counted.hosts) == (3, 1)
    assert counted.smallest_margin_s == pytest.approx(0.0)


# One connection a host.


def test_two_contacts_with_a_host_at_once_overlap() -> None:
    told = story()
    first = told.begin(1)
    second = told.begin(9)
    told.end(first, 10).end(second, 11)
    found = only(told.violations())
    assert (found.wrong, found.begin.id) == ("overlap", second)
    assert first in found.detail


def test_a_begin_written_before_the_end_that_it_followed_overlaps() -> None:
    told = story()
    told.end(told.begin(1), 9).page(8)
    assert told.wrongs() == [f"overlap {A}"]


def test_a_contact_without_end_overlaps_with_the_next_of_its_process() -> None:
    told = story()
    told.begin(1)
    told.page(500)
    assert told.wrongs() == [f"overlap {A}"]
    assert told.audit().unfinished == 1


def test_after_an_overlap_the_pauses_count_from_the_later_contact() -> None:
    told = story()
    first, second = told.begin(1), told.begin(2)
    told.end(second, 3).end(first, 3.1).page(3.5)
    assert told.wrongs() == [f"overlap {A}", f"gap {A}"]


# What the host asked for.


def test_a_crawl_delay_is_owed_once_it_is_known() -> None:
    known = delays(crawl_delay_s=5.0)
    assert story().page(5, **known).page(10, **known).wrongs() == []
    assert story().page(4, **known).wrongs() == [f"crawl-delay {A}"]
    assert story().page(5, **known).page(9, **known).wrongs() == [f"crawl-delay {A}"]
    assert story().page(5, **known).page(6).wrongs() == []  # robots.txt asks for it no longer


def test_a_crawl_delay_that_the_log_leaves_out_is_read_from_the_rules() -> None:
    assert story().page(2, rule_body="cc").wrongs() == [f"crawl-delay {A}"]
    assert story().page(5, rule_body="cc").wrongs() == []


@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_after_is_owed(status: int) -> None:
    refused = story().page(1, status=status, retry_after_s=30.0)
    found = only(story().page(1, status=status, retry_after_s=30.0).page(30).violations())
    assert (found.wrong.value, found.needed_s) == ("retry-after", 30.0)
    assert found.had_s == pytest.approx(29.0)
    assert refused.page(31).wrongs() == []


def test_a_retry_after_is_owed_to_every_contact_until_then() -> None:
    told = story().page(1, status=429, retry_after_s=600.0).page(100, status=429, retry_after_s=5.0).page(300)
    assert told.wrongs() == [f"retry-after {A}"] * 2


def test_a_retry_after_of_a_good_answer_or_an_error_is_no_wish() -> None:
    assert story().page(1, status=200, retry_after_s=30.0).page(2).wrongs() == []
    assert story().page(1, status=500, retry_after_s=30.0).page(3).wrongs() == []


def test_failures_in_a_row_double_the_gap() -> None:
    failing = story().page(1, status=None).page(3, status=500).page(7, status=None)
    assert failing.wrongs() == []
    assert failing.page(14).wrongs() == [f"backoff {A}"]


def test_an_answer_ends_the_row_of_failures() -> None:
    assert story().page(1, status=None).page(3, status=404).page(4).wrongs() == []


def test_the_doubled_gap_ends_at_an_hour() -> None:
    told, at_s = story(), 1.0
    for failures in range(14):
        told.page(at_s, status=None, rule_fetched_at=NOON)
        at_s += min(2 ** (failures + 1), 3600)
    assert told.wrongs() == []


# Never faster after a refusal.


def test_after_a_refusal_without_a_wish_the_host_has_twice_its_gap() -> None:
    assert story().page(1, status=503).page(3).wrongs() == []
    assert story().page(1, status=503).page(2.5).wrongs() == [f"refusal {A}"]


def test_a_quick_refusal_of_a_slow_host_is_measured_by_the_gap_before() -> None:
    assert story().page(1, took_s=2).page(23, status=503).page(63).wrongs() == []
    assert story().page(1, took_s=2).page(23, status=503).page(25).wrongs() == [f"refusal {A}"]


def test_a_wish_that_is_shorter_than_the_pace_before_makes_no_host_faster() -> None:
    assert story().page(1, took_s=2).page(23, status=429, retry_after_s=1.0).page(30).wrongs() == [f"refusal {A}"]


def test_recovery_is_gradual() -> None:
    recovering = story().page(1, status=503).page(3, status=503).page(7, status=503).page(15)
    assert recovering.wrongs() == []  # pauses of 2, 4 and 8 s
    assert recovering.page(15 + 6.4).wrongs() == []
    assert recovering.page(15 + 6.4 + 2).wrongs() == [f"refusal {A}"]


# Addresses.


def test_hosts_of_one_address_keep_its_gap_from_begin_to_begin() -> None:
    shared: dict[str, Any] = {"address": "192.0.2.1"}
    assert story().page(1.2, A, took_s=0.05, **shared).page(1.3, B, **shared).wrongs() == []
    found = only(story().page(1.2, A, **shared).page(1.25, B, **shared).violations())
    assert (found.wrong, found.begin.url) == ("address-gap", B)
    assert found.needed_s == 0.1
    assert found.had_s == pytest.approx(0.05)


def test_a_contact_can_come_too_early_for_its_host_and_for_the_address() -> None:
    assert story().page(1.2).page(1.25).wrongs() == [f"gap {A}", f"address-gap {A}"]


def test_without_a_gap_of_addresses_none_is_owed() -> None:
    free = {"address": "192.0.2.1"} | delays(per_address_delay_s=0.0)
    assert story().page(1.2, A, **free).page(1.2, B, **free).wrongs() == []


# Across processes.


def test_the_gap_lasts_over_a_restart() -> None:
    assert story().page(1).restart(1.2).page(2).wrongs() == []
    assert story().page(1).restart(1.2).page(1.9).wrongs() == [f"gap {A}"]


def test_what_was_in_flight_at_a_kill_ended_as_the_next_process_began() -> None:
    told = story()
    told.begin(1)
    told.restart(7).page(8)
    assert told.wrongs() == []
    assert told.audit().unfinished == 1
    told = story()
    told.begin(1)
    told.restart(7).page(7.5)
    assert told.wrongs() == [f"gap {A}"]


def test_a_retry_after_lasts_over_a_restart() -> None:
    assert story().page(1, status=429, retry_after_s=60.0).restart(10).page(50).wrongs() == [f"retry-after {A}"]


def test_over_a_reboot_the_wall_clock_counts() -> None:
    assert story().page(100).restart(100.5, boot="b2").page(101).wrongs() == []
    assert story().page(100).restart(100.5, boot="b2").page(100.6).wrongs() == [f"gap {A}"]


def test_within_a_boot_a_wall_clock_that_was_set_proves_nothing() -> None:
    assert story().page(1).page(2, wall_time=NOON.replace(hour=11)).wrongs() == []
    assert story().page(1).page(1.5, wall_time=NOON.replace(hour=13)).wrongs() == [f"gap {A}"]


def test_two_processes_may_differ_by_what_a_kernel_slews() -> None:
    slow = delays(delay_s=20.0)
    assert story().page(20, **slow).restart(30).page(39.991, **slow).wrongs() == []
    assert story().page(20, **slow).restart(30).page(39.95, **slow).wrongs() == [f"gap {A}"]
    assert story().page(20, **slow).page(39.991, **slow).wrongs() == [f"gap {A}"]


def test_a_contact_that_a_stop_broke_off_says_nothing_of_the_host() -> None:
    told = story()
    told.end(told.begin(1), 4, None, outcome="dropped").restart(5).page(34)
    assert told.wrongs() == []


def test_a_log_whose_process_does_not_say_when_it_began_is_judged_leniently() -> None:
    told = story()
    told.begin(1)
    told.restart(50).page(3, run=None)
    assert told.wrongs() == []
