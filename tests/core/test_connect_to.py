"""--connect-to entries and their look-up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.connect_to import ConnectMap, ConnectTo, parse_connect_to


def connect_map(*specs: str) -> ConnectMap:
    entries = [parse_connect_to(spec) for spec in specs]
    assert not [entry for entry in entries if isinstance(entry, str)]
    return ConnectMap([entry for entry in entries if not isinstance(entry, str)])


@pytest.mark.parametrize(
    ("spec", "entry"),
    [
        ("a.test:80:127.0.0.1:8080", ConnectTo("a.test", 80, "127.0.0.1", 8080)),
        ("*::127.0.0.1:8080", ConnectTo("*", None, "127.0.0.1", 8080)),
        ("::127.0.0.1:", ConnectTo("*", None, "127.0.0.1", None)),
        (":::", ConnectTo("*", None, None, None)),
        ("*.a.test:443::8443", ConnectTo("*.a.test", 443, None, 8443)),
        ("a.test::[::1]:8080", ConnectTo("a.test", None, "::1", 8080)),
        ("[2001:DB8::1]:80:[::1]:81", ConnectTo("2001:db8::1", 80, "::1", 81)),
        ("A.Test.:80:Staging.Test:", ConnectTo("a.test", 80, "staging.test", None)),
        ("münchen.test:80:127.1:", ConnectTo("xn--mnchen-3ya.test", 80, "127.0.0.1", None)),
        (" my_shop.test:1:10.0.0.1:65535 ", ConnectTo("my_shop.test", 1, "10.0.0.1", 65535)),
    ],
)
def test_an_entry_in_curls_form(spec: str, entry: ConnectTo) -> None:
    assert parse_connect_to(spec) == entry


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("", "HOST:PORT:ADDR:PORT"),
        ("a.test:80:127.0.0.1", "HOST:PORT:ADDR:PORT"),
        ("a.test:80:127.0.0.1:80:1", "HOST:PORT:ADDR:PORT"),
        ("a.test:80:::1:80", "HOST:PORT:ADDR:PORT"),
        ("x" * 5_000, "HOST:PORT:ADDR:PORT"),
        ("a..test:80::", "'a..test'"),
        ("a b:80::", "'a b'"),
        ("a.*:80::", "'a.*'"),
        ("*a.test:80::", "'*a.test'"),
        ("*.:80::", "'*.'"),
        ("http//a:80::", "'http//a'"),
        ("u@a:80::", "'u@a'"),
        ("a.test:http::", "'http'"),
        ("a.test:0::", "'0'"),
        ("a.test:80::65536", "'65536'"),
        ("a.test:80::-1", "'-1'"),
        ("a.test:80::٣", "'٣'"),
        ("a.test:" + "1" * 500 + "::", "port"),
        ("a.test:80:*:", "'*'"),
        ("a.test:80:[::g]:", "'[::g]'"),
        ("a.test:80:[]:", "'[]'"),
        ("a\tb.test:80::", "'a\\tb.test'"),
    ],
)
def test_a_fault_is_a_sentence_that_names_the_part(spec: str, named: str) -> None:
    fault = parse_connect_to(spec)
    assert isinstance(fault, str)
    assert not isinstance(fault, ConnectTo)
    assert named in fault


def test_the_first_entry_that_matches_wins() -> None:
    routes = connect_map(
        "*.a.test:80:10.0.0.1:",
        "www.a.test:80:10.0.0.2:",
        "www.a.test::10.0.0.3:99",
        "*:443:10.0.0.4:",
        "x.test:443:10.0.0.5:",
    )
    assert routes.route("www.a.test", 80) == ("10.0.0.1", 80)
    assert routes.route("www.a.test", 443) == ("10.0.0.3", 99)
    assert routes.route("x.test", 443) == ("10.0.0.4", 443)
    assert routes.route("x.test", 80) == (None, 80)


def test_a_suffix_is_every_name_below_and_not_the_name() -> None:
    routes = connect_map("*.a.test::10.0.0.1:")
    assert routes.route("b.a.test", 80) == ("10.0.0.1", 80)
    assert routes.route("c.b.a.test", 80) == ("10.0.0.1", 80)
    assert routes.route("a.test", 80) == (None, 80)
    assert routes.route("ba.test", 80) == (None, 80)


def test_what_an_entry_leaves_empty_is_unchanged() -> None:
    assert connect_map("a.test:80::8080").route("a.test", 80) == (None, 8080)
    assert connect_map("a.test:::").route("a.test", 7) == (None, 7)
    assert connect_map("a.test:::", "*::10.0.0.1:").route("a.test", 7) == (None, 7), "an empty entry exempts its host"


def test_ipv6_hosts_match_with_and_without_brackets() -> None:
    routes = connect_map("[::1]:80:127.0.0.1:8080")
    assert routes.route("[::1]", 80) == routes.route("::1", 80) == ("127.0.0.1", 8080)
    assert connect_map("*::[fd00::1]:").route("[::1]", 80) == ("fd00::1", 80)


def test_no_entries_change_nothing() -> None:
    assert ConnectMap([]).route("a.test", 80) == (None, 80)


def test_thousands_of_entries_are_found_without_a_walk() -> None:
    routes = ConnectMap([ConnectTo(f"h{n}.test", None, f"10.0.{n >> 8}.{n & 255}", None) for n in range(10_000)])
    assert routes.route("h9999.test", 80) == ("10.0.39.15", 80)
    assert routes.route("h10000.test", 80) == (None, 80)


ENTRIES = st.lists(
    st.builds(
        ConnectTo,
        st.sampled_from(["*", "*.test", "*.a.test", "a.test", "b.a.test", "b.test"]),
        st.sampled_from([None, 80, 81]),
        st.sampled_from([None, "10.0.0.1", "10.0.0.2"]),
        st.sampled_from([None, 1, 2]),
    ),
    max_size=6,
)


@given(ENTRIES, st.sampled_from(["a.test", "b.a.test", "b.test", "test", "c"]), st.sampled_from([80, 81, 82]))
def test_the_look_up_is_the_walk_through_the_list(entries: list[ConnectTo], host: str, port: int) -> None:
    def matches(entry: ConnectTo) -> bool:
        named = entry.host in {"*", host} or (entry.host.startswith("*.") and host.endswith(entry.host[1:]))
        return named and entry.port in {None, port}

    first = next((entry for entry in entries if matches(entry)), ConnectTo("*", None, None, None))
    assert ConnectMap(entries).route(host, port) == (first.to_address, first.to_port or port)


@given(st.text(st.characters(exclude_categories=())) | st.text(":[]*.a1"))
def test_nothing_raises(spec: str) -> None:
    entry = parse_connect_to(spec)
    assert isinstance(entry, ConnectTo | str)
