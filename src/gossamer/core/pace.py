"""How fast a crawl is and when it may end: a rate over a sliding window, and an estimate where one is honest."""

from collections import deque

WINDOW_S = 10.0
SAMPLES_MAX = 64


class Pace:
    """Pages a second over the last WINDOW_S, from counts given now and then."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES_MAX)

    def count(self, fetched: int, at: float) -> None:
        """`fetched` pages in all at monotonic time `at`."""
        self._samples.append((at, fetched))
        while len(self._samples) > 2 and self._samples[1][0] <= at - WINDOW_S:
            self._samples.popleft()

    @property
    def pages_per_second(self) -> float:
        """0 until two counts lie apart."""
        if len(self._samples) < 2:
            return 0.0
        (first_at, first), (last_at, last) = self._samples[0], self._samples[-1]
        return (last - first) / (last_at - first_at) if last_at > first_at else 0.0

    def eta_s(self, left: int) -> float | None:
        """Seconds until `left` more pages are fetched at this pace; None when nothing moves."""
        rate = self.pages_per_second
        return left / rate if rate > 0 else None
