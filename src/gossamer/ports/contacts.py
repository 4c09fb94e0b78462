"""The contact log: two records for every contact with every host, the first before a byte is sent."""

from typing import NamedTuple, Protocol

from gossamer.core.politeness import DelayRules


class Contact(NamedTuple):
    """What is known when a contact begins. `wall_s` since 1970, `monotonic_s` of this boot; delays as in force.

    robots_body: key of the rules that hold, "" for none; robots_fetched_at: wall time since when that is known.
    robots_for: the origin whose robots.txt is to be learned, "" for any other purpose.
    """

    host: str
    address: str
    port: int
    url: str
    purpose: str
    robots_epoch: int
    robots_reason: str
    robots_body: str
    robots_fetched_at: float | None
    robots_for: str
    delay: DelayRules
    gap_s: float
    crawl_delay_s: float | None
    per_address_delay_s: float
    wall_s: float
    monotonic_s: float


class ContactEnd(NamedTuple):
    """How the contact `number` ended. `retry_after` is the field as received, cut to 64 characters."""

    number: int
    outcome: str
    status: int
    retry_after: str
    wall_s: float
    monotonic_s: float
    duration_s: float


class Contacts(Protocol):
    """Written in the order of the events; survives kill -9, not a power cut."""

    def begin(self, contact: Contact) -> int:
        """Log the begin and return the contact's number. On return the record is with the operating system."""

    def end(self, end: ContactEnd) -> None:
        """Log the end."""
