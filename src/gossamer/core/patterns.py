"""What URLs of a host have in common: their pattern, which is the URL without its numbers, and the year they name.

Numbers are what a program counts with, so '/calendar/2024/1/' and '/calendar/2024/2/' are one pattern while two slugs
are two. What follows from many URLs of one pattern is in `site_traps`.
"""

import re
from typing import Final, NamedTuple

from xxhash import xxh3_64_intdigest

from gossamer.core.url import Url, target_of

NAMES_MAX: Final = 2  # with more parameters a query is a combination of filters, and all of them are one pattern
COMBINATION: Final = "?*"
YEAR_MIN: Final = 1900
YEAR_MAX: Final = 2199  # a wider range takes numbers of threads for years
VALUE_BITS: Final = 256  # half of them are set by 177 values, which is more than the filters of most shops


YEAR_S: Final = 365.2425 * 86_400


def year_of(at: float) -> int:
    """The year of a moment in seconds since 1970, within a day."""
    return 1970 + int(at / YEAR_S)


class Form(NamedTuple):
    """`pattern` is None where there is nothing to count through: no number in the path, no query.

    year: of the date that the URL names. values: of a combination of filters ('/list?*') a bit for each field, by hash.
    """

    pattern: int | None
    year: int | None = None
    values: int = 0

    def is_kin(self, page: "Form") -> bool:
        """Whether a link of this form on `page` leads on through the same space: one pattern, or from date to date.

        Dates are one space whatever their patterns: months lead to days and days to months.
        """
        if self.pattern is None:
            return False
        return self.pattern == page.pattern or (self.year is not None and page.year is not None)


def form_of(url: Url) -> Form:
    """1 µs without a query, 5 µs with four parameters."""
    path, _, query = target_of(url).partition("?")
    year = _year(path, query)
    pattern = _pattern(path, query, year)
    if pattern is None:
        return Form(None, year)
    values = 0
    if pattern.endswith(COMBINATION):
        for value in query.split("&"):
            values |= 1 << xxh3_64_intdigest(value.encode()) % VALUE_BITS
    return Form(xxh3_64_intdigest(pattern.encode()), year, values)


def pattern_of(url: Url) -> str | None:
    """As people see it: '/calendar/#/#/', '/item?id,view', '/list?*'; None as in `Form`."""
    path, _, query = target_of(url).partition("?")
    return _pattern(path, query, _year(path, query))


# A digit of a percent-encoded octet is no number. Eight hex digits and more are a token: a hash, a session.
_NUMBER: Final = re.compile(r"(?<!%)(?<!%[0-9A-F])(?:[0-9A-Fa-f]{8,}|[0-9]+)")
_PLAIN_NUMBER: Final = re.compile(r"[0-9A-Fa-f]{8,}|[0-9]+")  # where nothing is percent-encoded: a quarter less
# ASP.NET's '/(S(lit3py55t21z5v55vlm25s55))/'.
_VISIT_IN_PATH: Final = re.compile(r"/\((?:[A-Za-z]\([0-9A-Za-z_-]+\))+\)(?=/)").sub


def _pattern(path: str, query: str, year: int | None) -> str | None:
    if "/(" in path:
        path = _VISIT_IN_PATH("/(#)", path)
    counted, numbers = (_NUMBER if "%" in path else _PLAIN_NUMBER).subn("#", path)
    if not query:
        return counted if numbers or "/(#)" in counted else None
    names = sorted({field.partition("=")[0] for field in query.split("&")})
    if len(names) > NAMES_MAX and year is None:
        return counted + COMBINATION
    return f"{counted}?{_NUMBER.sub('#', ','.join(names))}"


# Dates ----------------------------------------------------------------------------------------------------------------

_YEAR: Final = "((?:19|20|21)[0-9]{2})"
_MONTH: Final = "(?:0?[1-9]|1[0-2])"
_DAY: Final = "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE_IN_PATH: Final = re.compile(rf"/{_YEAR}(?:/{_MONTH}|-{_MONTH}(?:-{_DAY})?)(?=[/.]|\Z)").search
_DATE_IN_VALUE: Final = re.compile(rf"{_YEAR}-{_MONTH}(?:-{_DAY})?(?:T.*)?").fullmatch
_DIGITS_OF_DATE: Final = re.compile(rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])?").fullmatch
_YEAR_ALONE: Final = re.compile(_YEAR).fullmatch
_YEAR_NAMES: Final = ("year", "yr", "jahr", "annee", "anno")  # how names end
_DATE_NAMES: Final = ("date", "day", "month", "week", "start", "from", "tag", "datum")
_SHORT_YEAR: Final = "y"
_SHORT_MONTHS: Final = frozenset({"m", "mo", "mon", "month"})


def _year(path: str, query: str) -> int | None:
    """The year of the date that a URL names, of YEAR_MIN … YEAR_MAX.

    In the path a year with a month. In the query 'year=', '2026-01' as any value, '202601' where the name says so; a
    bare 'y' only with a month beside it, for 'x' and 'y' are places as well.
    """
    found = _DATE_IN_PATH(path)
    if found is None and query:
        found = _date_in_query(query)
    return int(found[1]) if found else None


def _date_in_query(query: str) -> re.Match[str] | None:
    fields = [(name.lower(), value) for name, _, value in (field.partition("=") for field in query.split("&"))]
    for name, value in fields:
        found = _DATE_IN_VALUE(value)
        if found is None and name.endswith(_DATE_NAMES):
            found = _DIGITS_OF_DATE(value)
        if found is None and name.endswith(_YEAR_NAMES):
            found = _YEAR_ALONE(value)
        if found is None and name == _SHORT_YEAR and any(other in _SHORT_MONTHS for other, _ in fields):
            found = _YEAR_ALONE(value)
        if found is not None:
            return found
    return None
