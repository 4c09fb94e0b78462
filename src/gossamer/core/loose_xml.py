"""XML as the web writes it: a stream of tags and text from any octets, faults named and survived.

Sitemaps and feeds are machine-made and often broken in one place: a bare `&`, a cut end, a blank line in front. A
conforming parser must stop there and the rest of the site is lost. This one reads on, as search engines do. It knows
the five entities of XML and character references and nothing else: a DTD is skipped unread, so no entity can be
defined, expanded or fetched.
"""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

PROBLEMS_MAX = 50
PROBLEM_CHARS_MAX = 200
DEPTH_MAX = 100
TAGS_MAX = 4_000_000  # 50,000 entries of 80 tags; about four seconds
MARKUP_BYTES_PEEKED = 1_024

_NAME = r"[A-Za-z_:\u0080-\uffff][\w:.\-]*+"
_QUOTED_OR_NOT = r"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+"
# Text up to a tag, and the tag if one follows: with its quotes in pairs, else up to the first '>'.
_TEXT_AND_TAG = re.compile(rf"([^<]*+)(?:<(/?)({_NAME})({_QUOTED_OR_NOT})>|<(/?)({_NAME})([^<>]*+)>)?")
_ATTRIBUTE = re.compile(r"([A-Za-z_:][\w:.\-]*)\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{0,31}));|&")
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# What a declaration may ask for. Codecs that are no charsets (zip, idna, unicode_escape) are not on offer.
_CHARSETS = re.compile(
    r"utf-?8|(us-)?ascii|iso-?8859-\d{1,2}|latin-?1|(windows|cp)-?125\d|koi8-[ru]|macintosh"
    r"|gb2312|gbk|gb18030|big5(-hkscs)?|shift_jis|sjis|windows-31j|euc-(jp|kr|cn)|iso-2022-jp|ks_c_5601-1987"
)
_AS_BROWSERS_DO = {"us-ascii": "windows-1252", "ascii": "windows-1252", "windows-31j": "cp932", "euc-cn": "gb18030"}
_SECTIONS = (("<!--", "-->"), ("<![CDATA[", "]]>"))


class Problems:
    """What was wrong with a document, once each, at most PROBLEMS_MAX."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, problem: str) -> None:
        """Note it; one that is known or one too many changes nothing."""
        if len(self._found) < PROBLEMS_MAX:
            self._found[problem[:PROBLEM_CHARS_MAX]] = None

    def all(self) -> tuple[str, ...]:
        """In the order in which they were found."""
        return tuple(self._found)


class Node(NamedTuple):
    """An open element with its start tag."""

    name: str
    prefix: str
    raw_attributes: str


class Element(NamedTuple):
    """An element that has ended: its ancestors from the root, itself, and the text directly inside it."""

    ancestors: tuple[Node, ...]
    node: Node
    text: str


def decoded_xml(body: bytes, problems: Problems) -> str:
    """The text of a document: by BOM, zeros of UTF-16, declaration, or as UTF-8 (XML 1.0, appendix F)."""
    charset = _charset(body, problems)
    try:
        text = body.decode(charset)
    except UnicodeDecodeError as error:
        problems.add(f"not valid {charset} at byte {error.start}")
        text = body.decode(charset, "replace")
    return text.removeprefix("\ufeff")


def elements(text: str, problems: Problems, announced: frozenset[str]) -> Iterator[Element | Node]:
    """An Element as each ends, and a Node as the root and the `announced` names open. Time is linear in the text.

    An end tag that fits an outer element ends the inner ones too; one that fits none is passed over. What is left open
    at the end of the text does not end.
    """
    stack: list[Node] = []
    texts: list[list[str]] = [[]]
    position, end = 0, len(text)
    for _ in range(TAGS_MAX):
        found = _TEXT_AND_TAG.match(text, position)
        if found is None or position >= end:
            break
        position = found.end()
        characters, slash, qualified, rest = _parts(found)
        if characters:
            texts[-1].append(characters if "&" not in characters else resolved(characters, problems))
        if qualified is None:
            position = _other_markup(text, position, texts[-1], problems)
            continue
        prefix, _, name = qualified.lower().rpartition(":")
        if slash:
            yield from _closed(name, stack, texts, problems)
            continue
        node = Node(name, prefix, rest)
        if name in announced or not stack:
            yield node
        if rest.endswith("/"):
            yield Element(tuple(stack), node, "")
        elif len(stack) < DEPTH_MAX:
            stack.append(node)
            texts.append([])
        else:
            problems.add(f"more than {DEPTH_MAX} elements inside each other, the rest is not read")
            return
    if position < end:
        problems.add(f"more than {TAGS_MAX} tags, the rest is not read")
    if stack:
        problems.add(f"the document ends inside <{stack[-1].name[:40]}>")
    if any(part.strip("\ufeff \t\r\n") for part in texts[0]):
        problems.add("text outside the root element")


def attributes(raw_attributes: str, problems: Problems) -> dict[str, str]:
    """Attributes of a start tag by lower-case name with prefix; the first of a name wins."""
    found: dict[str, str] = {}
    for name, quoted, single_quoted in _ATTRIBUTE.findall(raw_attributes):
        found.setdefault(name.lower(), resolved(quoted or single_quoted, problems))
    return found


def resolved(text: str, problems: Problems) -> str:
    """`text` with character references and XML's own entities replaced; anything else with `&` stays as written."""
    if "&" not in text:
        return text

    def replacement(found: re.Match[str]) -> str:
        decimal, hexadecimal, name = found.groups()
        if name is None and decimal is None and hexadecimal is None:
            problems.add("bare '&'")
            return "&"
        if name is not None:
            if name not in _ENTITIES:
                problems.add(f"entity &{name}; is not known")
            return _ENTITIES.get(name, found[0])
        code = int(decimal) if decimal else int(hexadecimal, 16)
        if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
            problems.add(f"{found[0]} is no character")
            return "\ufffd"
        return chr(code)

    return _REFERENCE.sub(replacement, text)


