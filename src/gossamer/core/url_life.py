"""The life of an admitted URL: one outcome in, its next state out. The table that `why`, `verify` and the docs rest on.

ready ── 2xx ─▶ captured ── parsed ─▶ fetched
  │ ▲              └─ parser failed twice ─▶ dead
  │ └ due ─ waiting ◀─ timeout, reset, DNS, 429, 5xx, cut short (attempts left)
  ├── 3xx ─▶ redirected        ├── attempts spent ─▶ dead
  ├── 4xx ─▶ failed            └── robots.txt ─▶ denied
"""

from dataclasses import dataclass
from typing import assert_never

from gossamer.core.backoff import RetryRules, retry_at
from gossamer.core.outcome import (
    Denied,
    Failed,
    Fetched,
    Outcome,
    Reason,
    Redirected,
    ServerFailed,
    Throttled,
    Truncation,
    Unreachable,
)
from gossamer.core.rows import State


@dataclass(frozen=True, slots=True)
class NextState:
    """Where the URL goes, why, and for WAITING when its turn comes (seconds since 1970)."""

    state: State
    reason: str = ""
    attempts: int = 0
    due_at: float = 0.0


def next_state(outcome: Outcome, attempts: int, at: float, retry: RetryRules, u: float) -> NextState:
    """What becomes of a URL that had `attempts` failed attempts before `outcome` arrived at `at`.

    `u` in [0, 1) is the jitter of the ladder. A body cut by time or a lost connection is tried again while attempts
    are left and then kept, marked (RFC 9112 section 8); one cut at our own size limit would be cut again.
    """
    match outcome:
        case Fetched(truncated=Truncation.DISCONNECT | Truncation.TIME as cut):
            again = _ladder(Reason.INCOMPLETE.value, attempts, at, retry, u)
            return again if again.state is State.WAITING else NextState(State.CAPTURED, f"incomplete: {cut.value}")
        case Fetched():
            return NextState(State.CAPTURED)
        case Redirected(target=target):
            return NextState(State.REDIRECTED, f"to {target}")
        case Failed(status=status, reason=reason):
            return NextState(State.FAILED, reason.value if reason else f"status {status}", attempts)
        case Denied(reason=Reason.HOST_DEAD as reason):
            return NextState(State.DEAD, reason.value, attempts)
        case Denied(reason=reason):
            return NextState(State.DENIED, reason.value, attempts)
        case Throttled(status=status) | ServerFailed(status=status):
            return _ladder(f"status {status}", attempts, at, retry, u)
        case Unreachable(reason=reason):
            return _ladder(reason.value, attempts, at, retry, u)
        case _:
            assert_never(outcome)


def _ladder(reason: str, attempts: int, at: float, retry: RetryRules, u: float) -> NextState:
    due_at = retry_at(attempts + 1, at, u, retry)
    if due_at is None:
        return NextState(State.DEAD, reason, attempts + 1)
    return NextState(State.WAITING, reason, attempts + 1, due_at)
