"""From status and fields to an outcome, and no status without one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.answers import outcome_of_answer, within_chain
from gossamer.core.http_message import Fields
from gossamer.core.outcome import (
    Failed,
    Fetched,
    Outcome,
    Reason,
    Redirected,
    ServerFailed,
    Throttled,
    Truncation,
)
from gossamer.core.redirects import CHAIN_MAX

URL = "http://example.com/a/b"
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def outcome(status: int, *fields: tuple[str, str]) -> Outcome:
    return outcome_of_answer(status, fields, None, URL, NOW)


@pytest.mark.parametrize(
    ("status", "fields", "expected"),
    [
        (200, (), Fetched(200)),
        (204, (), Fetched(204)),
        (301, (("location", "/c"),), Redirected(301, "http://example.com/c")),
        (308, (("location", "//other.test"),), Redirected(308, "http://other.test/")),
        (302, (), Failed(302, Reason.BAD_LOCATION)),
        (302, (("location", "mailto:a@b"),), Failed(302, Reason.BAD_LOCATION)),
        (302, (("location", "#same"),), Failed(302, Reason.REDIRECT_LOOP)),
        (304, (), Failed(304)),
        (300, (), Failed(300)),
        (401, (), Failed(401)),
        (404, (), Failed(404)),
        (410, (), Failed(410)),
        (429, (), Throttled(429)),
        (429, (("retry-after", "7"),), Throttled(429, 7.0)),
        (503, (("retry-after", "Tue, 14 Nov 2023 22:14:20 GMT"),), Throttled(503, 60.0)),
        (503, (("retry-after", "soon"),), Throttled(503)),
        (500, (), ServerFailed(500)),
        (599, (), ServerFailed(599)),
        (600, (), Failed(600, Reason.STATUS_UNKNOWN)),
        (999, (), Failed(999, Reason.STATUS_UNKNOWN)),
        (0, (), Failed(0, Reason.STATUS_UNKNOWN)),
    ],
)
def test_what_an_answer_amounts_to(status: int, fields: Fields, expected: Outcome) -> None:
    assert outcome(status, *fields) == expected


def test_a_cut_body_is_told() -> None:
    assert outcome_of_answer(200, (), Truncation.TIME, URL, NOW) == Fetched(200, Truncation.TIME)


@pytest.mark.parametrize(
    ("redirects", "is_followed"), [(0, True), (CHAIN_MAX - 1, True), (CHAIN_MAX, False), (99, False)]
)
def test_a_chain_of_redirects_ends(redirects: int, is_followed: bool) -> None:
    hop = outcome(302, ("location", "/next"))
    expected = hop if is_followed else Failed(302, Reason.REDIRECT_CHAIN_TOO_LONG)
    assert within_chain(hop, redirects) == expected
    assert within_chain(Fetched(200), redirects) == Fetched(200)


@given(
    st.integers(0, 999),
    st.lists(st.tuples(st.sampled_from(["location", "retry-after"]), st.text(max_size=50)), max_size=3),
)
def test_every_answer_is_an_outcome(status: int, fields: list[tuple[str, str]]) -> None:
    assert isinstance(outcome_of_answer(status, tuple(fields), None, URL, NOW), Outcome)
