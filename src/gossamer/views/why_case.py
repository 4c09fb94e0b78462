"""What an explanation is made of: the case (one crawl, its rules, a moment) and the steps."""

from dataclasses import dataclass

import msgspec

from gossamer.core.admission import Admissibility
from gossamer.core.budget import Ceilings
from gossamer.core.politeness import DelayRules
from gossamer.core.robots_copy import UnreachableMode
from gossamer.core.rows import CrawlRow
from gossamer.ports.partition_store import PartitionStore


class Step(msgspec.Struct, omit_defaults=True):
    """One decision: on what, how it fell, because of what, and at which moment. `rule` and `line` are robots.txt's."""

    what: str
    decision: str
    because: str
    at: str | None = None
    rule: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """What the configuration of a crawl says about a single URL."""

    admissibility: Admissibility
    ceilings: Ceilings
    delay: DelayRules
    robots_mode: UnreachableMode
    robots_off: frozenset[str]
    agent: str
    seen: str = "exact"


@dataclass(frozen=True, slots=True)
class Case:
    """Where the facts are. `now` is wall time; `is_running`: whether a process crawls this crawl now."""

    partition: PartitionStore
    crawl: CrawlRow
    rules: CrawlRules
    now: float
    is_running: bool
