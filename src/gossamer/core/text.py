"""The text of an HTML document: all that is visible, or the main content. Which page that is: `page`.

Blocks break lines as in HTML's innerText, inline elements never split a word, cells of a table are a space apart.
<noscript> counts: we run no scripts, so its content is what is to be seen. Alternative texts of images do not.
"""

from collections.abc import Iterable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.core.html_limits import bounded_markup

_NEW: Final = LexborHTMLParser(b"").create_node
_TEXT_ID: Final = 2  # lexbor's tag of a text node
_TEXT, _BLOCK, _CELL, _PRE, _DROPPED = range(5)  # all else is inline
_NAMES: Final = {
    _BLOCK: "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main marquee menu nav ol "
    "optgroup option p search section select summary table tbody tfoot thead tr ul",
    _CELL: "td th button",
    _PRE: "pre listing xmp plaintext",
    _DROPPED: "audio canvas datalist head iframe noembed noframes script style svg template textarea title video",
}
_KINDS: Final = {_NEW(name).tag_id: kind for kind, names in _NAMES.items() for name in names.split()}
_KINDS[_TEXT_ID] = _TEXT
_KINDS_IN_PRE: Final = {tag: _BLOCK if kind == _PRE else kind for tag, kind in _KINDS.items()}

# Marks inside the gathered text. lexbor gives no NUL, and the other three mean white space if a page holds them.
_BREAK: Final = "\0"
_CELL_MARK: Final = " "
_KEPT_NEWLINE, _KEPT_SPACE, _KEPT_TAB = "\1", "\2", "\3"
_KEPT: Final = ((_KEPT_NEWLINE, "\n"), (_KEPT_SPACE, " "), (_KEPT_TAB, "\t"))
_STRUCTURE: Final = ":not(a,abbr,b,code,em,font,i,kbd,mark,samp,small,span,strong,sub,sup,tt,u,var,pre), pre pre"
_WHITE_SPACE: Final = "\n\t\r\f\v\u00a0"


def full_text(root: LexborNode, hidden: Iterable[LexborNode] = ()) -> str:
    """All visible text below `root`, a line for a block, white space collapsed except in <pre>.

    `hidden` are elements to leave out, see `html.Elements`: they are detached from the tree.
    """
    for node in hidden:
        node.remove(recursive=False)
    return _lines(_gathered(root, _KINDS))


def main_text(utf8: bytes) -> str:
    """The main content without navigation and the like, as resiliparse finds it. Parses again, about 1.6 ms a page."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 -- loaded only where asked for

    text: str = extract_plain_text(
        bounded_markup(utf8, for_main_text=True).decode("utf-8", "replace"), main_content=True
    )
    return text.strip()


def _gathered(root: LexborNode, kinds: dict[int, int]) -> str:
    """Text and marks below `root`, by pointers and a stack of our own: a page may be deeper than Python recurses.

    The dearest loop of a page after its parse (0.5 ms for 4,200 nodes), hence the order of the branches.
    """
    parts: list[str | None] = []
    add = parts.append
    kind_of = kinds.get
    text_id, text, dropped = _TEXT_ID, _TEXT, _DROPPED
    open_elements: list[tuple[LexborNode, str]] = []
    node = root.first_child
    while True:
        while node is not None:
            kind = kind_of(node.tag_id)
            if kind is None:
                child = node.first_child
                if child is not None:
                    if child.tag_id == text_id and child.next is None:
                        add(child.text_content)  # most inline elements hold one text: not worth the stack
                    else:
                        open_elements.append((node, ""))
                        node = child
                        continue
            elif kind == text:
                add(node.text_content)
            elif kind != dropped:
                mark = _CELL_MARK if kind == _CELL else _BREAK
                add(mark)
                child = node.first_child
                if kind == _PRE:
                    add(_preserved(node))
                    add(mark)
                elif child is not None:
                    open_elements.append((node, mark))
                    node = child
                    continue
            node = node.next
        if not open_elements:
            return "".join(parts)  # type: ignore[arg-type]  # a text node's content is never None
        node, mark = open_elements.pop()
        add(mark)
        node = node.next


def _preserved(pre: LexborNode) -> str:
    """The text of a <pre>, its white space turned into marks that survive the collapsing."""
    # Highlighted code is nothing but spans: lexbor gives its text in a tenth of the time.
    has_structure = pre.css_first(_STRUCTURE) is not None
    text = (_gathered(pre, _KINDS_IN_PRE) if has_structure else pre.text_lexbor()).strip("\n")
    if not text.strip():
        return ""
    return text.replace("\n", _KEPT_NEWLINE).replace(" ", _KEPT_SPACE).replace("\t", _KEPT_TAB)


def _lines(gathered: str) -> str:
    """Lines at the marks, each with single spaces, none empty; then the marks of <pre> become white space again."""
    for white_space in _WHITE_SPACE:
        gathered = gathered.replace(white_space, " ")
    lines = [line for marked in gathered.split(_BREAK) if marked and (line := marked.strip())]
    text = "\n".join([" ".join(line.split()) if "  " in line else line for line in lines])
    for mark, white_space in _KEPT:
        if mark in text:
            text = text.replace(mark, white_space)
    return text
