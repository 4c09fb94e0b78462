"""One waiter, many bells."""

import asyncio

import pytest

from gossamer.stages.alarm import Alarm
from gossamer.testing.sim_loop import SimulationStuck, simulate


async def waited_s(alarm: Alarm, seconds: float | None) -> float:
    began_at = asyncio.get_running_loop().time()
    await alarm.wait(seconds)
    return asyncio.get_running_loop().time() - began_at


def test_a_wait_ends_with_its_time() -> None:
    async def main() -> float:
        return await waited_s(Alarm(), 5)

    assert simulate(main()) == pytest.approx(5)


def test_a_bell_ends_the_wait_early_and_only_this_one() -> None:
    async def main() -> tuple[float, float]:
        alarm = Alarm()
        asyncio.get_running_loop().call_later(2, alarm.ring)
        return await waited_s(alarm, 5), await waited_s(alarm, 5)

    assert simulate(main()) == pytest.approx((2, 5))


def test_a_bell_while_nobody_waits_is_remembered_once() -> None:
    async def main() -> tuple[float, float]:
        alarm = Alarm()
        alarm.ring()
        alarm.ring()
        return await waited_s(alarm, None), await waited_s(alarm, 1)

    assert simulate(main()) == pytest.approx((0, 1))


def test_without_a_time_only_a_bell_ends_the_wait() -> None:
    async def main() -> float:
        alarm = Alarm()
        asyncio.get_running_loop().call_later(1_000, alarm.ring)
        return await waited_s(alarm, None)

    assert simulate(main()) == pytest.approx(1_000)
    with pytest.raises(SimulationStuck):
        simulate(Alarm().wait(None))


@pytest.mark.parametrize("seconds", [0, -1, 0.0])
def test_a_time_that_is_over_does_not_wait(seconds: float) -> None:
    async def main() -> float:
        return await waited_s(Alarm(), seconds)

    assert simulate(main()) == pytest.approx(0)


def test_a_cancelled_wait_leaves_the_alarm_usable() -> None:
    async def main() -> float:
        alarm = Alarm()
        try:
            async with asyncio.timeout(1):
                await alarm.wait(None)
        except TimeoutError:
            alarm.ring()
        return await waited_s(alarm, 10)

    assert simulate(main()) == pytest.approx(0)
