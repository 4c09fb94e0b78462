import base64
import gzip
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.decoding import MEMBERS_MAX, DecodedBody, decode_body

PAGE = b"<html><a href=/n>n</a></html>"
LIMIT = 2**20
ZEROS = bytes(50 * 2**20)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def pack_brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data, quality=5)
    return packed


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def zstd_stream(data: bytes) -> bytes:
    """Without the content size in its head, as servers that compress as they go."""
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": pack_brotli,
    "zstd": zstd,
}


def whole(body: bytes) -> DecodedBody:
    return DecodedBody(body, truncated=False, fault=None)


def numbered(count: int) -> bytes:
    return b"".join(b"<p>%d</p>" % number for number in range(count))


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


BODIES = [b"", b"a", PAGE, PAGE * 5_000, noise(300_000), bytes(LIMIT)]


@pytest.mark.parametrize("coding", ENCODERS)
@pytest.mark.parametrize("body", BODIES, ids=len)
def test_every_coding_gives_back_what_went_in(coding: str, body: bytes) -> None:
    assert decode_body(ENCODERS[coding](body), coding, LIMIT) == whole(body)


@pytest.mark.parametrize("body", BODIES, ids=len)
def test_other_ways_to_write_a_coding_are_read(body: bytes) -> None:
    assert decode_body(raw_deflate(body), "deflate", LIMIT) == whole(body)
    assert decode_body(zstd_stream(body), "zstd", LIMIT) == whole(body)
    assert decode_body(gzip.compress(body), "deflate", LIMIT) == whole(body)
    assert decode_body(zlib.compress(body), "gzip", LIMIT) == whole(body)


@pytest.mark.parametrize("label", ["GZIP", " gzip ", "gzip,", ", gzip", "identity, gzip", "X-GZip", "gzip, Identity"])
def test_labels_are_read_without_regard_to_case_and_space(label: str) -> None:
    assert decode_body(gzip.compress(PAGE), label, LIMIT) == whole(PAGE)


@pytest.mark.parametrize("label", [None, "", "identity", "none", " , "])
def test_no_coding_leaves_the_payload_itself(label: str | None) -> None:
    assert decode_body(PAGE, label, LIMIT).body is PAGE


def test_codings_are_taken_off_in_reverse() -> None:
    assert decode_body(pack_brotli(gzip.compress(PAGE)), "gzip, br", LIMIT) == whole(PAGE)
    assert decode_body(zstd(pack_brotli(gzip.compress(PAGE))), "gzip, br, zstd", LIMIT) == whole(PAGE)


def test_more_than_three_codings_are_not_taken_off() -> None:
    payload = PAGE
    for _ in range(4):
        payload = gzip.compress(payload)
    assert decode_body(payload, "gzip, gzip, gzip, gzip", LIMIT) == DecodedBody(
        b"", truncated=False, fault="more than 3 codings"
    )


@pytest.mark.parametrize("label", ["compress", "utf-8", "gzip;q=1", "br2", "\0", "é" * 1_000])
def test_an_unknown_coding_is_a_fault_and_the_payload_is_kept(label: str) -> None:
    decoded = decode_body(PAGE, label, LIMIT)
    assert decoded.body == PAGE
    assert decoded.fault is not None
    assert decoded.fault.startswith("unknown coding")
    assert len(decoded.fault) < 250


@pytest.mark.parametrize("coding", ENCODERS)
def test_the_limit_is_exact(coding: str) -> None:
    body = noise(100_000)
    packed = ENCODERS[coding](body)
    assert decode_body(packed, coding, 100_000) == whole(body)
    assert decode_body(packed, coding, 99_999) == DecodedBody(body[:99_999], truncated=True, fault=None)
    assert decode_body(packed, coding, 0) == DecodedBody(b"", truncated=True, fault=None)
    assert decode_body(body, None, 5) == DecodedBody(body[:5], truncated=True, fault=None)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_members_follow_one_another(coding: str) -> None:
    pack = ENCODERS[coding]
    payload = b"".join(pack(part) for part in (PAGE, b"", noise(200_000), PAGE))
    assert decode_body(payload, coding, LIMIT) == whole(PAGE + noise(200_000) + PAGE)


