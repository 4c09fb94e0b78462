"""What an HTML parser must not be given: trees so deep, or tags so long, that its time grows with their square."""

import re
from typing import Final

DEPTH_MAX: Final = 1_024
"""Open elements at once. Blink stops at 512; a real page stays below 100. 100,000 nested <div> cost lexbor 9 s."""
TAG_BYTES_MAX: Final = 32 * 1_024
"""A tag may be longer (a 10 MB data URL is cheap) but not with more than ATTRIBUTES_MAX attributes."""
ATTRIBUTES_MAX: Final = 5_000
"""Attributes of one tag. lexbor compares each with all before it: 10,000 cost 0.13 s, 100,000 12 s."""
GUARDED_BYTES_MIN: Final = 150_000
GUARDED_TAGS_MIN: Final = 20_000
"""Below either, the deepest possible tree costs lexbor 1 s at most, and looking for it would cost every page 0.1 ms."""

_CHUNK_BYTES: Final = 16 * 1_024
_TAG: Final = re.compile(rb"<(/?)([a-z][^\t\n\f\r />]*)", re.IGNORECASE)
# Never inside themselves: void elements, those that the next of their kind closes, and those that hold only text.
_NEVER_NESTED: Final = frozenset(
    b"area base br col embed hr img input link meta param source track wbr a p li dd dt option optgroup tr td th tbody "
    b"thead tfoot caption colgroup button nobr rb rp rt rtc h1 h2 h3 h4 h5 h6 html head body script style title "
    b"textarea form select frame frameset iframe noframes noembed xmp image keygen bgsound basefont command".split()
)
# Whatever separates attributes; base64 has '/' in one of 64 places, so count what only names or closes values have.
_ATTRIBUTE_START: Final = re.compile(rb"[\t\n\f\r \"'][^\t\n\f\r \"'=>]")


def bounded_markup(utf8: bytes, *, for_main_text: bool = False) -> bytes:
    """`utf8`, or for a hostile document a copy without the tags below DEPTH_MAX and the attributes beyond the limit.

    Links keep their tags, so what was cut away of a document's shape takes none of its text or links with it. Finding
    the main text has a far dearer square (20,000 nested elements: 4 s), so for it short documents are bounded too.
    """
    if len(utf8) > TAG_BYTES_MAX:
        utf8 = _without_long_tags(utf8)
    may_matter = for_main_text or (len(utf8) > GUARDED_BYTES_MIN and utf8.count(b"<") > GUARDED_TAGS_MIN)
    if may_matter and _may_be_deep(utf8):
        utf8 = _flattened(utf8)
    return utf8


def _without_long_tags(utf8: bytes) -> bytes:
    """Cuts tags of too many attributes. Steps from '>' to '>' in strides, so a normal page is looked at thrice."""
    position = 0
    while len(utf8) - position > TAG_BYTES_MAX:
        close = utf8.rfind(b">", position, position + TAG_BYTES_MAX)
        if close >= 0:
            position = close + 1
            continue
        close = utf8.find(b">", position + TAG_BYTES_MAX)
        end = len(utf8) if close < 0 else close
        start = utf8.find(b"<", position, end)
        if start >= 0 and len(_ATTRIBUTE_START.findall(utf8, start, end)) > ATTRIBUTES_MAX:
            kept = start + TAG_BYTES_MAX // 2
            # Closes a value in quotes of either kind, and the tag.
            utf8 = utf8[:kept] + b"\"'>" + utf8[end + 1 :]
            end = kept
        position = end
    return utf8


def _may_be_deep(utf8: bytes) -> bool:
    """Whether over DEPTH_MAX more tags have opened than closed at some place: a cheap sum, void elements included."""
    depth = 0
    for start in range(0, len(utf8), _CHUNK_BYTES):
        opened = utf8.count(b"<", start, start + _CHUNK_BYTES)
        depth += opened - 2 * utf8.count(b"</", start, start + _CHUNK_BYTES)
        if depth > DEPTH_MAX:
            return True
    return False


def _flattened(utf8: bytes) -> bytes:
    """Leaves out the tags of elements that would lie deeper than DEPTH_MAX, by the tags alone."""
    depth = 0
    kept: list[bytes] = []
    copied_to = 0
    for tag in _TAG.finditer(utf8):
        if tag[2].lower() in _NEVER_NESTED:
            continue
        is_too_deep = depth > DEPTH_MAX if tag[1] else depth >= DEPTH_MAX
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if is_too_deep:
            kept.append(utf8[copied_to : tag.start()])
            copied_to = utf8.find(b">", tag.end()) + 1 or len(utf8)
    return utf8 if not kept else b"".join(kept) + utf8[copied_to:]
