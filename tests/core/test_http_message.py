import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.http_message import (
    CHUNK_LINE_BYTES_MAX,
    LENGTH_ENDLESS,
    TRAILER_BYTES_MAX,
    Dechunker,
    Fields,
    Framing,
    FramingKind,
    body_framing,
    dechunk,
    field_values,
    head_end,
    parse_head,
    parse_status_line,
    payload_of,
    split_message,
)

OK = b"HTTP/1.1 200 OK\r\n"


def fields_of(lines: bytes) -> Fields:
    parsed = parse_head(OK + lines + b"\r\n\r\n")
    assert parsed is not None
    return parsed[1]


# Status line ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "version", "status"),
    [
        (b"HTTP/1.1 200 OK", (1, 1), 200),
        (b"HTTP/1.0 404 Not Found", (1, 0), 404),
        (b"HTTP/1.1 200", (1, 1), 200),
        (b"HTTP/1.1 200 ", (1, 1), 200),
        (b"HTTP/1.1  302   Found", (1, 1), 302),
        (b"HTTP/1.1\t200\tOK", (1, 1), 200),
        (b"HTTP/1.1 999 Request denied", (1, 1), 999),
        (b"HTTP/1.1 599", (1, 1), 599),
        (b"http/1.1 200 ok", (1, 1), 200),
        (b"HTTP/2 200", (2, 0), 200),
        (b"HTTP/1.1 200 \xe2\x9c\x93", (1, 1), 200),
    ],
)
def test_a_status_line_is_read_leniently(line: bytes, version: tuple[int, int], status: int) -> None:
    assert parse_status_line(line + b"\r\n\r\n") == (version, status)
    assert parse_status_line(line) == (version, status)


@pytest.mark.parametrize(
    "line",
    [b"", b"\r\n", b"HTTP/1.1", b"HTTP/1.1 ", b"HTTP/1.1 OK", b"HTTP/1.1 20", b"HTTP/1.1 2000", b"HTTP/1.1 099 x",
     b"HTTP/1.1 000", b"HTTP/1.1 -200", b"HTTP/11 200", b"HTTP/1.1200", b"ICY 200 OK", b"<html>", b" HTTP/1.1 200",
     b"HTTP/1.1 20x OK", b"HTTP 200 OK", b"GET / HTTP/1.1", b"HTTP/1.1 200OK", b"\0HTTP/1.1 200"],
)  # fmt: skip
def test_what_is_no_status_line_is_none(line: bytes) -> None:
    assert parse_head(line + b"\r\nA: b\r\n\r\n") is None


# Fields ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        (b"", ()),
        (b"Content-Type: text/html", (("content-type", "text/html"),)),
        (b"CONTENT-TYPE:text/html", (("content-type", "text/html"),)),
        (b"A:  b \t", (("a", "b"),)),
        (b"A:", (("a", ""),)),
        (b"A : b", (("a", "b"),)),
        (b"A: b: c", (("a", "b: c"),)),
        (b"A: 1\r\nB: 2\r\nA: 3", (("a", "1"), ("b", "2"), ("a", "3"))),
        (b"A: 1\nB: 2", (("a", "1"), ("b", "2"))),
        (b"no colon here\r\nB: 2", (("b", "2"),)),
        (b": no name\r\nB: 2", (("b", "2"),)),
        (b"A: 1\r\n folded\r\n\tand more\r\nB: 2", (("a", "1 folded and more"), ("b", "2"))),
        (b"A:\r\n folded", (("a", "folded"),)),
        (b" folded under nothing\r\nB: 2", (("b", "2"),)),
        (b"A: 1\r\n \r\nB: 2", (("a", "1"), ("b", "2"))),
        (b"A: x\0y\rz", (("a", "x y z"),)),
        (b"A: caf\xc3\xa9", (("a", "caf\xc3\xa9"),)),
        (b"\xc4: 1", (("\xc4", "1"),)),
        (b"A: 1\x0b2\x852", (("a", "1\x0b2\x852"),)),
    ],
)
def test_fields_are_read_leniently_and_in_order(lines: bytes, fields: Fields) -> None:
    assert fields_of(lines) == fields


def test_values_of_a_field_are_found_by_its_lower_case_name() -> None:
    assert field_values(fields_of(b"Link: 1\r\nX: 2\r\nLINK: 3"), "link") == ["1", "3"]


@pytest.mark.parametrize(
    ("data", "end"),
    [(b"a\r\n\r\nb", 5), (b"a\n\nb", 3), (b"a\r\n\nb", 4), (b"a\n\r\nb", 4), (b"a\r\n", -1), (b"a\r\r", -1), (b"", -1)],
)
def test_a_head_ends_at_an_empty_line(data: bytes, end: int) -> None:
    assert head_end(data) == end