@pytest.mark.parametrize("coding", ENCODERS)
@pytest.mark.parametrize("tail", [b"\0", b"\0" * 5_000, b"<!-- served by x -->", b"\x1f", b"\n"], ids=len)
def test_octets_behind_the_end_are_ignored(coding: str, tail: bytes) -> None:
    assert decode_body(ENCODERS[coding](PAGE) + tail, coding, LIMIT) == whole(PAGE)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_body_of_empty_members_ends(coding: str) -> None:
    decoded = decode_body(ENCODERS[coding](b"") * (MEMBERS_MAX + 1), coding, LIMIT)
    assert decoded.body == b""
    assert decoded.fault is not None
    assert str(MEMBERS_MAX) in decoded.fault


@pytest.mark.parametrize("coding", ENCODERS)
@pytest.mark.parametrize("cut", [1, 4, 9, 100, 500])
def test_a_cut_body_is_incomplete_and_keeps_what_came(coding: str, cut: int) -> None:
    body = numbered(4_000)
    decoded = decode_body(ENCODERS[coding](body)[:-cut], coding, LIMIT)
    assert decoded.fault == "incomplete"
    assert not decoded.truncated
    assert body.startswith(decoded.body)
    # zstd gives nothing of a block that is not whole, and this body is one block.
    assert len(decoded.body) >= (0 if coding == "zstd" else len(body) * 0.7)


def test_what_stands_before_the_bad_octets_is_kept() -> None:
    body = numbered(20_000)
    packed = bytearray(gzip.compress(body, 0))  # stored blocks of 65,535 octets, 5 octets of head each
    packed[10 + 5 + 65_535] = 0xFF  # a block type that does not exist
    decoded = decode_body(bytes(packed), "gzip", LIMIT)
    assert decoded.fault == "corrupt"
    assert body.startswith(decoded.body)
    assert 65_000 < len(decoded.body) <= 65_535


def test_a_wrong_checksum_is_a_fault_and_the_body_is_kept_but_for_its_end() -> None:
    body = numbered(20_000)
    packed = gzip.compress(body)
    decoded = decode_body(packed[:-8] + b"\0\0\0\0" + packed[-4:], "gzip", LIMIT)
    assert decoded.fault == "corrupt"
    assert body.startswith(decoded.body)
    assert len(decoded.body) > len(body) * 0.9


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_garbage_under_a_label_is_corrupt(coding: str) -> None:
    garbage = b"\xff\x00" + noise(500)
    assert decode_body(garbage, coding, LIMIT).fault in ("corrupt", "incomplete")


# h-http-01 ------------------------------------------------------------------------------------------------------------


