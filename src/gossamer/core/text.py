"""The text of an HTML document: all that is visible, or the main content. Which page that is: `page`.

turbohtml walks the tree in C (0.11 ms a page, where asking each node from Python costs 0.5): blocks break lines, inline
elements never split a word, <pre> keeps its white space. Here is only what must be put right before it does.
<noscript> counts: we run no scripts, so its content is what is to be seen. Alternative texts of images do not.
"""

import re
from typing import Final

from turbohtml import Document, PlainText, Text

LAYOUT: Final = PlainText(layout="strict", table_cell_separator=" ", bullet="")

# What turbohtml does not break lines at, and what it would lay out in its own way: as a grid, a table is as wide as its
# widest cell in every row (3,000 rows and one long cell made 300 MB), a quotation is indented, a list numbered.
_NEW_NAMES: Final = {
    "blockquote": "div", "caption": "div", "center": "div", "dialog": "div", "fieldset": "div", "form": "div",
    "hgroup": "div", "legend": "div", "marquee": "div", "optgroup": "div", "option": "div", "search": "div",
    "select": "div", "table": "div", "tbody": "div", "tfoot": "div", "thead": "div", "tr": "div",
    "ol": "ul", "dir": "ul",
    "listing": "pre", "xmp": "pre", "plaintext": "pre",
}  # fmt: skip
_DROPPED: Final = ("svg", "iframe", "video", "audio", "canvas", "textarea", "datalist", "noembed", "noframes")
_SPACED: Final = ("td", "th", "button")
# A block that ends an inline element would be glued to what follows.
_BLOCKS_INLINE: Final = (
    ":is(a,span,b,i,em,strong,font,u,s,small,big,label,code,abbr,cite,q,mark,ins,del,time,data,object,noscript)"
    ":has(> :is(div,p,h1,h2,h3,h4,h5,h6,ul,ol,dl,table,pre,section,article,header,footer,nav,main,aside,figure,form,"
    "blockquote,li,address,center,fieldset,details))"
)
_NO_DISPLAY: Final = re.compile(r"(?:^|[\s;])display\s*:\s*none", re.IGNORECASE).search
# A page that hides itself until a script has run has its text all the same.
_NEVER_HIDDEN: Final = frozenset({"html", "head", "body"})
_BLANK_LINES: Final = re.compile(r"\n\n\n+")


def full_text(document: Document) -> str:
    """All visible text: a line for a block, at most one blank line between, white space collapsed except in <pre>.

    Takes the tree apart: links and facts must be read before.
    """
    _remove_hidden(document)
    for node in document.select(_BLOCKS_INLINE):
        node.tag = "div"
    _put_right(document)
    _put_lines_into_pre(document)
    return _tidied(document.to_text(LAYOUT))


def main_text(document: Document) -> str:
    """The main content without navigation and the like, as turbohtml's readability heuristic finds it.

    Of the tree that `full_text` has put right; where nothing reads as content, all of it.
    """
    return _tidied((document.main_content() or document).to_text(LAYOUT))


def _put_right(document: Document) -> None:
    """One name a question: turbohtml has an index of names, but compares a list of them with every element."""
    for name in _DROPPED:
        for node in document.select(name):
            node.decompose()
    for name in _SPACED:
        for node in document.select(name):
            node.insert_before(Text(" "))
    for name, new_name in _NEW_NAMES.items():
        for node in document.select(name):
            node.tag = new_name


def _put_lines_into_pre(document: Document) -> None:
    """turbohtml takes the text of a <pre> as it stands, scripts included."""
    for name in ("script", "style"):
        for node in document.select(f"pre {name}"):
            node.decompose()
    for name in ("br", "div", "p", "pre"):
        for node in document.select(f"pre {name}"):
            node.insert_before(Text("\n"))
            if name != "br":
                node.insert_after(Text("\n"))


def _remove_hidden(document: Document) -> None:
    """By `hidden` or an inline 'display: none'. What is `hidden=until-found` is meant to be found."""
    for node in document.select("[hidden],[style]"):
        hidden = node.attr("hidden")
        is_hidden = hidden != "until-found" if hidden is not None else _NO_DISPLAY(node.attr("style") or "") is not None
        if is_hidden and node.tag not in _NEVER_HIDDEN:
            node.decompose()


def _tidied(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", text.replace("\xa0", " ")).strip("\n ")
