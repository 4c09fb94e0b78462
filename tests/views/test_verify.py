"""The proof of the accounts: nothing to say about a right crawl, and each kind of damage is named."""

import asyncio
import gzip
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from tests.views.stored_crawl import StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.bloom import GrowingFilter
from gossamer.core.bloom_saved import dump_mark, journal_key, mark_key, snapshot
from gossamer.core.keys import capture_key, front_key, ready_key, tally_key, url_row_key, waiting_key
from gossamer.core.outcome import Denied, Failed, Fetched, Reason, Redirected, Unreachable
from gossamer.core.robots_copy import Body
from gossamer.core.rows import CaptureKey, CaptureRow, Kind, SiteRow, State, TallyRow, dump, load
from gossamer.core.warc import warcinfo_record
from gossamer.ports.partition_store import Family
from gossamer.surfaces.cli.verify_prose import verify_prose
from gossamer.testing.sim_loop import simulate
from gossamer.views.problems import PROBLEMS_MAX, Problems
from gossamer.views.verify import Depth, Segments, VerifyView, verify
from gossamer.views.verify_records import CHUNK_BYTES, PIECE_BYTES, walk
from gossamer.views.verify_rows import side_by_side
from gossamer.views.verify_seen import SavedFilter

A, B = "http://a.test/", "http://b.test/"
GONE, SLOW, READY, NEW = "http://a.test/gone", "http://a.test/slow", "http://a.test/ready", "http://a.test/new"


def world(tmp_path: Path, **options: object) -> StoredCrawl:
    """One URL in every state, and a sitemap."""
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A, B), **options)
    crawl.robots("http://a.test", Body(), b"User-agent: *\nDisallow: /private\n")
    crawl.fetch(A)
    crawl.admit(
        GONE, SLOW, READY, NEW, "http://a.test/moved", "http://a.test/private", "http://a.test/dead", hop=1, parent=A
    )
    crawl.admit("http://a.test/sitemap.xml", how="robots.txt", kind=Kind.SITEMAP)
    crawl.answer(GONE, Failed(404))
    crawl.settle(SLOW, Unreachable(Reason.CONNECT_TIMEOUT))
    crawl.answer(NEW, Fetched(200), b"captured")
    crawl.answer("http://a.test/moved", Redirected(301, A))
    crawl.settle("http://a.test/private", Denied(Reason.ROBOTS_DISALLOWED))
    crawl.settle("http://a.test/dead", Unreachable(Reason.CONNECTION_LOST), failed_before=4)
    return crawl


def proof(crawl: StoredCrawl, *, reads: bool = True) -> VerifyView:
    with crawl.raw_reader() as raw, crawl.text_reader() as text:
        segments = Segments(crawl.segment_files(), raw, text)
        return verify(crawl.store, crawl.crawl, segments, Depth(records=reads), saved_filter(crawl))


def saved_filter(crawl: StoredCrawl) -> SavedFilter | None:
    if crawl.config.seen == "exact":
        return None
    return SavedFilter(crawl.snapshots.published, crawl.config.bloom_plan)


