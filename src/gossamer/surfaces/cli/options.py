"""Command-line options made from the table in `config`: one truth for flags, keys, variables and docs."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gossamer.config import CHANGEABLE, OPTIONS, CrawlConfig, Option, read_changes, resolve
from gossamer.config_faults import ConfigFaults

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Scope": ("scope", "include", "exclude", "max_hops", "sitemaps"),
    "Order": ("prefer", "defer"),
    "Budget": (
        *("max_pages", "max_pages_per_host", "max_pages_per_site", "max_pages_per_host_day", "site_budgets"),
        *("concurrency", "parsers"),
    ),
    "Politeness": (
        *("delay_s", "delay_factor", "delay_max_s", "per_address_delay_s", "attempts", "retry_base_s"),
        *("robots", "robots_unreachable"),
    ),
    "Identity": ("user_agent", "contact"),
    "Output": ("data", "new", "text"),
    "Memory": ("seen", "seen_urls", "seen_error"),
    "Labs": ("connect_to", "allow_address", "ca_file"),
}
"""Options that are in no group come at the end, so that none is forgotten."""
VALUES_SHOWN: Final = frozenset({"scope", "robots", "robots_unreachable", "text", "seen", "site_budgets"})
F = TypeVar("F", bound=Callable[..., Any])
CONFIG_FILE = "gossamer.toml"


class GroupedOptions(click.Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In the order of GROUPS."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {option.name or "": option.get_help_record(ctx) for option in options}
        rest = tuple(name for name in records if not any(name in names for names in GROUPS.values()))
        for title, names in (*GROUPS.items(), ("Other", rest)):
            rows = [record for name in names if (record := records.get(name))]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def data_option(command: F) -> F:
    """`--data DIR`, with its variable."""
    return click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        default="gossamer-data",
        show_default=True,
        envvar="GOSSAMER_DATA",
        metavar="DIR",
        help="Where everything is kept.",
    )(command)


def crawl_options(command: F) -> F:
    """All options of a crawl, unread: `configuration` reads them together, so that every fault is reported at once."""
    for option in reversed(OPTIONS):
        command = _click_option(option, option.default)(command)
    return click.option(
        "--config",
        type=click.Path(dir_okay=False, path_type=Path),
        default=None,
        metavar="FILE",
        envvar="GOSSAMER_CONFIG",
        help=f"TOML file of config keys; {CONFIG_FILE} when it is there.",
    )(command)


def changeable_options(command: F) -> F:
    """Those that a running crawl can change, unread: `changes_given` reads them together."""
    for option in reversed(OPTIONS):
        if option.key in CHANGEABLE:
            command = _click_option(option, None)(command)
    return command


def _click_option(option: Option, default: Any) -> Callable[[F], F]:
    shown = ", ".join(map(str, default)) if isinstance(default, tuple | frozenset) else default
    text = option.help[0].upper() + option.help[1:]
    if option.key in VALUES_SHOWN:
        text += f": {option.allowed}"
    if shown not in ("", None) and shown is not True:
        text += f"  [default: {'obey' if option.key == 'robots' else shown}]"
    if not option.metavar:
        return click.option(option.flag, option.key, default=None, help=text)
    return click.option(option.flag, option.key, default=None, multiple=option.many, metavar=option.metavar, help=text)


def configuration(given: dict[str, Any], file: Path | None, stored: dict[str, Any] | None = None) -> CrawlConfig:
    """The configuration from the command line, the environment, the file and `stored`; all faults as one usage error.

    `stored` are the options that a crawl to go on with had before.
    """
    if file is None and Path(CONFIG_FILE).is_file():
        file = Path(CONFIG_FILE)
    with faults_as_usage():
        return resolve(given, os.environ, file, stored)


def changes_given(given: dict[str, Any]) -> dict[str, Any]:
    """The values of the options that were given, and of no others: neither variables nor files change a crawl."""
    with faults_as_usage():
        values = read_changes(given)
    if not values:
        raise click.UsageError("nothing to change; `gossamer set --help` lists what can be")
    return values


@contextmanager
def faults_as_usage() -> Iterator[None]:
    """All faults as one usage error."""
    try:
        yield
    except ConfigFaults as faults:
        raise click.UsageError(str(faults)) from faults
