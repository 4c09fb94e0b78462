"""The hosts of a crawl: what is queued and done, how long each rests, and what its robots.txt is doing."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from gossamer.core.breaker import is_dead, is_parked
from gossamer.core.budget import Ceilings
from gossamer.core.keys import LAST, tally_key
from gossamer.core.politeness import DelayRules
from gossamer.core.robots_copy import RobotsCopy, RobotsState
from gossamer.core.rows import OVER_BUDGET, RESTING, HostRow, State, TallyRow, load
from gossamer.ports.partition_store import Family, PartitionStore
from gossamer.views.budgets import SiteBudgets
from gossamer.views.forms import rfc3339
from gossamer.views.lookup import host_key_of

HOSTS_AT_ONCE = 512


_LEVELS = {-1: None, RESTING: "resting", OVER_BUDGET: "over-budget"}


@dataclass(frozen=True, slots=True)
class HostRules:
    """What the configuration says about hosts."""

    delay: DelayRules
    ceilings: Ceilings


class RobotsView(msgspec.Struct, rename="camel"):
    """One origin's copy of robots.txt; `reason` is how it stands now (fresh, absent, expired, outage, unknown)."""

    state: str
    fetched_at: str | None
    expires_at: str | None
    reason: str
    next_try_at: str | None
    failing_since: str | None


class HostView(msgspec.Struct, rename="camel"):
    """A row as `hosts` prints it. `queued`: URLs ready or waiting; `robots`: of the origin asked last.

    `breaker`: closed, open (parked, one probe an hour) or dead. `front_level`: where the host waits for a place in
    memory: 0 to 7, resting, over-budget; null when nothing is ready.
    """

    host: str
    site: str
    queued: int
    fetched: int
    failed: int
    robots_denied: int
    delay_seconds: float
    crawl_delay_seconds: float | None
    next_allowed_at: str | None
    address: str | None
    failures: int
    breaker: str
    budget_left: int | None
    front_level: str | None
    robots: RobotsView
    origins: dict[str, RobotsView]


def host_views(
    partition: PartitionStore, crawl: int, rules: HostRules, now: float, *, host: str | None = None
) -> Iterator[HostView]:
    """The hosts that a crawl knows, or one of them, in the order of their keys, lazily."""
    budgets = SiteBudgets(partition, crawl, rules.ceilings)
    prefix = tally_key(crawl, host_key_of(host) if host else b"")
    waiting: list[tuple[bytes, TallyRow]] = []
    for key, stored in partition.scan(Family.TALLIES, prefix, prefix + LAST):
        waiting.append((key[4:], load(TallyRow, stored)))
        if len(waiting) >= HOSTS_AT_ONCE:
            yield from _views(partition, waiting, rules.delay, budgets, now)
            waiting.clear()
    yield from _views(partition, waiting, rules.delay, budgets, now)


def _views(
    partition: PartitionStore,
    tallies: list[tuple[bytes, TallyRow]],
    delay: DelayRules,
    budgets: SiteBudgets,
    now: float,
) -> Iterator[HostView]:
    rows = partition.get_many(Family.HOSTS, [key for key, _ in tallies])
    for (_, tally), stored in zip(tallies, rows, strict=True):
        row = load(HostRow, stored) if stored is not None else HostRow(tally.host, tally.site)
        yield host_view(row, tally, delay, budgets.left(tally, now), now)


def host_view(row: HostRow, tally: TallyRow, delay: DelayRules, budget_left: int | None, now: float) -> HostView:
    """One host as it is shown."""
    states = tally.states
    origins = {origin: _robots_view(stored.copy, now) for origin, stored in row.origins.items()}
    latest = max((stored.copy for stored in row.origins.values()), key=_last_asked, default=RobotsCopy())
    return HostView(
        host=row.host,
        site=row.site,
        queued=states[State.READY] + states[State.WAITING],
        fetched=tally.fetched,
        failed=states[State.FAILED] + states[State.DEAD],
        robots_denied=states[State.DENIED],
        delay_seconds=round(rest_s(row, delay), 3),
        crawl_delay_seconds=row.crawl_delay_s,
        next_allowed_at=rfc3339(row.manners.next_allowed_at),
        address=row.address or None,
        failures=row.manners.failures,
        breaker="dead" if is_dead(row.manners, now) else "open" if is_parked(row.manners) else "closed",
        budget_left=budget_left,
        front_level=_LEVELS.get(tally.level, str(tally.level)),
        robots=_robots_view(latest, now),
        origins=origins,
    )


def rest_s(row: HostRow, delay: DelayRules) -> float:
    """The rest in force between two contacts: the user's, the host's wish, ten times its slowness, or a refusal's."""
    return max(delay.delay_s, row.crawl_delay_s or 0.0, row.manners.gap_s, row.manners.slow_s)


def _last_asked(copy: RobotsCopy) -> float:
    outage_at = copy.next_try_at if copy.state is RobotsState.UNREACHABLE else 0.0
    return max(copy.fetched_at or 0.0, outage_at)


def _robots_view(copy: RobotsCopy, now: float) -> RobotsView:
    return RobotsView(
        state=copy.state.value,
        fetched_at=rfc3339(copy.fetched_at),
        expires_at=rfc3339(copy.expires_at),
        reason=copy.reason(now),
        next_try_at=rfc3339(copy.next_try_at),
        failing_since=rfc3339(copy.failing_since),
    )
