"""Captures to pages. The stage decides what is parsed when; an implementation only knows how."""

from collections.abc import Sequence
from typing import Protocol

from gossamer.core.messages import Parsed, ParseJob, Unparsed


class ParserDied(Exception):
    """The parser crashed, hung or outgrew its memory; nothing of the batch came back. The message says how it ended."""


class ParserUnusable(Exception):
    """A parser can't start, or can't write or read its files: no page's fault but the machine's. The message says why.

    The captures of the batch stay in the queue.
    """


class NoRoomForText(Exception):
    """The disk has no room for a text: no page's fault either. The batch may be tried again when there is room."""


class Parser(Protocol):
    """One parser, crash-isolated from its caller."""

    async def start(self) -> None:
        """Be ready for the first call. Raises ParserUnusable, as `parse` does when it has to start afresh."""

    async def parse(self, jobs: Sequence[ParseJob]) -> list[Parsed | Unparsed]:
        """Results in the order of `jobs`, one for each; texts are appended (not synced) before.

        Raises ParserDied, NoRoomForText, ParserUnusable; the next call starts afresh then. At most two calls are under
        way at once, so that the parser never waits for work. A cancelled call takes what else is under way with it.
        """

    async def close(self) -> None:
        """End it once what is under way has come back."""
