"""What crosses a process border comes out as it went in."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.messages import Found, Parsed, ParseJob, Unparsed
from gossamer.core.rows import CaptureKey, CaptureRow, Kind, PageRow

KEYS = st.builds(CaptureKey, st.text(max_size=20), st.integers(0, 2**40), st.integers(0, 2**30))
CAPTURES = st.builds(
    CaptureRow,
    st.binary(min_size=16, max_size=16),
    st.text(),
    st.sampled_from(Kind),
    st.integers(0, 255),
    KEYS,
    st.floats(0, 2**33),
)
FOUND = st.builds(Found, st.lists(st.text(max_size=30), max_size=5), st.binary(max_size=80))
PAGE = PageRow(1.5, "html", "UTF-8", "t", "en", "", False, True, 9, 2**64 - 1, CaptureKey("s", 1, 2), 3, 2)


@given(st.integers(0, 2**63), CAPTURES)
def test_a_job(sequence: int, capture: CaptureRow) -> None:
    job = ParseJob(sequence, capture)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(job), type=ParseJob) == job


@given(FOUND, FOUND, st.dictionaries(st.text(max_size=10), st.integers(0, 10**6), max_size=4), st.binary(max_size=200))
def test_a_result(pages: Found, sitemaps: Found, refused: dict[str, int], outlinks: bytes) -> None:
    parsed = Parsed(7, b"k" * 16, 3, Kind.SITEMAP, PAGE, pages, sitemaps, outlinks, refused, 99)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(parsed), type=Parsed) == parsed


def test_results_of_both_sorts_in_one_message() -> None:
    parsed = Parsed(7, b"k" * 16, 3, Kind.PAGE, PAGE, Found(), Found(), b"", {})
    results: list[Parsed | Unparsed] = [parsed, Unparsed(8, "damaged")]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(results), type=list[Parsed | Unparsed]) == results
