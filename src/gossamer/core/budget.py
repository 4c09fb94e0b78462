"""Exact ceilings on fetched pages: a lease reserves a unit and gives it back if it does not end in a 2xx."""

from dataclasses import dataclass

from gossamer.core.star import star_budget


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Most pages to fetch; None is no limit. `is_star`: sites also have budgets by their in-degree (`core.star`)."""

    pages: int | None = None
    pages_per_host: int | None = None
    pages_per_site: int | None = None
    pages_per_host_day: int | None = None
    hops: int | None = None
    is_star: bool = False

    @property
    def has_site_budgets(self) -> bool:
        """Whether sites are counted against a limit."""
        return self.is_star or self.pages_per_site is not None

    def of_site(self, rank: int | None) -> int | None:
        """The limit of a site of this rank by in-degree (from 1; None is below all that are ranked)."""
        limits = [limit for limit in (self.pages_per_site, star_budget(rank) if self.is_star else None) if limit]
        return min(limits, default=None)

    def allows_hop(self, hop: int) -> bool:
        """Whether a URL this far from a seed may be admitted."""
        return self.hops is None or hop <= self.hops


DAY_S = 86_400


def day_of(now: float) -> int:
    """Days since 1970, UTC: budgets a day begin anew at midnight."""
    return int(now // DAY_S)


def next_day_at(now: float) -> float:
    """The next midnight, in seconds since 1970."""
    return float((day_of(now) + 1) * DAY_S)


@dataclass(slots=True)
class Budget:
    """`spent` counts stored pages, `reserved` those that leases in transit may still become."""

    ceiling: int | None
    spent: int = 0
    reserved: int = 0

    def __repr__(self) -> str:
        return f"<Budget {self.spent} spent, {self.reserved} reserved of {self.ceiling or 'no limit'}>"

    @property
    def has_room(self) -> bool:
        """Whether one more lease may be handed out."""
        return self.ceiling is None or self.spent + self.reserved < self.ceiling

    @property
    def is_spent(self) -> bool:
        """Whether nothing in transit can give a unit back any more."""
        return self.ceiling is not None and self.spent >= self.ceiling

    def reserve(self) -> None:
        """Take a unit for a lease."""
        assert self.has_room
        self.reserved += 1

    def give_back(self) -> None:
        """The lease did not end in a 2xx, or was not made after all."""
        assert self.reserved > 0
        self.reserved -= 1

    def spend(self) -> None:
        """The lease ended in a 2xx that is stored now."""
        self.give_back()
        self.spent += 1
