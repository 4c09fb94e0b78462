import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.encodings import _LABELS, decode, encoding_of_label

NAMES = sorted(_LABELS)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf8", "UTF-8"),
        (" UTF-8\n", "UTF-8"),
        ("ISO-8859-1", "windows-1252"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("TIS-620", "windows-874"),
        ("iso-8859-11", "windows-874"),
        ("gb2312", "GBK"),
        ("GB18030", "gb18030"),
        ("x-sjis", "Shift_JIS"),
        ("ks_c_5601-1987", "EUC-KR"),
        ("big5-hkscs", "Big5"),
        ("unicode", "UTF-16LE"),
        ("iso-2022-kr", "replacement"),
        ("hz-gb-2312", "replacement"),
        ("koi8-ru", "KOI8-U"),
        ("logical", "ISO-8859-8-I"),
        ("utf-7", None),
        ("utf-32", None),
        ("", None),
        ("utf\u20118", None),
        ("x" * 10_000, None),
    ],
)
def test_a_label_means_what_the_standard_says(label: str, name: str | None) -> None:
    assert encoding_of_label(label) == name


def test_every_encoding_has_its_own_name_as_a_label_and_the_table_is_whole() -> None:
    assert len(_LABELS) == 40
    assert sum(len(labels.split()) for labels in _LABELS.values()) == 228
    assert all(encoding_of_label(name) == name for name in NAMES)


def test_windows_1252_defines_every_octet() -> None:
    text = decode(bytes(range(256)), "windows-1252")
    assert "\ufffd" not in text
    assert (text[0x80], text[0x81], text[0x93], text[0xFF]) == ("€", "\x81", "“", "ÿ")


@pytest.mark.parametrize(
    ("name", "octet", "character"),
    [
        ("windows-1251", 0x98, "\x98"),
        ("windows-1255", 0xD9, "\ufffd"),
        ("windows-1255", 0xCA, "\u05ba"),
        ("windows-1253", 0xAA, "\ufffd"),
        ("windows-874", 0x81, "\x81"),
        ("windows-874", 0xDB, "\ufffd"),
        ("ISO-8859-8-I", 0xE0, "א"),
        ("ISO-8859-7", 0xA4, "€"),
        ("KOI8-U", 0xAE, "ў"),
        ("x-mac-cyrillic", 0xFF, "€"),
        ("macintosh", 0xDB, "€"),
        ("x-user-defined", 0x80, "\uf780"),
        ("IBM866", 0x80, "А"),
    ],
)
def test_single_octets_of_the_indexes(name: str, octet: int, character: str) -> None:
    assert decode(bytes((octet,)), name) == character


@pytest.mark.parametrize(
    ("name", "octets", "text"),
    [
        ("GBK", b"\xd6\xd0\xce\xc4", "中文"),
        ("GBK", "𠀀".encode("gb18030"), "𠀀"),
        ("Big5", b"\xa4\xa4\xa4\xe5", "中文"),
        ("Shift_JIS", b"\x87\x40\x93\xfa", "①日"),
        ("EUC-JP", b"\xad\xa1\xc6\xfc", "①日"),
        ("ISO-2022-JP", b"\x1b$BF|\x1b(B", "日"),
        ("EUC-KR", b"\xc7\xd1\x8c\x63", "한똠"),
        ("UTF-16LE", b"a\0\xac\x20", "a€"),
        ("UTF-16BE", b"\0a\xd8\x00", "a\ufffd"),
        ("replacement", b"anything", "\ufffd"),
        ("replacement", b"", ""),
        ("UTF-8", b"a\xffb\xe2\x82", "a\ufffdb\ufffd"),
    ],
)
def test_many_octets(name: str, octets: bytes, text: str) -> None:
    assert decode(octets, name) == text


@given(st.binary(max_size=64), st.sampled_from(NAMES))
def test_any_octets_decode_to_scalar_values(octets: bytes, name: str) -> None:
    assert decode(octets, name).encode("utf-8").decode("utf-8") == decode(octets, name)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"UTF-16LE", "UTF-16BE", "ISO-2022-JP", "replacement"}))
def test_ascii_means_itself_in_all_but_four(name: str) -> None:
    ascii_octets = bytes(range(0x20, 0x5C)) + bytes(range(0x5D, 0x7E))
    assert decode(ascii_octets, name) == ascii_octets.decode("ascii")
