"""`gossamer robots URL`: what holds when the file came, when there is none, and when it cannot be had (h-robots-04)."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from tests.surfaces.local_site import LocalSite, Reply, local_site

from gossamer import fetch_once
from gossamer.adapters.http.limits import FetchLimits
from gossamer.surfaces.cli.rules import robots

pytestmark = pytest.mark.e2e

PAGE = "https://example.com/page"
CLOSED = b"User-agent: *\nDisallow: /\n"


def ask(site: LocalSite, *arguments: str, path: str = "/robots.txt") -> dict[str, Any]:
    options = ["--json", "--agent", "examplebot", "--allow-address", "127.0.0.1", *arguments]
    result = CliRunner().invoke(robots, [site.origin + path, PAGE, *options], catch_exceptions=False)
    answer: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if all(answer["allowed"]) else 1)
    return answer


@pytest.mark.parametrize(
    ("reply", "allowed"),
    [
        pytest.param(Reply(404, b"gone"), True, id="h-robots-04-a"),
        pytest.param(Reply(500, b"<h1>Error</h1>"), False, id="h-robots-04-b"),
        pytest.param(Reply(0), False, id="h-robots-04-d"),
        pytest.param(Reply(200, b""), True, id="h-robots-04-e"),
        pytest.param(Reply(429, headers=(("Retry-After", "60"),)), False, id="h-robots-04-f"),
        pytest.param(Reply(401), True, id="401"),
        pytest.param(Reply(403, CLOSED), True, id="403-with-rules-in-its-body"),
        pytest.param(Reply(503, b"User-agent: *\nAllow: /\n"), False, id="503-with-rules-in-its-body"),
        pytest.param(Reply(200, CLOSED), False, id="rules"),
        pytest.param(Reply(302, headers=(("Location", "/robots.txt"),)), False, id="loop"),
        pytest.param(Reply(302), False, id="redirect-to-nowhere"),
        pytest.param(Reply(304), False, id="not-modified-though-nobody-asked"),
    ],
)
def test_a_page_may_be_requested_only_when_the_answer_allows_it(
    reply: Reply, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_once, "LIMITS", FetchLimits(first_byte_timeout_s=0.05))
    with local_site({"/robots.txt": reply}) as site:
        assert ask(site)["allowed"] == [allowed]


def test_h_robots_04_c_a_refused_connection_closes_the_site() -> None:
    with local_site({}) as site:
        pass
    assert ask(site)["allowed"] == [False]


def test_h_robots_04_g_the_next_good_answer_opens_it_again() -> None:
    with local_site({"/robots.txt": Reply(503)}) as site:
        assert ask(site)["allowed"] == [False]
        site.replies["/robots.txt"] = Reply(200, b"User-agent: *\nAllow: /\n")
        assert ask(site) == {"allowed": [True], "rules": ["Allow: /"], "crawlDelay": None, "sitemaps": []}


def test_an_origin_stands_for_its_robots_txt() -> None:
    with local_site({"/robots.txt": Reply(200, CLOSED)}) as site:
        assert ask(site, path="")["rules"] == ["Disallow: /"]
    assert [path for path, _ in site.asked] == ["/robots.txt"]


def test_people_are_told_why_nothing_is_allowed() -> None:
    result = CliRunner().invoke(robots, ["http://127.0.0.1:9/robots.txt", PAGE])
    assert result.stdout.startswith(f"not allowed  {PAGE}")
    assert "address-not-allowed" in result.stdout
    assert result.exit_code == 1
