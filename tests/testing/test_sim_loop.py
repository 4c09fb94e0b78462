"""The loop that jumps: long waits cost nothing, waits without end are told from long ones."""

import asyncio

import pytest

from gossamer.testing.sim_clock import WALL_START_S, SimClock
from gossamer.testing.sim_loop import SimLoop, SimulationStuck, simulate


def test_a_year_passes_in_a_few_turns() -> None:
    async def main() -> tuple[float, int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        await asyncio.sleep(365 * 86_400)
        return loop.time(), loop.turns

    passed_s, turns = simulate(main())
    assert passed_s == pytest.approx(365 * 86_400, abs=1e-3)
    assert turns < 800  # asyncio never sleeps longer than a day at once


def test_a_timer_due_now_fires_even_where_a_float_clock_cannot_show_a_nanosecond() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        for _ in range(100):
            await asyncio.sleep(1e-9)
        return loop.time()

    assert simulate(main(), start_s=2.0**25) >= 2.0**25


def test_who_waits_for_nothing_is_told_so() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(SimulationStuck):
        simulate(main())


def test_waits_end_in_the_order_of_their_moments() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def wait(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            order.append(name)

        async with asyncio.TaskGroup() as group:
            for name, seconds in (("c", 30.0), ("a", 1.0), ("b", 1.5)):
                group.create_task(wait(name, seconds))
        return order

    assert simulate(main()) == ["a", "b", "c"]


def test_both_clocks_follow_the_loop() -> None:
    async def main() -> tuple[float, float]:
        clock = SimClock()
        await clock.sleep_until(clock.monotonic() + 10)
        await clock.sleep_until(3.0)  # already over
        return clock.monotonic(), clock.now()

    monotonic_s, now_s = simulate(main(), start_s=100.0)
    assert monotonic_s == pytest.approx(110, abs=1e-6)
    assert now_s == pytest.approx(WALL_START_S + 110, abs=1e-6)