def _parts(found: re.Match[str]) -> tuple[str, str | None, str | None, str]:
    characters, slash, qualified, rest, loose_slash, loose_qualified, loose_rest = found.groups()
    if qualified is None and loose_qualified is not None:
        return characters, loose_slash, loose_qualified, loose_rest
    return characters, slash, qualified, rest


def _closed(name: str, stack: list[Node], texts: list[list[str]], problems: Problems) -> Iterator[Element]:
    depth = len(stack) - 1
    while depth >= 0 and stack[depth].name != name:
        depth -= 1
    if depth < 0:
        problems.add(f"</{name[:40]}> ends nothing")
        return
    if depth < len(stack) - 1:
        problems.add(f"<{stack[-1].name[:40]}> is not ended")
    while len(stack) > depth:
        node = stack.pop()
        yield Element(tuple(stack), node, "".join(texts.pop()))


def _other_markup(text: str, at: int, characters: list[str], problems: Problems) -> int:
    """Past what is at `at` and no tag: the end, a declaration, a section, or a '<' that means itself."""
    if at >= len(text):
        return at
    if not text.startswith(("<!", "<?"), at):
        problems.add("'<' that begins no tag")
        characters.append("<")
        return at + 1
    stop = _declaration_end(text, at, problems)
    if text.startswith("<![CDATA[", at):
        characters.append(text[at + 9 : stop - 3 if text.startswith("]]>", stop - 3) else stop])
    return stop


def _declaration_end(text: str, at: int, problems: Problems) -> int:
    """Where a comment, CDATA section, processing instruction or DTD ends: nothing inside it is read as markup."""
    for opener, closer in _SECTIONS:
        if text.startswith(opener, at):
            stop = text.find(closer, at + len(opener))
            if stop < 0:
                problems.add(f"the document ends inside {opener}")
                return len(text)
            return stop + len(closer)
    next_tag = text.find("<", at + 1)
    limit = next_tag if next_tag >= 0 else len(text)
    if text.startswith("<?", at):
        stop = text.find("?>", at, limit)  # not beyond the next tag: where '?>' is missing, '>' has to do
        return stop + 2 if stop >= 0 else text.find(">", at, limit) + 1 or limit
    return _doctype_end(text, at, limit, problems)


def _doctype_end(text: str, at: int, limit: int, problems: Problems) -> int:
    """Behind `<!DOCTYPE …>`; an internal subset, where entities would be declared, is skipped with it."""
    subset = text.find("[", at, limit)
    if subset < 0:
        return text.find(">", at, limit) + 1 or limit
    problems.add("the document type declaration is not read")
    closing = text.find("]", subset)
    return text.find(">", closing) + 1 or len(text) if closing >= 0 else len(text)


def _charset(body: bytes, problems: Problems) -> str:
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return charset
    start = body[:MARKUP_BYTES_PEEKED]
    if start[1:2] == b"\0" and start[:1] != b"\0":
        return "utf-16-le"
    if start[:1] == b"\0" and start[1:2] != b"\0":
        return "utf-16-be"
    found = _DECLARED.search(start)
    label = found[1].decode("ascii").lower() if found else "utf-8"
    if label.startswith("utf-16"):  # it was read as octets to get here, so it is not
        return "utf-8"
    if not _CHARSETS.fullmatch(label):
        problems.add(f"encoding {label} is not known, read as UTF-8")
        return "utf-8"
    try:
        return codecs.lookup(_AS_BROWSERS_DO.get(label, label)).name
    except LookupError:
        problems.add(f"encoding {label} is not known, read as UTF-8")
        return "utf-8"
