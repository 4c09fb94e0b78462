"""The fingerprint of a text: equal hashes mean equal texts but for white space. Near-duplicates are not here."""

import unicodedata

from xxhash import xxh3_64_intdigest


def normalized_text(text: str) -> bytes:
    """`text` in UTF-8, composed (NFC), runs of white space as one space, none at the ends. Idempotent.

    Case stays: "exact" is what the hash is for, and no page differs from its copy in case alone. 0.16 ms for 22 KB;
    replacing on bytes in passes costs 0.24, a regular expression 0.4.
    """
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split()).encode("utf-8", "replace")


def content_hash(text: str) -> int:
    """64 bits (xxh3) of the normalised text."""
    return xxh3_64_intdigest(normalized_text(text))


def hex_hash(value: int) -> str:
    """16 lower-case hex digits, as every hash and key is shown."""
    return f"{value:016x}"
