"""The bench reads logs right: rates, lateness and what it would call a violation."""

from pathlib import Path

import pytest
from bench.polite import RUNS, Figures, latency, lateness, pace, result, seen_by_the_server
from bench.process_tree import TreeCost

from gossamer.adapters.files.contact_log import Author, ContactLog
from gossamer.core.politeness import DelayRules
from gossamer.ports.contacts import Contact, ContactEnd
from gossamer.testing.lab_access import AccessRecord

COST = TreeCost(0, 10.0, 2.0, 2**27, 2**26, 2, 0)


def request(at: float, host: str = "a.test", target: str = "/", took_s: float = 0.25) -> AccessRecord:
    return AccessRecord(at, at + took_s, at, at + took_s, host, "GET", target, "127.0.1.1", "127.0.0.1:9", 200, "", 10)


def test_the_pace_of_a_host_is_that_of_its_pages() -> None:
    host = [request(0, target="/robots.txt"), request(3), request(5), request(9)]
    assert pace(host) == pytest.approx(2 / 6)
    assert latency(host) == 0.25


def test_a_request_too_soon_after_the_end_of_the_one_before_is_a_violation() -> None:
    seen = [request(0), request(1.25), request(2.4), request(2.5, "b.test")]
    assert seen_by_the_server(seen[:2], 1.0) == []
    assert seen_by_the_server(seen, 1.0) == ["server: 0.900 s before a.test/"]


def test_lateness_counts_from_the_end_of_the_pause_and_for_live_hosts_only(tmp_path: Path) -> None:
    log = ContactLog(tmp_path / "contacts", Author(crawl="c", boot="b"))
    for host in ("a.test", "dead.test"):
        for at in (10.0, 13.0, 15.5):
            contact = Contact(
                host, "127.0.1.1", 80, f"http://{host}/", "page", 1, "fresh", "aa", at, "", DelayRules(2.0, 0.0, 60.0),
                2.0, None, 0.0, at, at,
            )  # fmt: skip
            log.end(ContactEnd(log.begin(contact), "answered", 200, "", at + 0.5, at + 0.5, 0.5))
    log.close()
    assert lateness(tmp_path, {"a.test"}) == pytest.approx([0.5, 0.0])


def test_the_worse_run_counts_by_its_own_bar() -> None:
    steady, stalling = (
        Figures(run, rate, 100.0, 1.0, 1_000, 0.0, 0.1, found, COST)
        for run, rate, found in zip(RUNS, (98.0, 96.9), (["x"], ["y", "z"]), strict=True)
    )
    document = result([steady, stalling])
    assert document["idealRatio"] == 1.0
    assert document["violations"] == 3
    assert document["stallingRatio"] == 0.969
    assert document["steadyCpuMsPerPage"] == 2.0
