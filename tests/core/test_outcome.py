"""The sum of all ends of a fetch: values that can be compared, with names that never change meaning."""

import typing
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from gossamer.core.outcome import (
    Denied,
    Failed,
    Fetched,
    Outcome,
    Reason,
    Redirected,
    ServerFailed,
    Throttled,
    Truncation,
    Unreachable,
)

ONE_OF_EACH: list[Outcome] = [
    Fetched(200),
    Redirected(301, "http://a.test/"),
    Failed(404),
    Throttled(429),
    ServerFailed(500),
    Unreachable(Reason.CONNECT_TIMEOUT),
    Denied(Reason.ROBOTS_DISALLOWED),
]


def test_these_are_all() -> None:
    assert {type(each) for each in ONE_OF_EACH} == set(typing.get_args(Outcome))


@pytest.mark.parametrize("outcome", ONE_OF_EACH, ids=lambda outcome: type(outcome).__name__)
def test_an_outcome_is_a_value(outcome: Outcome) -> None:
    assert replace(outcome) == outcome
    assert len({outcome, replace(outcome)}) == 1
    assert not hasattr(outcome, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(outcome, fields(outcome)[0].name, None)


def test_names_of_reasons_are_plain_words_and_each_is_one_reason() -> None:
    values = [reason.value for reason in Reason]
    assert len(set(values)) == len(values)
    assert all(value == value.lower() and value.replace("-", "").isalpha() for value in values)


def test_truncations_have_the_names_of_the_warc_standard() -> None:
    assert {cut.value for cut in Truncation} == {"length", "time", "disconnect"}
