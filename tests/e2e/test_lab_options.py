"""Options of `crawl`, each on a small lab, judged by what its server saw."""

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.e2e.archives import text_segments
from tests.e2e.gossamer_command import UNHURRIED, assert_verified, by_outcome, gossamer, pages
from tests.e2e.lab import LabCrawl, crawl_lab, requested

from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_web import LabWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SMALL = LabConfig(hosts=3, pages_per_host=20)  # 80 + 20 + 20 pages on two sites, no slow host
TINY = LabConfig(hosts=2, pages_per_host=5)


def crawl(config: LabConfig, tmp_path: Path, *words: str, seeds: list[str] | None = None) -> LabCrawl:
    found = crawl_lab(config, tmp_path, *UNHURRIED, *words, seeds=seeds)
    assert found.done.code == 0, found.done.err
    assert_verified(found.data)
    return found


# Ceilings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ceiling", [1, 50])
def test_max_pages_is_exact(tmp_path: Path, ceiling: int) -> None:
    found = crawl(SMALL, tmp_path, "--max-pages", str(ceiling))
    assert len(found.answered()) == len(set(found.answered())) == ceiling
    assert found.urls("fetched") == set(found.answered())
    assert "has spent its budget" in found.done.err


def test_max_pages_per_host_is_exact(tmp_path: Path) -> None:
    found = crawl(SMALL, tmp_path, "--max-pages-per-host", "3")
    assert Counter(urlsplit(url).netloc for url in found.answered()) == dict.fromkeys(found.web.hosts, 3)


def test_a_raised_ceiling_is_what_counts_when_a_crawl_goes_on(tmp_path: Path) -> None:
    first = crawl(SMALL, tmp_path, "--max-pages", "20")
    second = crawl(SMALL, tmp_path, "--max-pages", "45")
    assert "max_pages: 20 → 45" in second.done.err
    assert "20 fetched" in second.done.err
    assert len(second.urls("fetched")) == len(second.answered()) == len(set(second.answered())) == 45
    assert set(first.answered()) < set(second.answered())
    third = crawl(SMALL, tmp_path)
    assert len(third.answered()) == 45, "a ceiling holds until another one is given"
    rest = crawl(SMALL, tmp_path, "--max-pages", "1000")
    assert rest.urls("fetched") == rest.web.reachable().pages == set(rest.answered())
    assert len(rest.answered()) == len(set(rest.answered()))


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_max_hops(tmp_path: Path, hops: int) -> None:
    found = crawl(SMALL, tmp_path, "--max-hops", str(hops), "--no-sitemaps")
    assert found.hops() == pages_within(found.web, hops)


def pages_within(web: LabWeb, hops: int) -> dict[str, int]:
    """The pages at most `hops` links away from a seed; a redirect is no hop."""
    known, layer = dict.fromkeys(web.seeds, 0), list(web.seeds)
    pages_found: dict[str, int] = {}
    for hop in range(hops + 1):
        following = list[str]()
        while layer:
            url = layer.pop()
            kind, targets = web._visit(url)
            if kind == "pages":
                pages_found[url] = hop
            for target in targets:
                if target not in known:
                    known[target] = hop + (kind == "pages")
                    (following if kind == "pages" else layer).append(target)
        layer = following
    return pages_found


# Scope ----------------------------------------------------------------------------------------------------------------


def test_scope_host_stays_on_the_hosts_of_the_seeds(tmp_path: Path) -> None:
    found = crawl(SMALL, tmp_path, "--scope", "host", seeds=["http://site00.test/"])
    assert {contact.host for contact in found.contacts} == {"site00.test"}
    assert len(found.urls("fetched")) > 60


def test_scope_site_takes_the_siblings_of_a_seed(tmp_path: Path) -> None:
    found = crawl(SMALL, tmp_path, seeds=["http://site00.test/"])
    assert {contact.host for contact in found.contacts} == {"site00.test", "www.site00.test"}


def test_scope_prefix_stays_in_the_folder_of_the_seed(tmp_path: Path) -> None:
    web = LabWeb(SMALL)
    seed = min(url for url in web.reachable().pages if url.startswith("http://site00.test/docs/"))
    found = crawl(SMALL, tmp_path, "--scope", "prefix", seeds=[seed])
    asked = [url for url in requested(found.contacts) if not url.endswith(("robots.txt", ".xml", ".gz"))]
    assert seed in asked
    assert [url for url in asked if not url.startswith("http://site00.test/docs/")] == []


def test_scope_any_follows_links_everywhere(tmp_path: Path) -> None:
    found = crawl(TINY, tmp_path, "--scope", "any")
    truth = found.web.reachable()
    assert truth.external
    assert truth.external | truth.pages <= set(requested(found.contacts))


