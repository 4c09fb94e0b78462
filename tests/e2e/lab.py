"""A lab web to crawl, what its server saw, and the truth about it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.e2e.gossamer_command import Done, by_outcome, gossamer, pages

from gossamer.testing.lab_access import AccessRecord, read_access_log
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabDescription, LabOptions, running_lab
from gossamer.testing.lab_web import LabWeb


def lab_words(lab: LabDescription) -> list[str]:
    """`crawl` of the lab's seeds, with the routes to it."""
    return ["crawl", *lab.seeds, *lab_routes(lab)]


def lab_routes(lab: LabDescription) -> list[str]:
    """The options that lead to the lab."""
    routes = [word for rule in lab.connect_to for word in ("--connect-to", rule)]
    return [*routes, "--allow-address", lab.allow_address]


class LabCrawl(NamedTuple):
    """A crawl of a lab that is over. `contacts` are all requests that reached the lab."""

    config: LabConfig
    data: Path
    done: Done
    contacts: list[AccessRecord]

    @property
    def web(self) -> LabWeb:
        return LabWeb(self.config)

    def found(self) -> dict[str, set[str]]:
        """URLs by outcome."""
        return by_outcome(self.data)

    def urls(self, outcome: str) -> set[str]:
        return self.found().get(outcome, set())

    def hops(self) -> dict[str, int]:
        """The hop of each fetched page."""
        return {row["url"]: row["hop"] for row in pages(self.data, "--state", "fetched")}

    def answered(self) -> list[str]:
        """URLs of pages that the server answered with 200, repeats included."""
        return [url for url in requested(self.contacts, status=200) if not is_for_robots(url)]


def requested(contacts: Sequence[AccessRecord], status: int | None = None) -> list[str]:
    """URLs in the order of the log: all, or those with that answer."""
    return [f"http://{c.host}{c.target}" for c in contacts if status in (None, c.status)]


def is_for_robots(url: str) -> bool:
    """robots.txt and the sitemaps that it names: no pages."""
    return url.endswith(("/robots.txt", "/sitemap.xml", "/sitemap-1.xml.gz"))


def crawl_lab(
    config: LabConfig,
    directory: Path,
    *words: str,
    seeds: Sequence[str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> LabCrawl:
    """Crawl a lab of its own to the end. The log and the data of earlier calls with this directory are gone on with."""
    log, data = directory / "access.log", directory / "data"
    with running_lab(LabOptions(config=config, access_log=str(log))) as lab:
        starts = lab.description.seeds if seeds is None else seeds
        routed = ["crawl", *starts, *lab_routes(lab.description)]
        done = gossamer(*routed, *words, "--data", str(data), cwd=directory, variables=variables)
    return LabCrawl(config, data, done, read_access_log(log))
