import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from gossamer.core.fingerprint import content_hash, hex_hash, normalized_text


@pytest.mark.parametrize("other", ["a b", " a  b ", "a\nb", "a\r\n\tb\n\n", "\n a \n\n   b"])
def test_white_space_makes_no_difference(other: str) -> None:
    assert normalized_text(other) == b"a b"


@pytest.mark.parametrize("other", ["ab", "a b c", "A b", "a,b", ""])
def test_anything_else_does(other: str) -> None:
    assert content_hash(other) != content_hash("a b")


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    assert content_hash("cafe\u0301") == content_hash("caf\u00e9")


def test_the_hash_is_xxh3_of_the_normal_form_in_16_digits() -> None:
    assert content_hash("x  y") == xxh3_64_intdigest(b"x y")
    assert (hex_hash(0), hex_hash(255), hex_hash(2**64 - 1)) == ("0" * 16, "00000000000000ff", "f" * 16)


@given(st.text())
def test_the_normal_form_is_stable(text: str) -> None:
    once = normalized_text(text)
    assert normalized_text(once.decode()) == once


def test_a_lone_surrogate_does_no_harm() -> None:
    assert normalized_text("a\ud800b") == b"a?b"
