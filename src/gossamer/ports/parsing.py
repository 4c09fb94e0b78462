"""Captures to pages. The stage decides what is parsed when; an implementation only knows how."""

from collections.abc import Sequence
from typing import Protocol

from gossamer.core.messages import Parsed, ParseJob, Unparsed


class ParserDied(Exception):
    """The parser crashed, hung or outgrew its memory; nothing of the batch came back. The message says how it ended."""


class ParserUnusable(Exception):
    """A parser can't even start: no page's fault but the installation's. The message says how it ended."""


class Parser(Protocol):
    """One parser, crash-isolated from its caller."""

    async def start(self) -> None:
        """Be ready for the first call. Raises ParserUnusable, as `parse` does when it has to start afresh."""

    async def parse(self, jobs: Sequence[ParseJob]) -> list[Parsed | Unparsed]:
        """Results in the order of `jobs`, one for each; texts are appended (not synced) before. Raises ParserDied.

        At most two calls are under way at once, so that the parser never waits for work. After ParserDied the next
        call starts afresh.
        """

    async def close(self) -> None:
        """End it once what is under way has come back."""
