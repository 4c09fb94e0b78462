"""The ladder of one URL: when it is tried again, and when it is given up. The host's pause is in `politeness`."""

from dataclasses import dataclass
from typing import Final, assert_never

from gossamer.core.outcome import Denied, Failed, Fetched, Outcome, Redirected, ServerFailed, Throttled, Unreachable

JITTER: Final = 0.1
DOUBLINGS_MAX: Final = 30  # keeps the power finite where a configuration asks for hundreds of attempts


@dataclass(frozen=True, slots=True)
class RetryRules:
    """`--attempts`, `--retry-base`."""

    attempts_max: int = 5
    base_s: float = 60.0


def retry_at(attempts: int, now: float, u: float, rules: RetryRules) -> float | None:
    """When a URL that has failed `attempts` times (the failure at `now` included) is due; None: a dead letter.

    now + base × 2^(attempts−1) × U(1, 1.1), `u` in [0, 1) being the draw (docs/politeness.md).
    """
    if attempts >= rules.attempts_max:
        return None
    doublings = min(max(attempts - 1, 0), DOUBLINGS_MAX)
    return now + rules.base_s * 2.0**doublings * (1 + JITTER * u)


def is_transient(outcome: Outcome) -> bool:
    """Whether the same URL may answer better later. Everything else is recorded and not retried."""
    match outcome:
        case Throttled() | ServerFailed() | Unreachable():
            return True
        case Fetched() | Redirected() | Failed() | Denied():
            return False
        case _:
            assert_never(outcome)
