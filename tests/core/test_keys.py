"""Keys whose order is meaning."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.core import keys

CRAWLS = st.integers(1, 2**32 - 2)
HASHES = st.binary(min_size=8, max_size=8)
URL_KEYS = st.binary(min_size=16, max_size=16)
SEQUENCES = st.integers(0, 2**64 - 1)


@given(CRAWLS, HASHES, st.tuples(st.integers(0, 255), SEQUENCES), st.tuples(st.integers(0, 255), SEQUENCES))
def test_a_hosts_queue_is_in_order_of_priority_then_of_arrival(
    crawl: int, host: bytes, one: tuple[int, int], other: tuple[int, int]
) -> None:
    pair = keys.ready_key(crawl, host, *one), keys.ready_key(crawl, host, *other)
    assert (pair[0] < pair[1]) == (one < other)
    assert all(key.startswith(keys.tally_key(crawl, host)) for key in pair)


@given(CRAWLS, URL_KEYS, URL_KEYS, st.integers(0, 4 * 10**12), st.integers(0, 4 * 10**12))
def test_waiting_urls_are_in_order_of_their_moment(
    crawl: int, key: bytes, other: bytes, due_ms: int, other_ms: int
) -> None:
    first, second = keys.waiting_key(crawl, due_ms / 1000, key), keys.waiting_key(crawl, other_ms / 1000, other)
    found_at, found_key = keys.split_waiting_key(first)
    assert found_key == key
    assert abs(found_at - due_ms / 1000) <= 0.001
    if abs(due_ms - other_ms) > 1:
        assert (first < second) == (due_ms < other_ms)


@given(CRAWLS, SEQUENCES, SEQUENCES)
def test_captures_are_a_queue(crawl: int, first: int, second: int) -> None:
    pair = keys.capture_key(crawl, first), keys.capture_key(crawl, second)
    assert (pair[0] < pair[1]) == (first < second)
    assert keys.split_capture_key(pair[0]) == first


@given(CRAWLS, CRAWLS, URL_KEYS)
def test_no_key_of_one_crawl_lies_among_those_of_another(crawl: int, other: int, key: bytes) -> None:
    start, stop = keys.crawl_prefix(crawl), keys.crawl_prefix(crawl) + keys.LAST
    for made in (keys.url_row_key(other, key), keys.tally_key(other, key[:8]), keys.capture_key(other, 2**64 - 1)):
        assert (start <= made < stop) == (crawl == other)


def test_the_committed_length_of_a_segment_is_found_by_its_name() -> None:
    stored = keys.segment_meta_key("s.warc.gz")
    assert stored == b"segment:s.warc.gz"
    assert keys.split_segment_meta_key(stored) == "s.warc.gz"
    assert keys.committed_length((2**40).to_bytes(8, "big")) == 2**40


@given(st.binary(min_size=16, max_size=16))
def test_a_sitemap_is_no_page_and_lies_with_its_host(key: bytes) -> None:
    assert keys.sitemap_key(key) != key
    assert keys.sitemap_key(key)[:8] == key[:8]
    assert keys.sitemap_key(keys.sitemap_key(key)) == key


def test_the_key_of_a_crawls_row_tells_its_number() -> None:
    assert keys.split_crawl_meta_key(keys.crawl_meta_key(7)) == 7


@given(CRAWLS, st.tuples(st.integers(0, 9), SEQUENCES, HASHES), st.tuples(st.integers(0, 9), SEQUENCES, HASHES))
def test_hosts_wait_in_order_of_level_then_of_arrival(
    crawl: int, one: tuple[int, int, bytes], other: tuple[int, int, bytes]
) -> None:
    pair = keys.front_key(crawl, *one), keys.front_key(crawl, *other)
    assert (pair[0] < pair[1]) == (one < other)
    assert keys.split_front_key(pair[0]) == one


@given(CRAWLS, SEQUENCES, SEQUENCES)
def test_a_pair_of_sites_is_as_long_as_the_key_of_a_url_and_has_a_direction(crawl: int, one: int, other: int) -> None:
    assert len(keys.linker_keys(one, other)) == 16
    assert (keys.linker_keys(one, other) == keys.linker_keys(other, one)) == (one == other)
    assert keys.site_row_key(crawl, one) < keys.crawl_prefix(crawl + 1)
