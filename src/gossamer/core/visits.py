"""Parameters that name a visit on one host, learned from its pages. Those known everywhere are dropped in `url`.

`?sid=1f00ba12` may name a visit or a story. A page tells which: whoever counts visits writes a new name into every
link of every page, and a story is no such thing. Until that was seen twice, nothing is dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gossamer.core.url import Url, origin_of

VISIT_NAMES: Final = frozenset({"s", "sid", "ses", "sess", "sessid", "session", "sessionid", "session_id"})
LINKS_MIN: Final = 3  # on one page: two links with one value may be 'next' and 'last'
VALUE_CHARS_MAX: Final = 256  # what is kept of a host is small; longer values are left alone
_VALUE_CHARS_MIN: Final = 6  # shorter ones are counted, not drawn: a visit needs a name that nobody guesses


@dataclass(frozen=True, slots=True)
class VisitNames:
    """What a host's pages have shown: at most an entry for each of VISIT_NAMES.

    renewed: name → the value that the links of one page carried. dropped: seen twice, with another value.
    """

    renewed: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()


def after_page(known: VisitNames, page: Url, links: Sequence[Url]) -> VisitNames:
    """What is known once `page` was read with its `links` (in normal form); the same object when it taught nothing.

    A name is *renewed* when the page has one value, and all links of its origin that carry the name have one other, a
    token, on LINKS_MIN of them at least. Seen on two pages with two values, the name is dropped; a page that hands on
    its own value, or many, takes the suspicion back.
    """
    mine = {name: value for name, value in _fields(page).items() if name in VISIT_NAMES - known.dropped}
    if not mine:
        return known
    renewed, dropped = dict(known.renewed), known.dropped
    theirs = [_fields(link) for link in set(links) if origin_of(link) == origin_of(page)]
    for name, value in mine.items():
        carried = [fields[name] for fields in theirs if name in fields]
        if len(carried) < LINKS_MIN:
            continue
        if len(set(carried)) > 1 or carried[0] == value or not _is_token(carried[0]):
            renewed.pop(name, None)
        elif renewed.get(name, carried[0]) != carried[0]:
            dropped |= {name}
            del renewed[name]
        else:
            renewed[name] = carried[0]
    return VisitNames(renewed, dropped)


def without_visit(url: Url, dropped: frozenset[str]) -> Url:
    """`url` without the parameters that name a visit on its host; the same URL when it has none."""
    if not dropped or "?" not in url:
        return url
    place, _, query = url.partition("?")
    fields = query.split("&")
    kept = [field for field in fields if field.partition("=")[0].lower() not in dropped]
    if len(kept) == len(fields):
        return url
    return Url(f"{place}?{'&'.join(kept)}" if kept else place)


def _fields(url: Url) -> dict[str, str]:
    """Of several fields of one name the last."""
    query = url.partition("?")[2]
    if not query:
        return {}
    return {name.lower(): value for name, _, value in (field.partition("=") for field in query.split("&"))}


def _is_token(value: str) -> bool:
    return (
        _VALUE_CHARS_MIN <= len(value) <= VALUE_CHARS_MAX and value.isalnum() and any(char.isdigit() for char in value)
    )
