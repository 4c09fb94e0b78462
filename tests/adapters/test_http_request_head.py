import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.adapters.http.request_head import Origin, plan_request
from gossamer.ports.web import Request


def plan(url: str, *headers: tuple[str, str]) -> tuple[Origin, bytes]:
    return plan_request(Request(url=url, address="192.0.2.1", connect_port=8443, headers=headers))


@pytest.mark.parametrize(
    ("url", "target", "host"),
    [
        ("http://a.test/", "/", "a.test"),
        ("http://a.test", "/", "a.test"),
        ("http://a.test?q", "/?q", "a.test"),
        ("http://a.test/p?q=1#f", "/p?q=1", "a.test"),
        ("http://A.Test/P", "/P", "a.test"),
        ("http://kiosk.test/", "/", "kiosk.test"),
        ("http://a.test:80/", "/", "a.test"),
        ("http://a.test:/", "/", "a.test"),
        ("http://a.test:8080/", "/", "a.test:8080"),
        ("http://a.test:443/", "/", "a.test:443"),
        ("https://a.test:443/", "/", "a.test"),
        ("https://a.test:80/", "/", "a.test:80"),
        ("http://[2001:db8::1]/", "/", "[2001:db8::1]"),
        ("http://[2001:db8::1]:81/", "/", "[2001:db8::1]:81"),
        ("http://user:secret@a.test/", "/", "a.test"),
        ("http://a_b.test/", "/", "a_b.test"),
        ("http://a.test/a b\u00e9\r\nX: y", "/a%20b%C3%A9%0D%0AX:%20y", "a.test"),
    ],
)
def test_target_and_host_are_those_of_the_url(url: str, target: str, host: str) -> None:
    origin, head = plan(url)
    assert head == f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    assert (origin.address, origin.port) == ("192.0.2.1", 8443)


@pytest.mark.parametrize(
    "url",
    ["", "/", "ftp://a.test/", "http:///", "http://", "http://a.test:99x/", "http://a\r\nX: y/", "http://a b/",
     "http://\u212aiosk.test/", "http://a\\b/", "http://[::1/", " http://a.test/"],
)  # fmt: skip
def test_what_is_no_http_url_is_our_own_mistake(url: str) -> None:
    with pytest.raises(ValueError, match="no absolute http URL"):
        plan(url)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("plain", b"plain"),
        (' W/"caf\xe9" ', b'W/"caf\xe9"'),
        ("a\r\nEvil: yes", b"a  Evil: yes"),
        ("a\nEvil: yes\r\n\r\nGET / HTTP/1.1", b"a Evil: yes    GET / HTTP/1.1"),
        ("a\0b\x7fc", b"a b c"),
        ("a\tb", b"a\tb"),
        ("日本", "日本".encode()),
        ("\ud800", b"?"),
    ],
)
def test_a_value_never_adds_a_line(value: str, sent: bytes) -> None:
    _, head = plan("http://a.test/", ("X", value), ("Y", "z"))
    assert head == b"GET / HTTP/1.1\r\nHost: a.test\r\nX: " + sent + b"\r\nY: z\r\n\r\n"


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "é", "a\0"])
def test_what_is_no_field_name_is_our_own_mistake(name: str) -> None:
    with pytest.raises(ValueError, match="no field name"):
        plan("http://a.test/", (name, "x"))


@pytest.mark.parametrize("name", ["Host", "HOST", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade"])
def test_fields_of_the_framing_are_the_clients_own(name: str) -> None:
    assert plan("http://a.test/", (name, "evil.test"))[1] == b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"


def test_an_origin_is_scheme_host_address_and_port() -> None:
    assert plan("https://A.test/x")[0] == Origin("https", "a.test", "192.0.2.1", 8443)
    assert plan("https://a.test/x")[0] == plan("https://a.test:99/y")[0]
    assert plan("http://a.test/")[0] != plan("https://a.test/")[0]


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_adds_a_line(path: str, value: str) -> None:
    _, head = plan(f"http://a.test/{path}", ("X", value))
    lines = head.split(b"\r\n")
    assert len(lines) == 5
    assert lines[0].split(b" ") == [b"GET", lines[0].split(b" ")[1], b"HTTP/1.1"]
    assert b"\n" not in b"".join(lines)
    assert b"\r" not in b"".join(lines)
