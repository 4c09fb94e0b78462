"""The contact log against the rules about time, and the words for what a contact did wrong.

Believed are moments, durations, answers and the delays in force; the pauses that follow from them are worked out anew.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

from gossamer.core.contacts import BeginContact, EndContact, Moment
from gossamer.core.politeness import BACKOFF_MAX_S, DOUBLINGS_MAX, RECOVERY, DelayRules, gap_s

CLOCK_S: Final = 1e-6
"""Less than this is the arithmetic of floats and not a contact too early."""
# What a process leaves to the next one is in wall time, which a kernel slews by 500 ppm against the monotonic clock.
HANDOVER_S: Final = 0.002
SLEW: Final = 0.0005
DROPPED: Final = "dropped"
"""The outcome of a contact that a stop of ours broke off: it says nothing of the host."""


class Wrong(StrEnum):
    """What a contact did wrong."""

    OVERLAP = "overlap"  # the host's contact before had not ended
    GAP = "gap"
    CRAWL_DELAY = "crawl-delay"
    RETRY_AFTER = "retry-after"
    BACKOFF = "backoff"  # sooner after failures than their doubled gap
    REFUSAL = "refusal"  # faster after a 429 or 503 than before, or recovering too fast
    ADDRESS_GAP = "address-gap"
    LEFT_ALONE = "left-alone"  # robots.txt asks for a longer delay than the crawl would keep
    DISALLOWED = "disallowed"
    ROBOTS_AGE = "robots-age"  # asked without robots.txt, or by one older than a day
    ROBOTS_OUTAGE = "robots-outage"  # robots.txt can't be had, and the host should be closed
    ROBOTS_MISSING = "robots-missing"  # the rules that were obeyed can't be shown


class Violation(NamedTuple):
    """A contact that should not have begun then. `needed_s` and `had_s` are None where it is no matter of time."""

    wrong: Wrong
    begin: BeginContact
    needed_s: float | None = None
    had_s: float | None = None
    detail: str = ""


class _Answer(StrEnum):
    GOOD = "good"
    REFUSED = "refused"
    FAILED = "failed"
    NOTHING = "nothing"


class _Last(NamedTuple):
    """The contact of a host that ended last."""

    ended: Moment
    rules: DelayRules
    crawl_delay_s: float
    duration_s: float
    answer: _Answer


class _Pause(NamedTuple):
    """No contact before so long after that moment, or else this is wrong."""

    wrong: Wrong
    since: Moment
    needed_s: float


@dataclass(slots=True)
class _Host:
    """A host between contacts. `slow_s`: the least pause since a refusal. `wish`: the Retry-After that ends last."""

    open_id: str = ""
    last: _Last | None = None
    wish: _Pause | None = None
    failures: int = 0
    refusals: int = 0
    calm_gap_s: float = 0.0
    slow_s: float = 0.0


class PaceAudit:
    """Takes the records in the order of the log. Memory: some numbers a host and an address, contacts in flight."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._addresses: dict[str, Moment] = {}
        self._in_flight: dict[str, BeginContact] = {}

    def __repr__(self) -> str:
        return f"<PaceAudit {len(self._hosts)} hosts, {len(self._in_flight)} contacts in flight>"

    def restart(self, at: Moment) -> None:
        """Another process writes from here on: what its forerunner had in flight is over, nobody knows how."""
        for begin in self._in_flight.values():
            host = self._hosts[begin.host]
            host.open_id, host.last = "", _last(begin, at, 0.0, _Answer.NOTHING)
        self._in_flight.clear()

    def begin(self, begin: BeginContact, crawl_delay_s: float) -> tuple[float | None, list[Violation]]:
        """What is wrong with the moment of a contact, and by how much the tightest pause was kept.

        crawl_delay_s: what robots.txt asks of the host, 0 for nothing. The margin is None for a first contact.
        """
        host, at = self._hosts.setdefault(begin.host, _Host()), begin.at
        found, pauses = list[Violation](), list[_Pause]()
        if host.open_id:
            found.append(Violation(Wrong.OVERLAP, begin, detail=f"contact {host.open_id} had not ended"))
            self._in_flight.pop(host.open_id, None)
        elif host.last is not None:
            pauses = _host_pauses(host, host.last, begin, crawl_delay_s)
        margin_s, too_early = _kept(pauses, begin, at)
        address_margin_s, too_close = _kept(self._address_pauses(begin), begin, at)
        self._addresses[begin.address] = at
        host.open_id, self._in_flight[begin.id] = begin.id, begin
        margins = [margin for margin in (margin_s, address_margin_s) if margin is not None]
        return min(margins, default=None), [*found, *too_early, *too_close]

    def end(self, end: EndContact) -> BeginContact | None:
        """The contact that ended; None when its begin is not in this log, or was given up for one that overlapped."""
        begin = self._in_flight.pop(end.id, None)
        if begin is None:
            return None
        host, ended = self._hosts[begin.host], end.ended(begin)
        host.open_id, host.last = "", _last(begin, ended, end.duration_s, _answer_of(end))
        if host.last.answer is _Answer.REFUSED and end.retry_after_s is not None:
            wish = _Pause(Wrong.RETRY_AFTER, ended, end.retry_after_s)
            if host.wish is None or host.wish.since.until(ended) + wish.needed_s > host.wish.needed_s:
                host.wish = wish
        return begin

    def _address_pauses(self, begin: BeginContact) -> list[_Pause]:
        """From begin to begin, whatever the hosts."""
        before = self._addresses.get(begin.address)
        needed_s = begin.delays.per_address_delay_s
        return [_Pause(Wrong.ADDRESS_GAP, before, needed_s)] if before and needed_s else []


