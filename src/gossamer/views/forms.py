"""How values appear outside: times and states. One form each, whatever command shows them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from gossamer.core.rows import State

SECONDS_MAX = 253_402_300_799  # the end of the year 9999, where RFC 3339 ends


def rfc3339(seconds: float | None) -> str | None:
    """Seconds since 1970 as `2026-05-02T10:00:00.123Z`; None where there is no such moment (0, never, nonsense)."""
    if seconds is None or not 0 < seconds <= SECONDS_MAX:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def counts_by_state(counts: Sequence[int]) -> dict[str, int]:
    """Counts by the names of the states, all of them."""
    return {state.label: counts[state] for state in State}


def states_named(labels: Sequence[str]) -> frozenset[State]:
    """The states with these names. Raises ValueError that names the unknown ones and what is allowed."""
    known = {state.label: state for state in State}
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(f"no state {', '.join(map(repr, unknown))}; allowed: {', '.join(known)}")
    return frozenset(known[label] for label in labels)
