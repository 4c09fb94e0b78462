"""What isal and zlib are told, and what isal raises, for all that read or write gzip. Limits are theirs."""

from typing import Final, cast

from isal import isal_zlib

GZIP_WBITS: Final = 31
ZLIB_WBITS: Final = 15
RAW_WBITS: Final = -15

IsalError: Final = cast("type[Exception]", isal_zlib.error)  # the stubs say instance, it is a class
