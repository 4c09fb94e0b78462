"""Two clocks and one wait: wall time for schedules that outlive a process, monotonic time for gaps and timeouts."""

from typing import Protocol


class Clock(Protocol):
    """Time as the stages see it; the simulated twin jumps."""

    def now(self) -> float:
        """Wall time in seconds since 1970. May jump; only what is stored across restarts uses it."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""

    async def sleep_until(self, monotonic_s: float) -> None:
        """Return once `monotonic()` has reached `monotonic_s`."""
