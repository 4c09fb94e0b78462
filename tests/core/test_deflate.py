"""The three forms of deflate, as isal is told of them."""

import gzip
import zlib

import pytest
from isal import isal_zlib

from gossamer.core.deflate import GZIP_WBITS, RAW_WBITS, ZLIB_WBITS, IsalError

FORMS = {
    GZIP_WBITS: gzip.compress(b"page"),
    ZLIB_WBITS: zlib.compress(b"page"),
    RAW_WBITS: zlib.compress(b"page")[2:-4],
}


@pytest.mark.parametrize("wbits", FORMS)
def test_each_form_is_read_and_what_is_none_raises_what_can_be_caught(wbits: int) -> None:
    assert isal_zlib.decompressobj(wbits=wbits).decompress(FORMS[wbits]) == b"page"
    with pytest.raises(IsalError):
        isal_zlib.decompressobj(wbits=wbits).decompress(b"\xff" * 99)
