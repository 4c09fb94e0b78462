"""Against a small name server on loopback that answers, fails or keeps silent as told."""

import asyncio
import itertools
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import cast

import pytest

from gossamer.adapters.dns.resolver import CaresDns, DnsLimits
from gossamer.core.outcome import Reason
from gossamer.ports.dns import Resolved, Unresolved

A, CNAME, SOA, AAAA = 1, 5, 6, 28
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, REFUSED = 0, 1, 2, 3, 5
Record = tuple[int, int, bytes]  # type, TTL, data
Reply = tuple[int, list[Record]] | None  # response code and answers; None keeps silent
Script = Callable[[str, int], Reply]


def a(address: str, ttl: int = 300) -> Record:
    return (AAAA if ":" in address else A, ttl, ip_address(address).packed)


def labels(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class NameServer(asyncio.DatagramProtocol):
    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: Counter[tuple[str, int]] = Counter()
        self.spoof = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.transport.get_extra_info('sockname')[1]}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        (query_id,) = struct.unpack_from("!H", data)
        parts, pos = [], 12
        while data[pos]:
            parts.append(data[pos + 1 : pos + 1 + data[pos]].decode().lower())
            pos += 1 + data[pos]
        question = data[12 : pos + 5]
        (kind,) = struct.unpack_from("!H", data, pos + 1)
        name = ".".join(parts)
        self.asked[name, kind] += 1
        reply = self.script(name, kind)
        if reply is None:
            return
        code, records = reply
        if self.spoof:
            self.transport.sendto(self.packed(query_id ^ 0x5555, NOERROR, question, [a("203.0.113.66")]), addr)
        self.transport.sendto(self.packed(query_id, code, question, records), addr)

    @staticmethod
    def packed(query_id: int, code: int, question: bytes, records: list[Record]) -> bytes:
        owner, body = b"\xc0\x0c", b""
        authority = 0
        for kind, ttl, rdata in records:
            body += owner + struct.pack("!HHIH", kind, 1, ttl, len(rdata)) + rdata
            authority += kind == SOA
            owner = rdata if kind == CNAME else owner
        counts = (1, len(records) - authority, authority, 0)
        return struct.pack("!HHHHHH", query_id, 0x8180 | code, *counts) + question + body


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Story:
    """A resolver, its name server and its clock."""

    def __init__(self, dns: CaresDns, server: NameServer, clock: Clock) -> None:
        self.dns, self.server, self.clock = dns, server, clock

    async def at(self, seconds: float, host: str) -> Resolved | Unresolved:
        self.clock.now = 1_000.0 + seconds
        return await self.dns.resolve(host)

    def asked(self, name: str) -> int:
        return self.server.asked[name, A]


def tell(script: Script, story: Callable[[Story], Awaitable[None]], **limits: float) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        _, server = await loop.create_datagram_endpoint(lambda: NameServer(script), local_addr=("127.0.0.1", 0))
        clock = Clock()
        settings: dict[str, float] = {"dns_timeout_s": 2.0} | limits
        dns = CaresDns(DnsLimits(servers=(server.address,), **settings), monotonic=clock)  # type: ignore[arg-type]
        try:
            await story(Story(dns, server, clock))
        finally:
            await dns.close()
            server.transport.close()

    asyncio.run(main())


def only_a(*addresses: str, ttl: int = 300) -> Script:
    return lambda _, kind: (NOERROR, [a(address, ttl) for address in addresses if (":" in address) == (kind == AAAA)])


def test_both_families_are_asked_and_ipv4_comes_first() -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, "a.test") == Resolved(("192.0.2.10", "192.0.2.11", "2001:db8::1"))

    tell(only_a("2001:db8::1", "192.0.2.10", "192.0.2.11"), story)


@pytest.mark.parametrize(
    ("literal", "address"),
    [("192.0.2.1", "192.0.2.1"), ("[2001:DB8::1]", "2001:db8::1"), ("::1", "::1"), ("[::ffff:192.0.2.1]", None)],
)
def test_an_address_resolves_to_itself_and_nobody_is_asked(literal: str, address: str | None) -> None:
    async def story(s: Story) -> None:
        answer = await s.at(0, literal)
        assert isinstance(answer, Resolved)
        assert answer.addresses == (address or str(ip_address(literal.strip("[]"))),)
        assert not s.server.asked

    tell(only_a("203.0.113.1"), story)


