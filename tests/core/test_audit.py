"""The whole audit: a crawl in the simulated world is clean, whatever the web does, and every planted fault is found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.contact_story import ContactStory, audited

from gossamer.adapters.files.contact_log import Author, begin_record, end_record
from gossamer.core.contacts import BeginContact, ContactRecord, EndContact, RunFacts
from gossamer.core.outcome import Reason, Truncation
from gossamer.core.robots_copy import UnreachableMode
from gossamer.ports.contacts import Contact, ContactEnd
from gossamer.ports.partition_store import Family
from gossamer.testing.accounts import assert_polite
from gossamer.testing.sim_clock import WALL_START_S
from gossamer.testing.sim_contacts import SimContacts
from gossamer.testing.sim_web import Answer, Visit, failing, page, plain, redirect, refusal
from gossamer.testing.world import World

HOSTS = tuple(f"h{number}.test" for number in range(5))
BOOT = "simulated"


@dataclass(slots=True)
class Records(SimContacts):
    """The contact log of a world as its files would have it."""

    world: World | None = None
    records: list[ContactRecord] = field(default_factory=list)
    run: int = 0
    run_of: dict[int, int] = field(default_factory=dict)

    def begin(self, contact: Contact) -> int:
        number = SimContacts.begin(self, contact)
        assert self.world is not None
        is_first, self.run = self.run != len(self.world.lives), len(self.world.lives)
        author = Author(crawl="c1", boot=BOOT)
        facts = facts_of(self.world) if is_first else None
        self.run_of[number] = self.run
        self.records.append(begin_record(contact, f"{self.run}-{number}", author, facts))
        return number

    def end(self, end: ContactEnd) -> None:
        SimContacts.end(self, end)
        self.records.append(end_record(end, f"{self.run_of[end.number]}-{end.number}"))


def facts_of(world: World) -> RunFacts:
    life = world.life
    return RunFacts(
        started_at=datetime.fromtimestamp(WALL_START_S + life.began_at, UTC),
        started_monotonic_s=life.began_at,
        agent=life.config.user_agent,
        robots_unreachable=UnreachableMode(life.config.robots_unreachable),
        robots_off=tuple(life.config.robots),
    )


def recorded(*seeds: str, **options: Any) -> tuple[World, Records]:
    world = World(*seeds, **({"scope": "any"} | options))
    contacts = Records(world=world)
    world.contacts = contacts
    return world, contacts


def wrongs(world: World, records: list[ContactRecord]) -> list[str]:
    bodies = {key.hex(): body for key, body in world.partition.scan(Family.ROBOTS, b"", b"\xff" * 17)}
    _, found = audited(records, bodies=bodies)
    return [f"{violation.wrong} {violation.begin.url}" for violation in found]


# Whatever the web does ------------------------------------------------------------------------------------------------


def a_web(rng: Random) -> Callable[[str], Callable[[Visit], Answer]]:
    """Links, redirects, refusals, failures and slowness, drawn anew at each visit."""

    def answer(visit: Visit) -> Answer:
        if visit.url.endswith("/robots.txt"):
            return _robots(rng)
        latency_s = rng.choice([0.0, 0.0, 0.05, 0.4, 3.0])
        links = [f"http://{rng.choice(HOSTS)}/{rng.choice(['', 'private/'])}{rng.randrange(12)}" for _ in range(3)]
        match rng.randrange(12):
            case 0:
                return refusal(rng.choice([429, 503]), rng.choice(["", "", "7", "0", "Fri, 15 Jan 2027 08:01:00 GMT"]))
            case 1:
                return refusal(rng.choice([500, 502, 404, 410, 999]))
            case 2:
                return failing(rng.choice([Reason.CONNECT_TIMEOUT, Reason.CONNECTION_LOST, Reason.TOO_SLOW]), latency_s)
            case 3:
                return redirect(links[0])
            case 4:
                return Answer(body=b"cut", latency_s=latency_s, truncated=Truncation.DISCONNECT)
            case _:
                return page(*links, latency_s=latency_s)

    return lambda _url: answer


def _robots(rng: Random) -> Answer:
    match rng.randrange(8):
        case 0:
            return refusal(404)
        case 1:
            return refusal(rng.choice([500, 503, 429]), rng.choice(["", "3"]))
        case 2:
            return redirect(f"http://{rng.choice(HOSTS)}/robots.txt")
        case 3:
            return plain("User-agent: *\nCrawl-delay: 4\nDisallow: /private\n")
        case 4:
            return failing(Reason.CONNECT_REFUSED)
        case _:
            return plain("User-agent: *\nDisallow: /private\n")


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    delay_s=st.sampled_from([0.2, 1.0, 3.0]),
    delay_factor=st.sampled_from([0.0, 4.0]),
    per_address_delay_s=st.sampled_from([0.0, 0.1, 0.7]),
    shared=st.booleans(),
)
def test_a_crawl_is_clean(
    seed: int, delay_s: float, delay_factor: float, per_address_delay_s: float, *, shared: bool
) -> None:
    pace = {"delay_s": delay_s, "delay_factor": delay_factor, "per_address_delay_s": per_address_delay_s}
    world, contacts = recorded(*(f"http://{host}/" for host in HOSTS), retry_base_s=5, attempts=3, **pace)
    world.web.elsewhere = a_web(Random(seed))
    if shared:
        world.web.names = {host: ["93.184.216.34"] for host in HOSTS}
    assert world.crawl() is not None
    assert len(contacts.records) > 10
    assert wrongs(world, contacts.records) == []


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), shared=st.booleans())
def test_a_crawl_whose_delays_change_again_and_again_is_clean(seed: int, *, shared: bool) -> None:
    """While it runs, between its lives, and while contacts and look-ups are under way."""
    rng = Random(seed + 1)
    world, contacts = recorded(*(f"http://{host}/" for host in HOSTS), retry_base_s=5, attempts=3)
    world.web.elsewhere = a_web(Random(seed))
    world.web.look_up_s = {host: rng.choice([0.0, 0.3, 2.0]) for host in HOSTS}
    if shared:
        world.web.names = {host: ["93.184.216.34"] for host in HOSTS}

    def change() -> None:
        world.change(
            delay_s=rng.choice([0, 0.2, 1, 5, 20]),
            delay_factor=rng.choice([0, 4, 30]),
            delay_max_s=rng.choice([2, 60]),
            per_address_delay_s=rng.choice([0, 0.1, 0.7, 3]),
            concurrency=rng.choice([1, 20]),
        )

    for life in range(3):
        for _ in range(8):
            world.at(world.now_s + rng.uniform(0, 40), change)
        is_killed = life < 2 and rng.random() < 0.5
        world.at(world.now_s + rng.uniform(10, 40), world.stop if life < 2 else change)
        world.crawl(kill_at=world.now_s + rng.uniform(5, 30) if is_killed else None)
        world.forget_appointments()
    assert wrongs(world, contacts.records) == []
    assert_polite(world)


@pytest.mark.slow
def test_a_crawl_that_was_stopped_and_goes_on_is_clean() -> None:
    world, contacts = recorded(*(f"http://{host}/" for host in HOSTS), per_address_delay_s=0.5)
    world.web.elsewhere = a_web(Random(3))
    world.web.names = {host: ["93.184.216.34"] for host in HOSTS}
    for stop_s in (4.0, 9.0, 21.0):
        world.at(stop_s, world.stop).crawl()
    assert world.crawl() is not None
    assert len(world.lives) == 4
    assert wrongs(world, contacts.records) == []


@pytest.mark.parametrize("kill_s", [0.5, 1.3, 2.45, 6.0])
def test_a_crawl_that_was_killed_and_goes_on_is_clean(kill_s: float) -> None:
    world, contacts = recorded("http://h0.test/", "http://h1.test/", delay_s=1, robots="off-for=h1.test")
    world.web.elsewhere = lambda _url: page("/a", "/b", "/c", "/d", latency_s=0.3)
    world.web.robots("h0.test", "User-agent: *\nCrawl-delay: 2\nDisallow: /c\n")
    world.crawl(kill_at=kill_s)
    assert world.crawl() is not None
    assert wrongs(world, contacts.records) == []


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), factor=st.sampled_from([0.0, 4.0]), shared=st.booleans(), rng=st.randoms())
def test_a_crawl_that_was_killed_again_and_again_is_clean_whatever_the_web_does(
    seed: int, factor: float, rng: Random, *, shared: bool
) -> None:
    world, contacts = recorded(*(f"http://{host}/" for host in HOSTS), retry_base_s=5, attempts=3, delay_factor=factor)
    world.web.elsewhere = a_web(Random(seed))
    if shared:
        world.web.names = {host: ["93.184.216.34"] for host in HOSTS}
    for _ in range(6):
        world.crawl(kill_at=world.now_s + rng.uniform(0.1, 12))
    assert world.crawl() is not None
    assert wrongs(world, contacts.records) == []


def test_a_full_disk_keeps_no_end_out_of_the_log() -> None:
    world, contacts = recorded("http://h0.test/", delay_s=1)
    world.web.elsewhere = lambda _url: page("/a", "/b", latency_s=0.5)

    def full(is_full: bool) -> Callable[[], None]:
        def change() -> None:
            contacts.is_full = is_full

        return change

    world.at(1.7, full(True)).at(5, full(False)).crawl()
    assert len(contacts.begun) == len(contacts.ended) == 4
    assert wrongs(world, contacts.records) == []


def test_after_a_change_a_contact_that_keeps_only_the_old_delay_is_found() -> None:
    world, contacts = recorded("http://h0.test/", delay_s=1)
    world.web.elsewhere = lambda _url: page("/a", "/b", "/c", "/d")
    world.at(2.5, lambda: world.change(delay_s=5)).crawl()
    assert wrongs(world, contacts.records) == []
    for at in begins(contacts.records, "h0.test")[3:]:
        planted = [*contacts.records]
        planted[at] = moved(planted[at], -0.05)
        begin = planted[at]
        assert isinstance(begin, BeginContact)
        assert begin.delays.delay_s == 5
        assert wrongs(world, planted) == [f"gap {begin.url}"]


# Faults planted in the log of a crawl ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clean() -> tuple[World, list[ContactRecord]]:
    world, contacts = recorded("http://h0.test/", "http://h1.test/", delay_s=1)
    world.web.elsewhere = lambda url: page("/a", "/b", "/c", "/d") if url.endswith("test/") else page()
    world.web.robots("h0.test", "User-agent: *\nDisallow: /private\n")
    world.web.robots("h1.test", "User-agent: *\nCrawl-delay: 2\n")
    world.crawl()
    assert wrongs(world, contacts.records) == []
    return world, contacts.records


def begins(records: list[ContactRecord], host: str) -> list[int]:
    return [at for at, each in enumerate(records) if isinstance(each, BeginContact) and each.host == host]


def moved(record: ContactRecord, by_s: float) -> ContactRecord:
    changes = {"monotonic_s": record.monotonic_s + by_s, "wall_time": record.wall_time + timedelta(seconds=by_s)}
    return msgspec.structs.replace(record, **changes)


@pytest.mark.parametrize(("host", "kind"), [("h0.test", "gap"), ("h1.test", "crawl-delay")])
def test_any_contact_that_is_moved_forward_is_found(
    clean: tuple[World, list[ContactRecord]], host: str, kind: str
) -> None:
    world, records = clean
    for at in begins(records, host)[1:]:
        planted = [*records]
        planted[at] = moved(records[at], -0.05)
        begin = records[at]
        assert isinstance(begin, BeginContact)
        assert wrongs(world, planted) == [f"{kind} {begin.url}"]


def test_any_end_that_is_missing_is_found(clean: tuple[World, list[ContactRecord]]) -> None:
    world, records = clean
    for host in ("h0.test", "h1.test"):
        *earlier, last = [records[at] for at in begins(records, host)]
        for begin in earlier:
            planted = [each for each in records if not (isinstance(each, EndContact) and each.id == begin.id)]
            assert wrongs(world, planted)[0].startswith("overlap http://" + host)
        planted = [each for each in records if not (isinstance(each, EndContact) and each.id == last.id)]
        assert wrongs(world, planted) == []  # it may be under way


def test_any_page_that_the_rules_forbid_is_found(clean: tuple[World, list[ContactRecord]]) -> None:
    world, records = clean
    for at in begins(records, "h0.test")[1:]:
        planted = [*records]
        planted[at] = msgspec.structs.replace(records[at], url="http://h0.test/private/x")
        assert wrongs(world, planted) == ["disallowed http://h0.test/private/x"]


def test_a_robots_txt_that_was_never_asked_for_is_found(clean: tuple[World, list[ContactRecord]]) -> None:
    world, records = clean
    ids = {each.id for each in records if isinstance(each, BeginContact) and each.purpose == "robots"}
    found = wrongs(world, [each for each in records if each.id not in ids])
    pages = [each for each in records if isinstance(each, BeginContact) and each.purpose == "page"]
    assert found == [f"robots-age {each.url}" for each in pages]


def test_a_refusal_that_changed_nothing_is_found(clean: tuple[World, list[ContactRecord]]) -> None:
    world, records = clean
    ends = {each.id: at for at, each in enumerate(records) if isinstance(each, EndContact)}
    for at, following in zip(begins(records, "h0.test")[1:], begins(records, "h0.test")[2:], strict=False):
        begin = records[following]
        assert isinstance(begin, BeginContact)
        for wish_s, kind in ((None, "refusal"), (30.0, "retry-after")):
            planted, end_at = [*records], ends[records[at].id]
            planted[end_at] = msgspec.structs.replace(records[end_at], status=429, retry_after_s=wish_s)
            assert wrongs(world, planted)[0] == f"{kind} {begin.url}"


# The account of it ----------------------------------------------------------------------------------------------------


def test_an_empty_log_proves_nothing_wrong() -> None:
    audit = ContactStory().audit()
    assert (audit.contacts, audit.hosts, audit.unfinished, audit.smallest_margin_s) == (0, 0, 0, None)


def test_an_end_alone_is_passed_over() -> None:
    told = ContactStory().robots(0).page(1)
    audit, _ = audited(told.records[1:])
    assert audit.contacts == 1


def test_contacts_under_way_are_counted() -> None:
    told = ContactStory().robots(0)
    told.begin(1)
    assert told.audit().unfinished == 1
    assert told.audit("b.test").unfinished == 0
