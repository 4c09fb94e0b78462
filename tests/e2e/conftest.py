"""What several end-to-end tests share: the documentation, nginx, the truth of the files, and one whole crawl of it."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from bench.pydoc_sites import Fetch, Served, Site, Walk, prepare, reachable, serve
from tests.e2e.docs import Few, docs_words
from tests.e2e.gossamer_command import UNHURRIED, Done, gossamer

SITES = 10
FEW_SITES = 2


class DocsCrawl(NamedTuple):
    """One whole crawl of the ten sites and what nginx saw of it."""

    data: Path
    done: Done
    fetches: list[Fetch]


@pytest.fixture(scope="session", autouse=True)
def _no_inherited_signals() -> None:
    """A shell's background job ignores SIGINT, and so would the crawls that we interrupt."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sites() -> list[Site]:
    return prepare(SITES)


@pytest.fixture(scope="session")
def walk(sites: list[Site]) -> Walk:
    """The truth of doc0.test; the others are copies of it."""
    return reachable(sites[0].directory, "http://doc0.test/")


@pytest.fixture(scope="session")
def plain_server(sites: list[Site]) -> Iterator[Served]:
    """Without gzip: `warcio check` takes the payload digest over the chunks of chunked answers (webrecorder/warcio#74)."""
    with serve(sites, gzip=False) as served:
        yield served


@pytest.fixture(scope="session")
def docs_crawl(sites: list[Site], tmp_path_factory: pytest.TempPathFactory) -> DocsCrawl:
    data = tmp_path_factory.mktemp("docs") / "data"
    with serve(sites) as served:
        done = gossamer(*docs_words(sites, served, data), *UNHURRIED, cwd=data.parent)
        return DocsCrawl(data, done, served.fetches())


@pytest.fixture
def few(sites: list[Site], plain_server: Served, tmp_path: Path) -> Few:
    some, data = sites[:FEW_SITES], tmp_path / "data"
    return Few(data, some, docs_words(some, plain_server, data), plain_server, plain_server.log_bytes())