def test_an_answer_lives_as_long_as_its_shortest_record_says() -> None:
    def script(_: str, kind: int) -> Reply:
        return NOERROR, [(CNAME, 100, labels("real.test")), a("192.0.2.1", 200)] if kind == A else []

    async def story(s: Story) -> None:
        assert await s.at(0, "www.test") == Resolved(("192.0.2.1",))
        await s.at(99, "WWW.test.")
        assert s.asked("www.test") == 1
        await s.at(100, "www.test")
        # c-ares may answer from what it remembers itself: what counts is that ours is gone.
        assert len(s.dns._cache) == 1

    tell(script, story, positive_ttl_min_s=1)


@pytest.mark.parametrize(("ttl", "lives_s"), [(0, 60), (10, 60), (2**31 - 1, 3_600), (600, 600)])
def test_lifetimes_are_clamped(ttl: int, lives_s: float) -> None:
    async def story(s: Story) -> None:
        await s.at(0, "a.test")
        assert s.dns._cache.get("a.test", s.clock.now + lives_s - 0.1) is not None
        assert s.dns._cache.get("a.test", s.clock.now + lives_s) is None

    tell(only_a("192.0.2.1", ttl=ttl), story)


def test_one_look_up_in_flight_per_name() -> None:
    async def story(s: Story) -> None:
        answers = await asyncio.gather(*(s.dns.resolve(name) for name in ["a.test", "A.TEST", "a.test."] * 20))
        assert set(answers) == {Resolved(("192.0.2.1",))}
        assert s.asked("a.test") == 1

    tell(only_a("192.0.2.1"), story)


def test_who_leaves_early_does_not_end_the_look_up_of_the_others() -> None:
    async def story(s: Story) -> None:
        async with asyncio.TaskGroup() as group:
            impatient = group.create_task(s.dns.resolve("a.test"))
            patient = group.create_task(s.dns.resolve("a.test"))
            await asyncio.sleep(0)
            impatient.cancel()
        assert patient.result() == Resolved(("192.0.2.1",))
        assert s.asked("a.test") == 1

    tell(only_a("192.0.2.1"), story)


def test_a_thousand_records_give_sixteen_addresses() -> None:
    many = [f"10.0.{number // 250}.{number % 250 + 1}" for number in range(1_000)]

    async def story(s: Story) -> None:
        assert await s.at(0, "many.test") == Resolved(tuple(many[:16]))

    tell(only_a(*many), story)


def test_the_same_address_twice_is_one() -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, "a.test") == Resolved(("192.0.2.1", "192.0.2.2"))

    tell(only_a("192.0.2.1", "192.0.2.2", "192.0.2.1"), story)


def test_answers_to_another_question_are_not_taken() -> None:
    async def story(s: Story) -> None:
        s.server.spoof = True
        assert await s.at(0, "a.test") == Resolved(("192.0.2.1",))

    tell(only_a("192.0.2.1"), story)


def test_a_chain_of_aliases_that_leads_nowhere_is_not_found() -> None:
    def script(_: str, kind: int) -> Reply:
        return NOERROR, [(CNAME, 60, labels("a.test"))]

    async def story(s: Story) -> None:
        assert await s.at(0, "loop.test") == Unresolved(Reason.DNS_NOT_FOUND)

    tell(script, story)


@pytest.mark.slow  # c-ares waits at least 250 ms for an answer
def test_one_family_is_enough_when_the_other_is_never_answered() -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, "a.test") == Resolved(("192.0.2.1",))

    tell(lambda _, kind: (NOERROR, [a("192.0.2.1")]) if kind == A else None, story, dns_timeout_s=0.3)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (NXDOMAIN, Reason.DNS_NOT_FOUND),
        (NOERROR, Reason.DNS_NOT_FOUND),
        (SERVFAIL, Reason.DNS_FAILED),
        (REFUSED, Reason.DNS_FAILED),
        (FORMERR, Reason.DNS_FAILED),
    ],
)
def test_what_a_name_server_says_has_a_name(code: int, reason: Reason) -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, "a.test") == Unresolved(reason)

    tell(lambda *_: (code, []), story)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "a..b",
        "a" * 64 + ".test",
        "a." * 200 + "test",
        "nul\0.test",
        "spa ce.test",
        "bücher.test",
        "\ud800.test",
        "[::1",
        "x" * 100_000,
    ],
)
def test_what_cannot_be_a_name_is_not_found(name: str) -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, name) == Unresolved(Reason.DNS_NOT_FOUND)

    tell(lambda *_: (NXDOMAIN, []), story, dns_timeout_s=0.3)


def test_no_search_domain_is_added_to_a_bare_name() -> None:
    async def story(s: Story) -> None:
        assert await s.at(0, "intranet") == Resolved(("192.0.2.1",))
        assert {name for name, _ in s.server.asked} == {"intranet"}

    tell(only_a("192.0.2.1"), story)