def test_right_accounts_have_no_problem(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    view = proof(crawl)
    assert view.problems == []
    assert all(view.states.values()), view.states
    assert view.urls == sum(view.states.values()) == crawl.crawl.counters.discovered
    assert view.sitemaps == 1
    assert view.records == 11  # two files' own, four exchanges of two records, one text
    assert view.tail_bytes == 0
    assert (view.seen, view.seen_error) == ("exact", None)


def url_key(crawl: StoredCrawl, url: str) -> bytes:
    return url_row_key(1, crawl.row(url)[0])


def change_state(url: str, state: State) -> Callable[[StoredCrawl], object]:
    def damage(crawl: StoredCrawl) -> None:
        key, row = crawl.row(url)
        row.state = state
        crawl.overwrite(Family.URLS, url_row_key(1, key), dump(row))

    return damage


def miscount(crawl: StoredCrawl) -> None:
    crawl.crawl.counters.fetched += 1


def misplaced(crawl: StoredCrawl) -> None:
    key, row = crawl.row(READY)
    row.sequence += 1_000
    crawl.overwrite(Family.URLS, url_row_key(1, key), dump(row))


def wrong_tally(crawl: StoredCrawl) -> None:
    place = tally_key(1, crawl.row(A)[0][:8])
    tally = load(TallyRow, crawl.store.get(Family.TALLIES, place) or b"")
    tally.ready += 1
    crawl.overwrite(Family.TALLIES, place, dump(tally))


def wrong_site(crawl: StoredCrawl) -> None:
    crawl.overwrite(Family.SITES, tally_key(1, b"n" * 8), dump(SiteRow("n.test", hosts=5)))


def lost_place(crawl: StoredCrawl) -> None:
    key = crawl.row(B)[0][:8]
    tally = load(TallyRow, crawl.store.get(Family.TALLIES, tally_key(1, key)) or b"")
    crawl.overwrite(Family.FRONT, front_key(1, tally.level, tally.order, key), None)


def second_place(crawl: StoredCrawl) -> None:
    crawl.overwrite(Family.FRONT, front_key(1, 7, 10**6, crawl.row(A)[0][:8]), b"")


def wrong_levels(crawl: StoredCrawl) -> None:
    place = tally_key(1, crawl.row(A)[0][:8])
    tally = load(TallyRow, crawl.store.get(Family.TALLIES, place) or b"")
    tally.ready_by_level[3] += 1
    crawl.overwrite(Family.TALLIES, place, dump(tally))


def other_url(crawl: StoredCrawl) -> None:
    key, row = crawl.row(GONE)
    row.url = "http://a.test/other"
    crawl.overwrite(Family.URLS, url_row_key(1, key), dump(row))


def raw_key(**changes: int | str) -> Callable[[StoredCrawl], object]:
    def damage(crawl: StoredCrawl) -> None:
        key, row = crawl.row(GONE)
        assert row.fetch is not None
        old = row.fetch.raw_key
        row.fetch.raw_key = CaptureKey(
            str(changes.get("segment", old.segment)),
            old.offset + int(changes.get("offset", 0)),
            old.length + int(changes.get("length", 0)),
        )
        crawl.overwrite(Family.URLS, url_row_key(1, key), dump(row))

    return damage


def record_of_another(crawl: StoredCrawl) -> None:
    key, row = crawl.row(GONE)
    _, other = crawl.row(A)
    assert row.fetch is not None
    assert other.fetch is not None
    row.fetch.raw_key = other.fetch.raw_key
    crawl.overwrite(Family.URLS, url_row_key(1, key), dump(row))


def segment(crawl: StoredCrawl, kind: str = "raw") -> Path:
    folder = crawl.directory.raw("c1") if kind == "raw" else crawl.directory.text("c1")
    return next(folder.iterdir())


def cut_short(crawl: StoredCrawl) -> None:
    path = segment(crawl)
    path.write_bytes(path.read_bytes()[:-10])


def flip(crawl: StoredCrawl) -> None:
    _, row = crawl.row(GONE)
    assert row.fetch is not None
    path, at = segment(crawl), row.fetch.raw_key.offset + row.fetch.raw_key.length // 2
    octets = bytearray(path.read_bytes())
    octets[at] ^= 0xFF
    path.write_bytes(octets)


def ready_entry(crawl: StoredCrawl) -> bytes:
    key, row = crawl.row(READY)
    return ready_key(1, key[:8], row.priority, row.sequence)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda crawl: crawl.overwrite(Family.SEEN, url_key(crawl, A), None), "SEEN does not know it"),
        (lambda crawl: crawl.overwrite(Family.SEEN, url_row_key(1, b"n" * 16), b""), "there is no URLS row for it"),
        (lambda crawl: crawl.overwrite(Family.PAGES, url_row_key(1, b"n" * 16), b""), "there is no URLS row for it"),
        (lambda crawl: crawl.overwrite(Family.URLS, url_key(crawl, READY), None), "there is no URLS row for it"),
        (lambda crawl: crawl.overwrite(Family.URLS, url_key(crawl, READY), b"\xc1"), "the row can't be read"),
        (lambda crawl: crawl.overwrite(Family.PAGES, url_key(crawl, A), None), "PAGES has no row for it"),
        (lambda crawl: crawl.overwrite(Family.LINKS, url_key(crawl, A), None), "PAGES has a row for it, but the other"),
        (lambda crawl: crawl.overwrite(Family.READY, ready_entry(crawl), None), "READY has no entry for it"),
        (lambda crawl: crawl.overwrite(Family.READY, ready_entry(crawl), b"n" * 16), "another URL in its place"),
        (lambda crawl: crawl.overwrite(Family.READY, ready_key(1, b"h" * 8, 0, 9), crawl.row(GONE)[0]), "gone is failed"),
        (lambda crawl: crawl.overwrite(Family.READY, ready_key(1, b"h" * 8, 0, 9), b"n" * 16), "no URLS row for 6e6e"),
        (lambda crawl: crawl.overwrite(Family.READY, ready_key(1, b"h" * 8, 0, 9), crawl.row(READY)[0]), "its place elsewhere"),
        (misplaced, "has its place elsewhere"),
        (lambda crawl: crawl.overwrite(Family.WAITING, waiting_key(1, 5, crawl.row(A)[0]), b""), "a.test/ is fetched"),
        (lambda crawl: crawl.overwrite(Family.CAPTURES, capture_key(1, 10**6), dump(CaptureRow(crawl.row(NEW)[0], NEW, Kind.PAGE, 1, CaptureKey("x", 0, 1), 0.0))), "two entries"),
        (lambda crawl: crawl.overwrite(Family.CAPTURES, capture_key(1, 10**6), b"\xc1"), "CAPTURES"),
        (change_state(NEW, State.FETCHED), "fetched, but PAGES has no row"),
        (change_state(GONE, State.READY), "READY has no entry for it"),
        (change_state(GONE, State.WAITING), "WAITING has no entry for it"),
        (change_state(GONE, State.CAPTURED), "CAPTURES has no entry for it"),
        (change_state(READY, State.FAILED), "counters say"),
        (miscount, "counters say 3 fetched, its rows say 2"),
        (wrong_tally, "ready entries, its rows say"),
        (lambda crawl: crawl.overwrite(Family.TALLIES, tally_key(1, crawl.row(B)[0][:8]), None), "b.test: it has URLs, but no tally"),
        (lambda crawl: crawl.overwrite(Family.TALLIES, tally_key(1, b"n" * 8), dump(TallyRow("n.test", "n.test", [1] * 8))), "tally says 1"),
        (lambda crawl: crawl.overwrite(Family.HOSTS, crawl.row(A)[0][:8], None), "a.test: it has URLs, but no HOSTS row"),
        (wrong_site, "the rows of sites say 7 hosts, other rows say 2"),
        (lambda crawl: crawl.overwrite(Family.LINKERS, url_row_key(1, b"n" * 16), b""), "0 linking sites, other rows say 1"),
        (lambda crawl: crawl.overwrite(Family.TEXTS, tally_key(1, b"n" * 8), b""), "new texts, other rows say"),
        (lambda crawl: crawl.overwrite(Family.SITES, tally_key(1, b"n" * 8), b"\xc1"), "SITES: a row can't be read"),
        (lost_place, "b.test: it has URLs ready, but no place in a front queue"),
        (second_place, "a.test has no place there"),
        (wrong_levels, "a.test: its levels count"),
        (lambda crawl: crawl.overwrite(Family.ROBOTS, b"robots-of-http://a.test", None), "its robots.txt is gone"),
        (other_url, "its row lies under the key of another URL"),
        (raw_key(segment="gossamer-c1-x.warc.gz"), "is not committed"),
        (raw_key(length=10**9), "is not committed"),
        (raw_key(offset=1), "can't be read"),
        (raw_key(length=-1), "can't be read"),
        (record_of_another, "WARC-Target-URI"),
        (cut_short, "bytes are committed, the file has"),
        (lambda crawl: segment(crawl).unlink(), "the file is gone"),
        (lambda crawl: segment(crawl, "text").unlink(), "the file is gone"),
        (flip, "is damaged"),
    ],
)  # fmt: skip
def test_damage_is_named(tmp_path: Path, damage: Callable[[StoredCrawl], object], named: str) -> None:
    crawl = world(tmp_path)
    damage(crawl)
    view = proof(crawl)
    assert any(named in problem for problem in view.problems), view.problems
    assert view.problems_total == len(view.problems) > 0


