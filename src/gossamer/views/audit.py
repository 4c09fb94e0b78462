"""The audit of the contact log as programs and people see it, and the robots.txt bodies that it rests on."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from gossamer.core.audit import Audit
from gossamer.core.audit_pace import Violation
from gossamer.core.contacts import ContactRecord, RunFacts
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.ports.partition_store import Family, PartitionStore

VIOLATIONS_MAX: Final = 1_000
"""Violations that are kept; the others are counted."""
RULES_BYTES_MAX: Final = 16 * 2**20
"""Texts whose rules are held ready; an audit of 100,000 hosts with small files of their own reads each of them once."""
RULES_BYTES_MIN: Final = 200
"""What the rules of an empty text are charged."""
TICK_EVERY: Final = 10_000


class ViolationView(msgspec.Struct, rename="camel"):
    """One contact that broke a rule. Seconds are None where it is no matter of time."""

    kind: str
    host: str
    url: str
    at: str
    needed_seconds: float | None
    had_seconds: float | None
    contact_id: str
    detail: str


class AuditView(msgspec.Struct, rename="camel"):
    """`unfinished`: contacts without an end. `smallest_margin_ms`: by how much the tightest of all pauses was kept."""

    contacts: int
    hosts: int
    violations: list[ViolationView]
    violations_total: int
    smallest_margin_ms: float | None
    unfinished: int


@dataclass(slots=True)
class AuditScope:
    """Whose contacts count, what holds for a process that does not say, and whom to tell how far it is."""

    facts: RunFacts
    host: str | None = None
    tick: Callable[[str, int], None] = field(default=lambda _what, _count: None)


def audit_view(partition: PartitionStore, records: Iterable[ContactRecord], scope: AuditScope) -> AuditView:
    """Replay the records. In memory are numbers a host, VIOLATIONS_MAX violations, RULES_BYTES_MAX of rules."""
    audit = Audit(StoredRules(partition), scope.facts, scope.host)
    kept, total = list[ViolationView](), 0
    for count, record in enumerate(records, 1):
        for violation in audit.take(record):
            total += 1
            if total <= VIOLATIONS_MAX:
                kept.append(_view(violation))
        if count % TICK_EVERY == 0:
            scope.tick("records", count)
    margin_s = audit.smallest_margin_s
    margin_ms = None if margin_s is None else round(margin_s * 1_000, 3) + 0.0
    return AuditView(audit.contacts, audit.hosts, kept, total, margin_ms, audit.unfinished)


class StoredRules:
    """Reads the robots.txt that a log names by their keys; those used last are held ready."""

    def __init__(self, partition: PartitionStore) -> None:
        self._partition = partition
        self._held: OrderedDict[tuple[str, str], tuple[RobotsRules, int]] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<StoredRules {len(self._held)} held, {self._bytes} bytes>"

    def __call__(self, key: str, agent: str) -> RobotsRules | None:
        """The rules for `agent` in the body with that key (hex); None when there is none."""
        held = self._held.get((key, agent))
        if held is not None:
            self._held.move_to_end((key, agent))
            return held[0]
        try:
            body = self._partition.get(Family.ROBOTS, bytes.fromhex(key))
        except ValueError:  # no key that we ever wrote
            return None
        if body is None:
            return None
        rules = parse_robots(body).rules_for(agent)
        self._hold((key, agent), rules, max(len(body), RULES_BYTES_MIN))
        return rules

    def _hold(self, name: tuple[str, str], rules: RobotsRules, size: int) -> None:
        self._held[name] = (rules, size)
        self._bytes += size
        while self._bytes > RULES_BYTES_MAX and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._bytes -= gone


def _view(violation: Violation) -> ViolationView:
    begin = violation.begin
    at = begin.wall_time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    return ViolationView(
        violation.wrong.value,
        begin.host,
        begin.url,
        at,
        violation.needed_s,
        violation.had_s,
        begin.id,
        violation.detail,
    )
