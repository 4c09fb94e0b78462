"""The breaker: a host that fails ten times in a row rests for an hour, then gets one probe an hour, then is given up.

See docs/politeness.md. The count itself is kept by `politeness`; here is what it means.
"""

from typing import Final

from gossamer.core.politeness import FAILURES_MAX, PARKED_S, HostManners

PROBES_MAX: Final = 24
DEAD_S: Final = 24 * 3600.0  # how long a host that was given up stays so; then it may be probed again


def is_parked(manners: HostManners) -> bool:
    """Whether the breaker is open: contacts are probes, which cost their URL no attempt."""
    return manners.failures >= FAILURES_MAX


def is_dead(manners: HostManners, now: float) -> bool:
    """Whether all probes have failed. `now` on the clock of `manners`."""
    has_spent_probes = manners.failures >= FAILURES_MAX + PROBES_MAX
    return has_spent_probes and now < manners.next_allowed_at - PARKED_S + DEAD_S
