"""One contact after another: addresses and their gaps, the log before the first byte, what is kept of an answer."""

from itertools import pairwise
from typing import Any

import pytest

from gossamer.core.outcome import Fetched, Reason, Redirected, Truncation
from gossamer.core.rows import CaptureKey, State
from gossamer.ports.dns import Unresolved
from gossamer.ports.web import Response
from gossamer.stages.fetch import VALIDATOR_CHARS_MAX, facts_of
from gossamer.stages.room import LEASE_BYTES_AGAIN
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_contacts import PLENTY_BYTES
from gossamer.testing.sim_web import Answer, any_page, failing, hanging, page, redirect, refusal
from gossamer.testing.world import World

A, B = "http://a.test/", "http://b.test/"
SHARED = ["93.184.216.34"]


def world_of(*seeds: str, **options: Any) -> World:
    world = World(*seeds, **({"scope": "any"} | options))
    world.web.elsewhere = any_page
    return world


# Addresses.


def crowd(count: int, **options: Any) -> World:
    """Many names on one address."""
    world = world_of(*(f"http://n{n}.test/" for n in range(count)), **options)
    world.web.names = {f"n{n}.test": SHARED for n in range(count)}
    return world


def test_a_thousand_names_on_one_server_are_one_client() -> None:
    world = crowd(60, per_address_delay_s=0.5)
    assert world.crawl() is End.COMPLETED
    starts = [e.began_at for e in world.web.exchanges]
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 0.5 - 1e-6
    assert world.now_s == pytest.approx(120 * 0.5, abs=1)  # no moment is wasted
    assert len(world.web.look_ups) <= 3 * 120 + 10  # and nobody comes in vain again and again
    assert_accounts(world)


def test_a_crowd_on_one_address_starves_no_other_host() -> None:
    world = crowd(200, per_address_delay_s=1, concurrency=4)
    world.at(5, lambda: world.discover(f"{A}1"))
    assert world.crawl() is End.COMPLETED
    assert world.starts(f"{A}1")[0] < 7
    assert_accounts(world)


def test_after_a_pause_the_hosts_of_an_address_still_come_one_by_one() -> None:
    world = crowd(40, per_address_delay_s=0.2)
    assert world.at(1, world.pause).at(61, world.resume).crawl() is End.COMPLETED
    after = [e.began_at for e in world.web.exchanges if e.began_at > 60]
    assert min(later - earlier for earlier, later in pairwise(after)) >= 0.2 - 1e-6
    assert len(world.web.look_ups) <= 3 * 80 + 50
    assert_accounts(world)


def test_ipv4_comes_first_and_each_failure_tries_another_address() -> None:
    world = world_of(A, robots="off-for=a.test")
    world.web.names["a.test"] = ["2606:4700::1111", "93.184.216.34", "93.184.216.35"]
    world.web.answers[A] = [failing(Reason.CONNECT_REFUSED), failing(Reason.CONNECT_REFUSED), page()]
    assert world.crawl() is End.COMPLETED
    assert [e.address for e in world.web.exchanges] == ["93.184.216.34", "93.184.216.35", "2606:4700::1111"]
    assert_accounts(world)


def test_private_addresses_among_public_ones_are_left_out() -> None:
    world = world_of(A, f"{A}2", robots="off-for=a.test")
    world.web.names["a.test"] = ["127.0.0.1", "93.184.216.34", "::1"]
    assert world.crawl() is End.COMPLETED
    assert {e.address for e in world.web.exchanges} == {"93.184.216.34"}


def test_a_host_with_refused_addresses_is_not_looked_up_for_every_url() -> None:
    world = world_of(*(f"{A}{n}" for n in range(30)))
    world.web.names["a.test"] = ["10.0.0.1"]
    assert world.crawl() is End.COMPLETED
    assert {row.reason for row in world.rows.values()} == {"address-not-allowed"}
    assert len(world.web.look_ups) == 1
    assert world.web.exchanges == []
    assert_accounts(world)


