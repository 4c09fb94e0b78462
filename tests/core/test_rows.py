"""Keys whose order is meaning, and rows that are read as they were written."""

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

CRAWLS = st.integers(1, 2**32 - 2)
HASHES = st.binary(min_size=8, max_size=8)
URL_KEYS = st.binary(min_size=16, max_size=16)
SEQUENCES = st.integers(0, 2**64 - 1)
FETCH = FetchFacts(200, 1.5, 0.1, 99, "text/html", rows.CaptureKey("s.warc.gz", 1, 2))


@given(CRAWLS, HASHES, st.tuples(st.integers(0, 255), SEQUENCES), st.tuples(st.integers(0, 255), SEQUENCES))
def test_a_hosts_queue_is_in_order_of_priority_then_of_arrival(
    crawl: int, host: bytes, one: tuple[int, int], other: tuple[int, int]
) -> None:
    keys = rows.ready_key(crawl, host, *one), rows.ready_key(crawl, host, *other)
    assert (keys[0] < keys[1]) == (one < other)
    assert all(key.startswith(rows.tally_key(crawl, host)) for key in keys)


@given(CRAWLS, URL_KEYS, URL_KEYS, st.integers(0, 4 * 10**12), st.integers(0, 4 * 10**12))
def test_waiting_urls_are_in_order_of_their_moment(
    crawl: int, key: bytes, other: bytes, due_ms: int, other_ms: int
) -> None:
    first, second = rows.waiting_key(crawl, due_ms / 1000, key), rows.waiting_key(crawl, other_ms / 1000, other)
    found_at, found_key = rows.split_waiting_key(first)
    assert found_key == key
    assert abs(found_at - due_ms / 1000) <= 0.001
    if abs(due_ms - other_ms) > 1:
        assert (first < second) == (due_ms < other_ms)


@given(CRAWLS, SEQUENCES, SEQUENCES)
def test_captures_are_a_queue(crawl: int, first: int, second: int) -> None:
    keys = rows.capture_key(crawl, first), rows.capture_key(crawl, second)
    assert (keys[0] < keys[1]) == (first < second)
    assert rows.split_capture_key(keys[0]) == first


@given(CRAWLS, CRAWLS, URL_KEYS)
def test_no_key_of_one_crawl_lies_among_those_of_another(crawl: int, other: int, key: bytes) -> None:
    start, stop = rows.crawl_prefix(crawl), rows.crawl_prefix(crawl) + rows.LAST
    for made in (rows.url_row_key(other, key), rows.tally_key(other, key[:8]), rows.capture_key(other, 2**64 - 1)):
        assert (start <= made < stop) == (crawl == other)


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


def test_the_committed_length_of_a_segment_is_found_by_its_name() -> None:
    stored = rows.segment_meta_key("s.warc.gz")
    assert stored == b"segment:s.warc.gz"
    assert rows.split_segment_meta_key(stored) == "s.warc.gz"
    assert rows.committed_length((2**40).to_bytes(8, "big")) == 2**40


@given(st.binary(min_size=16, max_size=16))
def test_a_sitemap_is_no_page_and_lies_with_its_host(key: bytes) -> None:
    assert rows.sitemap_key(key) != key
    assert rows.sitemap_key(key)[:8] == key[:8]
    assert rows.sitemap_key(rows.sitemap_key(key)) == key


def test_a_crawl_has_the_counters_of_its_last_batch() -> None:
    crawl = rows.CrawlRow(7, "c7", 0.0, ["http://a.test/"], "{}")
    stored = dump(crawl)
    later = Counters(fetched=3)
    assert rows.crawl_of(stored, dump(later)).counters == later
    assert rows.crawl_of(stored, None).counters == Counters()
    assert rows.split_crawl_meta_key(rows.crawl_meta_key(7)) == 7
