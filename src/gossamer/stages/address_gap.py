"""A gap per IP address, so that a thousand names on one server are not a thousand clients."""

ADDRESSES_MAX = 100_000
"""Addresses remembered; those whose gap is over are forgotten first, when the limit is reached."""


class AddressGap:
    """Hands out the moments at which a contact with an address may begin, each `gap_s` after the one before."""

    def __init__(self, gap_s: float) -> None:
        self.gap_s = gap_s
        self._next_at: dict[str, float] = {}
        self._began_at: dict[str, float] = {}

    def reserve(self, address: str, now: float) -> float:
        """The moment (monotonic seconds, `now` or later) that now belongs to the caller."""
        if self.gap_s <= 0:
            return now
        if len(self._next_at) >= ADDRESSES_MAX:
            self._next_at = {known: at for known, at in self._next_at.items() if at > now}
            self._began_at = {known: at for known, at in self._began_at.items() if known in self._next_at}
        at = max(now, self._next_at.get(address, now))
        self._next_at[address] = at + self.gap_s
        return at

    def begin(self, address: str, reserved_at: float, now: float) -> float:
        """When the owner of a reserved moment may begin; it begins when that is not after `now`.

        Later than reserved where the one before began late (a busy loop): the gap is kept between begins, not plans.
        """
        if self.gap_s <= 0:
            return now
        at = max(reserved_at, self._began_at.get(address, float("-inf")) + self.gap_s)
        if at <= now:
            self._began_at[address] = now
        return at
