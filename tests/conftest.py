"""For all tests: nothing is judged by the wall clock of a shared machine, nothing depends on who runs them."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("shared-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared-machine")


def pytest_configure() -> None:
    """A crawl takes its options from the environment too; ours alone, in tests."""
    for name in [name for name in os.environ if name.startswith("GOSSAMER_") and name != "GOSSAMER_E2E_SEED"]:
        del os.environ[name]
