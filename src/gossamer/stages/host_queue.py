"""A host in memory: its manners, its robots rules, and a short run of the URLs that wait for it on disk.

`bodies` are texts of robots.txt by digest, and `is_unsaved` whether the host had a contact, since the last batch.
`delay`: the delays in force as its last lease was handed out. `site` is None where sites have no budgets.
`is_mixed`: its URLs have more than one origin; where that is False it is certain only if `is_surveyed`. `has_debut`:
the moment of its first contact is set. `is_leaving`: the next batch takes it off the workbench. `is_recalled`: its
lease comes back unless the contact has begun, for the rules have changed.
"""

from collections import deque
from dataclasses import dataclass, field

from gossamer.core.budget import Budget
from gossamer.core.politeness import DelayRules, HostManners
from gossamer.core.robots import RobotsRules
from gossamer.core.rows import HostRow, OriginRow, SiteRow, TallyRow, UrlRow

RUN_MAX = 16
"""URLs of one host held in memory; the rest of its back queue stays on disk."""
ORIGINS_MAX = 32
"""Origins of one host whose robots.txt is remembered: two schemes, and a page may name any port."""


@dataclass(slots=True)
class Entry:
    """A URL in the run of its host. It stays in READY on disk until it is settled."""

    ready_key: bytes
    key: bytes
    row: UrlRow


@dataclass(slots=True)
class RobotsErrand:
    """One contact to learn the robots.txt of `origin`; `url` differs from `origin`/robots.txt after a redirect.

    `head` is the URL that waits for it: a name that does not resolve is its failure, no contact was made.
    """

    origin: str
    asker: bytes
    url: str
    hops: int = 0
    head: Entry | None = None


@dataclass(slots=True, eq=False, weakref_slot=True)
class Site:
    """A site: what is counted of it, the budget that its hosts share, and those that wait for a unit of it."""

    key: int
    row: SiteRow
    budget: Budget
    starved: "deque[HostQueue]" = field(default_factory=deque)


@dataclass(slots=True, eq=False)
class HostQueue:
    """Everything about one host that a lease needs. Times are monotonic seconds."""

    key: bytes
    row: HostRow
    tally: TallyRow
    budget: Budget
    site: Site | None = None
    manners: HostManners = field(default_factory=HostManners)
    delay: DelayRules = field(default_factory=DelayRules)
    next_at: float = 0.0
    in_flight: bool = False
    queued_at: float | None = None
    asking: set[str] = field(default_factory=set)
    just_asked: set[str] = field(default_factory=set)
    run: deque[Entry] = field(default_factory=deque)
    taken: set[bytes] = field(default_factory=set)
    cursor: bytes = b""
    errands: deque[RobotsErrand] = field(default_factory=deque)
    rules: dict[str, RobotsRules] = field(default_factory=dict)
    sitemaps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bodies: dict[bytes, bytes] = field(default_factory=dict)
    is_unsaved: bool = False
    slot: tuple[str, float] | None = None
    timed_out: bool = False
    suspect: bool = False
    is_recalled: bool = False
    address_refused_until: float = 0.0
    closed_until: float = 0.0
    origin: str = ""
    is_mixed: bool = False
    is_surveyed: bool = False
    search: "Search | None" = None
    has_put_back: bool = False
    is_starved: bool = False
    has_debut: bool = False
    is_leaving: bool = False

    def __repr__(self) -> str:
        state = "in transit" if self.in_flight else f"next {self.next_at:.2f}"
        return f"<HostQueue {self.row.host}: {self.tally.ready} ready, {len(self.run)} in memory, {state}>"

    @property
    def has_work(self) -> bool:
        """Whether a contact with this host is wanted."""
        return bool(self.errands) or self.tally.ready > len(self.taken) - len(self.run)

    @property
    def is_free(self) -> bool:
        """Whether nobody works for this host, or waits for what another learns of it."""
        return not (self.in_flight or self.errands or self.asking)

    @property
    def is_idle(self) -> bool:
        """Whether memory of this host may go: everything it knows is on disk."""
        return not (self.in_flight or self.errands or self.asking or self.taken or self.tally.ready or self.is_unsaved)

    def found(self, ready_key: bytes) -> None:
        """A URL came to the back queue on disk; step back when it sorts before what was read."""
        self.cursor = min(self.cursor, ready_key)

    def saw(self, origin: str) -> None:
        """A URL of this origin is in the back queue."""
        if origin != self.origin:
            self.is_mixed = self.is_mixed or bool(self.origin)
            self.origin = origin

    def remember(self, origin: str, row: OriginRow) -> None:
        """Keep what is known of an origin; a host with ports without end forgets those that are due first."""
        origins = self.row.origins
        if origin not in origins and len(origins) >= ORIGINS_MAX:
            first = min(origins, key=lambda known: origins[known].copy.next_try_at)
            del origins[first]
            self.rules.pop(first, None)
            self.just_asked.discard(first)
        origins[origin] = row

    def put_run_back(self) -> None:
        """Only in memory: on disk the URLs never left."""
        self.has_put_back = True
        self.taken.difference_update(entry.ready_key for entry in self.run)
        self.run.clear()


@dataclass(slots=True)
class Search:
    """A round through the back queue of a host whose URLs in memory may all not be fetched now, for one that may.

    `began_at` is the first place that was looked at, `reopens_at` the earliest moment (wall time) that any of those
    seen may be fetched.
    """

    began_at: bytes
    reopens_at: float = float("inf")
    is_second_half: bool = False
