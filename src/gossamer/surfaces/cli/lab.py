"""`gossamer lab`: a local web of many host names for trying things; it never leaves the machine."""

import re
import sys

import click
import msgspec

from gossamer.testing.lab_hosts import Profile
from gossamer.testing.lab_process import LabDescription, LabOptions, run_lab
from gossamer.testing.lab_server import FIRST_ADDRESS


@click.command("lab", short_help="Serve a local web of many host names for trying things.")
@click.option(
    "--profile",
    type=click.Choice([p.value for p in Profile]),
    default="plain",
    show_default=True,
    help="What kind of web.",
)
@click.option("--hosts", type=int, help="Host names (default: the profile's own number).")
@click.option("--pages", type=int, help="Pages of an average host (default: the profile's own number).")
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed, another web.")
@click.option(
    "--addresses", type=int, default=8, show_default=True, help="Loopback addresses to spread the hosts over."
)
@click.option(
    "--first-address", default=FIRST_ADDRESS, show_default=True, help="The first of them, within 127.0.0.0/8."
)
@click.option("--port", type=click.IntRange(0, 65_535), default=0, show_default=True, help="0: any free one.")
@click.option("--latency", type=(float, float), default=(0.0, 0.0), metavar="MIN MAX", help="Seconds before an answer.")
@click.option("--dead", type=float, default=0.0, help="Share of hosts that reset every connection (profile polite).")
@click.option("--stalling", type=float, default=0.0, help="Share of hosts that never answer (profile polite).")
@click.option("--access-log", type=click.Path(dir_okay=False), help="One JSON line a request.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the command to run.")
def lab(as_json: bool, access_log: str | None, latency: tuple[float, float], **chosen: object) -> None:  # noqa: FBT001
    """Serve a local web of many host names, computed from a seed, until Ctrl-C.

    Prints the command that crawls it. All names end in .test and live on loopback addresses only.
    """
    try:
        options = _options(access_log, latency, chosen)
    except (ValueError, msgspec.ValidationError) as error:
        raise click.UsageError(_in_options(str(error))) from error
    try:
        run_lab(options, _announce_json if as_json else _announce)
    except OSError as error:
        raise MachineFailed(f"the lab cannot listen or write its log: {error.strerror or error}") from error


def _options(access_log: str | None, latency: tuple[float, float], chosen: dict[str, object]) -> LabOptions:
    config = {
        "profile": chosen["profile"],
        "seed": chosen["seed"],
        "hosts": chosen["hosts"],
        "pages_per_host": chosen["pages"],
        "latency_min_s": latency[0],
        "latency_max_s": latency[1],
        "dead_share": chosen["dead"],
        "stalling_share": chosen["stalling"],
    }
    place = {name: chosen[name] for name in ("addresses", "first_address", "port")}
    return msgspec.convert({"config": config, "access_log": access_log, **place}, LabOptions)


_OPTION_OF = {
    "hosts": "--hosts",
    "pages_per_host": "--pages",
    "latency": "--latency",
    "dead_share": "--dead",
    "stalling_share": "--stalling",
    "addresses": "--addresses",
}


def _in_options(fault: str) -> str:
    """What is wrong with the settings of a lab, in the words of its options; one fault a line."""
    faults = fault.partition(" - at `$")[0].split("; ")
    if not any(" must be " in part for part in faults):
        return fault.partition(" - at `$")[0]
    return "\n".join(re.sub("[a-z_]+", lambda word: _OPTION_OF.get(word[0], word[0]), part) for part in faults)


class MachineFailed(click.ClickException):
    """The port is taken or the log cannot be written: exit code 3."""

    exit_code = 3


def _announce_json(description: LabDescription) -> None:
    sys.stdout.write(msgspec.json.encode(description).decode() + "\n")
    sys.stdout.flush()


def _announce(description: LabDescription) -> None:
    first, last = description.addresses[0], description.addresses[-1]
    where = first if first == last else f"{first} … {last}"
    found = f"{description.hosts} hosts, {description.pages} pages to find"
    click.echo(f"{found}, port {description.port} of {where}. Crawl them with\n", err=True)
    click.echo(description.crawl_command())
    click.echo("\nCtrl-C ends the lab.", err=True)
    sys.stdout.flush()


COMMANDS = [lab]
