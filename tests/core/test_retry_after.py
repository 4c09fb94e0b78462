"""Retry-After: what the host wished for, in all its spellings."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.retry_after import RETRY_AFTER_MAX_S, explain_retry_after, parse_retry_after

NOW = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC).timestamp()  # Tue, 01 Sep 2026 12:00:00 GMT


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("120", 120),
        ("0", 0),
        (" 30 ", 30),
        ("-5", None),
        ("soon", None),
        ("1.5", 2),
        ("Tue, 01 Sep 2026 12:01:00 GMT", 60),
        ("Tue, 01 Sep 2026 11:00:00 GMT", 0),
        ("", None),
    ],
)
def test_a_malformed_wish_is_no_wish_h_retry_01(value: str, delay_s: float | None) -> None:
    assert parse_retry_after(value, NOW) == delay_s


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("Tuesday, 01-Sep-26 12:00:05 GMT", 5),
        ("Tue Sep  1 12:00:05 2026", 5),
        ("Tue Sep 01 12:00:05 2026", 5),
        ("tue, 1 sep 2026 12:00:05 gmt", 5),
        ("Tue, 01 Sep 2026 12:00:05 UTC", 5),
        ("Tue, 01 Sep 2026 12:00:05 +0000", 5),
        ("Mon, 01 Sep 2026 12:00:05 GMT", 5),  # the wrong day of the week
        ("Tue, 01 Sep 2026 12:00:60 GMT", 60),  # a leap second
        ("Wednesday, 02-Sep-26 12:00:00 GMT", 86_400),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0),  # 1994, not 2094
        ("Sun Nov  6 08:49:37 1994", 0),
        ("Friday, 31-Dec-76 00:00:00 GMT", RETRY_AFTER_MAX_S),  # 2076: exactly 50 years ahead is still ahead
        ("Friday, 31-Dec-77 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", RETRY_AFTER_MAX_S),
        ("Mon, 01 Jan 0001 00:00:00 GMT", 0),
    ],
)
def test_the_three_forms_of_a_date_are_read(value: str, delay_s: float) -> None:
    assert parse_retry_after(value, NOW) == delay_s


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("007", 7),
        ("0" * 5_000 + "9", 9),
        ("2.0", 2),
        ("0.000", 0),
        ("0.0001", 1),
        ("\t5\r\n", 5),
        (str(int(RETRY_AFTER_MAX_S)), RETRY_AFTER_MAX_S),
        (str(int(RETRY_AFTER_MAX_S) + 1), RETRY_AFTER_MAX_S),
        ("9999999999", RETRY_AFTER_MAX_S),
        ("9" * 10_000, RETRY_AFTER_MAX_S),
        ("1." + "0" * 9_000 + "1", 2),
    ],
)
def test_numbers_are_seconds_within_a_bound(value: str, delay_s: float) -> None:
    assert parse_retry_after(value, NOW) == delay_s


@pytest.mark.parametrize(
    "value",
    ["+5", "- 5", "-0", "1e3", "0x10", "1,5", "120, 60", "120;", "120 s", "1.", ".5", "inf", "nan", "٣", "５", "1_000", "²",
     "1\u00a0", "\x005", "5\0", "Tue, 32 Sep 2026 12:00:00 GMT", "Tue, 29 Feb 2026 12:00:00 GMT", "Tue, 01 Sep 2026 24:00:00 GMT",
     "Tue, 01 Sep 2026 12:00:61 GMT", "Tue, 01 Sep 2026 12:00:05 PST", "Tue, 01 Xxx 2026 12:00:05 GMT", "Tue, 01 Sep 0000 12:00:05 GMT",
     "Tue, 01 Sep 2026 12:00:05", "2026-09-01T12:00:05Z", "Tue, 0１ Sep 2026 12:00:05 GMT", "Tue Sep 00 12:00:05 2026"],
)  # fmt: skip
def test_what_is_neither_is_ignored(value: str) -> None:
    assert parse_retry_after(value, NOW) is None


def test_the_reason_quotes_the_value_on_one_short_line() -> None:
    assert explain_retry_after("90", NOW) == 90
    sentence = explain_retry_after("so\non" + "x" * 5_000, NOW)
    assert isinstance(sentence, str)
    assert "so\\non" in sentence
    assert len(sentence) < 200
    assert "\n" not in sentence


@given(
    value=st.one_of(
        st.text(),
        st.from_regex(r"-?[0-9]*\.?[0-9]*"),
        st.from_regex(r"[A-Z][a-z]{2}, [0-9]{2} Sep [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"),
    )
)
def test_a_wait_is_never_negative_nor_endless(value: str) -> None:
    seconds = parse_retry_after(value, NOW)
    assert seconds is None or 0 <= seconds <= RETRY_AFTER_MAX_S


@given(wait_s=st.integers(-(10**8), 10**8))
def test_a_date_and_its_seconds_say_the_same(wait_s: int) -> None:
    at = datetime.fromtimestamp(NOW + wait_s, UTC)
    expected = min(max(wait_s, 0), RETRY_AFTER_MAX_S)
    assert parse_retry_after(at.strftime("%a, %d %b %Y %H:%M:%S GMT"), NOW) == expected
    assert parse_retry_after(at.strftime("%a %b %e %H:%M:%S %Y"), NOW) == expected
    assert parse_retry_after(at.strftime("%A, %d-%b-%y %H:%M:%S GMT"), NOW) == expected