def test_a_head_that_comes_in_pieces_ends_where_it_ends_whole() -> None:
    for head in (b"HTTP/1.1 200\r\nA: b\r\n\r\n", b"HTTP/1.1 200\nA: b\n\n", b"HTTP/1.1 200\r\n\r\n"):
        for cut in range(len(head)):
            assert head_end(head[:cut]) == -1
            assert head_end(head, cut) == len(head)


# Framing --------------------------------------------------------------------------------------------------------------

LENGTH, CHUNKED, CLOSE, NONE, BAD = (
    FramingKind.LENGTH,
    FramingKind.CHUNKED,
    FramingKind.CLOSE,
    FramingKind.NONE,
    FramingKind.BAD,
)


@pytest.mark.parametrize(
    ("lines", "framing"),
    [
        (b"", Framing(CLOSE)),
        (b"Content-Length: 0", Framing(LENGTH, 0)),
        (b"Content-Length: 5", Framing(LENGTH, 5)),
        (b"Content-Length: 5, 5", Framing(LENGTH, 5)),
        (b"Content-Length: 5\r\nContent-Length: 5", Framing(LENGTH, 5)),
        (b"Content-Length: 5\r\nContent-Length: 05", Framing(LENGTH, 5)),
        (b"Content-Length: 5\r\nContent-Length: 6", Framing(BAD)),
        (b"Content-Length: 5, 6", Framing(BAD)),
        (b"Content-Length: " + b"9" * 60_000, Framing(LENGTH, LENGTH_ENDLESS)),
        (b"Content-Length: " + b"0" * 60_000, Framing(LENGTH, 0)),
        (b"Content-Length: -1", Framing(CLOSE)),
        (b"Content-Length: +5", Framing(CLOSE)),
        (b"Content-Length: 5_0", Framing(CLOSE)),
        (b"Content-Length: 0x5", Framing(CLOSE)),
        (b"Content-Length: \xb2", Framing(CLOSE)),
        (b"Content-Length:", Framing(CLOSE)),
        (b"Transfer-Encoding: chunked", Framing(CHUNKED)),
        (b"Transfer-Encoding: Chunked ", Framing(CHUNKED)),
        (b"Transfer-Encoding: gzip, chunked", Framing(CHUNKED)),
        (b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", Framing(CHUNKED)),
        (b"Transfer-Encoding: chunked, identity", Framing(CHUNKED, doubtful=True)),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 5", Framing(CHUNKED, doubtful=True)),
        (b"Content-Length: 5\r\nContent-Length: 6\r\nTransfer-Encoding: chunked", Framing(CHUNKED, doubtful=True)),
        (b"Transfer-Encoding: identity\r\nContent-Length: 5", Framing(LENGTH, 5, doubtful=True)),
        (b"Transfer-Encoding: xchunked", Framing(CLOSE)),
    ],
)
def test_the_end_of_a_body_is_announced(lines: bytes, framing: Framing) -> None:
    assert body_framing(200, fields_of(lines)) == framing
    assert body_framing(404, fields_of(lines)) == framing
    assert body_framing(204, fields_of(lines)).kind is NONE
    assert body_framing(304, fields_of(lines)).kind is NONE


# Chunks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "payload"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello"),
        (b"0\r\n\r\n", b""),
        (b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", b"01234567890123456789"),
        (b"005\r\nhello\r\n000\r\n\r\n", b"hello"),
        (b"5;name=value\r\nhello\r\n0;x\r\n\r\n", b"hello"),
        (b"5 \r\nhello\r\n0 \r\n\r\n", b"hello"),
        (b" 5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"5\nhello\n0\n\n", b"hello"),
        (b"5\r\nhello\r\n0\r\nTrailer: x\r\nMore: y\r\n\r\n", b"hello"),
        (b"2\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
    ],
)
def test_chunked_framing_comes_off(wire: bytes, payload: bytes) -> None:
    assert dechunk(wire) == payload
    whole = Dechunker()
    assert whole.feed(wire) == len(wire)
    assert whole.is_done
    by_octets = Dechunker()
    assert sum(by_octets.feed(bytes([octet])) for octet in wire) == len(wire)
    assert by_octets.is_done
    assert by_octets.payload == payload


@pytest.mark.parametrize(
    ("wire", "payload"),
    [
        (b"", b""),
        (b"5", b""),
        (b"5\r\nhel", b"hel"),
        (b"5\r\nhello", b"hello"),
        (b"5\r\nhello\r\n", b"hello"),
        (b"5\r\nhello\r\n5\r\n", b"hello"),
        (b"FFFFFFFFFFFFFFF\r\nhello", b"hello"),
    ],
)
def test_a_cut_body_gives_what_could_be_read(wire: bytes, payload: bytes) -> None:
    reader = Dechunker()
    reader.feed(wire)
    assert bytes(reader.payload) == dechunk(wire) == payload
    assert not reader.is_done
    assert not reader.is_broken
    assert not reader.has_last_chunk


@pytest.mark.parametrize(
    ("wire", "payload"),
    [
        (b"5\r\nhelloX\r\n0\r\n\r\n", b"hello"),
        (b"5\r\nhello0\r\n\r\n", b"hello"),
        (b"<html>\r\n", b""),
        (b"5\r\nhello\r\nworld\r\n", b"hello"),
        (b"-5\r\nhello", b""),
        (b"+5\r\nhello", b""),
        (b"0x5\r\nhello", b""),
        (b"5_0\r\nhello", b""),
        (b"\r\n5\r\nhello", b""),
        (b";x\r\nhello", b""),
        (b"F" * 16 + b"\r\nhello", b""),
        (b"5;" + b"x" * CHUNK_LINE_BYTES_MAX, b""),
        (b"5\r\nhello\r\n0\r\n" + b"T: x\r\n" * TRAILER_BYTES_MAX, b"hello"),
        (b"5\r\nhello\r\n0\r\n" + b"T" * CHUNK_LINE_BYTES_MAX, b"hello"),
    ],
)
def test_framing_that_breaks_is_noticed_and_gives_what_came_before(wire: bytes, payload: bytes) -> None:
    reader = Dechunker()
    reader.feed(wire)
    assert reader.is_broken
    assert bytes(reader.payload) == payload


def test_octets_behind_the_last_chunk_do_not_belong_to_the_body() -> None:
    reader = Dechunker()
    assert reader.feed(b"0\r\n\r\nHTTP/1.1 200 OK") == 5
    assert reader.is_done
    assert reader.feed(b"more") == 0


def test_all_content_is_here_once_the_last_chunk_is() -> None:
    reader = Dechunker()
    reader.feed(b"5\r\nhello\r\n0\r\nTrailer: x")
    assert reader.has_last_chunk
    assert not reader.is_done


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=10), st.randoms(use_true_random=False))
def test_pieces_of_any_size_give_the_same_payload(parts: list[bytes], rng: random.Random) -> None:
    wire = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    reader, pos = Dechunker(), 0
    while pos < len(wire):
        step = rng.randint(1, 20)
        assert reader.feed(wire[pos : pos + step]) == len(wire[pos : pos + step])
        pos += step
    assert reader.is_done
    assert reader.payload == dechunk(wire) == b"".join(parts)


