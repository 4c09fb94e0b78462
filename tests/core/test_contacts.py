"""The names in the log are those of docs/politeness.md: camelCase, with the unit as a word."""

import msgspec

from gossamer.core.contacts import Delays, EndContact
from gossamer.core.politeness import DelayRules

DELAYS = Delays(
    gap_s=2.0, crawl_delay_s=None, per_address_delay_s=0.1, delay_s=1.0, delay_factor=10.0, delay_max_s=60.0
)


def test_seconds_are_written_out() -> None:
    assert set(msgspec.to_builtins(DELAYS)) == {
        "gapSeconds",
        "crawlDelaySeconds",
        "perAddressDelaySeconds",
        "delaySeconds",
        "delayFactor",
        "delayMaxSeconds",
    }


def test_the_delays_of_a_contact_are_those_that_politeness_takes() -> None:
    assert DELAYS.rules == DelayRules(1.0, 10.0, 60.0)


def test_what_is_unknown_is_null_and_not_left_out() -> None:
    line = (
        b'{"record":"end","id":"1-1","wallTime":"2026-09-01T12:00:00Z","monotonicSeconds":1.0,"outcome":"too-slow",'
        b'"status":null,"retryAfterSeconds":null,"durationSeconds":0.5}'
    )
    assert msgspec.json.encode(msgspec.json.decode(line, type=EndContact)) == line
