"""The documentation as a site to crawl: the command line, the truth to compare with, and a crawl to interrupt."""

from pathlib import Path
from typing import NamedTuple

from bench.pydoc_sites import Served, Site, Walk
from tests.e2e.archives import (
    assert_indexed,
    assert_stored_once,
    assert_warcio_approves,
    raw_segments,
    text_segments,
)
from tests.e2e.gossamer_command import UNHURRIED, Done, Life, assert_verified, by_outcome, gossamer

BRISK = ("--delay", "0.01", "--delay-factor", "0", "--per-address-delay", "0")
LOOKS_MAX = 400  # of 50 ms


class Truth(NamedTuple):
    """What the independent walk of the files finds on all sites."""

    stored: frozenset[str]  # pages and files: 200
    missing: frozenset[str]  # 404
    external: frozenset[str]


def truth(walk: Walk, sites: list[Site]) -> Truth:
    def everywhere(urls: frozenset[str]) -> frozenset[str]:
        return frozenset(url.replace("//doc0.test/", f"//{site.host}/", 1) for site in sites for url in urls)

    return Truth(everywhere(walk.pages | walk.files), everywhere(walk.missing), walk.external)


def docs_words(sites: list[Site], served: Served, data: Path) -> list[str]:
    """`crawl` of these sites on that server, without a pace."""
    seeds = [f"http://{site.host}/" for site in sites]
    route = ["--connect-to", f"*::127.0.0.1:{served.port}", "--allow-address", "127.0.0.0/8"]
    return ["crawl", *seeds, *route, "--data", str(data)]


def assert_found_everything(data: Path, walk: Walk, sites: list[Site]) -> None:
    """The rows name the URLs of the walk, and nothing is left."""
    expected, found = truth(walk, sites), by_outcome(data)
    assert found == {"fetched": expected.stored, "failed": expected.missing}


class Few(NamedTuple):
    """A crawl of some sites, long enough to be interrupted."""

    data: Path
    sites: list[Site]
    words: list[str]
    served: Served
    since: int

    def await_fetches(self, life: Life, count: int) -> None:
        """Until the server has been asked that often."""
        for _ in range(LOOKS_MAX):
            if len(self.served.fetches(self.since)) >= count:
                return
            assert life.lives_for(0.05), life.err()
        raise AssertionError(f"fewer than {count} requests")

    def goes_on(self) -> Done:
        """The same command again, to the end."""
        return gossamer(*self.words, *UNHURRIED, cwd=self.data.parent)

    def assert_whole(self, walk: Walk) -> None:
        """Everything is found, once, in files that others read, and the accounts are right."""
        assert_found_everything(self.data, walk, self.sites)
        assert_stored_once(self.data, truth(walk, self.sites).stored)
        assert_indexed(self.data)
        assert_warcio_approves([*raw_segments(self.data), *text_segments(self.data)])
        assert_verified(self.data)
