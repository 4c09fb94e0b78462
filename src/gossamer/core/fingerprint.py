"""The fingerprint of a text: equal hashes mean equal texts but for white space. Near-duplicates are not here."""

import unicodedata
from typing import Final

from xxhash import xxh3_64_intdigest

_SPACES: Final = bytes.maketrans(b"\t\v\f\r", b"    ")


def normalized_text(text: str) -> bytes:
    """`text` in UTF-8, composed (NFC), runs of white space as one space, none at the ends. Idempotent.

    Case stays: "exact" is what the hash is for, and no page differs from its copy in case alone.
    """
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    octets = text.encode("utf-8", "replace").translate(_SPACES)
    # Runs are rare but in <pre>: splitting only the lines that have one takes half the time of splitting all.
    lines = [b" ".join(line.split()) if b"  " in line else line.strip(b" ") for line in octets.split(b"\n")]
    return b" ".join([line for line in lines if line])


def content_hash(text: str) -> int:
    """64 bits (xxh3) of the normalised text."""
    return xxh3_64_intdigest(normalized_text(text))


def hex_hash(value: int) -> str:
    """16 lower-case hex digits, as every hash is shown."""
    return f"{value:016x}"