def test_a_tail_behind_the_committed_length_is_no_problem_and_is_counted(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    with segment(crawl).open("ab") as file:
        file.write(b"\x1f\x8b half a member")
    view = proof(crawl)
    assert view.problems == []
    assert view.tail_bytes == len(b"\x1f\x8b half a member")


def test_quick_reads_no_record_and_still_sees_lengths(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    flip(crawl)
    assert proof(crawl, reads=False).problems == []
    cut_short(crawl)
    assert proof(crawl, reads=False).problems_total > 0


def test_problems_are_counted_beyond_what_is_kept() -> None:
    problems = Problems()
    for number in range(PROBLEMS_MAX + 5):
        problems.add(str(number))
    assert (len(problems.kept), problems.total) == (PROBLEMS_MAX, PROBLEMS_MAX + 5)


def test_sorted_scans_are_read_side_by_side() -> None:
    scans = [iter([(b"a", b"1"), (b"c", b"2")]), iter([(b"b", b"3"), (b"c", b"4")]), iter([])]
    assert list(side_by_side(scans)) == [
        (b"a", [b"1", None, None]),
        (b"b", [None, b"3", None]),
        (b"c", [b"2", b"4", None]),
    ]


# A filter of known URLs -----------------------------------------------------------------------------------------------


def filter_row(crawl: StoredCrawl, url: str) -> bytes:
    return journal_key(1, 1, crawl.row(url)[0])


def write_snapshot(crawl: StoredCrawl, *, covered: int, mark: int = 0, **changes: object) -> None:
    """A snapshot of an empty filter, or of the octets given, as if it covered these generations."""
    octets = list(snapshot(GrowingFilter(1_000, 0.01), covered))

    async def written() -> None:
        crawl.snapshots.write(iter(changes.get("octets", octets)))  # type: ignore[call-overload]
        await asyncio.sleep(0.1)
        crawl.snapshots.publish()
        await asyncio.sleep(0.1)

    simulate(written())
    if mark:
        crawl.overwrite(Family.META, mark_key(1), dump_mark(mark))


def test_a_filter_is_proved_to_know_each_url_and_says_how_many_others_it_would_take_for_known(tmp_path: Path) -> None:
    view = proof(world(tmp_path, seen="bloom", seen_urls=1_000))
    assert view.problems == []
    assert view.seen == "bloom"
    assert view.seen_error is not None
    assert 0 < view.seen_error < 1e-6
    assert list(verify_prose(view, is_quick=False))[-1].endswith(
        "it takes 0.00% of new URLs for known by now, and no check can find them"
    )


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda crawl: crawl.overwrite(Family.SEEN, filter_row(crawl, A), None), "a.test/: it has a row, but SEEN does not know it"),
        (lambda crawl: crawl.overwrite(Family.SEEN, journal_key(1, 1, b"n" * 16), b""), "SEEN 6e6e"),
        (lambda crawl: write_snapshot(crawl, covered=1), "SEEN does not know it"),
        (lambda crawl: write_snapshot(crawl, covered=1, octets=[b"rubbish" * 9]), "it does not begin as one; the next start"),
        (lambda crawl: crawl.overwrite(Family.META, mark_key(1), dump_mark(1)), "it is gone; the next start"),
    ],
)  # fmt: skip
def test_damage_to_a_filter_is_named(tmp_path: Path, damage: Callable[[StoredCrawl], object], named: str) -> None:
    crawl = world(tmp_path, seen="bloom", seen_urls=1_000)
    damage(crawl)
    view = proof(crawl)
    assert any(named in problem for problem in view.problems), view.problems
    assert view.seen == "bloom"


