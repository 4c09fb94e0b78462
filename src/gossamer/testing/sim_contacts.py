"""The contact log of a simulated world, in memory, and its disk."""

from dataclasses import dataclass, field

from gossamer.core.contacts import ContactRecord
from gossamer.ports.contacts import Contact, ContactEnd
from gossamer.ports.segments import DiskFull

PLENTY_BYTES = 2**40


@dataclass(slots=True)
class SimContacts:
    """See `ports.contacts.Contacts`. `is_full` refuses begins and ends alike.

    `records` are those of a log, for who keeps them: a world with none replays none after a kill.
    """

    begun: list[Contact] = field(default_factory=list)
    ended: list[ContactEnd] = field(default_factory=list)
    is_full: bool = False
    records: list[ContactRecord] = field(default_factory=list)

    def begin(self, contact: Contact) -> int:
        """See `ports.contacts.Contacts`."""
        if self.is_full:
            raise DiskFull("simulated")
        self.begun.append(contact)
        return len(self.begun) - 1

    def end(self, end: ContactEnd) -> None:
        """See `ports.contacts.Contacts`."""
        if self.is_full:
            raise DiskFull("simulated")
        self.ended.append(end)


@dataclass(slots=True)
class SimDisk:
    """See `ports.disk.Disk`."""

    free: int = PLENTY_BYTES

    def free_bytes(self) -> int:
        """See `ports.disk.Disk`."""
        return self.free
