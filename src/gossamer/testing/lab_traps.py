"""Endless spaces of URLs, each the shape of a real one. Pure: a trap's page follows from its URL and the seed."""

import random
import re
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from gossamer.testing.lab_hosts import Trap

_PATH_PREFIXES: tuple[tuple[str, Trap], ...] = (
    ("/calendar/", Trap.CALENDAR),
    ("/shop/", Trap.SESSION),
    ("/maze/", Trap.REPEAT),
    ("/list", Trap.QUERY),
    ("/forever/", Trap.REDIRECT),
)
_FARM_HOST = re.compile(r"farm-[0-9a-f]{8}\.test")
_MONTH = re.compile(r"/calendar/(\d{1,5})/(\d{1,2})/")
_FILTERS = {
    "colour": "red green blue",
    "size": "s m l xl",
    "sort": "price name date",
    "page": "1 2 3 4",
    "view": "grid rows",
}
YEARS = 100_000


class TrapPage(NamedTuple):
    """Either a redirect or a page of links (hrefs as written in the page)."""

    location: str | None
    hrefs: list[str]


def trap_entry(trap: Trap, site: str) -> str:
    """The URL through which a crawler walks in."""
    match trap:
        case Trap.CALENDAR:
            return f"http://{site}/calendar/2024/1/"
        case Trap.SESSION:
            return f"http://{site}/shop/0?sid=00000000"
        case Trap.REPEAT:
            return f"http://{site}/maze/a/b/"
        case Trap.QUERY:
            return f"http://{site}/list?sort=price"
        case Trap.REDIRECT:
            return f"http://{site}/forever/0"
        case Trap.SUBDOMAINS:
            return f"http://w0.farm.{site}/"
        case Trap.FARM:
            return "http://farm-00000000.test/"


def trap_at(host: str, target: str, trap: Trap | None) -> Trap | None:
    """The trap that answers for this URL, where the host itself was planned with `trap` (None: an unplanned name)."""
    if trap is None:
        if ".farm." in host:
            return Trap.SUBDOMAINS
        return Trap.FARM if _FARM_HOST.fullmatch(host) else None
    return next((kind for prefix, kind in _PATH_PREFIXES if kind is trap and target.startswith(prefix)), None)


def trap_page(trap: Trap, host: str, target: str, seed: int) -> TrapPage:
    """What the trap answers. Total: any target under the trap has an answer."""
    rng = random.Random(f"{seed}|trap|{host}|{target}")
    match trap:
        case Trap.CALENDAR:
            return TrapPage(None, _calendar(target))
        case Trap.SESSION:
            sid = f"{rng.getrandbits(32):08x}"
            return TrapPage(None, [f"/shop/{n}?sid={sid}" for n in range(12)])
        case Trap.REPEAT:
            return TrapPage(None, ["a/", "b/", "../a/b/a/b/"])
        case Trap.QUERY:
            return TrapPage(None, _filters(target, rng))
        case Trap.REDIRECT:
            digits = target.rpartition("/")[2][:9]
            return TrapPage(f"/forever/{int(digits) + 1 if digits.isdecimal() else 0}", [])
        case Trap.SUBDOMAINS:
            parent = host.partition(".farm.")[2]
            return TrapPage(None, [f"http://w{rng.getrandbits(32):x}.farm.{parent}/" for _ in range(15)])
        case Trap.FARM:
            return TrapPage(None, [f"http://farm-{rng.getrandbits(32):08x}.test/" for _ in range(15)])


def trap_html(trap: Trap, target: str, hrefs: list[str]) -> str:
    """The page of a trap; many trap pages say nearly the same, as real ones do."""
    items = "\n".join(f'<li><a href="{escape(href)}">more {escape(href[-12:])}</a></li>' for href in hrefs)
    return (
        f"<!DOCTYPE html>\n<html><head><title>{trap.value} {escape(target[-40:])}</title></head>\n"
        f"<body><h1>{trap.value}</h1><p>Nothing is planned here.</p>\n<ul>\n{items}\n</ul></body></html>\n"
    )


def _calendar(target: str) -> list[str]:
    found = _MONTH.match(target)
    months = int(found[1]) * 12 + int(found[2]) - 1 if found else 2024 * 12
    around = [(months + step) % (12 * YEARS) for step in (-1, 1, 12)]
    day_path = target.rstrip("/")
    days = [f"{day_path}/{day}/" for day in (1, 15, 28)] if found and found.end() == len(target) else []
    return [f"/calendar/{month // 12}/{month % 12 + 1}/" for month in around] + days


def _filters(target: str, rng: random.Random) -> list[str]:
    """One more filter, or another order of the same ones."""
    chosen = dict(parse_qsl(target.partition("?")[2][:2_000], max_num_fields=50))
    hrefs = []
    for name, values in _FILTERS.items():
        changed = list({**chosen, name: rng.choice(values.split())}.items())
        rng.shuffle(changed)
        hrefs.append("/list?" + urlencode(changed))
    return hrefs
