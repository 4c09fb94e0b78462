"""What a check found wrong, a sentence each: all are counted, the first are kept."""

PROBLEMS_MAX = 1_000


class Problems:
    """A bounded list."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.total = 0

    def __repr__(self) -> str:
        return f"<Problems {self.total}>"

    def add(self, sentence: str) -> None:
        """One more."""
        self.total += 1
        if len(self.kept) < PROBLEMS_MAX:
            self.kept.append(sentence)
