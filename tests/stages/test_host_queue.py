"""A host in memory: when it has work, when it may be forgotten, what it remembers."""

import pytest

from gossamer.core.budget import Budget
from gossamer.core.robots_copy import RobotsCopy
from gossamer.core.rows import HostRow, Kind, OriginRow, State, TallyRow, UrlRow
from gossamer.stages.host_queue import ORIGINS_MAX, Entry, HostQueue, RobotsErrand


def queue(ready: int = 0) -> HostQueue:
    return HostQueue(
        b"h" * 8, HostRow("a.test", "a.test"), TallyRow("a.test", "a.test", [0] * len(State), ready=ready), Budget(None)
    )


def entry(number: int) -> Entry:
    row = UrlRow(f"http://a.test/{number}", State.READY, Kind.PAGE, 0, b"", "seed", 0.0, 0, number)
    return Entry(bytes([number]), bytes([number]) * 16, row)


def held(host: HostQueue, number: int) -> None:
    host.run.append(entry(number))
    host.taken.add(bytes([number]))


def test_work_is_what_is_ready_and_not_handed_out() -> None:
    host = queue(ready=2)
    assert host.has_work
    held(host, 1)
    held(host, 2)
    assert host.has_work
    host.run.popleft()
    assert host.has_work  # one is in transit, one still in the run
    host.run.popleft()
    assert not host.has_work


def test_an_errand_is_work_too() -> None:
    host = queue()
    assert not host.has_work
    host.errands.append(RobotsErrand("http://b.test", b"b" * 8, "http://a.test/robots.txt", 1))
    assert host.has_work
    assert not host.is_idle


@pytest.mark.parametrize("reason", ["in_flight", "is_unsaved"])
def test_a_host_that_knows_what_no_row_knows_stays(reason: str) -> None:
    host = queue()
    assert host.is_idle
    setattr(host, reason, True)
    assert not host.is_idle


def test_a_host_with_urls_or_open_questions_stays() -> None:
    assert not queue(ready=1).is_idle
    asking, taken = queue(), queue()
    asking.asking.add("http://a.test")
    taken.taken.add(b"1")
    assert not asking.is_idle
    assert not taken.is_idle


def test_a_url_found_before_the_cursor_moves_it_back_and_one_behind_does_not() -> None:
    host = queue(ready=1)
    host.cursor = b"5"
    host.found(b"7")
    assert host.cursor == b"5"
    host.found(b"3")
    assert host.cursor == b"3"


def test_a_run_put_back_leaves_what_is_in_transit_taken() -> None:
    host = queue(ready=3)
    for number in (1, 2, 3):
        held(host, number)
    host.run.popleft()
    host.put_run_back()
    assert (host.taken, len(host.run), host.has_put_back) == ({b"\x01"}, 0, True)
    assert host.has_work


def test_one_origin_is_not_mixed_and_two_are() -> None:
    host = queue()
    for _ in range(2):
        host.saw("http://a.test")
    assert not host.is_mixed
    host.saw("https://a.test")
    host.saw("https://a.test")
    assert host.is_mixed


def test_origins_beyond_the_limit_push_out_the_one_that_is_due_first() -> None:
    host = queue()
    for port in range(ORIGINS_MAX):
        host.remember(f"http://a.test:{port}", OriginRow(RobotsCopy(next_try_at=1_000.0 - port)))
    host.remember("http://a.test:5", OriginRow(RobotsCopy(next_try_at=1.0)))
    assert len(host.row.origins) == ORIGINS_MAX
    host.remember("http://a.test:9999", OriginRow(RobotsCopy(next_try_at=5_000.0)))
    assert len(host.row.origins) == ORIGINS_MAX
    assert "http://a.test:5" not in host.row.origins
    assert "http://a.test:9999" in host.row.origins


def test_the_repr_tells_where_the_host_stands() -> None:
    host = queue(ready=3)
    host.next_at = 12.5
    assert repr(host) == "<HostQueue a.test: 3 ready, 0 in memory, next 12.50>"
    host.in_flight = True
    assert repr(host) == "<HostQueue a.test: 3 ready, 0 in memory, in transit>"
