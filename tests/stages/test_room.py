"""Room on the disk: two thresholds each way, one sentence each time."""

from gossamer.stages.room import COMMIT_BYTES_MIN, LEASE_BYTES_AGAIN, LEASE_BYTES_MIN, LOOK_EVERY_S, Room
from gossamer.testing.sim_contacts import PLENTY_BYTES, SimDisk


class HandClock:
    """Moves when told."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def now(self) -> float:
        return self.at_s

    def monotonic(self) -> float:
        return self.at_s

    async def sleep_until(self, monotonic_s: float) -> None:
        self.at_s = monotonic_s


class Scene:
    """A room, its disk and what it said."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.clock = HandClock()
        self.said: list[str] = []
        self.room = Room(self.disk, self.clock, self.said.append)

    def look(self, free: int) -> tuple[bool, bool]:
        self.disk.free = free
        self.clock.at_s += LOOK_EVERY_S
        return self.room.for_leases, self.room.for_commits


def test_little_room_is_enough_for_commits_but_not_for_leases() -> None:
    scene = Scene()
    assert scene.look(PLENTY_BYTES) == (True, True)
    assert scene.look(LEASE_BYTES_MIN) == (True, True)
    assert scene.look(LEASE_BYTES_MIN - 1) == (False, True)
    assert scene.look(COMMIT_BYTES_MIN) == (False, True)
    assert scene.look(COMMIT_BYTES_MIN - 1) == (False, False)


def test_leasing_begins_again_only_well_above_where_it_ended() -> None:
    scene = Scene()
    assert scene.look(LEASE_BYTES_MIN - 1)[0] is False
    assert scene.look(LEASE_BYTES_MIN + 1)[0] is False
    assert scene.look(LEASE_BYTES_AGAIN)[0] is True
    assert scene.look(LEASE_BYTES_MIN)[0] is True


def test_each_change_is_said_once_with_its_figure() -> None:
    scene = Scene()
    for free in (PLENTY_BYTES, 2**20, 2 * 2**20, LEASE_BYTES_MIN, LEASE_BYTES_AGAIN, PLENTY_BYTES):
        scene.look(free)
    assert scene.said == [
        "the disk is full (1 MiB free): waiting for space, nothing is lost",
        "the disk has room again (96 MiB free): going on",
    ]


def test_a_write_that_failed_counts_until_the_next_look() -> None:
    scene = Scene()
    scene.look(PLENTY_BYTES)
    scene.room.is_full()
    assert (scene.room.for_leases, scene.room.for_commits) == (False, False)
    assert scene.look(PLENTY_BYTES) == (True, True)
    assert len(scene.said) == 2


def test_the_disk_is_asked_twice_a_second_at_most() -> None:
    scene = Scene()
    scene.look(PLENTY_BYTES)
    scene.disk.free = 0
    assert scene.room.for_leases is True
    scene.clock.at_s += LOOK_EVERY_S * 0.9
    assert scene.room.for_leases is True
    scene.clock.at_s += LOOK_EVERY_S
    assert scene.room.for_leases is False
