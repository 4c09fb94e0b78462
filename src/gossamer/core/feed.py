"""RSS and Atom: the pages that a feed announces and when they changed. Which document is a feed decides `sitemap`."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from gossamer.core.loose_xml import Element, Node, Problems, attributes
from gossamer.core.url import UrlFault, normalize

DATE_CHARS_MAX = 64

_W3C_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:[Zz]|[+-](\d\d):(\d\d)))?)?)?",
    re.ASCII,
)
_RFC822_DATE = re.compile(
    r"(?:[A-Za-z]{2,9}\.?,?\s*)?(\d{1,2})[\s-]+([A-Za-z]{3})[a-z]{0,6}\.?[\s-]+(\d{4}|\d{2}),?\s+"
    r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?\s*([A-Za-z]{1,5}|[+-]\d\d:?\d\d)?(?:\s*\([^)]*\))?",
    re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# RFC 822 5.1. Any other name means "somewhere" and is read as UTC (RFC 5322 4.3).
_ZONE_HOURS = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_ALTERNATE = frozenset({"alternate", "http://www.iana.org/assignments/relation/alternate"})
_ATOM_DATES = ("updated", "modified", "published", "issued")  # best first; modified and issued are Atom 0.3
_PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})


class Found(NamedTuple):
    """A URL as written, what it is relative to (empty: nothing), its date, and whether it leads to more of these."""

    raw_url: str
    base: str
    lastmod: str | None
    is_sitemap: bool = False


def rss_items(stream: Iterator[Element | Node], base: str, problems: Problems) -> Iterator[Found]:
    """The links of the items (RSS 0.9x, 1.0, 2.0), never the channel's own; `guid` where it is the only link."""
    link = guid = lastmod = ""
    for step in stream:
        if isinstance(step, Node):
            if step.name == "item":
                link = guid = lastmod = ""
            continue
        node, text = step.node, step.text.strip()
        if node.name == "item":
            if link or guid:
                yield Found(link or guid, base, _dated(lastmod, problems))
            link = guid = lastmod = ""
        elif not step.ancestors or step.ancestors[-1].name != "item":
            continue
        elif node.prefix == step.ancestors[-1].prefix:
            if node.name == "link":
                link = link or text or attributes(node.raw_attributes, problems).get("href", "").strip()
            elif node.name == "guid" and text.startswith(("http://", "https://")):
                permalink = attributes(node.raw_attributes, problems).get("ispermalink", "true")
                guid = text if permalink.strip().lower() != "false" else guid
            elif node.name == "pubdate":
                lastmod = text
        elif node.name == "date":  # Dublin Core, the date of RSS 1.0
            lastmod = lastmod or text
    if link or guid:  # the feed was cut off inside its last item, behind the link
        yield Found(link or guid, base, _dated(lastmod, problems))


def atom_entries(stream: Iterator[Element | Node], base: str, problems: Problems) -> Iterator[Found]:
    """The alternate link of each entry (RFC 4287 4.2.7), a page before other types, resolved against xml:base."""
    links: list[tuple[bool, str, str]] = []
    dates: dict[str, str] = {}
    for step in stream:
        if isinstance(step, Node):
            if step.name == "entry":
                links, dates = [], {}
            continue
        node = step.node
        if node.name == "entry":
            yield from _atom_entry(links, dates, problems)
            links, dates = [], {}
        elif step.ancestors and step.ancestors[-1].name == "entry" and node.prefix == step.ancestors[-1].prefix:
            if node.name == "link":
                links.extend(_atom_link(step, base, problems))
            elif node.name in _ATOM_DATES:
                dates.setdefault(node.name, step.text.strip())
    yield from _atom_entry(links, dates, problems)


def w3c_date(text: str) -> str | None:
    """A date of the W3C profile (year, month, day or instant) or of RFC 3339, with `T` and `Z`; else None."""
    found = _W3C_DATE.fullmatch(text) if len(text) <= DATE_CHARS_MAX else None
    if found is None:
        return None
    hour, minute, second, zone_hour, zone_minute = (int(part or "0") for part in found.groups()[3:])
    try:
        date(int(found[1]), int(found[2] or "1"), int(found[3] or "1"))
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 60 or zone_hour > 23 or zone_minute > 59:
        return None
    return text.upper().replace(" ", "T")


def rfc822_date(text: str) -> str | None:
    """A date of RSS (RFC 822, with four-digit years and what senders make of it) as RFC 3339 in UTC, or None."""
    found = _RFC822_DATE.fullmatch(text) if len(text) <= DATE_CHARS_MAX else None
    if found is None or found[2].lower() not in _MONTHS:
        return None
    year = int(found[3])
    if len(found[3]) == 2:
        year += 2000 if year < 50 else 1900  # RFC 5322 4.3
    day, hour, minute, second = int(found[1]), int(found[4]), int(found[5]), min(int(found[6] or "0"), 59)
    try:
        local = datetime(year, _MONTHS.index(found[2].lower()) + 1, day, hour, minute, second, tzinfo=UTC)
        return (local - _zone(found[7] or "")).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def checked_date(text: str, problems: Problems) -> str | None:
    """`text` as `w3c_date`; an empty one is just absent, anything else that is no date is a problem."""
    text = text.strip()
    found = w3c_date(text)
    if found is None and text:
        problems.add(f"not a date: {text[:DATE_CHARS_MAX]!r}")
    return found


def _dated(text: str, problems: Problems) -> str | None:
    return rfc822_date(text) or checked_date(text, problems)


def _zone(name: str) -> timedelta:
    if name[:1] in {"+", "-"}:
        digits = name[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return offset if name[0] == "+" else -offset
    return timedelta(hours=_ZONE_HOURS.get(name.lower(), 0))


def _atom_link(step: Element, base: str, problems: Problems) -> Iterator[tuple[bool, str, str]]:
    found = attributes(step.node.raw_attributes, problems)
    href = found.get("href", "").strip()
    if href and found.get("rel", "alternate").strip().lower() in _ALTERNATE:
        essence = found.get("type", "").partition(";")[0].strip().lower()
        yield essence in _PAGE_TYPES, href, _base_of(step, base, problems)


def _base_of(step: Element, base: str, problems: Problems) -> str:
    for node in (*step.ancestors, step.node):
        if "base" in node.raw_attributes:
            inner = normalize(attributes(node.raw_attributes, problems).get("xml:base", ""), base)
            base = base if isinstance(inner, UrlFault) else inner
    return base


def _atom_entry(links: list[tuple[bool, str, str]], dates: dict[str, str], problems: Problems) -> Iterator[Found]:
    if links:
        _, href, base = next((link for link in links if link[0]), links[0])
        stated = next((dates[name] for name in _ATOM_DATES if dates.get(name)), "")
        yield Found(href, base, checked_date(stated, problems))
