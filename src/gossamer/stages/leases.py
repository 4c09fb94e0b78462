"""What the frontier hands out: a contact for a page or for robots.txt, or a verdict that needs none."""

from dataclasses import dataclass

from gossamer.core.outcome import Outcome
from gossamer.stages.host_queue import Entry, HostQueue, RobotsErrand


@dataclass(slots=True)
class PageLease:
    """A URL handed out (page or sitemap). The host is taken until the contact ends."""

    host: HostQueue
    entry: Entry


@dataclass(slots=True)
class RobotsLease:
    """A contact for robots.txt handed out."""

    host: HostQueue
    errand: RobotsErrand


@dataclass(slots=True)
class Verdict:
    """A URL that ends without any contact."""

    host: HostQueue
    entry: Entry
    outcome: Outcome


Lease = PageLease | RobotsLease