def test_an_address_literal_is_contacted_as_it_is() -> None:
    world = world_of("http://93.184.216.34/", "http://[2606:4700::1111]/")
    assert world.crawl() is End.COMPLETED
    assert {e.address for e in world.web.exchanges} == {"93.184.216.34", "2606:4700::1111"}
    assert_accounts(world)


def test_a_look_up_that_fails_slowly_does_not_stretch_the_rest_of_the_host() -> None:
    world = world_of(A, delay_s=1, attempts=3, retry_base_s=1)
    world.web.look_up_s["a.test"] = 5
    world.web.names["a.test"] = Unresolved(Reason.DNS_TIMEOUT)
    assert world.crawl() is End.COMPLETED
    asked = [at for _, at in world.web.look_ups]
    assert asked == pytest.approx([0, 5 + 2, 12 + 4], abs=0.1)
    assert world.rows[A].state is State.DEAD
    assert_accounts(world)


# The log.


def test_every_contact_is_in_the_log_with_its_reasons() -> None:
    world = world_of(f"{A}1", f"{A}2", delay_s=3)
    world.web.robots("a.test", "User-agent: *\nCrawl-delay: 7")
    world.web.answers[f"{A}2"] = refusal(429, "30")
    world.crawl()
    first, second, third, fourth = world.contacts.begun[:4]
    assert (first.purpose, first.robots_epoch, first.robots_reason, first.robots_body) == ("robots", 0, "unknown", "")
    assert (second.purpose, second.robots_epoch, second.robots_reason) == ("page", 1, "fresh")
    assert len(second.robots_body) == 32
    assert (second.crawl_delay_s, third.gap_s, fourth.url) == (7.0, 7.0, f"{A}2")
    assert [(end.number, end.status, end.retry_after) for end in world.contacts.ended][:3] == [
        (0, 200, ""),
        (1, 200, ""),
        (2, 429, "30"),
    ]
    assert_accounts(world)


def test_a_contact_that_cannot_be_logged_is_not_made() -> None:
    world = world_of(A)
    world.contacts.is_full = True  # the log meets the full disk before anybody has looked at it
    world.at(0.2, lambda: setattr(world.disk, "free", 0))

    def space() -> None:
        assert world.web.exchanges == []
        world.contacts.is_full, world.disk.free = False, PLENTY_BYTES

    assert world.at(30, space).crawl() is End.COMPLETED
    assert 30 <= world.starts("a.test")[0] <= 32
    assert world.fetched() == [A]
    assert_accounts(world)


def test_a_log_that_fills_up_between_begin_and_end_loses_no_answer() -> None:
    world = world_of(A, robots="off-for=a.test")
    world.web.answers[A] = page(latency_s=2)

    def full() -> None:
        world.contacts.is_full = True

    def space() -> None:
        world.contacts.is_full = False

    assert world.at(1, full).at(3, space).crawl() is End.COMPLETED
    assert world.fetched() == [A]
    assert world.requests()[A] == 1
    assert_accounts(world)


def test_a_contact_that_a_stop_breaks_off_has_an_end_and_a_rest() -> None:
    world = world_of(f"{A}1", f"{A}2", delay_s=20, delay_factor=0, robots="off-for=a.test")
    world.web.answers[f"{A}1"] = hanging()
    assert world.at(5, world.stop).crawl() is End.STOPPED
    assert [end.outcome for end in world.contacts.ended] == ["dropped"]
    stopped_at = world.now_s
    assert_accounts(world)
    assert world.at(stopped_at + 25, world.stop).crawl() is End.STOPPED
    assert world.starts("a.test")[1] >= 5 + 8 + 20 - 1e-6
    assert_accounts(world)


# A full disk.


