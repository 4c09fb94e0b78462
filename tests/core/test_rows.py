"""Rows that are read as they were written."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core import rows
from gossamer.core.rows import (
    OPEN_STATES,
    Counters,
    FetchFacts,
    Kind,
    OutlinkRow,
    State,
    UrlRow,
    dump,
    load,
    load_links,
)

FETCH = FetchFacts(200, 1.5, 0.1, 99, "text/html", rows.CaptureKey("s.warc.gz", 1, 2))


def test_a_row_is_read_as_it_was_written() -> None:
    row = UrlRow(
        "http://a.test/é", State.WAITING, Kind.PAGE, 3, b"v" * 16, "link", 1.25, 2, 7, fetch=FETCH, history=[(1.0, "x")]
    )
    assert load(UrlRow, dump(row)) == row
    links = [OutlinkRow("http://b.test/", "nofollow", "a", "outside")]
    assert load_links(dump(links)) == links


@pytest.mark.parametrize("octets", [b"", b"\xc1", b"\x93\x01\x02\x03", dump(Counters())])
def test_what_is_no_row_is_refused(octets: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        load(UrlRow, octets)


@given(st.lists(st.integers(0, 1_000), min_size=len(State), max_size=len(State)))
def test_the_counts_of_a_crawl_are_sums_of_its_states(states: list[int]) -> None:
    counters = Counters(states=states)
    assert counters.discovered == sum(states)
    settled = sum(count for state, count in zip(State, states, strict=True) if state not in OPEN_STATES)
    assert counters.unsettled == counters.discovered - settled


def test_states_keep_their_numbers_and_names() -> None:
    """They are on disk, and in what other programs read."""
    assert {state.label: int(state) for state in State} == {
        "ready": 0, "waiting": 1, "captured": 2, "fetched": 3, "redirected": 4, "failed": 5, "denied": 6, "dead": 7,
    }  # fmt: skip


def test_each_crawl_counts_for_itself() -> None:
    first, second = Counters(), Counters()
    first.states[0] += 1
    first.reasons["x"] = 1
    assert second.discovered == 0
    assert second.reasons == {}


def test_the_key_of_a_capture_is_readable() -> None:
    assert str(FETCH.raw_key) == "s.warc.gz:1+2"


def test_a_crawl_has_the_counters_of_its_last_batch() -> None:
    crawl = rows.CrawlRow(7, "c7", 0.0, ["http://a.test/"], "{}")
    stored = dump(crawl)
    later = Counters(fetched=3)
    assert rows.crawl_of(stored, dump(later)).counters == later
    assert rows.crawl_of(stored, None).counters == Counters()
