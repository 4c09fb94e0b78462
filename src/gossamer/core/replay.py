"""What a host's manners must be after a kill: the contacts that the log knows and the last batch does not.

The log is written before and after every contact, host rows only with the batch that settles it. A row that is durable
counts every contact up to its next-allowed time; what began later is taken in again here, as `politeness` would have.
"""

from dataclasses import replace
from typing import Final

from gossamer.core.audit_pace import DROPPED
from gossamer.core.contacts import BeginContact, EndContact
from gossamer.core.outcome import Failed, Outcome, Reason, ServerFailed, Throttled, Unreachable
from gossamer.core.politeness import HostManners, after_contact, gap_s

CLOCK_GRAIN_S: Final = 0.001
"""The log has microseconds; a contact begins at the very moment at which it may."""


def replayed(manners: HostManners, begin: BeginContact, end: EndContact | None, restarted_at: float) -> HostManners:
    """`manners` (in wall time) with one more contact, unless they count it already.

    A contact without an end was in flight at the kill: it counts as ended at the restart (seconds since 1970).
    """
    if begin.wall_time.timestamp() < manners.next_allowed_at - CLOCK_GRAIN_S:
        return manners
    duration_s = end.duration_s if end is not None else 0.0
    gap = gap_s(begin.delays.rules, begin.delays.crawl_delay_s, duration_s)
    ended_at = restarted_at if end is None else end.wall_time.timestamp()
    manners = manners.ended(ended_at, duration_s)
    if end is None or end.outcome == DROPPED:
        pause_s = max(gap, begin.delays.gap_s, manners.slow_s)
        return replace(manners, next_allowed_at=max(manners.next_allowed_at, ended_at + pause_s))
    return after_contact(manners, _outcome(end), ended_at, gap)


def _outcome(end: EndContact) -> Outcome:
    """As far as the host is concerned; what the answer was good for does not matter to it."""
    status = end.status
    if status is None:
        return Unreachable(Reason.CONNECTION_LOST)
    if status in (429, 503):
        return Throttled(status, end.retry_after_s)
    return ServerFailed(status) if 500 <= status < 600 else Failed(status)
