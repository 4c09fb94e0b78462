"""The queues of hosts that wait for a place: order, levels, rests, and the cursors that keep reading cheap."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from random import Random

from gossamer.core.keys import front_key
from gossamer.core.rows import OVER_BUDGET, RESTING
from gossamer.ports.partition_store import Family
from gossamer.stages.front_queues import READ_MAX, FrontQueues, Place
from gossamer.testing.sim_partition import SimPartitionStore


def host(number: int) -> bytes:
    return number.to_bytes(8, "big")


def stored(places: Iterable[Place], store: SimPartitionStore | None = None) -> SimPartitionStore:
    store = store or SimPartitionStore()
    batch = store.batch()
    for place in places:
        batch.put(Family.FRONT, front_key(1, *place), b"")
    asyncio.run(store.commit(batch))
    return store


def queues(store: SimPartitionStore) -> FrontQueues:
    front = FrontQueues(store, 1, Random(3))
    front.load()
    return front


def test_a_queue_is_drawn_in_its_order_however_long_it_is() -> None:
    places = [Place(2, number, host(number)) for number in range(3 * READ_MAX + 5)]
    front = queues(stored(places))
    drawn = [place for _ in range(20) for place in front.draw(32, 0.0)]
    assert drawn == places
    assert not front.has_some(0.0)


def test_higher_levels_are_drawn_more_often_and_lower_ones_all_the_same() -> None:
    front = queues(stored(Place(level, number, host(number)) for level in (0, 1, 5) for number in range(1_000)))
    drawn = Counter(place.level for place in front.draw(1_000, 0.0))
    assert drawn[0] > drawn[1] > drawn[5] > 0


def test_a_host_at_rest_is_drawn_when_its_time_has_come() -> None:
    store = stored([Place(RESTING, 50_000, host(1)), Place(RESTING, 90_000, host(2))])
    front = queues(store)
    assert front.draw(9, 49.9) == []
    assert front.next_rested_at() == 50
    assert front.draw(9, 50.0) == [Place(RESTING, 50_000, host(1))]
    earlier = Place(RESTING, 60_000, host(3))
    stored([earlier], store)
    front.placed(earlier)
    assert front.next_rested_at() == 60
    assert front.draw(9, 100.0) == [earlier, Place(RESTING, 90_000, host(2))]


def test_what_is_placed_behind_the_cursor_of_a_drained_queue_is_found() -> None:
    store = stored([Place(0, 1, host(1))])
    front = queues(store)
    assert len(front.draw(9, 0.0)) == 1
    assert not front.has_some(0.0)
    later = Place(0, 2, host(2))
    stored([later], store)
    front.placed(later)
    assert front.draw(9, 0.0) == [later]


def test_hosts_over_their_budget_get_one_look_a_process_and_another_when_their_site_is_released() -> None:
    site, other = 77, 2**64 - 1
    store = stored(
        [Place(OVER_BUDGET, site, host(1)), Place(OVER_BUDGET, site, host(2)), Place(OVER_BUDGET, other, host(3))]
    )
    front = queues(store)
    assert len(front.draw(9, 0.0)) == 3
    assert front.draw(9, 0.0) == []
    front.release(site)
    assert [place.host for place in front.draw(9, 0.0)] == [host(1), host(2)]
    front.release(other)
    assert [place.host for place in front.draw(9, 0.0)] == [host(3)]


def test_the_queues_of_another_crawl_are_not_touched() -> None:
    store = stored([Place(0, 1, host(1))])
    front = FrontQueues(store, 2, Random(1))
    front.load()
    assert front.draw(9, 0.0) == []
