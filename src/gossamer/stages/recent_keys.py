"""A cache of keys seen lately, in front of the exact set on disk: the links that every page of a site repeats."""

from collections.abc import Iterable

GENERATION_MAX = 100_000
"""Keys a generation; two are held: about 20 MB."""


class RecentKeys:
    """Two generations of keys. `turn` forgets the older one; call it only when no batch is open."""

    def __init__(self) -> None:
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()

    def unknown(self, keys: list[bytes]) -> list[int]:
        """Positions of the keys that the cache does not hold."""
        young, old = self._young, self._old
        return [at for at, key in enumerate(keys) if key not in young and key not in old]

    def add(self, key: bytes) -> bool:
        """Remember a key; False when it was there already."""
        if key in self._young:
            return False
        self._young.add(key)
        return True

    def remember(self, keys: Iterable[bytes]) -> None:
        """Keys that are known to be in the set."""
        self._young.update(keys)

    def turn(self) -> None:
        """Start a new generation when the young one is full."""
        if len(self._young) >= GENERATION_MAX:
            self._old, self._young = self._young, set()