def test_an_answer_that_finds_no_room_is_asked_for_again() -> None:
    world = world_of(f"{A}1", f"{B}1", delay_s=2)
    world.at(1, lambda: setattr(world.raw, "is_full", True)).at(1, lambda: setattr(world.disk, "free", 0))
    world.at(40, lambda: setattr(world.raw, "is_full", False))
    world.at(40, lambda: setattr(world.disk, "free", LEASE_BYTES_AGAIN))
    assert world.crawl() is End.COMPLETED
    assert world.fetched() == [f"{A}1", f"{B}1"]
    assert not [e for e in world.web.exchanges if 3 < e.began_at < 40]
    assert [said.partition(" (")[0] for said in world.said] == ["the disk is full", "the disk has room again"]
    assert_accounts(world)


def test_a_disk_that_fills_up_under_an_answer_keeps_the_gap_of_the_host() -> None:
    world = world_of(f"{A}1", delay_s=5)
    world.web.answers[f"{A}1"] = page(latency_s=1)
    world.at(5.5, lambda: setattr(world.raw, "is_full", True))  # the page's answer comes at 6
    world.at(7.5, lambda: setattr(world.raw, "is_full", False))
    assert world.crawl() is End.COMPLETED
    first, second = world.starts(f"{A}1")
    assert second - (first + 1) >= 10 - 1e-6  # ten times the second that the answer took
    assert world.life.stages.frontier.budget.reserved == 0
    assert_accounts(world)


# What is kept.


def answer_of(**changes: Any) -> Response:
    parts: dict[str, Any] = {
        "request_head": b"",
        "status": 200,
        "head": b"HTTP/1.1 200 OK\r\n\r\n",
        "fields": (("etag", '"a"'), ("etag", '"b"'), ("last-modified", "yesterday"), ("content-type", "text/html")),
        "wire_body": b"body",
        "payload": b"body",
        "truncated": None,
        "began_at": 10.0,
        "ended_at": 10.5,
    }
    return Response(**(parts | changes))


KEY = CaptureKey("segment", 0, 1)


def test_facts_are_the_first_of_repeated_fields() -> None:
    facts = facts_of(answer_of(), Fetched(200), KEY, 99.0)
    assert (facts.etag, facts.last_modified, facts.content_type) == ('"a"', "yesterday", "text/html")
    assert (facts.status, facts.fetched_at, facts.duration_s, facts.wire_bytes) == (200, 99.0, 0.5, 19 + 4)


def test_a_truncated_copy_has_no_validators() -> None:
    cut = Truncation.LENGTH
    facts = facts_of(answer_of(truncated=cut), Fetched(200, cut), KEY, 0.0)
    assert (facts.etag, facts.last_modified, facts.truncated) == ("", "", "length")


def test_validators_of_absurd_length_are_not_kept() -> None:
    fields = (("etag", "x" * (VALIDATOR_CHARS_MAX + 1)), ("content-type", "t" * 5_000))
    facts = facts_of(answer_of(fields=fields), Fetched(200), KEY, 0.0)
    assert (facts.etag, len(facts.content_type)) == ("", 200)


def test_a_redirect_keeps_its_target() -> None:
    assert facts_of(answer_of(status=302), Redirected(302, B), KEY, 0.0).redirect_to == B


def test_what_is_repeated_is_not_stored_and_what_is_final_is() -> None:
    cut = Answer(body=b"half", fields=(("content-type", "text/html"),), truncated=Truncation.TIME)
    world = world_of(*(f"{A}{name}" for name in ("busy", "gone", "moved", "cut")), attempts=2, robots="off-for=a.test")
    world.web.answers = {
        f"{A}busy": refusal(503),
        f"{A}gone": Answer(status=410, body=b"sorry"),
        f"{A}moved": redirect("/target"),
        f"{A}cut": cut,
    }
    assert world.crawl() is End.COMPLETED
    kept = {url.rpartition("/")[2]: row.fetch and row.fetch.status for url, row in world.rows.items()}
    assert kept == {"busy": None, "gone": 410, "moved": 302, "cut": 200, "target": 200}
    stored = b"".join(world.raw.files.values())
    assert len(stored) > 0
    assert world.requests()[f"{A}cut"] == 2
    assert_accounts(world)
