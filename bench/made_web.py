"""A made-up web for `bench.frontier`: sizes of hosts by Zipf's law, URLs of 70 octets, pages with links."""

from array import array
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

LINKS = 50
NEW_LINKS = 5
OWN_LINKS = 40
"""Of LINKS, those to the page's own host; the new ones are among them."""
MENU_LINKS = 20
"""Every page of a host repeats links to its first URLs; half of the known ones are such."""
LARGEST_SHARE = 0.1


def host_name(host: int) -> str:
    """Two thirds of the hosts are sites of their own, the others share one."""
    return f"www.{host % 977}.example-{host:07d}.org" if host % 3 else f"h{host}.farm{host % 9_973:04d}.example.net"


def url_of(host: int, number: int) -> str:
    """70 octets on average."""
    return f"https://{host_name(host)}/topic-{number % 89:02d}/stories/story-{number:07d}.html"


class Page(NamedTuple):
    """`first` to `first + new`: the numbers of its host that no page has named before."""

    host: int
    first: int
    new: int


class MadeWeb:
    """`urls` over `hosts`, in the order in which a crawl would find them."""

    def __init__(self, urls: int, hosts: int, seed: int = 7) -> None:
        self.sizes = sizes(urls, hosts)
        self._found = array("i", bytes(4 * hosts))
        self._rng = Random(seed)
        self._order = array("i")
        for host, size in enumerate(self.sizes):
            self._order.extend([host] * -(-size // NEW_LINKS))
        self._rng.shuffle(self._order)

    def pages(self) -> Iterator[Page]:
        """Until every URL was named."""
        sizes, found = self.sizes, self._found
        for host in self._order:
            first = found[host]
            new = min(NEW_LINKS, sizes[host] - first)
            yield Page(host, first, new)
            found[host] = first + new

    def links(self, page: Page, at: int) -> list[str]:
        """All links of the page, the `at`-th: its new ones and known ones, each once."""
        rng, own = self._rng, page.first
        known: set[tuple[int, int]] = {(page.host, number) for number in range(min(own, MENU_LINKS))}
        for _ in range(min(own, OWN_LINKS - NEW_LINKS) - len(known)):
            known.add((page.host, rng.randrange(own)))
        for _ in range(4 * LINKS):
            if len(known) >= LINKS - page.new:
                break
            other = self._order[rng.randrange(at)] if at else page.host
            if self._found[other]:
                known.add((other, rng.randrange(self._found[other])))
        urls = [url_of(page.host, page.first + number) for number in range(page.new)]
        urls += [url_of(host, number) for host, number in known]
        rng.shuffle(urls)
        return urls


def sizes(urls: int, hosts: int) -> list[int]:
    """URLs of each host: the largest has LARGEST_SHARE of them, the r-th that ÷ r^s, at least one; `urls` in all."""
    largest = urls * LARGEST_SHARE
    low, high = 0.5, 3.0
    for _ in range(50):
        slope = (low + high) / 2
        low, high = (slope, high) if _total(largest, slope, hosts) > urls else (low, slope)
    found = [max(1, round(largest / rank**high)) for rank in range(1, hosts + 1)]
    found[0] += urls - sum(found)
    return found


def _total(largest: float, slope: float, hosts: int) -> float:
    """Of all sizes: the first thousand one by one, the rest by the integral, ones from where the law falls below."""
    exact = min(1_000, hosts)
    above_one = max(exact, min(hosts, int(largest ** (1 / slope))))
    head = sum(largest / rank**slope for rank in range(1, exact + 1))
    power = 1 - slope
    tail = largest * ((above_one**power - exact**power) / power if power else 0.0)
    return float(head + tail + hosts - above_one)
