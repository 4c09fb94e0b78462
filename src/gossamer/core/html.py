"""What an HTML document says of itself and where it points: facts and raw links. Its text is in `text`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import ada_url
import turbohtml
from turbohtml import Document, Element, Namespace

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


def parse_document(text: str) -> Document:
    """A document parsed as by a browser without scripts: <noscript> has elements. <template> is no part of it.

    Bounded on hostile markup: 100,000 nested elements take 3 ms, as many attributes of one element 16.
    """
    document = turbohtml.parse(text, positions=False)
    for node in document.select("template"):
        node.decompose()
    return document


def html_facts(document: Document, url: str, agent: str = "") -> HtmlFacts:
    """Facts and links of the document at `url`. `agent` is our product token, which a <meta> may address by name."""
    base = _base(document.select("base[href]"), url)
    metas = [_meta(node) for node in document.select("meta")[:METAS_MAX]]
    links = _links(document)
    for name, content in metas:
        if name == "\0refresh":
            links.add(refresh_target(content), "", "meta-refresh")
    return HtmlFacts(
        title=_title(document.select("title")),
        language=_language(document.select_one("html")),
        canonical=_canonical(links.canonical, base),
        robots=_meta_robots(metas, agent),
        base=base,
        links=links.kept(),
        links_cut=links.were_cut,
    )


# Facts ----------------------------------------------------------------------------------------------------------------


def _title(titles: Iterable[Element]) -> str:
    """The first <title> that is not a drawing's."""
    for node in titles:
        if node.namespace is Namespace.HTML:
            # Cut before it is split: ten times the limit in white space is no title.
            return " ".join((node.text or "")[: 10 * TITLE_CHARS_MAX].split())[:TITLE_CHARS_MAX]
    return ""


_LANGUAGE_TAG: Final = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)


def _language(root: Element | None) -> str:
    """<html lang>, or xml:lang, with the case of RFC 5646 2.1.1: 'pt-br' is 'pt-BR', 'zh_hant' is 'zh-Hant'."""
    if root is None:
        return ""
    given = (root.attr("lang") or root.attr("xml:lang") or "").strip().replace("_", "-")
    if len(given) > LANGUAGE_CHARS_MAX or not _LANGUAGE_TAG.fullmatch(given):
        return ""
    first, *rest = given.lower().split("-")
    return "-".join((first, *map(_subtag, rest)))


def _subtag(part: str) -> str:
    """Two letters are a region, four a script."""
    if not part.isalpha():
        return part
    return {2: part.upper(), 4: part.title()}.get(len(part), part)


def _base(bases: Iterable[Element], url: str) -> str:
    """HTML 4.2.3: the first <base> with an href, resolved against the document's address. Only http and https help."""
    for node in bases:
        try:
            base = ada_url.join_url(url, _clean(node.attr("href") or ""))
        except ValueError:
            return url
        return base if base.startswith(("http:", "https:")) else url
    return url


# Links ----------------------------------------------------------------------------------------------------------------

_SURROUNDING: Final = "".join(map(chr, range(0x21)))  # WHATWG URL: C0 controls and space are stripped from both ends
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE).match
_LINK_RELS: Final = ("canonical", "next", "prev", "alternate")
_REL_SEPARATOR: Final = re.compile(r"[\s,]+")  # HTML has white space; commas are common and Google takes them
_NOT_FROM_SPACE: Final = {9: None, 10: None, 13: None}


def _clean(href: str) -> str:
    """`href` as the URL parser reads it: nothing around it, no tab or newline inside."""
    href = href.strip(_SURROUNDING)
    if "\n" in href or "\t" in href or "\r" in href:
        href = href.translate(_NOT_FROM_SPACE)
    return href


def _links(document: Document) -> "_Links":
    """All links of a document, those with a `rel` last: the hrefs of all others come as one list from C."""
    links = _Links()
    for node in document.select("link")[:LINK_ELEMENTS_MAX]:
        links.add_link(node.attr("href") or "", _short(node.attr("rel") or ""))
    for name in ("a", "area"):
        with_rel = document.select(f"{name}[rel]")[:LINK_ELEMENTS_MAX]
        plain = document.xpath(f"//{name}[not(@rel)]/@href" if with_rel else f"//{name}/@href")
        links.add_all(plain, name)  # type: ignore[arg-type]  # hrefs are text
        for node in with_rel:
            links.add(node.attr("href") or "", _short(node.attr("rel") or ""), name)
    for name in ("frame", "iframe"):
        for node in document.select(name)[:LINK_ELEMENTS_MAX]:
            links.add(node.attr("src") or "", "", name)
    return links


def may_follow(rel: str) -> bool:
    """Whether a link with this `rel` may be followed: unless a token of it is 'nofollow', in any case.

    'ugc' and 'sponsored' say of what kind a link is, and are kept as facts.
    """
    lower = rel.lower()
    return "nofollow" not in lower or "nofollow" not in _REL_SEPARATOR.split(lower)


class _Links:
    """The different links of a page; one that is repeated without 'nofollow' may be followed."""

    def __init__(self) -> None:
        self._known: dict[str, Outlink] = {}
        self.were_cut = False
        self.canonical: str | None = None

    def add_all(self, raws: Iterable[str], source: str) -> None:
        """Links without `rel`. Seven of eight differ from an earlier one by fragment at most."""
        for raw in dict.fromkeys([raw.partition("#")[0] for raw in raws]):
            self.add(raw, "", source)

    def add_link(self, raw: str, rel: str) -> None:
        """A <link>: only the relations that lead to pages."""
        raw = raw.partition("#")[0]
        tokens = rel.split()
        for name in _LINK_RELS:
            if name in tokens and "stylesheet" not in tokens:
                if name == "canonical" and self.canonical is None:
                    self.canonical = raw
                self.add(raw, rel, f"link-{name}")
                return

    def add(self, raw: str, rel: str, source: str) -> None:
        """Any link; what leads to no page is passed over."""
        href = _clean(raw.partition("#")[0])
        known = self._known.get(href)
        if known is not None:
            if may_follow(rel) and not may_follow(known.rel):
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
    """`rel` in lower case, cut between tokens; a 'nofollow' behind the cut comes to the front."""
    if not rel:
        return ""
    rel = rel.lower()
    short = _cut(" ".join(rel.split(None, REL_CHARS_MAX)[:REL_CHARS_MAX]))
    return short if may_follow(short) == may_follow(rel) else _cut(f"nofollow {short}")


def _cut(rel: str) -> str:
    return rel if len(rel) <= REL_CHARS_MAX else rel[: REL_CHARS_MAX + 1].rpartition(" ")[0]


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


def _meta(node: Element) -> tuple[str, str]:
    """Name and content. NUL and 'refresh' is the name of a refresh: no attribute holds NUL."""
    content = node.attr("content") or ""
    if (node.attr("http-equiv") or "").lower() == "refresh":
        return "\0refresh", content
    return (node.attr("name") or "").strip().lower(), content


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
