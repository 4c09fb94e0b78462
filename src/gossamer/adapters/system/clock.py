"""The machine's clocks."""

import time


class SystemClock:
    """See `ports.clock.Clock`."""

    def now(self) -> float:
        """See `ports.clock.Clock`."""
        return time.time()  # noqa: TID251  the adapter is where the clock lives

    def monotonic(self) -> float:
        """See `ports.clock.Clock`."""
        return time.monotonic()

    async def sleep_until(self, monotonic_s: float) -> None:
        """See `ports.clock.Clock`."""
        import asyncio  # noqa: PLC0415  15 ms that commands without a loop need not pay

        await asyncio.sleep(max(0.0, monotonic_s - time.monotonic()))
