"""An independent reading of the lab's access log: which rules of politeness a crawl broke. It knows nothing of ours."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from gossamer.testing.lab_access import AccessRecord

CLOCK_S = 0.005
"""Times are those of the server: what it sees of a pause from an end to a start is never shorter than the pause."""
ARRIVAL_S = 0.03
"""From start to start it may be: a connection that is made first, or a busy server, delays one of two requests."""


def gaps_too_short(records: Sequence[AccessRecord], delay_s: float) -> list[str]:
    """Per host: the start of a request minus the end of the one before is at least the delay."""
    faults = []
    for host, requests in _by(records, "host").items():
        for before, after in pairwise(requests):
            gap = after.start_mono - before.end_mono
            if gap < delay_s - CLOCK_S:
                faults.append(f"{host}: {gap:.3f} s between {before.target} and {after.target}")
    return faults


def address_gaps_too_short(records: Sequence[AccessRecord], per_address_delay_s: float) -> list[str]:
    """Per address: between the starts of two requests, whatever their hosts."""
    faults = []
    for address, requests in _by(records, "address").items():
        for before, after in pairwise(requests):
            gap = after.start_mono - before.start_mono
            if gap < per_address_delay_s - ARRIVAL_S:
                faults.append(f"{address}: {gap:.3f} s between {before.host} and {after.host}")
    return faults


def together_at_a_host(records: Sequence[AccessRecord]) -> list[str]:
    """Requests to one host that overlap: a host has one connection at a time."""
    return [
        f"{host}: {after.target} began before {before.target} ended"
        for host, requests in _by(records, "host").items()
        for before, after in pairwise(requests)
        if after.start_mono < before.end_mono
    ]


def robots_not_first(records: Sequence[AccessRecord]) -> list[str]:
    """Hosts that were asked for something before their robots.txt."""
    return [host for host, requests in _by(records, "host").items() if requests[0].target != "/robots.txt"]


def _by(records: Iterable[AccessRecord], name: str) -> dict[str, list[AccessRecord]]:
    groups: dict[str, list[AccessRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.start_mono):
        groups[getattr(record, name)].append(record)
    return groups


def logged_address_gaps_too_short(data: Path, per_address_delay_s: float) -> list[str]:
    """The same from the crawl's own contact log, which has the moment before the first byte: to the millisecond."""
    begins = defaultdict(list)
    for file in sorted(data.glob("contacts/*.jsonl")):
        for record in map(json.loads, file.read_text().splitlines()):
            if record["record"] == "begin":
                begins[record["address"]].append((record["monotonicSeconds"], record["host"]))
    return [
        f"{address}: {after - before:.4f} s between {first} and {second}"
        for address, moments in begins.items()
        for (before, first), (after, second) in pairwise(sorted(moments))
        if after - before < per_address_delay_s - 0.001
    ]
