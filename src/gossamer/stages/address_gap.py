"""A gap per IP address, so that a thousand names on one server are not a thousand clients."""

ADDRESSES_MAX = 100_000
"""Addresses remembered; those whose gap is over are forgotten first, when the limit is reached."""


class AddressGap:
    """Hands out the moments at which a contact with an address may begin, each `gap_s` after the one before."""

    def __init__(self, gap_s: float) -> None:
        self.gap_s = gap_s
        self._next_at: dict[str, float] = {}

    def reserve(self, address: str, now: float) -> float:
        """The moment (monotonic seconds, `now` or later) that now belongs to the caller."""
        if self.gap_s <= 0:
            return now
        if len(self._next_at) >= ADDRESSES_MAX:
            self._next_at = {known: at for known, at in self._next_at.items() if at > now}
        at = max(now, self._next_at.get(address, now))
        self._next_at[address] = at + self.gap_s
        return at
