"""The clocks of a simulated world, both driven by the running loop."""

import asyncio

WALL_START_S = 1_800_000_000.0
"""Wall time as a simulation begins: 2027-01-15T08:00:00Z."""


class SimClock:
    """See `ports.clock.Clock`."""

    def now(self) -> float:
        """See `ports.clock.Clock`."""
        return WALL_START_S + asyncio.get_running_loop().time()

    def monotonic(self) -> float:
        """See `ports.clock.Clock`."""
        return asyncio.get_running_loop().time()

    async def sleep_until(self, monotonic_s: float) -> None:
        """See `ports.clock.Clock`."""
        await asyncio.sleep(max(0.0, monotonic_s - asyncio.get_running_loop().time()))