def test_of_a_filter_that_cannot_be_read_no_url_is_said_to_be_missing(tmp_path: Path) -> None:
    crawl = world(tmp_path, seen="bloom", seen_urls=1_000)
    write_snapshot(crawl, covered=1, octets=[b"rubbish" * 9])
    view = proof(crawl)
    assert (view.problems_total, view.seen_error) == (1, None)
    assert "nothing is known of it" in "\n".join(verify_prose(view, is_quick=False))


# Walking a segment ----------------------------------------------------------------------------------------------------


def member(size: int = 10) -> bytes:
    return warcinfo_record("x.warc.gz", 0.0, b"i" * 16, (("software", "x" * size),))


@pytest.mark.parametrize("size", [0, 10, CHUNK_BYTES, PIECE_BYTES - 500, PIECE_BYTES, 3 * PIECE_BYTES])
def test_records_of_any_size_are_walked(size: int) -> None:
    octets = member(size) + member() + member(size)
    assert walk(BytesIO(octets), len(octets)) == (3, "")


def test_a_walk_stops_at_the_committed_length() -> None:
    one = member()
    assert walk(BytesIO(one + b"rubbish"), len(one)) == (1, "")
    assert walk(BytesIO(b""), 0) == (0, "")


@pytest.mark.parametrize(
    ("octets", "records"),
    [
        (member()[:-1], 0),
        (member() + member()[:-9], 1),
        (member() + b"\0" * 50, 1),
        (b"plain", 0),
        (member() + b"\x1f", 1),
    ],
)
def test_a_damaged_segment_says_where(octets: bytes, records: int) -> None:
    walked, fault = walk(BytesIO(octets), len(octets))
    assert walked == records
    assert fault


def test_a_member_that_is_no_record_is_a_fault() -> None:
    for content in (b"hello", b"WARC/1.1\r\nContent-Length: 5\r\n\r\nabc\r\n\r\n", b"WARC/1.1\r\n\r\n\r\n\r\n"):
        octets = gzip.compress(content)
        assert walk(BytesIO(octets), len(octets))[1]
