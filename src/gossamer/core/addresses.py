"""Which IP addresses may be contacted: public ones, and those that the user allows. Names are resolved elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

ADDRESSES_CACHED_MAX: Final = 16_384
ADDRESS_CHARS_MAX: Final = 80  # the longest spelling of an IPv6 address has 45, a zone up to 16

# IANA IPv4 Special-Purpose Address Registry, whole: also what is reachable in principle (AS112, AMT) serves no pages.
_SPECIAL_V4: Final = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a carrier (CGNAT); 100.100.100.200 is a metadata service
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; 169.254.169.254 is a metadata service
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments; 192.0.0.192 is a metadata service
        "192.0.2.0/24",  # TEST-NET-1
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relay anycast, deprecated
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # TEST-NET-2
        "203.0.113.0/24",  # TEST-NET-3
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
        "168.63.129.16/32",  # not in the registry: the platform service of a large cloud, seen from inside its machines
    )
)
# All that IANA has given out; ::1, fc00::/7, fe80::/10 ... are outside.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # IETF protocol assignments: benchmarking, ORCHID, AMT, ... (Teredo is judged before)
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_COMPATIBLE: Final = IPv6Network("::/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
# RFC 8215 gives a /48, in which other layouts hide the IPv4 address.
_NAT64_LOCAL: Final = IPv6Network("64:ff9b:1::/96")
_6TO4: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_V4_MASK: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class AddressRules:
    """Public addresses, and any in `allowed`, may be contacted."""

    allowed: tuple[IpNetwork, ...] = ()
    _remembered: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)

    def is_allowed(self, address: str) -> bool:
        """Whether `address` is in `allowed`, or a unicast address of the public Internet.

        IPv6 that carries IPv4 (mapped, compatible, NAT64, 6to4, Teredo) is judged by what it carries. Brackets and a
        zone are fine. Text that is no address is refused; WHATWG spellings such as '0x7f.1' never come here undotted.
        """
        known = self._remembered.get(address)
        if known is None:
            parsed = _parsed(address)
            if parsed is None:
                return False  # not remembered: it may be of any length
            if len(self._remembered) >= ADDRESSES_CACHED_MAX:
                self._remembered.clear()
            known = self._remembered[address] = _is_allowed(parsed, self.allowed)
        return known


def parse_networks(cidrs: Iterable[str]) -> tuple[tuple[IpNetwork, ...], tuple[str, ...]]:
    """The networks, and one sentence for each entry that is none. Host bits may be set ('127.0.0.1/8')."""
    networks: list[IpNetwork] = []
    faults: list[str] = []
    for cidr in cidrs:
        try:
            networks.append(ip_network(cidr.strip(), strict=False))
        except ValueError:
            faults.append(f"{cidr!r} is no network; write an address or a CIDR block such as 127.0.0.0/8 or fd00::/8")
    return tuple(networks), tuple(faults)


def _parsed(text: str) -> IpAddress | None:
    if len(text) > ADDRESS_CHARS_MAX:
        return None
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    try:
        return ip_address(text.partition("%")[0])  # a zone names an interface; the address decides
    except ValueError:
        return None


def _is_allowed(address: IpAddress, allowed: tuple[IpNetwork, ...]) -> bool:
    if any(address in network for network in allowed):  # False across families
        return True
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _SPECIAL_V4)
    carried = _carried(address)
    if carried:
        return all(_is_allowed(inner, allowed) for inner in carried)
    return address in _GLOBAL_UNICAST and not any(address in block for block in _SPECIAL_V6)


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that traffic to `address` may reach; all of them must be fine."""
    bits = int(address)
    if any(address in block for block in (_MAPPED, _COMPATIBLE, _NAT64, _NAT64_LOCAL)):
        return (IPv4Address(bits & _V4_MASK),)
    if address in _6TO4:
        return (IPv4Address(bits >> 80 & _V4_MASK),)
    if address in _TEREDO:  # server, and the client's address, stored inverted (RFC 4380 4)
        return IPv4Address(bits >> 64 & _V4_MASK), IPv4Address(~bits & _V4_MASK)
    return ()
