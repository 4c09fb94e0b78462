"""What a kill must not make us forget: contacts that the log has and the host's row has not."""

from datetime import UTC, datetime

import pytest

from gossamer.core.contacts import BeginContact, Delays, EndContact
from gossamer.core.politeness import HostManners
from gossamer.core.replay import replayed

START = 1_800_000_000.0
NOBODY = HostManners()


def wall(second: float) -> datetime:
    return datetime.fromtimestamp(START + second, UTC)


def begun(second: float, *, crawl_delay_s: float | None = None, gap_s: float = 1.0) -> BeginContact:
    delays = Delays(
        gap_s=gap_s,
        crawl_delay_s=crawl_delay_s,
        per_address_delay_s=0.1,
        delay_s=1.0,
        delay_factor=10.0,
        delay_max_s=60.0,
    )
    return BeginContact(
        id="1-1",
        crawl="c1",
        wall_time=wall(second),
        monotonic_s=second,
        boot="b",
        owner_epoch=0,
        host="a.test",
        address="192.0.2.1",
        port=80,
        method="GET",
        url="http://a.test/",
        purpose="page",
        rule_epoch=1,
        rule_reason="fresh",
        rule_body="",
        delays=delays,
    )


def ended(second: float, duration_s: float, status: int | None = 200, retry_after_s: float | None = None) -> EndContact:
    return EndContact(
        id="1-1",
        wall_time=wall(second),
        monotonic_s=second,
        outcome="answered" if status else "connect-timeout",
        status=status,
        retry_after_s=retry_after_s,
        duration_s=duration_s,
    )


def rest_after(begin: BeginContact, end: EndContact | None, manners: HostManners = NOBODY) -> float:
    """Seconds from START to the next allowed contact, after a restart at second 100."""
    return round(replayed(manners, begin, end, START + 100).next_allowed_at - START, 6)


@pytest.mark.parametrize(
    ("begin", "end", "next_allowed"),
    [
        (begun(10), ended(10.05, 0.05), 11.05),
        (begun(10), ended(12, 2), 32),
        (begun(10, crawl_delay_s=7), ended(10, 0), 17),
        (begun(10), ended(10, 0, 429, 30), 40),
        (begun(10), ended(10, 0, 503), 12),
        (begun(10), ended(10, 0, 500), 12),
        (begun(13), ended(13, 0, None), 15),
        (begun(10), None, 101),
        (begun(10, crawl_delay_s=5), None, 105),
        (begun(10, gap_s=20), None, 120),
    ],
)
def test_the_host_rests_as_after_any_contact(begin: BeginContact, end: EndContact | None, next_allowed: float) -> None:
    assert rest_after(begin, end) == next_allowed


def test_a_contact_that_the_row_counts_is_not_counted_twice() -> None:
    row = HostManners(next_allowed_at=START + 11.05, failures=1)
    assert replayed(row, begun(10), ended(10.05, 0.05, 500), START + 100) == row


def test_a_contact_at_the_very_moment_at_which_it_was_allowed_is_new() -> None:
    row = HostManners(next_allowed_at=START + 10.0000004)
    assert rest_after(begun(10), ended(10, 0), row) == 11


def test_failures_go_on_counting_over_the_kill() -> None:
    row = HostManners(next_allowed_at=START + 9, failures=3)
    after = replayed(row, begun(10), ended(10, 0, 500), START + 100)
    assert after.failures == 4
    assert after.next_allowed_at == START + 10 + 16
