"""May this URL be admitted at all? Scope first, then traps, each refusal with a name. Seen and budgets come after."""

from dataclasses import dataclass

from gossamer.core.scope import Scope, ScopeVerdict
from gossamer.core.traps import trap_of
from gossamer.core.url import Url

INSIDE = ScopeVerdict.INSIDE.value


@dataclass(frozen=True, slots=True)
class Admissibility:
    """The rules that need nothing but the URL itself."""

    scope: Scope

    def verdict(self, url: Url) -> str:
        """INSIDE, or the name of what forbids it: outside, excluded, not-included or a trap's name."""
        verdict = self.scope.decide(url)
        if verdict is not ScopeVerdict.INSIDE:
            return verdict.value
        trap = trap_of(url)
        return INSIDE if trap is None else trap.value
