"""Answers of the past, each with its end. No clock: `now` (monotonic seconds) is an argument."""

from collections import OrderedDict

from gossamer.ports.dns import Resolved, Unresolved


class DnsCache:
    """At most `entries_max` names, about 400 B each; the one longest unused goes first."""

    def __init__(self, entries_max: int) -> None:
        self._entries_max = entries_max
        self._entries: OrderedDict[str, tuple[Resolved | Unresolved, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<DnsCache {len(self)} of {self._entries_max}>"

    def get(self, name: str, now: float) -> Resolved | Unresolved | None:
        """What is known of `name` at `now`."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        answer, ends_at = entry
        if now >= ends_at:
            del self._entries[name]
            return None
        self._entries.move_to_end(name)
        return answer

    def put(self, name: str, answer: Resolved | Unresolved, ends_at: float) -> None:
        """Remember until `ends_at`."""
        self._entries[name] = (answer, ends_at)
        self._entries.move_to_end(name)
        while len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)
