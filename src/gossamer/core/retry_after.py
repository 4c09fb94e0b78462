"""Retry-After: seconds or a date (RFC 9110 10.2.3). What the host's wish does to its queue is in `politeness`."""

import re
from datetime import UTC, datetime
from typing import Final

# A wish is not shortened for our convenience, but "31 years" is a mistake and would keep a crawl from ever ending:
# a week is more rest than any breaker gives, and after it one careful contact asks again.
RETRY_AFTER_MAX_S: Final = 7 * 24 * 3600.0
QUOTED_CHARS_MAX: Final = 60  # of the value in an error sentence

_DECIMAL: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK: Final = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
# RFC 9110 5.6.7. The name of the day is not compared with the date: the date is what the sender meant.
_DATE_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{1,2}}) (?P<month>[a-z]{{3}}) (?P<year>[0-9]{{4}}) {_CLOCK} (?:GMT|UTC|\+0000)",
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-(?P<month>[a-z]{{3}})-(?P<year>[0-9]{{2}}) {_CLOCK} (?:GMT|UTC|\+0000)",
        rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) (?P<day>[ 0-9][0-9]) {_CLOCK} (?P<year>[0-9]{{4}})",
    )
)


def parse_retry_after(value: str, now: float) -> float | None:
    """Seconds to wait from `now` (wall seconds), in 0…RETRY_AFTER_MAX_S; None when malformed.

    None means: ignore the field, not the refusal. A date in the past is 0, a negative or signed number is malformed,
    a decimal fraction is rounded up to the next second.
    """
    value = value.strip(" \t\r\n")
    number = _DECIMAL.fullmatch(value)
    if number is not None:
        whole, fraction = number[1].lstrip("0"), (number[2] or "").strip("0")
        # Ten digits are past the bound, and int() refuses thousands of them.
        seconds = float(whole or "0") if len(whole) < 10 else RETRY_AFTER_MAX_S
        return min(seconds + bool(fraction), RETRY_AFTER_MAX_S)
    at = _epoch_s(value, now)
    return None if at is None else min(max(at - now, 0.0), RETRY_AFTER_MAX_S)


def explain_retry_after(value: str, now: float) -> float | str:
    """As `parse_retry_after`, with a sentence instead of None."""
    seconds = parse_retry_after(value, now)
    if seconds is not None:
        return seconds
    quoted = ascii(value if len(value) <= QUOTED_CHARS_MAX else value[:QUOTED_CHARS_MAX] + "...")
    return f"Retry-After {quoted} is neither a number of seconds (0 or more) nor an HTTP-date; the field is ignored"


def _epoch_s(value: str, now: float) -> float | None:
    """An HTTP-date in any of its three forms as wall seconds."""
    found = next((match for form in _DATE_FORMS if (match := form.fullmatch(value))), None)
    if found is None or found["month"].lower() not in _MONTHS:
        return None
    year = int(found["year"])
    if len(found["year"]) == 2:
        year = _full_year(year, now)
    month, day = _MONTHS.index(found["month"].lower()) + 1, int(found["day"])
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    try:
        # A leap second (60) is allowed by the grammar, not by datetime.
        instant = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    return instant.timestamp() + (second - min(second, 59)) if second <= 60 else None


def _full_year(year: int, now: float) -> int:
    """RFC 9110 5.6.7: two digits mean the year that is at most 50 years ahead."""
    this_year = datetime.fromtimestamp(now, UTC).year
    full = this_year - this_year % 100 + year
    return full - 100 if full > this_year + 50 else full
