"""The reader alone: no socket, no clock, every cut of every message."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.http.pool import idle_seconds
from gossamer.adapters.http.reader import ResponseReader
from gossamer.core.outcome import Reason, Truncation

LIMITS = FetchLimits(head_bytes_max=300, body_bytes_max=40, informational_max=2)
OK = b"HTTP/1.1 200 OK\r\n"

Seen = tuple[object, ...]


def seen(reader: ResponseReader) -> Seen:
    return (reader.fault, reader.status, reader.head, reader.wire_body, reader.payload, reader.truncated)


def read(message: bytes, cuts: list[int]) -> ResponseReader:
    """Feed `message` in pieces, then end the stream."""
    reader = ResponseReader(LIMITS)
    edges = [0, *sorted({min(cut, len(message)) for cut in cuts}), len(message)]
    for start, stop in itertools.pairwise(edges):
        if start < stop and reader.feed(message[start:stop]):
            return reader
    reader.end_of_stream()
    return reader


MESSAGES = [
    OK + b"Content-Length: 5\r\n\r\nhello",
    OK + b"Content-Length: 5\r\n\r\nhello and more",
    OK + b"Content-Length: 50\r\n\r\n" + b"x" * 60,
    OK + b"Content-Length: 40\r\n\r\n" + b"x" * 40,
    OK + b"\r\n" + b"x" * 40,
    OK + b"\r\n" + b"x" * 41,
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\nmore",
    OK + b"Transfer-Encoding: chunked\r\n\r\n30\r\n" + b"x" * 48 + b"\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nrubbish\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n\0hello\r\n0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\nmore",
    b"\r\n\r\nHTTP/1.1 100\r\n\r\n\r\nHTTP/1.1 102\n\nHTTP/1.0 404\n\nnot here",
    b"HTTP/1.1 100\r\n\r\n" * 3,
    b"HTTP/1.1 101 Switching\r\n\r\n",
    OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    OK + b"X: " + b"y" * 400 + b"\r\n\r\n",
    b"<html>",
    b"HTTP/1.1 2x0\r\n\r\n",
    b"HTT",
    b"",
]


@pytest.mark.parametrize("message", MESSAGES)
def test_where_a_message_is_cut_does_not_matter(message: bytes) -> None:
    whole = seen(read(message, []))
    assert seen(read(message, list(range(len(message))))) == whole
    for cut in range(len(message)):
        assert seen(read(message, [cut])) == whole


@given(st.sampled_from(MESSAGES), st.randoms(use_true_random=False), st.binary(max_size=6))
def test_where_a_damaged_message_is_cut_does_not_matter(message: bytes, rng: random.Random, damage: bytes) -> None:
    at = rng.randint(0, len(message))
    damaged = message[:at] + damage + message[at + rng.randint(0, 3) :]
    cuts = [rng.randint(0, len(damaged)) for _ in range(4)]
    assert seen(read(damaged, cuts)) == seen(read(damaged, []))


def test_time_before_the_head_is_a_fault_and_behind_it_a_cut() -> None:
    early = ResponseReader(LIMITS)
    early.feed(OK)
    early.expire(Reason.TOO_SLOW, "slow")
    assert (early.is_finished, early.fault, early.detail) == (True, Reason.TOO_SLOW, "slow")
    late = ResponseReader(LIMITS)
    late.feed(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel")
    late.expire(Reason.TOO_SLOW, "slow")
    assert (late.fault, late.truncated, late.payload) == (None, Truncation.TIME, b"hel")
    assert not late.is_reusable


def test_a_reset_ends_even_a_body_that_lasts_until_the_close() -> None:
    reader = ResponseReader(LIMITS)
    reader.feed(OK + b"\r\nhel")
    reader.end_of_stream("connection reset")
    assert (reader.truncated, reader.payload) == (Truncation.DISCONNECT, b"hel")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 4.0),
        ("timeout=15", 14.0),
        ("timeout=15, max=100", 14.0),
        ("max=100, Timeout = 15", 14.0),
        ('timeout="15"', 14.0),
        ("timeout=1", 0.0),
        ("timeout=0", -1.0),
        ("timeout=999999", 60.0),
        ("timeout=" + "9" * 50_000, 60.0),
        ("timeout=-5", 4.0),
        ("timeout=\xb2", 4.0),
        ("timeout", 4.0),
        ("", 4.0),
    ],
)
def test_a_server_says_how_long_it_waits(value: str | None, seconds: float) -> None:
    fields = () if value is None else (("keep-alive", value),)
    assert idle_seconds(fields, FetchLimits()) == seconds


@pytest.mark.parametrize("name", ["connect_timeout_s", "total_timeout_s", "head_bytes_max", "slow_window_s"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_out_of_range_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        FetchLimits(**{name: value})
