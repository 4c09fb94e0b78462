"""What `pages` shows of each state, and which rows a filter lets through."""

import re
from pathlib import Path

import pytest
from tests.views.stored_crawl import START, StoredCrawl

from gossamer.adapters.memory.partition_store import MemoryPartitionStore
from gossamer.core.outcome import Denied, Failed, Reason, Redirected, Unreachable
from gossamer.core.rows import Kind, OutlinkRow, State
from gossamer.views.forms import counts_by_state, rfc3339, states_named
from gossamer.views.links import link_views
from gossamer.views.lookup import host_meant, urls_meant
from gossamer.views.pages import PageFilter, PageView, page_views
from gossamer.views.texts import text_views

A = "http://a.test/"
ALL = PageFilter()


def world(tmp_path: Path) -> StoredCrawl:
    crawl = StoredCrawl(MemoryPartitionStore(), tmp_path, (A, "http://b.test/"))
    crawl.fetch(
        A,
        "The text of a.",
        (OutlinkRow("http://a.test/x", "", "a", "inside"), OutlinkRow("http://z.test/", "", "a", "outside")),
    )
    crawl.admit(
        "http://a.test/gone", "http://a.test/moved", "http://a.test/private", "http://a.test/slow", hop=2, parent=A
    )
    crawl.answer("http://a.test/gone", Failed(404))
    crawl.answer("http://a.test/moved", Redirected(301, "http://a.test/"))
    crawl.settle("http://a.test/private", Denied(Reason.ROBOTS_DISALLOWED))
    crawl.settle("http://a.test/slow", Unreachable(Reason.CONNECT_TIMEOUT))
    crawl.admit("http://a.test/sitemap.xml", how="robots.txt", kind=Kind.SITEMAP)
    return crawl


def views(crawl: StoredCrawl, wanted: PageFilter = ALL) -> dict[str, PageView]:
    return {view.url: view for view in page_views(crawl.store, 1, wanted)}


def test_a_fetched_page_shows_what_came_and_what_parsing_made_of_it(tmp_path: Path) -> None:
    page = views(world(tmp_path))[A]
    assert (page.status, page.outcome, page.hop, page.host) == (200, "fetched", 0, "a.test")
    assert page.fetched_at == "2026-01-01T00:00:00.000Z"
    assert (page.title, page.language, page.content_hash) == ("A title", "en", "00000000000000ab")
    assert re.fullmatch(r"gossamer-c1-\d+-00001\.warc\.gz:\d+\+\d+", page.raw_key or "")
    assert re.fullmatch(r"gossamer-c1-\d+-00001\.warc\.wet\.gz:\d+\+\d+", page.text_key or "")
    assert (page.simhash, page.verdict, page.duplicate_of) == (None, None, None)


def test_every_state_has_its_word_and_its_reason(tmp_path: Path) -> None:
    found = views(world(tmp_path))
    shown = {url.rpartition("/")[2]: (view.outcome, view.status, view.reason) for url, view in found.items()}
    assert shown["gone"] == ("failed", 404, "status 404")
    assert shown["moved"] == ("redirected", 301, None)
    assert shown["private"] == ("denied", None, "robots-disallowed")
    assert shown["slow"] == ("waiting", None, "connect-timeout")
    assert shown["x"] == ("ready", None, None)
    assert found["http://a.test/moved"].redirect_to == A
    assert found["http://a.test/slow"].attempts == 1
    due_at = found["http://a.test/slow"].next_due_at
    assert due_at is not None
    assert "2026-01-01T00:01:00" <= due_at <= "2026-01-01T00:01:06.001Z"


def test_sitemaps_are_no_pages_and_the_list_adds_up_to_discovered(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    found = views(crawl)
    assert "http://a.test/sitemap.xml" not in found
    assert len(found) == crawl.crawl.counters.discovered == 7


def test_a_host_filter_gives_that_host_only(tmp_path: Path) -> None:
    assert set(views(world(tmp_path), PageFilter(host="b.test"))) == {"http://b.test/"}
    assert views(world(tmp_path / "2"), PageFilter(host="nobody.test")) == {}


def test_a_state_filter_keeps_the_parsed_side_aligned(tmp_path: Path) -> None:
    found = views(world(tmp_path), PageFilter(states=frozenset({State.FETCHED, State.FAILED})))
    assert {url: view.title for url, view in found.items()} == {A: "A title", "http://a.test/gone": None}


def test_links_name_both_ends_and_the_verdict(tmp_path: Path) -> None:
    rows = [(view.from_, view.to, view.source, view.verdict) for view in link_views(world(tmp_path).store, 1)]
    assert rows == [(A, "http://a.test/x", "a", "inside"), (A, "http://z.test/", "a", "outside")]


def test_texts_leave_out_pages_that_ask_not_to_be_indexed(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.fetch("http://b.test/", "Hidden.", noindex=True)
    problems: list[str] = []

    def texts(*, include_noindex: bool) -> list[str]:
        with crawl.text_reader() as reader:
            rows = text_views(crawl.store, 1, reader, problems.append, include_noindex=include_noindex)
            return sorted(row.text for row in rows)

    assert texts(include_noindex=False) == ["The text of a."]
    assert texts(include_noindex=True) == ["Hidden.", "The text of a."]
    assert problems == []


def test_a_text_that_is_gone_is_told_and_the_others_come(tmp_path: Path) -> None:
    crawl = world(tmp_path)
    crawl.fetch("http://b.test/", "Second.")
    _, row = crawl.row("http://b.test/")
    segment = next(crawl.directory.text("c1").iterdir())
    octets = bytearray(segment.read_bytes())
    octets[-20] ^= 0xFF
    segment.write_bytes(octets)
    problems: list[str] = []
    with crawl.text_reader() as reader:
        texts = [view.text for view in text_views(crawl.store, 1, reader, problems.append)]
    assert texts == ["The text of a."]
    assert [problem.partition(": ")[0] for problem in problems] == [row.url]


# Forms ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [None, 0.0, -1.0, float("inf"), float("nan"), 1e300])
def test_no_moment_is_null(seconds: float | None) -> None:
    assert rfc3339(seconds) is None


def test_moments_are_utc_with_milliseconds() -> None:
    assert rfc3339(START + 0.5) == "2026-01-01T00:00:00.500Z"


def test_all_states_are_counted_by_name() -> None:
    assert counts_by_state(range(8)) == {
        "ready": 0, "waiting": 1, "captured": 2, "fetched": 3, "redirected": 4, "failed": 5, "denied": 6, "dead": 7,
    }  # fmt: skip


def test_an_unknown_state_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="'nope'; allowed: ready, waiting"):
        states_named(["fetched", "nope"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HTTP://A.test:80/x#top", ("http://a.test/x",)),
        ("a.test/x", ("https://a.test/x", "http://a.test/x")),
        ("localhost:8080/x", ("https://localhost:8080/x", "http://localhost:8080/x")),
        (" http://a.test/ ", ("http://a.test/",)),
    ],
)
def test_a_url_may_be_written_as_people_do(written: str, meant: tuple[str, ...]) -> None:
    assert urls_meant(written) == meant


@pytest.mark.parametrize("written", ["A.TEST", "a.test:8080", "http://a.test/x", "a.test."])
def test_a_host_may_be_written_as_people_do(written: str) -> None:
    assert host_meant(written) == "a.test"
