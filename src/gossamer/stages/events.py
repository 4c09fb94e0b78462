"""What the stages tell the ledger. Each event becomes part of one atomic batch; a host's events keep their order."""

from dataclasses import dataclass

from gossamer.core.messages import Parsed, ParseJob
from gossamer.core.outcome import Outcome
from gossamer.core.rows import FetchFacts, Kind
from gossamer.stages.host_queue import Entry, HostQueue


@dataclass(slots=True)
class Settled:
    """A lease ended. `at` is wall time; `facts` are there when the response is stored."""

    host: HostQueue
    entry: Entry
    outcome: Outcome
    at: float
    facts: FetchFacts | None = None


@dataclass(slots=True)
class Discovered:
    """URLs to admit if they are new: `keys` has 16 bytes for each of `urls`, already normal, in scope and no trap.

    `page`: the URL of the page or redirect with key `via`; empty for seeds and sitemaps.
    """

    urls: list[str]
    keys: bytes
    kind: Kind
    hop: int
    how: str
    via: bytes = b""
    redirects: int = 0
    page: str = ""


@dataclass(slots=True)
class HostChanged:
    """Something became known of a host (a contact's end, robots.txt) that no settled URL tells."""

    host: HostQueue


@dataclass(slots=True)
class HostLeft:
    """A host gives up its place on the workbench; `place`: level and order in FRONT, None for that of its best URL."""

    host: HostQueue
    place: tuple[int, int] | None


@dataclass(slots=True)
class ParseFailed:
    """A parser died or overran on this capture alone, for the second time; or its stored record can't be read."""

    job: ParseJob
    fault: str


Event = Settled | Discovered | HostChanged | HostLeft | Parsed | ParseFailed
