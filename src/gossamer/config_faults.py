"""What is wrong with a configuration, as values: told together."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with what the user gave; `sentence` where no value is at fault."""

    key: str
    value: str
    allowed: str
    source: str
    sentence: str = ""

    def __str__(self) -> str:
        if self.sentence:
            return f"{self.source}: {self.sentence}"
        return f"{self.source}: {self.key} = {self.value!r} is not valid; allowed: {self.allowed}"


class ConfigFaults(Exception):
    """Everything that is wrong, in one go."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))
