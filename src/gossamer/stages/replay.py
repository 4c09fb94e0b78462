"""After a kill: the contacts that the log knows and the last batch does not go into the rows of their hosts."""

from collections.abc import Iterable

from gossamer.core.contacts import BeginContact, ContactRecord, EndContact
from gossamer.core.replay import replayed
from gossamer.core.rows import HostRow, dump, load
from gossamer.core.url import Url, link_keys, site_of
from gossamer.ports.partition_store import Family, PartitionStore


async def replay(partition: PartitionStore, log: Iterable[ContactRecord], restarted_at: float) -> int:
    """Bring host rows up to the end of the log; returns how many changed. `restarted_at` in seconds since 1970.

    `log`: the newest records, in order; older ones change nothing. To be called before the frontier reads the rows.
    """
    rows: dict[bytes, HostRow] = {}
    before: dict[bytes, bytes] = {}
    for begin, end in _contacts(log):
        key = link_keys([Url(begin.url)])[0][:8]
        if key not in rows:
            before[key] = partition.get(Family.HOSTS, key) or b""
            rows[key] = load(HostRow, before[key]) if before[key] else HostRow(begin.host, site_of(begin.host))
        rows[key].manners = replayed(rows[key].manners, begin, end, restarted_at)
    batch, changed = partition.batch(), 0
    for key, row in rows.items():
        stored = dump(row)
        if stored != before[key]:
            batch.put(Family.HOSTS, key, stored)
            changed += 1
    if changed:
        await partition.commit(batch)
    return changed


def _contacts(log: Iterable[ContactRecord]) -> Iterable[tuple[BeginContact, EndContact | None]]:
    """In the order of their ends, which is that of a host's contacts; last those that never ended."""
    in_flight: dict[str, BeginContact] = {}
    for record in log:
        match record:
            case BeginContact():
                in_flight[record.id] = record
            case EndContact():
                begin = in_flight.pop(record.id, None)
                if begin is not None:
                    yield begin, record
    for begin in in_flight.values():
        yield begin, None
