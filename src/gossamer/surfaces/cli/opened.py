"""A data directory opened for looking: which crawl is meant, its rules, who runs it; faults as one sentence."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from gossamer.adapters.system.clock import SystemClock
from gossamer.adapters.system.lock import is_held
from gossamer.config import CrawlConfig, resolve
from gossamer.config_faults import ConfigFaults
from gossamer.core.robots_copy import UnreachableMode
from gossamer.core.rows import CrawlRow
from gossamer.core.url import Url, UrlFault
from gossamer.ports.partition_store import PartitionStore, StoreCorrupt, StoreLocked
from gossamer.reading import NothingThere, Reading, open_reading
from gossamer.surfaces.cli.options import data_option
from gossamer.views.lookup import urls_meant
from gossamer.views.why_case import Case, CrawlRules

if TYPE_CHECKING:
    from gossamer.adapters.files.segments import SegmentReader

STATUS_KEYS = frozenset({"crawlId", "status", "states", "hosts"})
"""Without these an answer is no status: an error, or a process of another version."""
OPENINGS_MAX = 3
"""A running crawl may drop a table file between our reading the list of files and opening it."""


class AnswerIsNo(click.ClickException):
    """What was asked for is not there, or not right: exit code 1."""

    exit_code = 1


class MachineFailed(click.ClickException):
    """The state cannot be read: exit code 3."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Look:
    """What every command for looking takes."""

    data: Path
    crawl_id: str | None
    as_json: bool


Command = Callable[..., None]


def _with_look(json_help: str | None) -> Callable[[Command], Command]:
    def decorated(command: Command) -> Command:
        @wraps(command)
        def with_look(data: Path, crawl_id: str | None, as_json: bool = False, **chosen: Any) -> None:  # noqa: FBT001, FBT002  click's way
            command(Look(data, crawl_id, as_json), **chosen)

        if json_help is not None:
            click.option("--json", "as_json", is_flag=True, help=json_help)(with_look)
        click.option("--crawl", "crawl_id", metavar="ID", help="Which crawl.  [default: the newest]")(with_look)
        return data_option(with_look)

    return decorated


looking: Final = _with_look("Print one JSON document.")
"""Gives a command `--data`, `--crawl` and `--json` as one `Look`."""
listing: Final = _with_look("Print JSON Lines, one a row.")
"""The same for a command that prints a list."""
looking_at_octets: Final = _with_look(None)
"""The same for a command that prints what is stored as it is, and no JSON."""


class Opened:
    """One crawl of a data directory, as of now."""

    def __init__(self, reading: Reading, crawl: CrawlRow) -> None:
        self.reading = reading
        self.crawl = crawl
        self.now = SystemClock().now()

    @property
    def partition(self) -> PartitionStore:
        """The rows."""
        return self.reading.partition

    @cached_property
    def is_running(self) -> bool:
        """Whether a process crawls this crawl: it holds the directory, and works on the newest."""
        with suppress(OSError):  # somebody else's directory: readable, but its lock is not for us
            return is_held(self.reading.directory.lock) and self.crawl.number == self.reading.crawls[-1].number
        return False

    @cached_property
    def config(self) -> CrawlConfig:
        """The configuration of the crawl. An option that no longer holds (a file that is gone) counts as not given."""
        options = json.loads(self.crawl.options)
        try:
            return resolve(options, {}, None)
        except ConfigFaults as faults:
            for fault in faults.faults:
                options.pop(fault.key, None)
            return resolve(options, {}, None)

    @property
    def robots_mode(self) -> UnreachableMode:
        """What an outage of robots.txt means."""
        return UnreachableMode(self.config.robots_unreachable)

    @property
    def case(self) -> Case:
        """For explanations."""
        config = self.config
        rules = CrawlRules(
            config.admissibility(self.crawl.seeds),
            config.ceilings,
            config.delay_rules,
            self.robots_mode,
            config.robots,
            config.user_agent,
            config.seen,
        )
        return Case(self.partition, self.crawl, rules, self.now, self.is_running)

    def raw(self) -> "SegmentReader":
        """Reads WARC records; close it after use."""
        return self.reading.raw(self.crawl)

    def text(self) -> "SegmentReader":
        """Reads text records; close it after use."""
        return self.reading.text(self.crawl)


@contextmanager
def opened(look: Look) -> Iterator[Opened]:
    """The crawl that `look` means. Faults become exit codes: 2 for the wrong directory or id, 3 for damage."""
    try:
        with ExitStack() as stack:
            reading = _patiently(look.data, stack)
            yield Opened(reading, reading.crawl(look.crawl_id))
    except NothingThere as error:
        raise click.UsageError(str(error)) from error
    except (StoreCorrupt, StoreLocked) as error:
        raise MachineFailed(str(error)) from error
    except msgspec.MsgspecError as error:
        raise MachineFailed(f"a row in {look.data} can't be read ({error}); `gossamer verify` says which") from error


def _patiently(data: Path, stack: ExitStack) -> Reading:
    for _ in range(OPENINGS_MAX - 1):
        with suppress(StoreCorrupt):
            return stack.enter_context(open_reading(data))
    return stack.enter_context(open_reading(data))


def urls_of(written: str) -> tuple[Url, ...]:
    """What a URL on the command line may mean. A usage error when it is none."""
    urls = urls_meant(written)
    if isinstance(urls, UrlFault):
        raise click.UsageError(f"{written!r} is no URL of a page: {urls.value}")
    return urls


def live_status(socket_path: Path) -> dict[str, Any] | None:
    """The status document of the process that holds the directory; None when none answers."""
    from gossamer.surfaces.cli.control_socket import ask  # noqa: PLC0415  brings the loop and its servers

    document = ask(socket_path, "status") if socket_path.exists() else None
    return document if isinstance(document, dict) and document.keys() >= STATUS_KEYS else None
