"""Which encoding a body is in, as browsers find it, and its text. The encodings themselves are in `encodings`."""

import re
from typing import Final, NamedTuple

from gossamer.core.encodings import decode, encoding_of_label

PRESCAN_BYTES: Final = 1_024
"""HTML 'prescan a byte stream': how far a declaration is looked for before parsing starts."""
LATE_META_BYTES_MAX: Final = 256 * 1_024
"""How far a <meta charset> still counts, where a browser would 'change the encoding' while parsing."""
DETECTION_BYTES_MAX: Final = 64 * 1_024
META_TAGS_MAX: Final = 4_096
FALLBACK: Final = "windows-1252"

_BOMS: Final = ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16LE"), (b"\xfe\xff", "UTF-16BE"))
_HEADER_CHARSET: Final = re.compile(r"(?:^|[;,\s])charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_CONTENT_CHARSET: Final = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*))", re.IGNORECASE
)
_XML_ENCODING: Final = re.compile(rb"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([^\"'>]{1,64})[\"']")
_SPACE: Final = rb"\t\n\f\r "
_ATTRIBUTE: Final = re.compile(
    rb"[/" + _SPACE + rb"]*([^/>" + _SPACE + rb"][^=/>" + _SPACE + rb"]*)"
    rb"(?:[" + _SPACE + rb"]*=[" + _SPACE + rb"]*"
    rb"(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)|([^\"'>" + _SPACE + rb"][^>" + _SPACE + rb"]*)|(?=>)))?"
)
_PRESCANNED: Final = re.compile(
    rb"<(?:!--|(meta)[/" + _SPACE + rb"]|/?[a-z][^>" + _SPACE + rb"]*|[!/?])", re.IGNORECASE
)
# In the late scan the parser has seen what comes before: the text of scripts and their like is no markup.
_PARSED: Final = re.compile(
    rb"<(?:!--|(meta)[/"
    + _SPACE
    + rb"]|(script|style|title|textarea|xmp|iframe|noframes|noembed)[/>"
    + _SPACE
    + rb"])",
    re.IGNORECASE,
)
_DECLARES: Final = re.compile(rb"charset", re.IGNORECASE)
_COMMENT_ENDS: Final = re.compile(rb"--!?>")


class Decoded(NamedTuple):
    """`charset` is the name in the Encoding Standard; `text` has no byte-order mark."""

    charset: str
    text: str


def decode_html(body: bytes, content_type: str | None) -> Decoded:
    """The text of an HTML document (HTML 13.2.3.2): byte-order mark, header, <meta>, then the octets themselves."""
    charset, bom_bytes = _html_charset(body, content_type)
    return Decoded(charset, decode(body[bom_bytes:], charset))


def decode_text(body: bytes, content_type: str | None) -> Decoded:
    """The text of a plain text: byte-order mark, header, then the octets themselves."""
    charset, bom_bytes = _by_mark_or_header(body, content_type) or (_charset_of_octets(body), 0)
    return Decoded(charset, decode(body[bom_bytes:], charset))


def _html_charset(body: bytes, content_type: str | None) -> tuple[str, int]:
    """The encoding's name, and how many octets the byte-order mark takes."""
    found = _by_mark_or_header(body, content_type)
    if found is not None:
        return found
    declared = _prescan(body[:PRESCAN_BYTES]) or _xml_encoding(body[:PRESCAN_BYTES]) or _late_meta(body)
    return declared or _charset_of_octets(body), 0


def _by_mark_or_header(body: bytes, content_type: str | None) -> tuple[str, int] | None:
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return charset, len(mark)
    declared = header_charset(content_type)
    return None if declared is None else (declared, 0)


def header_charset(content_type: str | None) -> str | None:
    """The first charset parameter whose label is known. Quotes, spaces and joined fields occur."""
    if not content_type:
        return None
    for label in _HEADER_CHARSET.findall(content_type[:1_024]):
        charset = encoding_of_label(label)
        if charset is not None:
            return charset
    return None


# Declarations in the document -----------------------------------------------------------------------------------------


def _prescan(head: bytes) -> str | None:
    """HTML 'prescan a byte stream to determine its encoding'."""
    position = 0
    for _ in range(META_TAGS_MAX):
        tag = _PRESCANNED.search(head, position)
        if tag is None:
            return None
        position = tag.end()
        if tag[0] == b"<!--":
            position = _after_comment(head, position)
        elif tag[1] is not None:
            charset, position = _meta(head, position)
            if charset is not None:
                return charset
        elif tag[0] in {b"<!", b"</", b"<?"}:
            position = head.find(b">", position) + 1 or len(head)
        else:
            _, position = _attributes(head, position)
    return None


def _late_meta(body: bytes) -> str | None:
    """A <meta> that declares an encoding beyond the prescan, as the parser would meet it."""
    head = body[:LATE_META_BYTES_MAX]
    if _DECLARES.search(head, PRESCAN_BYTES) is None:
        return None
    position = 0
    for _ in range(META_TAGS_MAX):
        tag = _PARSED.search(head, position)
        if tag is None:
            return None
        position = tag.end()
        if tag[0] == b"<!--":
            position = _after_comment(head, position)
        elif tag[1] is not None:
            charset, position = _meta(head, position)
            if charset is not None:
                return charset
        else:
            end = re.compile(b"</" + tag[2] + rb"[/>" + _SPACE + rb"]", re.IGNORECASE).search(head, position)
            position = len(head) if end is None else end.end()
    return None


