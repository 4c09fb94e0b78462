"""What an HTML document says of itself and where it points: facts and raw links. Its text is in `text`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.core.html_limits import bounded_markup
from gossamer.core.url import UrlFault, normalize

LINKS_MAX: Final = 10_000
"""Different links kept of one page: about as many as the largest index pages have."""
LINK_ELEMENTS_MAX: Final = 100_000
"""Elements with an address that are looked at."""
TITLE_CHARS_MAX: Final = 1_000
REL_CHARS_MAX: Final = 100
LANGUAGE_CHARS_MAX: Final = 35  # RFC 5646 4.4.1
METAS_MAX: Final = 1_000


class Outlink(NamedTuple):
    """A link as written: no surrounding white space, no fragment, not resolved.

    `rel` is lower case; `source` names where it stood: a, area, frame, iframe, link-next, link-prev, link-canonical,
    link-alternate or meta-refresh.
    """

    href: str
    rel: str
    source: str


@dataclass(frozen=True, slots=True)
class RobotsFacts:
    """What a page asks of robots, once it is fetched."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: "RobotsFacts") -> "RobotsFacts":
        return RobotsFacts(self.noindex or other.noindex, self.nofollow or other.nofollow)


@dataclass(frozen=True, slots=True)
class HtmlFacts:
    """`base` is what `links` are to be resolved against; `canonical` is in normal form."""

    title: str
    language: str
    canonical: str | None
    robots: RobotsFacts
    base: str
    links: tuple[Outlink, ...]
    links_cut: bool


def parse_tree(utf8: bytes) -> LexborNode:
    """The <html> of a document in valid UTF-8, parsed as by a browser without scripts: <noscript> has elements."""
    root = LexborHTMLParser(bounded_markup(utf8)).root
    assert root is not None, "lexbor gives even an empty document an <html>"
    return root


def parse_html(utf8: bytes, url: str, agent: str = "") -> HtmlFacts:
    """Facts and links of a document in valid UTF-8. See `html_facts`."""
    root = parse_tree(utf8)
    return html_facts(root, Elements(root), url, agent)


def html_facts(root: LexborNode, found: "Elements", url: str, agent: str = "") -> HtmlFacts:
    """Facts and links of the document at `url`. `agent` is our product token, which a <meta> may address by name."""
    base = _base(found.bases, url)
    metas = [_meta(node) for node in found.metas[:METAS_MAX]]
    links = _Links()
    links.add_elements(found.addressed[:LINK_ELEMENTS_MAX])
    for name, content in metas:
        if name == "\0refresh":
            links.add(refresh_target(content).partition("#")[0], "", "meta-refresh")
    return HtmlFacts(
        title=_title(found.titles),
        language=_language(root),
        canonical=_canonical(links.canonical, base),
        robots=_meta_robots(metas, agent),
        base=base,
        links=links.kept(),
        links_cut=links.were_cut or len(found.addressed) > LINK_ELEMENTS_MAX,
    )


# Elements -------------------------------------------------------------------------------------------------------------

_NEW: Final = LexborHTMLParser(b"").create_node
_A, _AREA, _LINK, _FRAME, _IFRAME = (_NEW(name).tag_id for name in ("a", "area", "link", "frame", "iframe"))
_META, _TITLE, _BASE, _SVG = (_NEW(name).tag_id for name in ("meta", "title", "base", "svg"))
# A page that hides itself until a script has run has its text all the same.
_NEVER_HIDDEN: Final = frozenset(_NEW(name).tag_id for name in ("html", "head", "body"))
_ADDRESSES: Final = {
    _A: ("href", "a"),
    _AREA: ("href", "area"),
    _FRAME: ("src", "frame"),
    _IFRAME: ("src", "iframe"),
    _LINK: ("href", "link"),
}
_NO_DISPLAY: Final = re.compile(r"(?:^|[\s;])display\s*:\s*none", re.IGNORECASE).search


