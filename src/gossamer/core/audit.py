"""The contact log replayed against the rules: was every contact allowed, when it was made and where?

`audit_pace` knows the rules about time, `audit_robots` those of robots.txt. Where the log and the texts of robots.txt
lie is others' business.
"""

from gossamer.core.audit_pace import PaceAudit, Violation
from gossamer.core.audit_robots import RobotsAudit, RulesOf
from gossamer.core.contacts import BeginContact, ContactRecord, Moment, RunFacts


class Audit:
    """Takes the records one by one, in the order of the log, and counts those of `host` (None: of all).

    `facts` hold for processes whose first record is missing. A contact without an end is over when the next process
    takes up the log.
    """

    def __init__(self, rules_of: RulesOf, facts: RunFacts, host: str | None = None) -> None:
        self._pace = PaceAudit()
        self._robots = RobotsAudit(rules_of)
        self._facts = facts
        self._host = host
        self._run_id: str | None = None
        self._seen: Moment | None = None
        self._names: set[str] = set()
        self.contacts = 0
        self.unfinished = 0
        self.smallest_margin_s: float | None = None

    def __repr__(self) -> str:
        return f"<Audit {self.contacts} contacts of {self.hosts} hosts>"

    @property
    def hosts(self) -> int:
        """Hosts that had a contact."""
        return len(self._names)

    def take(self, record: ContactRecord) -> list[Violation]:
        """What the record shows to be wrong."""
        if isinstance(record, BeginContact):
            return self._begin(record)
        begin = self._pace.end(record)
        if begin is not None:
            self._robots.end(begin, record)
            self.unfinished -= self._is_meant(begin)
        return []

    def _begin(self, begin: BeginContact) -> list[Violation]:
        if begin.run_id != self._run_id:
            self._take_over(begin)
        self._seen = begin.at
        margin_s, found = self._pace.begin(begin, self._robots.crawl_delay_s(begin, self._facts))
        found += self._robots.begin(begin, self._facts)
        if not self._is_meant(begin):
            return []
        self.contacts += 1
        self.unfinished += 1
        self._names.add(begin.host)
        if margin_s is not None and (self.smallest_margin_s is None or margin_s < self.smallest_margin_s):
            self.smallest_margin_s = margin_s
        return found

    def _take_over(self, begin: BeginContact) -> None:
        """The first contact of a process. One whose start is not in the log began after the last thing we saw."""
        self._facts = begin.run or self._facts
        began = begin.process_began or self._seen
        if began is not None:
            self._pace.restart(began)
        self._run_id = begin.run_id

    def _is_meant(self, begin: BeginContact) -> bool:
        return self._host is None or begin.host == self._host
