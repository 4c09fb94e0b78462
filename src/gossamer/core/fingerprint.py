"""The fingerprint of a text: equal hashes mean equal texts but for white space. Near-duplicates are not here."""

import unicodedata

from xxhash import xxh3_64_intdigest

_NO_BREAK_SPACE = "\u00a0".encode()


def normalized_text(text: str) -> bytes:
    """`text` in UTF-8, composed (NFC), runs of white space as one space, none at the ends. Idempotent.

    White space is that of ASCII and the no-break space. Case stays: "exact" is what the hash is for, and no page
    differs from its copy in case alone. 0.13 ms for 22 KB; str.split takes 0.16, replacing in passes 0.24.
    """
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    octets = text.encode("utf-8", "replace")
    if _NO_BREAK_SPACE in octets:
        octets = octets.replace(_NO_BREAK_SPACE, b" ")
    return b" ".join(octets.split())


def content_hash(text: str) -> int:
    """64 bits (xxh3) of the normalised text."""
    return xxh3_64_intdigest(normalized_text(text))


def hex_hash(value: int) -> str:
    """16 lower-case hex digits, as every hash and key is shown."""
    return f"{value:016x}"