def _answer_of(end: EndContact) -> _Answer:
    """As `politeness`: any answer below 500 except 429 is a good one; beyond 599 is one, but of no healthy host."""
    status = end.status
    if end.outcome == DROPPED or (status is not None and status >= 600):
        return _Answer.NOTHING
    if status in (429, 503):
        return _Answer.REFUSED
    return _Answer.GOOD if status is not None and status < 500 else _Answer.FAILED


def _last(begin: BeginContact, ended: Moment, duration_s: float, answer: _Answer) -> _Last:
    return _Last(ended, begin.delays.rules, begin.delays.crawl_delay_s or 0.0, duration_s, answer)


def _host_pauses(host: _Host, last: _Last, begin: BeginContact, crawl_delay_s: float) -> list[_Pause]:
    """What the host is owed. Called once a contact, for it takes in what the last answer said.

    Delays may have changed since the last contact began. What its answer asks for follows from those of then; the gap
    is that of those in force now: longer ones hold at once, and of shorter ones more was kept.
    """
    then_s = gap_s(last.rules, None, last.duration_s)
    wrong, slow_s = _after_answer(host, last.answer, max(then_s, min(last.crawl_delay_s, crawl_delay_s)))
    pauses = [
        _Pause(Wrong.GAP, last.ended, gap_s(begin.delays.rules, None, last.duration_s)),
        _Pause(Wrong.CRAWL_DELAY, last.ended, crawl_delay_s),
        _Pause(wrong, last.ended, slow_s),
    ]
    return [*pauses, host.wish] if host.wish is not None else pauses


def _after_answer(host: _Host, answer: _Answer, gap_s: float) -> tuple[Wrong, float]:
    """The pause that failures and refusals ask for; the counts of the host move on (docs/politeness.md)."""
    match answer:
        case _Answer.GOOD:
            host.failures = host.refusals = 0
            host.calm_gap_s = gap_s
            host.slow_s *= RECOVERY
            if host.slow_s <= gap_s:
                host.slow_s = 0.0
            return Wrong.REFUSAL, host.slow_s
        case _Answer.REFUSED:
            host.failures, host.refusals = host.failures + 1, host.refusals + 1
            host.calm_gap_s = max(host.calm_gap_s, gap_s)
            host.slow_s = max(host.slow_s, _doubled(host.calm_gap_s, host.refusals))
            return Wrong.REFUSAL, max(host.slow_s, _doubled(host.calm_gap_s, host.failures))
        case _Answer.FAILED:
            host.failures += 1
            return Wrong.BACKOFF, max(host.slow_s, _doubled(gap_s, host.failures))
        case _Answer.NOTHING:
            return Wrong.GAP, gap_s
        case _:
            assert_never(answer)


def _doubled(gap_s: float, times: int) -> float:
    return max(gap_s, min(gap_s * 2.0 ** min(times, DOUBLINGS_MAX), BACKOFF_MAX_S))


def _kept(pauses: list[_Pause], begin: BeginContact, at: Moment) -> tuple[float | None, list[Violation]]:
    """By how much the pause was kept that was kept least, and the violation when it was not."""
    margin_s, found = None, list[Violation]()
    for pause in pauses:
        had_s = pause.since.until(at)
        kept_s = had_s - pause.needed_s + _allowance_s(pause, at)
        if margin_s is not None and margin_s <= kept_s:
            continue
        margin_s = kept_s
        if kept_s < -CLOCK_S:
            is_overlap = had_s < -CLOCK_S and pause.wrong is not Wrong.ADDRESS_GAP
            found = [Violation(Wrong.OVERLAP if is_overlap else pause.wrong, begin, pause.needed_s, had_s)]
    return margin_s, found


def _allowance_s(pause: _Pause, at: Moment) -> float:
    """What the clocks of two processes may differ by."""
    return 0.0 if pause.since.run_id == at.run_id else HANDOVER_S + SLEW * pause.needed_s