def _after_comment(head: bytes, position: int) -> int:
    # '<!-->' is a whole comment: the dashes that open it may close it.
    end = _COMMENT_ENDS.search(head, position - 2)
    return len(head) if end is None else end.end()


def _meta(head: bytes, position: int) -> tuple[str | None, int]:
    """The encoding that the <meta> whose attributes start at `position` declares, and where they end."""
    attributes, position = _attributes(head, position)
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        found = _CONTENT_CHARSET.search(attributes.get(b"content", b""))
        label = None if found is None else found[1] or found[2] or found[3]
    charset = None if label is None else encoding_of_label(label.decode("latin-1"))
    if charset in {"UTF-16LE", "UTF-16BE"}:
        charset = "UTF-8"  # octets in which ASCII '<meta' was readable are not UTF-16
    return FALLBACK if charset == "x-user-defined" else charset, position


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Attributes from `position` to the tag's '>': the first of each name, lower case. None if the tag is cut."""
    found: dict[bytes, bytes] = {}
    while (attribute := _ATTRIBUTE.match(head, position)) is not None:
        position = attribute.end()
        name, *values = attribute.groups()
        found.setdefault(name.lower(), next((value for value in values if value is not None), b""))
    end = head.find(b">", position)
    return ({}, len(head)) if end < 0 else (found, end + 1)


def _xml_encoding(head: bytes) -> str | None:
    """An XML declaration, which browsers heed in HTML too when no <meta> declares anything."""
    if head.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return "UTF-16LE" if head[0] else "UTF-16BE"
    found = _XML_ENCODING.match(head)
    charset = None if found is None else encoding_of_label(found[1].decode("latin-1"))
    return "UTF-8" if charset in {"UTF-16LE", "UTF-16BE"} else charset


# The octets themselves ------------------------------------------------------------------------------------------------

BROKEN_SHARE_MAX: Final = 0.02
"""A text is UTF-8 with faults while at most this share of its sequences is broken: chance gives few valid ones."""
LATIN_EVIDENCE_MIN: Final = 8
"""Fewer non-ASCII octets than this cannot tell one Latin alphabet from another: 'é' is 0xE9 in ten of them."""
_LATIN: Final = frozenset({
    "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-10", "ISO-8859-13", "ISO-8859-14", "ISO-8859-15",
    "ISO-8859-16", "macintosh", "windows-1250", "windows-1252", "windows-1254", "windows-1257", "windows-1258",
})  # fmt: skip
_DETECTOR_NAMES: Final = {
    "cp949": "EUC-KR", "uhc": "EUC-KR", "cp932": "Shift_JIS", "cp874": "windows-874",
    "mac-roman": "macintosh", "mac-cyrillic": "x-mac-cyrillic",
}  # fmt: skip
_PAIRS: Final = re.compile(rb"[\x81-\xfe]([\x40-\x7e\x80-\xfe])")
_NON_ASCII: Final = re.compile(rb"[\x80-\xff]")


def _charset_of_octets(body: bytes) -> str:
    """For an undeclared body: UTF-8 where it is, else what the letters look like, else the web's fallback."""
    if body.isascii():
        return "ISO-2022-JP" if b"\x1b$" in body else FALLBACK
    if _is_utf8(body) or _is_broken_utf8(body):
        return "UTF-8"
    sample = body[:DETECTION_BYTES_MAX]
    guess = _detected(sample)
    if guess == "gb18030" and _looks_like_big5(sample):
        return "Big5"
    if guess in _LATIN and len(_NON_ASCII.findall(sample)) < LATIN_EVIDENCE_MIN:
        return FALLBACK
    return guess or FALLBACK


def _detected(sample: bytes) -> str | None:
    from resiliparse.parse.encoding import detect_encoding  # noqa: PLC0415 -- 20 ms to import, few pages need it

    label = detect_encoding(sample, DETECTION_BYTES_MAX, html5_compatible=False)
    if not label:
        return None
    label = label.lower().replace("_", "-")
    charset = _DETECTOR_NAMES.get(label) or encoding_of_label(label)
    return None if charset in {"UTF-8", "UTF-16LE", "UTF-16BE", "replacement"} else charset


def _looks_like_big5(sample: bytes) -> bool:
    """Second octets below 0x80 are a third of Big5 text; in GBK they are rare characters only."""
    seconds = _PAIRS.findall(sample)
    low_octets = sum(1 for second in seconds if second < b"\x80")
    return bool(low_octets * 8 > len(seconds))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_broken_utf8(body: bytes) -> bool:
    """UTF-8 with a few faults, or whose last sequence the end of the body cuts."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    valid = sum(map(len, re.findall(r"[^\0-\x7f\ufffd]+", text)))
    cut_at_the_end = broken == 1 and text.endswith("\ufffd")
    return valid > 0 and (cut_at_the_end or broken <= valid * BROKEN_SHARE_MAX)