# Stored messages ------------------------------------------------------------------------------------------------------


def test_a_stored_message_is_read_back() -> None:
    head, wire = OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"
    assert split_message(head + wire) == (head, wire)
    assert payload_of(fields_of(b"Transfer-Encoding: chunked"), wire) == b"hello"


def test_a_payload_without_transfer_coding_is_the_wire_body_itself() -> None:
    wire = b"hello"
    assert payload_of(fields_of(b"Content-Encoding: gzip"), wire) is wire
    assert payload_of((("transfer-encoding", "chunked"),), b"") == b""


@pytest.mark.parametrize("block", [b"", b"HTTP/1.1 200 OK\r\nA: b\r\n", b"\0" * 100])
def test_a_block_without_an_end_of_head_is_all_head(block: bytes) -> None:
    assert split_message(block) == (block, b"")


lines = st.lists(
    st.sampled_from([b"HTTP/1.1 200", b"\r\n", b"\n", b"\r", b":", b" ", b"A", b"\0", b"\xff", b"5", b"\t"])
)


@given(st.one_of(st.binary(max_size=300), lines.map(b"".join), lines.map(lambda parts: OK + b"".join(parts))))
def test_any_octets_are_a_value(block: bytes) -> None:
    head, wire = split_message(block)
    assert head + wire == block
    parsed = parse_head(head)
    fields = parsed[1] if parsed else ()
    assert all(name and name == name.strip(" \t\r\n") for name, _ in fields)
    assert not any(set("\r\n\0") & set(value) for _, value in fields)
    assert len(payload_of(fields, wire)) <= len(wire)
    assert len(dechunk(block)) <= len(block)