def test_exclude_wins_over_include(tmp_path: Path) -> None:
    found = crawl(
        SMALL, tmp_path, "--include", r"test/(docs/.*)?$", "--include", "/news/", "--exclude", "/news/.*[05]\\.html"
    )
    asked = [url for url in requested(found.contacts) if not url.endswith(("robots.txt", ".xml", ".gz"))]
    paths = {urlsplit(url).path for url in asked}
    assert any(path.startswith("/docs/") for path in paths)
    assert any(path.startswith("/news/") for path in paths)
    assert [path for path in paths if path != "/" and not path.startswith(("/docs/", "/news/"))] == []
    assert [path for path in paths if path.startswith("/news/") and path.endswith(("0.html", "5.html"))] == []


# robots.txt -----------------------------------------------------------------------------------------------------------


def test_robots_may_be_off_for_one_host_by_name(tmp_path: Path) -> None:
    disallowed = LabWeb(SMALL).reachable().disallowed
    free = {url for url in disallowed if urlsplit(url).netloc == "site00.test"}
    assert free
    assert disallowed - free
    found = crawl(SMALL, tmp_path, "--robots", "off-for=site00.test")
    asked = set(requested(found.contacts))
    assert free <= asked
    assert not asked & (disallowed - free)
    assert found.urls("denied") == disallowed - free


def test_the_product_token_is_what_robots_txt_is_matched_with_and_what_is_sent(tmp_path: Path) -> None:
    found = crawl(TINY, tmp_path, "--user-agent", "Weaver", "--contact", "https://example.org/bot")
    assert len({contact.user_agent for contact in found.contacts}) == 1
    sent = found.contacts[0].user_agent
    assert sent.startswith("Weaver/")
    assert sent.endswith(" (+https://example.org/bot)")


def test_sitemaps_may_be_left_alone(tmp_path: Path) -> None:
    found = crawl(SMALL, tmp_path, "--no-sitemaps")
    assert not any("sitemap" in url for url in requested(found.contacts))
    assert found.urls("fetched") == found.web.reachable(with_sitemaps=False).pages


# Text -----------------------------------------------------------------------------------------------------------------


def test_text_main_is_less_than_full_and_none_is_none(tmp_path: Path) -> None:
    sizes = {}
    for kind in ("full", "main", "none"):
        place = tmp_path / kind
        place.mkdir()
        found = crawl(TINY, place, "--text", kind)
        sizes[kind] = len(gossamer("text", "http://site00.test/", "--data", str(found.data), cwd=place).out)
        keys = [row["textKey"] for row in pages(found.data, "--state", "fetched")]
        assert all(keys) if kind != "none" else not any(keys)
        assert bool(text_segments(found.data)) == (kind != "none")
    assert sizes["full"] > sizes["main"] > sizes["none"] == 0


# The file of the configuration ----------------------------------------------------------------------------------------


def test_option_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('max_pages = 9\nuser_agent = "fromfile"\ncontact = "me@file.test"\n')
    variables = {"GOSSAMER_MAX_PAGES": "5", "GOSSAMER_USER_AGENT": "fromenv"}
    found = crawl_lab(SMALL, tmp_path, *UNHURRIED, "--max-pages", "2", variables=variables)
    assert found.done.code == 0, found.done.err
    assert len(found.urls("fetched")) == 2
    assert {contact.user_agent.partition("/")[0] for contact in found.contacts} == {"fromenv"}
    assert all(contact.user_agent.endswith("(+me@file.test)") for contact in found.contacts)
    assert 'user_agent = "fromenv"' in (found.data / "gossamer.toml").read_text()


# Another crawl in the same directory ----------------------------------------------------------------------------------


def test_another_crawl_in_the_same_directory_has_its_own_urls_and_files(tmp_path: Path) -> None:
    first = crawl(TINY, tmp_path)
    second = crawl(TINY, tmp_path, "--new")
    assert len(list(first.data.glob("warc/*"))) == 2
    # robots.txt is known from the first crawl and not asked for again, so its sitemaps are not named again either.
    linked = first.web.reachable(with_sitemaps=False).pages
    assert linked <= second.urls("fetched") <= first.web.reachable().pages
    assert {url for url, count in Counter(second.answered()).items() if count == 2} == second.urls("fetched")


def test_a_crawl_that_fetches_nothing_says_no(tmp_path: Path) -> None:
    missing = "http://www.site00.test/gone/0.html"
    found = crawl_lab(TINY, tmp_path, *UNHURRIED, seeds=[missing])
    assert found.done.code == 1, found.done.err
    assert by_outcome(found.data) == {"failed": {missing}}
