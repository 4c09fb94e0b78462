"""The records of the contact log: what is written down before and after each contact, and in which JSON names.

Who writes them is `stages.fetch`, where to is an adapter's business, and what they prove `audit`'s.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from gossamer.core.politeness import DelayRules
from gossamer.core.robots_copy import UnreachableMode


def _json_name(name: str) -> str:
    """camelCase, with the unit as a word: `delay_max_s` is `delayMaxSeconds`."""
    words = (name[:-2] + "_seconds" if name.endswith("_s") else name).split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


class Moment(NamedTuple):
    """A point in time on both clocks, as one process saw it; the monotonic clock counts within a boot."""

    boot: str
    run_id: str
    monotonic_s: float
    wall: datetime

    def until(self, later: "Moment") -> float:
        """Seconds from here to there."""
        if self.boot == later.boot:
            return later.monotonic_s - self.monotonic_s
        return (later.wall - self.wall).total_seconds()


class Delays(msgspec.Struct, frozen=True, kw_only=True, rename=_json_name):
    """The delays in force as the contact began: `--delay`, `--delay-factor`, `--delay-max`, `--per-address-delay`.

    crawl_delay_s: what robots.txt asks, None for nothing. gap_s: the host's after its last good answer.
    """

    gap_s: float
    crawl_delay_s: float | None
    per_address_delay_s: float
    delay_s: float
    delay_factor: float
    delay_max_s: float

    @property
    def rules(self) -> DelayRules:
        """As `politeness` takes them."""
        return DelayRules(self.delay_s, self.delay_factor, self.delay_max_s)


class RunFacts(msgspec.Struct, frozen=True, kw_only=True, rename=_json_name):
    """What holds for all contacts of one process: when it took up the log, and how it reads robots.txt."""

    started_at: datetime
    started_monotonic_s: float
    agent: str
    robots_unreachable: UnreachableMode
    robots_off: tuple[str, ...]


class BeginContact(
    msgspec.Struct, frozen=True, kw_only=True, rename=_json_name, tag="begin", tag_field="record", omit_defaults=True
):
    """A contact about to be made.

    id: unique in the directory, `RUN-NUMBER`. wall_time: UTC; monotonic_s: comparable within one `boot` only.
    rule_epoch and rule_reason: which robots rules were obeyed and why these; rule_body: key of their stored text,
    empty when no rules hold; rule_fetched_at: since when that is known. rules_for: whose robots.txt a contact with the
    purpose `robots` is to learn, also where a redirect led elsewhere. run: in the first record of a process.
    """

    id: str
    crawl: str
    wall_time: datetime
    monotonic_s: float
    boot: str
    owner_epoch: int
    host: str
    address: str
    port: int
    method: str
    url: str
    purpose: str
    rule_epoch: int
    rule_reason: str
    rule_body: str
    delays: Delays
    rule_fetched_at: datetime | None = None
    rules_for: str = ""
    run: RunFacts | None = None

    @property
    def run_id(self) -> str:
        """Which process made the contact."""
        return self.id.rpartition("-")[0]

    @property
    def at(self) -> Moment:
        """When it began."""
        return Moment(self.boot, self.run_id, self.monotonic_s, self.wall_time)

    @property
    def process_began(self) -> Moment | None:
        """When its process took up the log, where the record says so."""
        if self.run is None:
            return None
        return Moment(self.boot, self.run_id, self.run.started_monotonic_s, self.run.started_at)


class EndContact(msgspec.Struct, frozen=True, kw_only=True, rename=_json_name, tag="end", tag_field="record"):
    """How the contact of this id ended. `status` None when no answer came, `retry_after_s` when none could be read."""

    id: str
    wall_time: datetime
    monotonic_s: float
    outcome: str
    status: int | None
    retry_after_s: float | None
    duration_s: float

    def ended(self, begin: BeginContact) -> Moment:
        """When the contact that `begin` began was over."""
        return Moment(begin.boot, begin.run_id, self.monotonic_s, self.wall_time)


ContactRecord = BeginContact | EndContact