class Elements:
    """The elements that matter here, in document order. Selectors by attribute cost a third of those by name."""

    __slots__ = ("addressed", "bases", "hidden", "metas", "titles")

    def __init__(self, root: LexborNode) -> None:
        self.addressed: list[tuple[int, LexborNode]] = []
        self.metas: list[LexborNode] = []
        self.titles: list[LexborNode] = []
        self.bases: list[LexborNode] = []
        self.hidden: list[LexborNode] = []
        for node in root.css("[href],[src],meta,title,[hidden],[style]"):
            tag = node.tag_id
            if tag in _ADDRESSES:
                self.addressed.append((tag, node))
            elif tag == _META:
                self.metas.append(node)
            elif tag == _TITLE:
                self.titles.append(node)
            elif tag == _BASE:
                self.bases.append(node)
            elif tag not in _NEVER_HIDDEN and _is_hidden(node):
                self.hidden.append(node)


def _is_hidden(node: LexborNode) -> bool:
    """By `hidden` or an inline 'display: none'. What is `hidden=until-found` is meant to be found."""
    attributes = node.attrs
    if "hidden" in attributes:
        return attributes.get("hidden") != "until-found"
    return _NO_DISPLAY(attributes.get("style") or "") is not None


def _title(titles: Iterable[LexborNode]) -> str:
    """The first <title> that is not a drawing's."""
    for node in titles:
        parent = node.parent
        if parent is None or parent.tag_id in {_SVG, None} or _is_in_svg(parent):
            continue
        # Cut before it is split: ten times the limit in white space is no title.
        return " ".join((node.text() or "")[: 10 * TITLE_CHARS_MAX].split())[:TITLE_CHARS_MAX]
    return ""


def _is_in_svg(node: LexborNode | None) -> bool:
    for _ in range(16):  # a drawing's title stands near its top
        if node is None:
            return False
        if node.tag_id == _SVG:
            return True
        node = node.parent
    return False


_LANGUAGE_TAG: Final = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)


def _language(root: LexborNode) -> str:
    """<html lang>, or xml:lang, with the case of RFC 5646 2.1.1: 'pt-br' is 'pt-BR', 'zh_hant' is 'zh-Hant'."""
    attributes = root.attrs
    given = (attributes.get("lang") or attributes.get("xml:lang") or "").strip().replace("_", "-")
    if len(given) > LANGUAGE_CHARS_MAX or not _LANGUAGE_TAG.fullmatch(given):
        return ""
    first, *rest = given.lower().split("-")
    return "-".join((first, *map(_subtag, rest)))


def _subtag(part: str) -> str:
    """Two letters are a region, four a script."""
    if not part.isalpha():
        return part
    return {2: part.upper(), 4: part.title()}.get(len(part), part)


def _base(bases: Iterable[LexborNode], url: str) -> str:
    """HTML 4.2.3: the first <base> with an href, resolved against the document's address. Only http and https help."""
    for node in bases:
        try:
            base = ada_url.join_url(url, _clean(node.attrs.get("href") or ""))
        except ValueError:
            return url
        return base if base.startswith(("http:", "https:")) else url
    return url


# Links ----------------------------------------------------------------------------------------------------------------

_SURROUNDING: Final = "".join(map(chr, range(0x21)))  # WHATWG URL: C0 controls and space are stripped from both ends
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE).match
_LINK_RELS: Final = ("canonical", "next", "prev", "alternate")
_NO_FOLLOWING: Final = frozenset({"nofollow", "ugc", "sponsored"})
_NOT_FROM_SPACE: Final = {9: None, 10: None, 13: None}


def _clean(href: str) -> str:
    """`href` as the URL parser reads it: nothing around it, no tab or newline inside."""
    href = href.strip(_SURROUNDING)
    if "\n" in href or "\t" in href or "\r" in href:
        href = href.translate(_NOT_FROM_SPACE)
    return href


