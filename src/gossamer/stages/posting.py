"""One batch while it is being written: what becomes durable, and what memory is told afterwards."""

from dataclasses import dataclass, field

from gossamer.core.messages import ParseJob
from gossamer.core.patterns import year_of
from gossamer.core.rows import TallyRow
from gossamer.ports.partition_store import Batch
from gossamer.stages.front_queues import Place
from gossamer.stages.host_queue import HostQueue, Site


@dataclass(slots=True)
class Posting:
    """`at` is wall time. Hosts by their keys: `hosts` and `tallies` have rows to write, `urgent` have a new sitemap,
    `left` give up their places on the workbench for the level and order named, or (None) for that of their best URL.
    `site_of` is what was looked up. Sites by their keys; of those in `grown` the parked hosts may go on.
    """

    batch: Batch
    at: float
    hosts: dict[bytes, HostQueue] = field(default_factory=dict)
    tallies: dict[bytes, TallyRow] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    site_of: dict[bytes, Site] = field(default_factory=dict)
    grown: list[int] = field(default_factory=list)
    left: dict[bytes, tuple[int, int] | None] = field(default_factory=dict)
    urgent: set[bytes] = field(default_factory=set)
    placed: list[Place] = field(default_factory=list)
    captured: list[ParseJob] = field(default_factory=list)
    released: list[tuple[HostQueue, bytes]] = field(default_factory=list)
    found: list[tuple[bytes, str]] = field(default_factory=list)
    waiting: list[bytes] = field(default_factory=list)
    segments: dict[str, int] = field(default_factory=dict)

    @property
    def year(self) -> int:
        """Of `at`, within a day."""
        return year_of(self.at)
