"""A real site, ten times over: the crawl fetches what an independent walk of the files finds, each URL once."""

import json
from collections import Counter

import pytest
from bench.pydoc_sites import Site, Walk
from tests.e2e.conftest import DocsCrawl
from tests.e2e.docs import truth
from tests.e2e.gossamer_command import assert_verified, gossamer, pages
from tests.e2e.links import recorded_links

from gossamer.core.url import UrlFault, normalize

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_the_crawl_ends_by_itself_and_says_what_it_did(docs_crawl: DocsCrawl, walk: Walk, sites: list[Site]) -> None:
    assert docs_crawl.done.code == 0, docs_crawl.done.err
    assert docs_crawl.done.out == ""
    assert "is complete" in docs_crawl.done.err
    assert f"{len(truth(walk, sites).stored):,} pages" in docs_crawl.done.err


def test_the_server_was_asked_for_exactly_the_urls_of_the_walk_each_once(
    docs_crawl: DocsCrawl, walk: Walk, sites: list[Site]
) -> None:
    expected = truth(walk, sites)
    asked = Counter(f"http://{fetch.host}{fetch.target}" for fetch in docs_crawl.fetches)
    robots = {f"http://{site.host}/robots.txt" for site in sites}
    assert set(asked) == expected.stored | expected.missing | robots
    assert asked.most_common(1)[0][1] == 1


def test_the_rows_say_what_the_server_said(docs_crawl: DocsCrawl, walk: Walk, sites: list[Site]) -> None:
    expected = truth(walk, sites)
    rows = pages(docs_crawl.data)
    assert {row["url"] for row in rows if row["outcome"] == "fetched" and row["status"] == 200} == expected.stored
    assert {row["url"] for row in rows if row["outcome"] == "failed" and row["status"] == 404} == expected.missing
    assert len(rows) == len(expected.stored) + len(expected.missing)


def test_every_page_has_its_title_text_and_hash(docs_crawl: DocsCrawl) -> None:
    fetched = [row for row in pages(docs_crawl.data) if row["contentType"] == "text/html" and row["status"] == 200]
    assert [row["url"] for row in fetched if not (row["title"] and row["textKey"] and row["rawKey"])] == []
    # A sentence of its own in each page: no two texts are equal, except that a start page has two URLs.
    assert len({row["contentHash"] for row in fetched}) == len(
        {row["url"].removesuffix("index.html") for row in fetched}
    )


def test_external_links_are_recorded_and_not_followed(docs_crawl: DocsCrawl, walk: Walk) -> None:
    outside = recorded_links(docs_crawl.data)["outside"]
    normal = {normalize(url) for url in walk.external}
    assert {url for url in normal if not isinstance(url, UrlFault)} <= outside
    assert not {fetch.host for fetch in docs_crawl.fetches} - {f"doc{number}.test" for number in range(10)}


def test_the_accounts_of_the_crawl_are_right(docs_crawl: DocsCrawl) -> None:
    assert_verified(docs_crawl.data)


def test_status_agrees_with_the_server(docs_crawl: DocsCrawl) -> None:
    done = gossamer("status", "--data", str(docs_crawl.data), "--json", cwd=docs_crawl.data.parent)
    found = json.loads(done.out)
    statuses = Counter(fetch.status for fetch in docs_crawl.fetches if fetch.target != "/robots.txt")
    assert found["status"] == "completed"
    assert (found["fetched"], found["failed"], found["frontierSize"]) == (statuses[200], statuses[404], 0)
    assert found["discovered"] == sum(found["states"].values()) == sum(statuses.values())
