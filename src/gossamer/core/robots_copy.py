"""The life of one origin's copy of robots.txt: how long it holds and what is allowed when it can't be had.

What the rules say is in `robots`; who fetches and stores the body is a stage. RFC 9309 2.3.1 and 2.4;
docs/politeness.md.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, assert_never

from gossamer.core.outcome import (
    Denied,
    Failed,
    Fetched,
    Outcome,
    Redirected,
    ServerFailed,
    Throttled,
    Truncation,
    Unreachable,
)

VALID_S: Final = 24 * 3600.0  # RFC 9309 2.4
RETRY_FIRST_S: Final = 60.0
RETRY_MAX_S: Final = 3600.0
DOUBLINGS_MAX: Final = 6  # 60 s × 2^6 is past RETRY_MAX_S; keeps the power small after years of outage
OUTAGE_LONG_S: Final = 30 * 24 * 3600.0  # RFC 9309 2.3.1.4: "for example, 30 days"
GOOGLE_CLOSED_S: Final = 12 * 3600.0


class RobotsState(StrEnum):
    """How the last attempt to get robots.txt ended."""

    UNKNOWN = "unknown"
    FRESH = "fresh"
    ABSENT = "absent"
    UNREACHABLE = "unreachable"


class UnreachableMode(StrEnum):
    """`--robots-unreachable`: what an outage means."""

    RFC = "rfc"
    GOOGLE = "google"


class Permission(StrEnum):
    """What may be done on the host now."""

    ASK_ROBOTS = "ask-robots"  # nothing before robots.txt has been fetched (again)
    BY_RULES = "by-rules"  # the stored rules decide
    ALLOW_ALL = "allow-all"
    CLOSED = "closed"  # nothing; robots.txt is due at `next_try_at`


@dataclass(frozen=True, slots=True)
class Body:
    """A complete 2xx answer; the stage keeps its octets as the good copy."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A 4xx answer except 429: there are no rules (RFC 9309 2.3.1.3)."""

    status: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No answer to rely on; `reason` is a `Reason` or a status, `retry_after_s` the host's wish."""

    reason: str
    retry_after_s: float | None = None


RobotsAnswer = Body | Absent | Unavailable


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """What is known of an origin's robots.txt. Times are wall seconds.

    epoch: counts the answers (2xx, 4xx) that set what holds; an outage starts none. fetched_at: of the last of them.
    last_good_at: of the stored body, None when there is none or a 4xx has replaced it.
    failing_since, attempts: the present outage. next_try_at: robots.txt is not asked before.
    """

    state: RobotsState = RobotsState.UNKNOWN
    epoch: int = 0
    fetched_at: float | None = None
    expires_at: float = 0.0
    last_good_at: float | None = None
    failing_since: float | None = None
    attempts: int = 0
    next_try_at: float = 0.0

    def reason(self, now: float) -> str:
        """For the contact log: unknown, fresh, absent, expired or outage."""
        match self.state:
            case RobotsState.FRESH | RobotsState.ABSENT:
                return self.state.value if _is_valid(self, now) else "expired"
            case RobotsState.UNREACHABLE:
                return "outage"
            case RobotsState.UNKNOWN:
                return "unknown"
            case _:
                assert_never(self.state)


UNKNOWN_COPY: Final = RobotsCopy()


def robots_answer(outcome: Outcome) -> RobotsAnswer:
    """What the end of a robots.txt fetch means, redirects followed.

    More than five redirects and redirects that lead nowhere count as unreachable: RFC 9309 2.3.1.2 lets them pass for
    "unavailable" (allow all), we fail closed. So does a body that broke off; one cut at our size limit is complete
    for RFC 9309 2.5. A 429 is unreachable too: the host asks for less.
    """
    match outcome:
        case Fetched(truncated=None | Truncation.LENGTH):
            return Body()
        case Fetched(truncated=truncated):
            return Unavailable(f"truncated-{truncated}")
        case Failed(status=status, reason=None) if 400 <= status < 500 and status != 429:
            return Absent(status)
        case Failed(status=status, reason=reason):
            return Unavailable(reason or str(status))
        case Throttled(status=status, retry_after_s=wish):
            return Unavailable(str(status), wish)
        case ServerFailed(status=status) | Redirected(status=status):
            return Unavailable(str(status))
        case Unreachable(reason=reason) | Denied(reason=reason):
            return Unavailable(reason)
        case _:
            assert_never(outcome)


def after_answer(copy: RobotsCopy, answer: RobotsAnswer, now: float) -> RobotsCopy:
    """The copy once `answer` arrived at `now`. The same under both modes: they differ in `permission`."""
    match answer:
        case Body():
            return _answered(copy, RobotsState.FRESH, now)
        case Absent():
            return _answered(copy, RobotsState.ABSENT, now)
        case Unavailable(retry_after_s=wish):
            wait_s = min(RETRY_FIRST_S * 2 ** min(copy.attempts, DOUBLINGS_MAX), RETRY_MAX_S)
            return replace(
                copy,
                state=RobotsState.UNREACHABLE,
                failing_since=now if copy.failing_since is None else copy.failing_since,
                attempts=copy.attempts + 1,
                next_try_at=now + max(wait_s, wish or 0.0),
            )
        case _:
            assert_never(answer)


def permission(copy: RobotsCopy, now: float, mode: UnreachableMode) -> Permission:
    """What may be done at `now`. During an outage robots.txt comes first again whenever its next try is due."""
    match copy.state:
        case RobotsState.UNKNOWN:
            return Permission.ASK_ROBOTS
        case RobotsState.FRESH | RobotsState.ABSENT:
            return _by_answer(copy) if _is_valid(copy, now) else Permission.ASK_ROBOTS
        case RobotsState.UNREACHABLE:
            return Permission.ASK_ROBOTS if now >= copy.next_try_at else _during_outage(copy, now, mode)
        case _:
            assert_never(copy.state)


def _answered(copy: RobotsCopy, state: RobotsState, now: float) -> RobotsCopy:
    return RobotsCopy(
        state=state,
        epoch=copy.epoch + 1,
        fetched_at=now,
        expires_at=now + VALID_S,
        last_good_at=now if state is RobotsState.FRESH else None,
        next_try_at=now + VALID_S,
    )


def _by_answer(copy: RobotsCopy) -> Permission:
    return Permission.ALLOW_ALL if copy.last_good_at is None else Permission.BY_RULES


def _is_valid(copy: RobotsCopy, now: float) -> bool:
    """A copy from the future is none: the wall clock was set back, and asking again costs one contact."""
    return copy.fetched_at is not None and copy.fetched_at <= now < copy.expires_at


def _during_outage(copy: RobotsCopy, now: float, mode: UnreachableMode) -> Permission:
    """The table in docs/politeness.md. A 4xx answer holds for its 24 hours, but is no copy that serves afterwards."""
    outage_s = now - (now if copy.failing_since is None else copy.failing_since)
    has_copy = copy.last_good_at is not None
    match mode:
        case UnreachableMode.RFC:
            if copy.fetched_at is not None and copy.fetched_at <= now <= copy.expires_at:
                return _by_answer(copy)
            return Permission.BY_RULES if has_copy and outage_s >= OUTAGE_LONG_S else Permission.CLOSED
        case UnreachableMode.GOOGLE:
            if outage_s < GOOGLE_CLOSED_S:
                return Permission.CLOSED
            return Permission.BY_RULES if has_copy and outage_s < OUTAGE_LONG_S else Permission.ALLOW_ALL
        case _:
            assert_never(mode)