class _Links:
    """The different links of a page in order; one that is repeated without 'nofollow' may be followed."""

    def __init__(self) -> None:
        self._known: dict[str, Outlink] = {}
        self._settled = {""}  # as written: nothing that follows changes them
        self.were_cut = False
        self.canonical: str | None = None

    def add_elements(self, elements: Iterable[tuple[int, LexborNode]]) -> None:
        settled = self._settled
        for tag, node in elements:
            name, source = _ADDRESSES[tag]
            raw = (node.attrs.get(name) or "").partition("#")[0]
            # Seven of eight links of a page differ from an earlier one by fragment at most.
            # A <link> settles nothing: most are no outlinks, and one that is may be the canonical besides.
            if raw in settled and (tag != _LINK or not raw):
                continue
            rel = _short(node.attrs.get("rel") or "") if name == "href" else ""
            if tag == _LINK:
                self._add_link(raw, rel)
                continue
            if not _forbids_following(rel):
                settled.add(raw)
            self.add(raw, rel, source)

    def _add_link(self, raw: str, rel: str) -> None:
        tokens = rel.split()
        for name in _LINK_RELS:
            if name in tokens and "stylesheet" not in tokens:
                if name == "canonical" and self.canonical is None:
                    self.canonical = raw
                self.add(raw, rel, f"link-{name}")
                return

    def add(self, raw: str, rel: str, source: str) -> None:
        href = _clean(raw)
        known = self._known.get(href)
        if known is not None:
            if _forbids_following(known.rel) and not _forbids_following(rel):
                self._known[href] = known._replace(rel=rel)
            return
        scheme = _SCHEME(href)
        if not href or (scheme is not None and scheme[1].lower() not in {"http", "https"}):
            return
        if len(self._known) >= LINKS_MAX:
            self.were_cut = True
            return
        self._known[href] = Outlink(href, rel, source)

    def kept(self) -> tuple[Outlink, ...]:
        return tuple(self._known.values())


def _short(rel: str) -> str:
    return " ".join(rel[: 4 * REL_CHARS_MAX].lower().split())[:REL_CHARS_MAX] if rel else ""


def _forbids_following(rel: str) -> bool:
    return bool(rel) and not _NO_FOLLOWING.isdisjoint(rel.split())


def _canonical(href: str | None, base: str) -> str | None:
    if not href or not _clean(href):
        return None
    url = normalize(href, base)
    return None if isinstance(url, UrlFault) else url


# Metas ----------------------------------------------------------------------------------------------------------------

_REFRESH: Final = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+|(?=\.))[0-9.]*(?=[;,\t\n\f\r ])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*"
    r"(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
# Directives of X-Robots-Tag that carry a value: what stands before their colon is no robot's name.
_WITH_VALUE: Final = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_DIRECTIVE_SEPARATOR: Final = re.compile(r"[,\s]+")


def refresh_target(content: str) -> str:
    """The address in a <meta http-equiv=refresh>, as HTML 'shared declarative refresh steps' read it; may be empty."""
    found = _REFRESH.match(content)
    return "" if found is None else found[1] or found[2] or found[3] or ""


def _meta(node: LexborNode) -> tuple[str, str]:
    """Name and content. NUL and 'refresh' is the name of a refresh: no attribute holds NUL."""
    attributes = node.attrs
    content = attributes.get("content") or ""
    if (attributes.get("http-equiv") or "").lower() == "refresh":
        return "\0refresh", content
    return (attributes.get("name") or "").strip().lower(), content


def _meta_robots(metas: Iterable[tuple[str, str]], agent: str) -> RobotsFacts:
    names = {"robots", agent.lower() or "robots"}
    facts = RobotsFacts()
    for name, content in metas:
        if name in names:
            facts |= _directives(_DIRECTIVE_SEPARATOR.split(content.lower()))
    return facts


def header_robots(values: Sequence[str], agent: str) -> RobotsFacts:
    """X-Robots-Tag fields: 'noindex, nofollow', or 'agent: noindex' for one robot up to the next name or field."""
    facts = RobotsFacts()
    for value in values:
        is_meant = True
        for part in value.lower().split(","):
            name, colon, rest = part.partition(":")
            if colon and name.strip() not in _WITH_VALUE and " " not in name.strip():
                is_meant = name.strip() in {agent.lower(), "*", "robots"}
                part = rest  # noqa: PLW2901 -- what follows the name is the first directive
            if is_meant:
                facts |= _directives(part.split())
    return facts


def _directives(tokens: Iterable[str]) -> RobotsFacts:
    known = set(tokens)
    return RobotsFacts("noindex" in known or "none" in known, "nofollow" in known or "none" in known)
