"""Worlds drawn from a seed: a few hosts with all that the web does, a few lives with all that a machine does."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from gossamer.core.budget import day_of
from gossamer.core.outcome import Reason, Truncation
from gossamer.core.url import Url, host_of, site_of
from gossamer.ports.dns import Unresolved
from gossamer.ports.partition_store import StoreFull
from gossamer.stages.runner import End
from gossamer.testing.accounts import assert_accounts
from gossamer.testing.sim_contacts import PLENTY_BYTES
from gossamer.testing.sim_web import NOT_FOUND, Answer, NameScript, Script, failing, page, plain, redirect, refusal
from gossamer.testing.world import World

LIFE_MAX_S = 5_000.0
DISKS = ("raw", "texts", "partition", "contacts")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A world and what its lives are drawn from."""

    world: World
    rng: Random
    options: dict[str, Any]


def draw(seed: int) -> Drawing:
    """The world of a seed: the same in every process."""
    rng = Random(seed)
    hosts = [f"h{number}.s{number % 3}.test" for number in range(rng.choice([2, 5, 12]))]
    pages = rng.choice([40, 150])

    def url(number: int) -> str:
        scheme = "https" if number % 11 == 5 else "http"
        return f"{scheme}://{hosts[number % len(hosts)]}/{'no/' if number % 13 == 7 else ''}{number}"

    options = _options(rng)
    if seed % 2:  # so seldom wrong that a page taken for known would be news
        options |= {"seen": "bloom", "seen_urls": 1_000, "seen_error": 1e-6}
    seeds = [url(number) for number in [0, *rng.sample(range(pages), 5)]]
    places = Random(seed + 2).choice([None, 1, 2, 4])
    world = World(*seeds, rng=Random(seed + 1), places=places, **options)
    if options.get("seen") == "bloom":
        world.journal_keys_min, world.snapshots.step_s = 5, 0.2
    world.partition.commit_s, world.parsing.job_s = rng.choice([0, 0.01, 0.3]), rng.choice([0, 0.01, 0.2])
    world.parsing.poison = {url(number) for number in rng.sample(range(pages), rng.choice([0, 2]))}
    for host in hosts:
        _furnish(world, rng, host, hosts)
        named = [url(n) for n in rng.sample(range(pages), 9) if hosts[n % len(hosts)] == host]
        world.web.answers[f"http://{host}/map.xml"] = plain("\n".join(named))
    salt = str(rng.random())
    world.web.elsewhere = lambda asked: _answer(asked, Random(salt + asked), lambda r: url(r.randrange(pages)))
    return Drawing(world, rng, options)


def live(drawing: Drawing) -> list[str]:
    """Let the world's lives happen, look into the books after each, and tell how they ended."""
    world, rng = drawing.world, drawing.rng
    kills = rng.choice([0, 0, 3, 8])
    ends: list[str] = []
    for life in range(kills + 1):
        _plan_troubles(world, rng)
        is_last = life == kills
        world.at(world.now_s + LIFE_MAX_S, world.stop)
        try:
            end = world.crawl(kill_at=None if is_last else world.now_s + rng.expovariate(0.3))
            ends.append(str(end))
        except StoreFull:
            ends.append("full")
        world.forget_appointments()
        for disk in DISKS:
            getattr(world, disk).is_full = False
        world.disk.free = PLENTY_BYTES
        assert_accounts(world)
        assert_rules(drawing, ends[-1])
    return ends


def assert_rules(drawing: Drawing, end: str) -> None:
    """No page where stored rules forbid it, no page beyond a ceiling, nothing left in a completed crawl."""
    world = drawing.world
    for contact in world.contacts.begun:
        is_denied = contact.purpose == "page" and "/no/" in contact.url and contact.robots_body
        assert not is_denied, contact
    assert world.life.crawl.counters.fetched <= drawing.options.get("max_pages", 10**9)
    sites = Counter(site_of(host_of(Url(url))) for url in world.fetched())
    assert max(sites.values(), default=0) <= drawing.options.get("max_pages_per_site", 10**9)
    stored = [(row.url, row.fetch) for row in world.rows.values() if row.fetch and 200 <= row.fetch.status < 300]
    days = Counter((host_of(Url(url)), day_of(fetch.fetched_at)) for url, fetch in stored)
    assert max(days.values(), default=0) <= drawing.options.get("max_pages_per_host_day", 10**9)
    if end == End.COMPLETED:
        assert not {"ready", "waiting", "captured"} & world.states().keys()


