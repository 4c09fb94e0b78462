"""A gap per IP address, so that a thousand names on one server are not a thousand clients."""

from dataclasses import dataclass

ADDRESSES_MAX = 100_000
"""Addresses remembered; those whose gap is over are forgotten first, when the limit is reached."""


@dataclass(slots=True)
class _Turns:
    """`begun_at`: when the last contact began. `next_at`: the first moment that belongs to nobody yet."""

    begun_at: float
    next_at: float


class AddressGap:
    """Hands out the moments at which contacts with an address may begin, `gap_s` apart. Monotonic seconds.

    `quiet_until`: no address is contacted before, for nobody remembers when the process before contacted it.

    Who may not begin now gets a moment of its own, so that those who wait come back one by one and not all at once.
    """

    def __init__(self, gap_s: float, quiet_until: float = 0.0) -> None:
        self.gap_s = gap_s
        self._quiet_until = quiet_until
        self._turns: dict[str, _Turns] = {}

    def __len__(self) -> int:
        return len(self._turns)

    def change(self, gap_s: float, now: float) -> None:
        """Another gap from now on. A longer one holds at once, also where nobody remembers the last contact."""
        if gap_s > self.gap_s:
            self._quiet_until = max(self._quiet_until, now + gap_s)
            if self.gap_s <= 0:
                self._turns.clear()  # without a gap nobody kept them
        self.gap_s = gap_s

    def take(self, address: str, now: float, held: float | None = None) -> float:
        """`now`: the contact begins, or the later moment that belongs to the caller from here on, to be `held`.

        Moments that passed unused (a pause, no place among the fetches) are worth nothing where another contact began
        meanwhile: who held one waits its gap, at the end of the queue unless it was only a trifle late.
        """
        if self.gap_s <= 0:
            return now
        turns = self._turns.get(address)
        if turns is None:
            self._make_room(now)
            quiet = _Turns(self._quiet_until - self.gap_s, self._quiet_until)
            turns = self._turns[address] = quiet if now < self._quiet_until else _Turns(float("-inf"), now)
        free_at = turns.begun_at + self.gap_s
        is_its_turn = (held is not None and held <= now) or turns.next_at <= now
        if is_its_turn and free_at <= now:
            turns.begun_at, turns.next_at = now, max(turns.next_at, now + self.gap_s)
            return now
        if held is not None and free_at - now < self.gap_s / 2:
            return max(held, free_at)
        at = max(turns.next_at, free_at)
        turns.next_at = at + self.gap_s
        return at

    def _make_room(self, now: float) -> None:
        if len(self._turns) >= ADDRESSES_MAX:
            self._turns = {known: turns for known, turns in self._turns.items() if turns.next_at > now}
