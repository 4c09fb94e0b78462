"""When hosts that are new to this process have their first contact: spread over one gap, so that they stay spread."""

FREE = 100
"""Hosts that may begin at once. So many pages a second are no burst, and a small crawl waits for nothing."""


class Debuts:
    """Hands out the moments of first contacts, in monotonic seconds.

    Hosts that begin together come back together a gap later, and more of them are due at once than can be served:
    3,000 hosts that had all asked for robots.txt in the first 1.5 s were 2 s late with their first pages. Spread over
    one gap, they are due at the pace that the crawl keeps from then on.
    """

    def __init__(self) -> None:
        self._full_at = 0.0

    def __repr__(self) -> str:
        return f"<Debuts: all moments before {self._full_at:.2f} are taken>"

    def take(self, now: float, hosts: int, gap_s: float) -> float:
        """The moment for one more host, `now` or later; `hosts` is how many there are, each due every `gap_s`."""
        between_s = gap_s / max(hosts, FREE)
        full_at = max(self._full_at, now)
        self._full_at = full_at + between_s
        return max(now, full_at - (FREE - 0.5) * between_s)  # the half keeps the sum of floats on its side