def test_garbage_from_a_name_server_is_a_failure() -> None:
    async def story(s: Story) -> None:
        s.server.packed = lambda query_id, *_: struct.pack("!H", query_id) + b"\x81\x80\xff\xff\xff\xff" + b"\xc0" * 40  # type: ignore[method-assign]
        answer = await s.at(0, "a.test")
        assert answer in (Unresolved(Reason.DNS_FAILED), Unresolved(Reason.DNS_TIMEOUT))

    tell(only_a("192.0.2.1"), story, dns_timeout_s=0.3)


@pytest.mark.parametrize(
    "first", [SERVFAIL, REFUSED, NXDOMAIN, None], ids=["servfail", "refused", "nxdomain", "silence"]
)
def test_h_dns_01_a_failed_look_up_is_forgotten_after_its_time(first: int | None) -> None:
    broken = True

    def script(_: str, kind: int) -> Reply:
        if broken:
            return None if first is None else (first, [])
        return NOERROR, [a("192.0.2.10")] if kind == A else []

    async def story(s: Story) -> None:
        nonlocal broken
        assert isinstance(await s.at(0, "a.example.com"), Unresolved)
        asked = s.asked("a.example.com")
        broken = False
        assert isinstance(await s.at(0.9, "a.example.com"), Unresolved)
        assert s.asked("a.example.com") == asked
        assert await s.at(1.0, "a.example.com") == Resolved(("192.0.2.10",))

    tell(script, story, dns_negative_ttl_s=1, dns_timeout_s=0.2)


def test_h_dns_01_a_missing_name_is_asked_again_within_five_minutes_whatever_its_zone_wishes() -> None:
    week = struct.pack("!IIIII", 1, 604_800, 604_800, 604_800, 604_800)
    zone = (SOA, 604_800, labels("ns.test") + labels("root.test") + week)
    born = False

    def script(_: str, kind: int) -> Reply:
        if not born:
            return NXDOMAIN, [zone]
        return NOERROR, [a("192.0.2.10")] if kind == A else []

    async def story(s: Story) -> None:
        nonlocal born
        assert await s.at(0, "new.test") == Unresolved(Reason.DNS_NOT_FOUND)
        born = True
        assert await s.at(300, "new.test") == Resolved(("192.0.2.10",))

    tell(script, story, dns_negative_ttl_s=300)


@pytest.mark.parametrize("ttl_s", [0, -1, 301, float("nan")])
def test_h_dns_01_no_setting_remembers_a_failure_beyond_five_minutes(ttl_s: float) -> None:
    with pytest.raises(ValueError, match="dns_negative_ttl_s"):
        DnsLimits(dns_negative_ttl_s=ttl_s)


def test_h_dns_02_a_name_without_an_answer_ends_by_its_deadline_and_delays_nobody() -> None:
    dead = [f"dead{number}.example.com" for number in range(50)]
    ended: list[str] = []

    async def story(s: Story) -> None:
        async def resolve(name: str) -> Resolved | Unresolved:
            answer = await s.dns.resolve(name)
            ended.append(name)
            return answer

        names = [*dead, "ok.example.com"]
        answers = await asyncio.gather(*(resolve(name) for name in names))
        assert answers == [*itertools.repeat(Unresolved(Reason.DNS_TIMEOUT), len(dead)), Resolved(("192.0.2.10",))]
        assert ended[0] == "ok.example.com"

    def script(name: str, kind: int) -> Reply:
        return (NOERROR, [a("192.0.2.10")] if kind == A else []) if name.startswith("ok") else None

    tell(script, story, dns_timeout_s=0.2)


def test_closing_ends_look_ups_in_flight() -> None:
    async def story(s: Story) -> None:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(s.dns.resolve("dead.test"))
            await asyncio.sleep(0)
            await s.dns.close()
        assert waiting.result() == Unresolved(Reason.DNS_FAILED)
        assert await s.dns.resolve("other.test") == Unresolved(Reason.DNS_FAILED)
        assert repr(s.dns) == "<CaresDns: 0 in flight, <DnsCache 0 of 10000>>"

    tell(lambda *_: None, story)


@pytest.mark.parametrize(
    ("limits", "key"),
    [
        ({"dns_timeout_s": 0}, "dns_timeout_s"),
        ({"dns_timeout_s": 61}, "dns_timeout_s"),
        ({"positive_ttl_min_s": 10, "positive_ttl_max_s": 5}, "positive_ttl_min_s"),
        ({"entries_max": 0}, "entries_max"),
    ],
)
def test_limits_out_of_range_are_refused_by_name(limits: dict[str, int], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        DnsLimits(**limits)  # type: ignore[arg-type]
