"""An asyncio loop whose clock jumps: what waits for a year ends in milliseconds. No threads, no real sockets."""

import asyncio
import math
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class SimulationStuck(Exception):
    """Every task waits for something that no timer will ever bring."""


class _JumpSelector(selectors.DefaultSelector):
    """Reports ready sockets at once; otherwise moves the clock to the next timer."""

    def __init__(self, start_s: float) -> None:
        super().__init__()
        self.now_ns = math.ceil(start_s * 1e9)
        self.turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """One turn of the loop."""
        ready = super().select(0)
        if not ready and timeout is None:
            raise SimulationStuck
        # Each turn costs 1 ns. Past 2**24 s a float clock cannot show the loop's own
        # 1 ns resolution, and a timer due exactly "now" would otherwise never fire.
        self.now_ns += 1 if ready or not timeout else math.ceil(timeout * 1e9)
        self.turns += 1
        return ready


class SimLoop(asyncio.SelectorEventLoop):
    """Starts at `start_s`, so that the clock of a second life goes on where the first ended."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._jump = _JumpSelector(start_s)
        super().__init__(self._jump)

    def time(self) -> float:
        """Simulated seconds."""
        return self._jump.now_ns / 1e9

    @property
    def turns(self) -> int:
        """How often the loop went round: a busy wait shows here, because it takes no time."""
        return self._jump.turns


def simulate(main: Coroutine[Any, Any, Result], *, start_s: float = 0.0) -> Result:
    """Run `main` to its end in simulated time. Raises SimulationStuck when it can have none."""
    with asyncio.Runner(loop_factory=lambda: SimLoop(start_s)) as runner:
        return runner.run(main)