def peak_growth_mib(payload: bytes, label: str) -> tuple[DecodedBody, float]:
    """What decoding added to the highest resident size of this process (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_mib("VmRSS")
    decoded = decode_body(payload, label, LIMIT)
    return decoded, resident_mib("VmHWM") - before


def resident_mib(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


BOMBS = {
    "gzip": lambda: gzip.compress(ZEROS),
    "x-gzip": lambda: gzip.compress(ZEROS, 1),
    "deflate": lambda: zlib.compress(ZEROS),
    "br": lambda: pack_brotli(ZEROS),
    "zstd": lambda: zstd(ZEROS),
    "gzip, gzip": lambda: gzip.compress(gzip.compress(ZEROS)),
    "gzip, gzip, gzip": lambda: gzip.compress(gzip.compress(gzip.compress(ZEROS))),
    "zstd, br": lambda: pack_brotli(zstd(ZEROS)),
    "br, gzip": lambda: gzip.compress(pack_brotli(ZEROS)),
    "identity": lambda: ZEROS,
}


@pytest.mark.slow  # making the bombs, not meeting them
@pytest.mark.parametrize("label", BOMBS)
def test_h_http_01_a_bomb_stops_at_the_limit(label: str) -> None:
    decoded, growth_mib = peak_growth_mib(BOMBS[label](), label)
    assert decoded == DecodedBody(bytes(LIMIT), truncated=True, fault=None)
    assert growth_mib <= 16


def test_h_http_01_a_bomb_between_two_codings_stops_at_the_limit_too() -> None:
    """Tens of megabytes of empty members, which together mean nothing."""
    nothing = gzip.compress(b"") * 500_000
    decoded, growth_mib = peak_growth_mib(gzip.compress(nothing, 1), "gzip, gzip")
    assert decoded.body == b""
    assert decoded.truncated
    assert growth_mib <= 16


def test_h_http_01_raw_deflate_and_streamed_zstd_bombs_stop_too() -> None:
    for payload, label in ((raw_deflate(ZEROS), "deflate"), (zstd_stream(ZEROS), "zstd")):
        decoded, growth_mib = peak_growth_mib(payload, label)
        assert decoded == DecodedBody(bytes(LIMIT), truncated=True, fault=None)
        assert growth_mib <= 16


# h-http-02 ------------------------------------------------------------------------------------------------------------


def test_h_http_02_a_plain_body_labelled_gzip_is_used_as_it_is() -> None:
    assert decode_body(b"<html><a href=/n>n</a></html>", "gzip", LIMIT) == whole(PAGE)


def test_h_http_02_raw_deflate_is_read() -> None:
    payload = base64.b64decode("s8koyc2xs0lUyChKTbPVz7PLs9FPtLPRBwsDAA==")
    decoded = decode_body(payload, "deflate", LIMIT)
    assert b"/n" in decoded.body
    assert decoded.fault is None


def test_h_http_02_the_first_octets_of_a_gzip_body_are_incomplete() -> None:
    decoded = decode_body(gzip.compress(PAGE)[:20], "gzip", LIMIT)
    assert decoded.fault == "incomplete"
    assert b"</a>" not in decoded.body


PLAIN = {
    "html": PAGE,
    "doctype": b"<!DOCTYPE html>\n<title>t</title>" + b"<p>text</p>" * 500,
    "x-and-a-valid-zlib-check": b"x^2 + y^2 = r^2, said the page",
    "h-and-a-valid-zlib-check": b"hC is a text that could be zlib",
    "utf-8": "Größe: 10 µm, 日本".encode() + b" and some ascii text behind it",
    "latin-1": "<p>Größe</p>".encode("latin-1"),
    "short": b"ok",
    "json": b'{"a": [1, 2, 3]}',
}


@pytest.mark.parametrize("label", ["gzip", "deflate", "br", "zstd", "gzip, br"])
@pytest.mark.parametrize("plain", PLAIN.values(), ids=PLAIN)
def test_h_http_02_plain_text_under_any_label_is_used_as_it_is(label: str, plain: bytes) -> None:
    assert decode_body(plain, label, LIMIT) == whole(plain)


def test_h_http_02_a_plain_image_labelled_gzip_is_used_as_it_is() -> None:
    image = b"\x89PNG\r\n\x1a\n" + noise(1_000)
    assert decode_body(image, "gzip", LIMIT) == whole(image)


def test_h_http_02_one_gzip_labelled_twice_is_used_as_it_is() -> None:
    assert decode_body(gzip.compress(PAGE), "gzip, gzip", LIMIT) == whole(PAGE)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 10])
def test_h_http_02_a_gzip_head_alone_is_never_an_empty_success(size: int) -> None:
    assert decode_body(gzip.compress(PAGE)[:size], "gzip", LIMIT) == DecodedBody(
        b"", truncated=False, fault="incomplete"
    )


# Anything at all ------------------------------------------------------------------------------------------------------

labels = st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "identity", "what", "", "GZIP "]), max_size=5)
starts = st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\3", b"\x78\x9c", b"\x28\xb5\x2f\xfd", b"\x8b"])


@given(starts, st.binary(max_size=400), labels, st.integers(0, 1_000))
def test_any_octets_under_any_label_are_a_value_within_the_limit(
    start: bytes, rest: bytes, names: list[str], limit: int
) -> None:
    decoded = decode_body(start + rest, ",".join(names), limit)
    assert len(decoded.body) <= limit


@given(st.sampled_from(sorted(ENCODERS)), st.binary(max_size=2_000), st.data())
def test_one_wrong_octet_never_raises(coding: str, body: bytes, data: st.DataObject) -> None:
    packed = bytearray(ENCODERS[coding](body))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] = data.draw(st.integers(0, 255))
    assert len(decode_body(bytes(packed), coding, 4_000).body) <= 4_000


@given(st.text(max_size=200))
def test_any_label_is_a_value(label: str) -> None:
    assert len(decode_body(PAGE, label, 10).body) <= 10