def _options(rng: Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "scope": "any",
        "concurrency": rng.choice([1, 3, 20]),
        "delay_s": rng.choice([0, 0.1, 1]),
        "delay_factor": rng.choice([0, 10]),
        "per_address_delay_s": rng.choice([0, 0.1, 1]),
        "parsers": rng.choice([1, 2]),
        "attempts": rng.choice([2, 5]),
        "retry_base_s": rng.choice([0, 1, 60]),
    }
    for name, values in (("max_pages", (1, 7, 30)), ("max_pages_per_host", (1, 5)), ("max_hops", (0, 2, 4))):
        if rng.random() < 0.25:
            options[name] = rng.choice(values)
    more = Random(rng.random())
    rarely: dict[str, tuple[int | str, ...]] = {
        "max_pages_per_site": (3, 9),
        "max_pages_per_host_day": (2, 8),
        "site_budgets": ("star",),
    }
    for option, choices in rarely.items():
        if more.random() < 0.2:
            options[option] = more.choice(choices)
    return options


def _furnish(world: World, rng: Random, host: str, hosts: list[str]) -> None:
    """Its addresses, and what its robots.txt answers over each scheme."""
    shared, private = ["93.184.216.34"], ["10.0.0.1"]
    names: list[NameScript] = [shared, shared, shared, (), (), private, _late]
    world.web.names[host] = rng.choice(names)
    wishes = rng.choice(["", "Crawl-delay: 3\n"]) + rng.choice(["", f"Sitemap: http://{host}/map.xml\n"])
    rules = plain(f"User-agent: *\nDisallow: /no/\n{wishes}")
    scripts: list[Script] = [
        *[rules] * 4,
        NOT_FOUND,
        [refusal(503), rules],
        redirect(f"http://{rng.choice(hosts)}/robots.txt"),
        [failing(Reason.CONNECT_REFUSED, rng.random()), failing(Reason.CONNECT_TIMEOUT, 5), rules],
    ]
    for scheme in ("http", "https"):
        world.web.answers[f"{scheme}://{host}/robots.txt"] = rng.choice(scripts)


def _late(at_s: float) -> list[str] | Unresolved:
    return Unresolved(Reason.DNS_FAILED) if at_s < 30 else ["93.184.216.99"]


def _answer(url: str, rng: Random, any_url: Callable[[Random], str]) -> Script:
    if not url[-1].isdigit():
        return NOT_FOUND
    links = [any_url(rng) for _ in range(6)]
    good = page(*links, text="some text", latency_s=rng.choice([0, 0.02, 0.3, 2]))
    half = Answer(body=b"<a href=/1>", fields=(("content-type", "text/html"),), truncated=Truncation.DISCONNECT)
    scripts: list[Script] = [
        *[good] * 9,
        redirect(links[0]),
        [refusal(429, rng.choice(["", "5", "bogus"])), good],
        [failing(rng.choice([Reason.CONNECTION_LOST, Reason.FIRST_BYTE_TIMEOUT]), rng.random() * 10), good],
        Answer(status=500),
        half,
        NOT_FOUND,
    ]
    return rng.choice(scripts)


def _plan_troubles(world: World, rng: Random) -> None:
    began_at = world.now_s
    if rng.random() < 0.3:
        at = began_at + rng.random() * 10
        world.at(at, world.pause).at(at + rng.random() * 30, world.resume)
    if rng.random() < 0.3:
        at, disk = began_at + rng.random() * 10, getattr(world, rng.choice(DISKS))

        def fill(*, is_full: bool) -> None:
            disk.is_full, world.disk.free = is_full, 0 if is_full else PLENTY_BYTES

        world.at(at, lambda: fill(is_full=True)).at(at + rng.random() * 20, lambda: fill(is_full=False))
