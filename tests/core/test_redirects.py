import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.outcome import Reason
from gossamer.core.redirects import CHAIN_MAX, is_redirect, redirect_target

URL = "http://example.com/fa/1"


def follow(location: str, url: str = URL) -> str:
    return redirect_target((("location", location),), url)


def test_h_redirect_01_raw_octets_in_location_are_encoded_once_as_received() -> None:
    raw = bytes.fromhex("2f6e2fd8a7d8b9")
    assert follow(raw.decode("latin-1")) == "http://example.com/n/%D8%A7%D8%B9"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (b"/caf\xc3\xa9", "http://example.com/caf%C3%A9"),
        (b"/caf\xe9", "http://example.com/caf%E9"),
        (b"/n/%D8%A7", "http://example.com/n/%D8%A7"),
        (b"/q?a=\xc3\xa9", "http://example.com/q?a=%C3%A9"),
        (b"http://example.org/\xe4\xb8\xad", "http://example.org/%E4%B8%AD"),
        (b"2", "http://example.com/fa/2"),
        (b"../2", "http://example.com/2"),
        (b"//example.org/a", "http://example.org/a"),
        (b"?page=2", "http://example.com/fa/1?page=2"),
        (b"https://example.com/fa/1", "https://example.com/fa/1"),
        (b"/a b", "http://example.com/a%20b"),
        (b"/a#part", "http://example.com/a"),
        (b"\\\\example.org\\a", "http://example.org/a"),
    ],
)
def test_h_redirect_01_locations_are_read_as_browsers_read_them(location: bytes, target: str) -> None:
    assert follow(location.decode("latin-1")) == target


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_five_statuses_redirect(status: int) -> None:
    assert is_redirect(status)


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 309, 399, 404, 999])
def test_other_statuses_redirect_nobody(status: int) -> None:
    assert not is_redirect(status)


@pytest.mark.parametrize(
    "locations",
    [
        (),
        ("",),
        ("/a", "/b"),
        ("mailto:a@example.com",),
        ("javascript:alert(1)",),
        ("data:text/html,x",),
        ("ftp://example.com/",),
        ("http://",),
        ("http://[::1",),
        ("http://example.com:99999/",),
        ("http://a b/",),
        ("/" + "a" * 100_000,),
    ],
)
def test_a_location_that_leads_nowhere_is_named(locations: tuple[str, ...]) -> None:
    fields = tuple(("location", value) for value in locations)
    assert redirect_target(fields, URL) is Reason.BAD_LOCATION


def test_the_same_location_twice_is_one() -> None:
    assert redirect_target((("location", "/2"), ("x", "y"), ("location", "/2")), URL) == "http://example.com/2"


@pytest.mark.parametrize(
    ("url", "location"),
    [
        (URL, "/fa/1"),
        (URL, "#top"),
        (URL, "http://EXAMPLE.com:80/fa/1#x"),
        (URL, "../fa/%31"),
        ("http://example.com/?a=1&b=2", "/?b=2&a=1"),
        (URL, "/fa/1?utm_source=x"),
    ],
)
def test_a_target_that_is_the_url_itself_is_a_loop(url: str, location: str) -> None:
    assert follow(location, url) is Reason.REDIRECT_LOOP


def test_a_refresh_field_is_not_followed_here() -> None:
    assert redirect_target((("refresh", "0; url=/2"),), URL) is Reason.BAD_LOCATION


def test_chains_are_bounded() -> None:
    assert 5 <= CHAIN_MAX <= 20


@given(st.text(max_size=100))
def test_any_location_is_a_value(location: str) -> None:
    answer = follow(location)
    assert isinstance(answer, Reason) or answer.startswith(("http://", "https://"))
