"""Contact logs for tests, told contact by contact; and what an audit of them finds."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gossamer.core.audit import Audit
from gossamer.core.audit_pace import Violation
from gossamer.core.contacts import BeginContact, ContactRecord, Delays, EndContact, RunFacts
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import UnreachableMode

NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
PLAIN = Delays(gap_s=1.0, crawl_delay_s=None, per_address_delay_s=0.1, delay_s=1.0, delay_factor=10.0, delay_max_s=60.0)
OPEN = "aa"
BODIES = {
    OPEN: b"User-agent: *\nDisallow: /private\n",
    "cc": b"User-agent: *\nCrawl-delay: 5\n",
    "dd": b"User-agent: tester\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
}


def facts(at_s: float = 0.0, **changes: Any) -> RunFacts:
    plain: dict[str, Any] = {
        "started_at": NOON + timedelta(seconds=at_s),
        "started_monotonic_s": at_s,
        "agent": "gossamer",
        "robots_unreachable": UnreachableMode.RFC,
        "robots_off": (),
    }
    return RunFacts(**(plain | changes))


class ContactStory:
    """Writes records; moments are seconds after noon, on both clocks. Hosts have addresses of their own."""

    def __init__(self, **rules: Any) -> None:
        self.records: list[ContactRecord] = []
        self.run = 1
        self.boot = "b1"
        self.boot_at_s = 0.0
        self._facts: RunFacts | None = facts(**rules)
        self._number = 0
        self._fetched: dict[str, float] = {}

    def restart(self, at_s: float, *, boot: str = "b1", **rules: Any) -> "ContactStory":
        """Another process; with another boot the monotonic clock begins anew."""
        if boot != self.boot:
            self.boot, self.boot_at_s = boot, at_s
        self.run += 1
        self._facts = facts(at_s, started_monotonic_s=at_s - self.boot_at_s, **rules)
        return self

    def begin(self, at_s: float, url: str = "http://a.test/", **changes: Any) -> str:
        """A page, by robots.txt that was read before and allows it. Gives its id."""
        host = url.split("/")[2]
        self._number += 1
        fetched_s = self._fetched.get(host, at_s)
        plain: dict[str, Any] = {
            "id": f"{self.run}-{self._number}",
            "crawl": "c1",
            "wall_time": NOON + timedelta(seconds=at_s),
            "monotonic_s": at_s - self.boot_at_s,
            "boot": self.boot,
            "owner_epoch": 0,
            "host": host,
            "address": f"at {host}",
            "port": 80,
            "method": "GET",
            "url": url,
            "purpose": "page",
            "rule_epoch": 1,
            "rule_reason": "fresh",
            "rule_body": OPEN,
            "delays": PLAIN,
            "rule_fetched_at": NOON + timedelta(seconds=fetched_s),
            "run": self._facts,
        }
        begin = BeginContact(**(plain | changes))
        self._facts = None
        self.records.append(begin)
        return begin.id

    def end(self, contact_id: str, at_s: float, status: int | None = 200, **changes: Any) -> "ContactStory":
        begin = next(r for r in self.records if isinstance(r, BeginContact) and r.id == contact_id)
        plain: dict[str, Any] = {
            "id": contact_id,
            "wall_time": NOON + timedelta(seconds=at_s),
            "monotonic_s": at_s - self.boot_at_s,
            "outcome": "answered" if status else "connect-timeout",
            "status": status,
            "retry_after_s": None,
            "duration_s": at_s - self.boot_at_s - begin.monotonic_s,
        }
        self.records.append(EndContact(**(plain | changes)))
        return self

    def robots(self, at_s: float, host: str = "a.test", status: int | None = 200, **changes: Any) -> "ContactStory":
        """A contact for robots.txt that ends at once."""
        unknown = {"rule_reason": "unknown", "rule_body": "", "rule_fetched_at": None}
        named = {"purpose": "robots", "rules_for": f"http://{host}"}
        if status is not None and status < 500 and status != 429:
            self._fetched[host] = at_s
        return self.end(self.begin(at_s, f"http://{host}/robots.txt", **(unknown | named | changes)), at_s, status)

    def page(
        self, at_s: float, url: str = "http://a.test/", took_s: float = 0.0, status: int | None = 200, **changes: Any
    ) -> "ContactStory":
        """A page that is over after `took_s`."""
        retry_after_s = changes.pop("retry_after_s", None)
        contact_id = self.begin(at_s, url, **changes)
        return self.end(contact_id, at_s + took_s, status, retry_after_s=retry_after_s)

    def audit(self, host: str | None = None) -> Audit:
        """An audit that has taken the whole story."""
        audit, _ = audited(self.records, host)
        return audit

    def violations(self, host: str | None = None) -> list[Violation]:
        _, found = audited(self.records, host)
        return found

    def wrongs(self, host: str | None = None) -> list[str]:
        """What is wrong, in order: 'kind url'."""
        return [f"{violation.wrong} {violation.begin.url}" for violation in self.violations(host)]


def audited(
    records: Iterable[ContactRecord], host: str | None = None, bodies: Mapping[str, bytes] | None = None
) -> tuple[Audit, list[Violation]]:
    texts = BODIES if bodies is None else bodies

    def rules_of(key: str, agent: str) -> RobotsRules | None:
        body = texts.get(key)
        return None if body is None else parse_robots(body).rules_for(agent)

    audit = Audit(rules_of, facts(), host)
    return audit, [violation for record in records for violation in audit.take(record)]
