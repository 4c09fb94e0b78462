"""How many hosts must be in memory to keep the fetches busy: from what is measured, not from a quoted ratio."""

from math import ceil
from typing import Final

BOUNDS: Final = (4_096, 16_384)  # some 20 MB: a crawl of fewer hosts never waits for a place; some 130 MB
HEADROOM: Final = 2.0  # a rate that the workbench itself holds down can double at each look


def hosts_busy(pages_per_second: float, fetch_s: float, gap_s: float) -> float:
    """Hosts that fetch or rest at any moment: rate × (fetch time + gap), by Little's law (1961)."""
    return pages_per_second * (fetch_s + gap_s)


def places(pages_per_second: float, fetch_s: float, gap_s: float, bounds: tuple[int, int] = BOUNDS) -> int:
    """Places on the workbench at this rate, mean fetch time and mean gap; `bounds` are the fewest and the most."""
    fewest, most = bounds
    return max(fewest, min(most, ceil(HEADROOM * hosts_busy(pages_per_second, fetch_s, gap_s))))
