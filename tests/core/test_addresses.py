"""Which addresses may be contacted."""

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core import addresses as addresses_module
from gossamer.core.addresses import AddressRules, parse_networks


def _words(text: str) -> list[str]:
    return text.split()


REFUSED_V4 = _words(
    "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 "
    "172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.175.48.1 "
    "198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16"
)
PUBLIC_V4 = _words(
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 172.15.255.255 "
    "172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255"
)
REFUSED_V6 = _words(
    ":: ::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 2001:db8::1 2001:2::1 2001:10::1 2001:20::1 "
    "100::1 3fff::1 2620:4f:8000::1 5f00::1 4000::1 1::1 64:ff9b:2::1 64:ff9b:1:7f00::808:808"
)
PUBLIC_V6 = _words("2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 2001:200::1 2001:4860:4860::8888%eth0")


def carriers(v4: str) -> dict[str, str]:
    """IPv6 spellings that end at `v4`."""
    number = int(IPv4Address(v4))
    teredo = 0x2001_0000 << 96 | int(IPv4Address("8.8.8.8")) << 64 | number ^ 0xFFFF_FFFF
    return {
        "mapped": f"::ffff:{v4}",
        "compatible": f"::{v4}",
        "nat64": f"64:ff9b::{v4}",
        "nat64 local": f"64:ff9b:1::{v4}",
        "6to4": str(IPv6Address(0x2002 << 112 | number << 80 | 1)),
        "teredo client": str(IPv6Address(teredo)),
        "teredo server": str(IPv6Address(0x2001_0000 << 96 | number << 64 | 0x08080808 ^ 0xFFFF_FFFF)),
        "mapped with zone": f"::ffff:{v4}%1",
        "brackets": f"[::ffff:{v4}]",
    }


@pytest.mark.parametrize("address", REFUSED_V4 + REFUSED_V6)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not AddressRules().is_allowed(address)


@pytest.mark.parametrize("address", PUBLIC_V4 + PUBLIC_V6)
def test_other_addresses_are_public(address: str) -> None:
    rules = AddressRules()
    assert rules.is_allowed(address)
    assert rules.is_allowed(address), "and remain so when remembered"


@pytest.mark.parametrize("v4", REFUSED_V4)
def test_ipv6_that_carries_a_special_address_is_not_public(v4: str) -> None:
    assert [name for name, address in carriers(v4).items() if AddressRules().is_allowed(address)] == []


@pytest.mark.parametrize("v4", PUBLIC_V4)
def test_ipv6_that_carries_a_public_address_is_public(v4: str) -> None:
    assert [name for name, address in carriers(v4).items() if not AddressRules().is_allowed(address)] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "localhost",
        "127.1",
        "0x7f.1",
        "010.0.0.1",
        "1.1.1.1/32",
        "1.1.1.1:80",
        "1.1.1",
        "%",
        "[",
        "[]",
        "\ud800",
        "\x00",
        "1" * 100_000,
    ],
)
def test_text_that_is_no_address_is_not_public(text: str) -> None:
    assert not AddressRules().is_allowed(text)


def test_the_allow_list_overrides() -> None:
    rules = AddressRules((ip_network("127.0.0.0/8"), ip_network("fd00::/8"), ip_network("::1/128")))
    for address in ("127.0.0.1", "127.9.9.9", "fd00::1", "::1", "[::1]", "1.1.1.1", *carriers("127.0.0.1").values()):
        assert rules.is_allowed(address), address
    for address in ("10.0.0.1", "fc00::1", "::2", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1"):
        assert not rules.is_allowed(address), address


def test_everything_may_be_allowed() -> None:
    rules = AddressRules((ip_network("0.0.0.0/0"),))
    assert all(rules.is_allowed(address) for address in REFUSED_V4)
    assert not rules.is_allowed("fe80::1")


def test_one_set_of_rules_does_not_remember_for_another() -> None:
    assert AddressRules((ip_network("10.0.0.0/8"),)).is_allowed("10.0.0.1")
    assert not AddressRules().is_allowed("10.0.0.1")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses_module, "ADDRESSES_CACHED_MAX", 4)
    rules = AddressRules()
    assert all(rules.is_allowed(f"1.1.1.{n}") for n in range(50))
    assert not any(rules.is_allowed(f"no address {n}") for n in range(50))
    assert len(rules._remembered) <= 4


def test_blocks_are_read_and_faults_are_sentences() -> None:
    networks, faults = parse_networks(["127.0.0.1/8", " fd00::/8 ", "10.0.0.1", "10.0.0.0/33", "lab"])
    assert networks == (ip_network("127.0.0.0/8"), ip_network("fd00::/8"), ip_network("10.0.0.1/32"))
    assert len(faults) == 2
    assert "'10.0.0.0/33'" in faults[0]
    assert "'lab'" in faults[1]


@given(st.ip_addresses(v=4))
def test_what_the_standard_library_calls_private_is_refused(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not AddressRules().is_allowed(str(address))


@given(st.ip_addresses(v=6))
def test_what_the_standard_library_calls_private_v6_is_refused(address: IPv6Address) -> None:
    carried = address.ipv4_mapped or address.sixtofour or address.teredo
    if carried is None and (not address.is_global or address.is_multicast):
        assert not AddressRules().is_allowed(str(address))


@given(st.text())
def test_nothing_raises(text: str) -> None:
    assert AddressRules().is_allowed(text) in {True, False}
