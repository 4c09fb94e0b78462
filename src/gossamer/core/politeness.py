"""The host's manners: how long it rests after each contact. What happens to the URL is in `url_life`.

See docs/politeness.md. The numbers of a host change only here; what a long row of failures means is in `breaker`.
"""

from dataclasses import dataclass, replace
from typing import Final, assert_never

from gossamer.core.outcome import Denied, Failed, Fetched, Outcome, Redirected, ServerFailed, Throttled, Unreachable

BACKOFF_MAX_S: Final = 3600.0
DOUBLINGS_MAX: Final = 32  # keeps the power finite; BACKOFF_MAX_S has cut long before, unless the gap is < 1 µs
JITTER: Final = 0.1  # waits nobody named are stretched by up to a tenth, so that hosts do not return in step
# After a refusal the enforced pause shrinks to 4/5 with each answer. From one doubling the host is back at its gap
# after 4 answers, from an hour at a 1 s gap after 37.
RECOVERY: Final = 0.8
FAILURES_MAX: Final = 10  # in a row: the breaker opens, see `breaker`
PARKED_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class DelayRules:
    """`--delay`, `--delay-factor`, `--delay-max`."""

    delay_s: float = 1.0
    delay_factor: float = 10.0
    delay_max_s: float = 60.0


@dataclass(frozen=True, slots=True)
class HostManners:
    """What politeness remembers of a host.

    failures: consecutive, for the breaker. refusals: consecutive 429 and 503. gap_s: the gap after its last good
    answer. slow_s: the least pause since a refusal, 0 when none is in force. ended_at, took_s: its last contact, by
    which other delays than those of then are worked out; that which took no time was none.
    """

    next_allowed_at: float = 0.0
    failures: int = 0
    refusals: int = 0
    gap_s: float = 0.0
    slow_s: float = 0.0
    ended_at: float = float("-inf")
    took_s: float = 0.0

    def at(self, next_allowed_at: float, ahead_s: float) -> "HostManners":
        """The same with another moment, by a clock that is so far ahead of ours."""
        return replace(self, next_allowed_at=next_allowed_at, ended_at=self.ended_at + ahead_s)

    def ended(self, ended_at: float, took_s: float) -> "HostManners":
        """The same with that contact as the last one. A name that did not resolve took none of the host's time."""
        return replace(self, ended_at=ended_at, took_s=took_s or self.took_s)

    def owed_until(self, rules: DelayRules, crawl_delay_s: float | None) -> float:
        """No contact before, by the delays in force now; they may be others than when the last contact ended."""
        return self.ended_at + gap_s(rules, crawl_delay_s, self.took_s)


def gap_s(rules: DelayRules, crawl_delay_s: float | None, last_download_s: float) -> float:
    """Seconds from the end of a contact to the next, when all is well."""
    return max(rules.delay_s, crawl_delay_s or 0.0, min(rules.delay_factor * last_download_s, rules.delay_max_s))


def crawl_delay_too_long(rules: DelayRules, crawl_delay_s: float | None) -> bool:
    """A wish above `delay_max_s` is never shortened: the host is left alone."""
    return crawl_delay_s is not None and crawl_delay_s > rules.delay_max_s


def after_contact(manners: HostManners, outcome: Outcome, ended_at: float, gap_s: float, u: float = 0.0) -> HostManners:
    """The host's manners once a contact ended at `ended_at`. `gap_s` is this contact's, `u` in [0, 1) the jitter's.

    Transient outcomes: end + max(gap, Retry-After, min(gap × 2^failures, 1 h)). Answers below 500 except 429 reset
    the count. `Denied` was no contact and changes nothing. Never moves `next_allowed_at` back.
    """
    match outcome:
        case Fetched() | Redirected() | Failed():
            return _after_answer(manners, outcome.status, ended_at, gap_s)
        case Throttled(retry_after_s=wish):
            return _after_refusal(manners, wish, ended_at, gap_s, u)
        case ServerFailed() | Unreachable():
            failures = manners.failures + 1
            pause_s = max(manners.slow_s, _doubled(gap_s, failures), _parked(failures))
            return replace(manners, failures=failures, next_allowed_at=_later(manners, ended_at + pause_s))
        case Denied():
            return manners
        case _:
            assert_never(outcome)


def _after_answer(manners: HostManners, status: int, ended_at: float, gap_s: float) -> HostManners:
    """The pause that a refusal enforced shrinks step by step until the gap has caught up with it."""
    if status >= 500:  # a status beyond 599: an answer, but none that shows a healthy host
        return replace(manners, next_allowed_at=_later(manners, ended_at + max(gap_s, manners.slow_s)))
    slow_s = manners.slow_s * RECOVERY
    if slow_s <= gap_s:
        slow_s = 0.0
    next_allowed_at = _later(manners, ended_at + max(gap_s, slow_s))
    return replace(manners, next_allowed_at=next_allowed_at, failures=0, refusals=0, gap_s=gap_s, slow_s=slow_s)


def _after_refusal(manners: HostManners, wish_s: float | None, ended_at: float, gap_s: float, u: float) -> HostManners:
    """A 503 is often quick, and a gap measured by it short: the gap from before the refusals counts too.

    Otherwise a slow host that begins to refuse would be contacted faster than before.
    """
    failures, refusals = manners.failures + 1, manners.refusals + 1
    calm_gap_s = max(gap_s, manners.gap_s)
    slow_s = max(manners.slow_s, _doubled(calm_gap_s, refusals))
    pause_s = max(slow_s, _doubled(calm_gap_s, failures), _parked(failures))
    if wish_s is None:
        pause_s = max(pause_s, min(pause_s * (1 + JITTER * u), BACKOFF_MAX_S))
    return replace(
        manners,
        next_allowed_at=_later(manners, ended_at + max(pause_s, wish_s or 0.0)),
        failures=failures,
        refusals=refusals,
        gap_s=calm_gap_s,
        slow_s=slow_s,
    )


def _parked(failures: int) -> float:
    return PARKED_S if failures >= FAILURES_MAX else 0.0


def _doubled(gap_s: float, times: int) -> float:
    return max(gap_s, min(gap_s * 2.0 ** min(times, DOUBLINGS_MAX), BACKOFF_MAX_S))


def _later(manners: HostManners, at: float) -> float:
    return max(manners.next_allowed_at, at)
