"""A host in memory: its manners, its robots rules, and a short run of the URLs that wait for it on disk."""

from collections import deque
from dataclasses import dataclass, field

from gossamer.core.budget import Budget
from gossamer.core.politeness import HostManners
from gossamer.core.robots import RobotsRules
from gossamer.core.rows import HostRow, TallyRow, UrlRow

RUN_MAX = 32
"""URLs of one host held in memory; the rest of its back queue stays on disk."""


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


@dataclass(slots=True, eq=False)
class HostQueue:
    """Everything about one host that a lease needs. Times are monotonic seconds."""

    key: bytes
    row: HostRow
    tally: TallyRow
    budget: Budget
    manners: HostManners = field(default_factory=HostManners)
    next_at: float = 0.0
    in_flight: bool = False
    queued_at: float | None = None
    asking: set[str] = field(default_factory=set)
    run: deque[Entry] = field(default_factory=deque)
    taken: set[bytes] = field(default_factory=set)
    cursor: bytes = b""
    errands: deque[RobotsErrand] = field(default_factory=deque)
    rules: dict[str, RobotsRules] = field(default_factory=dict)
    slot: tuple[str, float] | None = None
    timed_out: bool = False
    suspect: bool = False
    address_refused_until: float = 0.0
    closed_until: float = 0.0

    def __repr__(self) -> str:
        state = "in transit" if self.in_flight else f"next {self.next_at:.2f}"
        return f"<HostQueue {self.row.host}: {self.tally.ready} ready, {len(self.run)} in memory, {state}>"

    @property
    def has_work(self) -> bool:
        """Whether a contact with this host is wanted."""
        return bool(self.errands) or self.tally.ready > len(self.taken) - len(self.run)

    @property
    def is_idle(self) -> bool:
        """Whether memory of this host may go: everything it knows is on disk."""
        return not (self.in_flight or self.errands or self.asking or self.taken or self.tally.ready)

    def found(self, ready_key: bytes) -> None:
        """A URL came to the back queue on disk; step back when it sorts before what was read."""
        self.cursor = min(self.cursor, ready_key)
