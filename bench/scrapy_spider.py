"""The other side of the comparison: a plain Scrapy crawl of loopback sites, run by the interpreter of Scrapy's venv.

    python scrapy_spider.py PORT STATE_DIR HOST…

It does what a careful user of Scrapy would write: durable queue (JOBDIR), robots.txt, LinkExtractor, and the text of
each page by one pass over the tree, appended to a file. No items, no feeds: what they cost is not counted against it.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import scrapy  # type: ignore[import-not-found,unused-ignore]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found,unused-ignore]
from scrapy.http import HtmlResponse, Response  # type: ignore[import-not-found,unused-ignore]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found,unused-ignore]
from scrapy.resolver import dnscache  # type: ignore[import-not-found,unused-ignore]

NOT_TEXT = frozenset({"script", "style", "noscript", "template"})
SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "COMPRESSION_ENABLED": True,
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "scrapy-compare",
}


def text_of(response: HtmlResponse) -> str:
    """All text outside of scripts and styles, stripped and joined."""
    parts = []
    for element in response.selector.root.iter():
        if isinstance(element.tag, str) and element.tag not in NOT_TEXT and element.text:
            parts.append(element.text.strip())
        if element.tail:
            parts.append(element.tail.strip())
    return "\n".join(part for part in parts if part)


class DocsSpider(scrapy.Spider):  # type: ignore[misc,unused-ignore]
    """Follows every link within its sites."""

    name = "docs"

    def __init__(self, port: str, texts: Path, hosts: list[str]) -> None:
        super().__init__()
        self.allowed_domains = hosts
        self.start_urls = [f"http://{host}:{port}/" for host in hosts]
        # allow_domains is compared with host:port; no extension is left out, because Gossamer leaves none out.
        origins = [f"{host}:{port}" for host in hosts]
        self.extractor = LinkExtractor(allow_domains=origins, deny_extensions=[])
        self.texts = texts.open("a", encoding="utf-8")
        self.pages = 0

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Filtered like any other request: by default Scrapy fetches a start page again when a page links to it."""
        for url in self.start_urls:
            yield scrapy.Request(url, callback=self.parse)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        self.texts.write(json.dumps([response.url, text_of(response)]) + "\n")
        for link in self.extractor.extract_links(response):
            yield scrapy.Request(link.url, callback=self.parse)

    def closed(self, reason: str) -> None:
        self.texts.close()
        print(json.dumps({"pages": self.pages, "reason": reason}))


def main() -> None:
    port, state, *hosts = sys.argv[1:]
    for host in hosts:
        dnscache[host] = "127.0.0.1"  # Scrapy's own cache, asked before any resolver
    process = CrawlerProcess({**SETTINGS, "JOBDIR": f"{state}/job"})
    process.crawl(DocsSpider, port=port, texts=Path(state) / "texts.jsonl", hosts=hosts)
    process.start()


if __name__ == "__main__":
    main()
