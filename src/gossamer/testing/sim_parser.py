"""A parser without a process: parses in place, in simulated time, and dies where a script says so."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gossamer.core.messages import Parsed, ParseJob, Unparsed
from gossamer.ports.parsing import NoRoomForText, ParserDied, ParserUnusable
from gossamer.ports.segments import DiskFull
from gossamer.stages.parse_capture import CaptureParser

CALLS_MAX = 2


@dataclass(slots=True)
class ParserScript:
    """`job_s` for each capture; a URL in `poison` ends the process that meets it, with everything it was given."""

    job_s: float = 0.0
    poison: set[str] = field(default_factory=set)
    parsed: list[str] = field(default_factory=list)
    deaths: int = 0


class SimParser:
    """See `ports.parsing.Parser`. As with a process, a death takes both calls under way."""

    def __init__(self, make: Callable[[], CaptureParser], script: ParserScript) -> None:
        self._make = make
        self._parser = make()
        self._script = script
        self._turn = asyncio.Lock()
        self._calls = 0
        self._life = 0

    async def start(self) -> None:
        """Nothing to start."""

    async def parse(self, jobs: Sequence[ParseJob]) -> list[Parsed | Unparsed]:
        """See `ports.parsing.Parser`."""
        assert self._calls < CALLS_MAX, "a third call at once"
        life = self._life
        self._calls += 1
        try:
            async with self._turn:
                if life != self._life:
                    raise ParserDied("parser died")
                return [await self._parse(job) for job in jobs]
        finally:
            self._calls -= 1

    async def close(self) -> None:
        """Nothing to end."""

    async def _parse(self, job: ParseJob) -> Parsed | Unparsed:
        await asyncio.sleep(self._script.job_s)
        if job.capture.url in self._script.poison:
            self._die()
            raise ParserDied("parser died")
        try:
            parsed = self._parser.parse(job)
        except DiskFull as fault:
            self._die()
            raise NoRoomForText("parser found no room on the disk") from fault
        except OSError as fault:
            self._die()
            raise ParserUnusable(f"a parser can't go on: {fault}") from fault
        self._script.parsed.append(job.capture.url)
        return parsed

    def _die(self) -> None:
        self._life += 1
        self._script.deaths += 1
        self._parser = self._make()
