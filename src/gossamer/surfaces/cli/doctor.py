"""`gossamer doctor`: looks at this machine as a crawl would need it, and says what to do where it would not do.

Nothing is changed and nobody is contacted but the name server. A check is a function from Surroundings to a Finding.
"""

import asyncio
import importlib
import os
import resource
import ssl
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Final

import click
import msgspec

from gossamer import __version__
from gossamer.adapters.dns.resolver import CaresDns, DnsLimits
from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.system.disk import LocalDisk
from gossamer.adapters.system.lock import DirectoryInUse, DirectoryLock
from gossamer.bootstrap import wall_time
from gossamer.config import OPTIONS, CrawlConfig, resolve
from gossamer.config_faults import ConfigFaults
from gossamer.ports.dns import Unresolved
from gossamer.ports.partition_store import StoreCorrupt, StoreLocked
from gossamer.reading import NothingThere, open_reading
from gossamer.stages.room import LEASE_BYTES_MIN
from gossamer.surfaces.cli.options import CONFIG_FILE, data_option
from gossamer.surfaces.cli.printing import Style, styled, write_document, write_lines

PYTHON_MIN: Final = (3, 11)
NAME_LOOKED_UP: Final = "example.com"  # IANA's, for documentation; any other with --name
DNS_TIMEOUT_S: Final = 3.0
FILES_BESIDE_FETCHES: Final = 600  # RocksDB's 512 tables, segments, pipes of parsers
RELEASED_AT: Final = 1_790_000_000.0  # September 2026: a clock before that is wrong
CLOCK_STEP_S: Final = 120.0  # files newer than now by more: the clock was set back
VARIABLES: Final = {"GOSSAMER_DATA", "GOSSAMER_CONFIG"}.union(*(option.variables for option in OPTIONS))


class Verdict(StrEnum):
    """How bad it is: a warning limits a crawl, a problem prevents it."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


COLOURS: Final[Mapping[Verdict, Style]] = {
    Verdict.OK: {"fg": "green"},
    Verdict.WARNING: {"fg": "yellow"},
    Verdict.PROBLEM: {"fg": "red"},
}


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """One line of the diagnosis; `todo` is empty when all is well."""

    check: str
    verdict: Verdict
    found: str
    todo: str = ""


class Diagnosis(msgspec.Struct, frozen=True, rename="camel"):
    """All of it."""

    version: str
    ok: bool
    findings: list[Finding]
    libraries: dict[str, str | None]  # by distribution; null: can't be imported


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a crawl would start with. `concurrency` None: that of the configuration."""

    data: Path
    config_file: Path | None
    environment: Mapping[str, str]
    concurrency: int | None
    name: str

    @property
    def directory(self) -> DataDirectory:
        """The places in `data`."""
        return DataDirectory(self.data.absolute())

    def config(self) -> CrawlConfig:
        """As `gossamer crawl` would read it. Raises ConfigFaults."""
        file = self.config_file
        if file is None and Path(CONFIG_FILE).is_file():
            file = Path(CONFIG_FILE)
        return resolve({"concurrency": self.concurrency}, self.environment, file)


# The machine.


def check_python(_: Surroundings) -> Finding:
    """The interpreter is new enough."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= PYTHON_MIN:
        return Finding("python", Verdict.OK, f"{found}, {sys.executable}")
    return Finding("python", Verdict.PROBLEM, found, f"install Python {PYTHON_MIN[0]}.{PYTHON_MIN[1]} or newer")


def libraries() -> dict[str, str | None]:
    """Versions of what Gossamer requires, by distribution; None where the import fails."""
    found: dict[str, str | None] = {}
    for requirement in metadata.requires("gossamer") or []:
        name, _, marker = requirement.partition(";")
        if "extra" in marker:
            continue
        distribution = name.split(">")[0].split("=")[0].split("<")[0].strip()
        try:
            importlib.import_module(distribution.lower().replace("-", "_"))
            found[distribution] = metadata.version(distribution)
        except ImportError:
            found[distribution] = None
    return found


def check_libraries(_: Surroundings) -> Finding:
    """Everything that is required can be imported."""
    found = libraries()
    missing = [name for name, version in found.items() if version is None]
    if not missing:
        return Finding("libraries", Verdict.OK, f"all {len(found)} can be imported (versions: --json)")
    todo = f"{sys.executable} -m pip install --force-reinstall {' '.join(missing)}"
    return Finding("libraries", Verdict.PROBLEM, f"can't be imported: {', '.join(missing)}", todo)


def check_clock(around: Surroundings) -> Finding:
    """The wall clock is past the release and past what it wrote itself."""
    now = wall_time()
    if now < RELEASED_AT:
        return Finding("clock", Verdict.PROBLEM, "before the release of this program", "set the clock: timedatectl")
    written = max((path.stat().st_mtime for path in _written(around.directory)), default=0.0)
    if written > now + CLOCK_STEP_S:
        found = f"{written - now:,.0f} s behind the newest file of {around.data}"
        return Finding("clock", Verdict.WARNING, found, "hosts would rest that much longer; set the clock: timedatectl")
    if not Path("/proc/sys/kernel/random/boot_id").is_file():
        return Finding("clock", Verdict.PROBLEM, "no boot id in /proc", "mount /proc: the contact log needs it")
    return Finding("clock", Verdict.OK, "goes forward")


def _written(directory: DataDirectory) -> list[Path]:
    return list(directory.contacts.glob("*.jsonl")) if directory.contacts.is_dir() else []


def check_open_files(around: Surroundings) -> Finding:
    """The limit of open files leaves room for the fetches in flight."""
    try:
        wanted = around.config().concurrency + FILES_BESIDE_FETCHES
    except ConfigFaults:
        wanted = 1_000 + FILES_BESIDE_FETCHES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return Finding("open files", Verdict.OK, f"{_limit(soft)} may be open, {wanted:,} are enough")
    todo = f"crawl with --concurrency {max(1, soft - FILES_BESIDE_FETCHES)}"
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        todo = f"ulimit -n {wanted}, or {todo}"
    return Finding("open files", Verdict.WARNING, f"{soft:,} may be open, {wanted:,} may be wanted", todo)


def _limit(soft: int) -> str:
    return "any number" if soft == resource.RLIM_INFINITY else f"{soft:,}"


# The network.


def check_names(around: Surroundings) -> Finding:
    """A name can be resolved. Without a network that is a warning: labs and stored crawls need none."""
    found = asyncio.run(_look_up(around.name))
    if not isinstance(found, Unresolved):
        return Finding("names", Verdict.OK, f"{around.name} can be resolved")
    todo = "look at the network and /etc/resolv.conf; the lab and all that looks at stored crawls need no names"
    return Finding("names", Verdict.WARNING, f"{around.name} can't be resolved ({found.reason.value})", todo)


async def _look_up(name: str) -> object:
    dns = CaresDns(DnsLimits(dns_timeout_s=DNS_TIMEOUT_S))
    try:
        return await dns.resolve(name)
    finally:
        await dns.close()


def check_certificates(_: Surroundings) -> Finding:
    """There are roots to verify servers with."""
    count = len(ssl.create_default_context().get_ca_certs()) or _hashed_roots()
    if count:
        return Finding("certificates", Verdict.OK, f"{count} roots to verify servers with")
    todo = "install the package ca-certificates, or crawl with --ca-file PEM"
    return Finding("certificates", Verdict.WARNING, "no roots: no https server can be verified", todo)


def _hashed_roots() -> int:
    """A directory of roots is read when it is needed, so the context does not know its number."""
    directory = ssl.get_default_verify_paths().capath
    return sum(1 for _ in Path(directory).iterdir()) if directory and Path(directory).is_dir() else 0


# The configuration and the data.


def check_configuration(around: Surroundings) -> Finding:
    """The file and the environment are valid."""
    try:
        around.config()
    except ConfigFaults as faults:
        return Finding("configuration", Verdict.PROBLEM, "; ".join(map(str, faults.faults)), "correct these values")
    file = around.config_file or (Path(CONFIG_FILE) if Path(CONFIG_FILE).is_file() else None)
    variables = sorted(name for name in around.environment if name.startswith("GOSSAMER_"))
    if unknown := [name for name in variables if name not in VARIABLES]:
        todo = "nothing reads them; the names are in docs/configuration.md"
        return Finding("configuration", Verdict.WARNING, f"no setting: {', '.join(unknown)}", todo)
    sources = [str(file)] if file else []
    return Finding("configuration", Verdict.OK, ", ".join([*sources, *variables]) or "defaults")


def check_data(around: Surroundings) -> Finding:
    """The data directory, or the place where it would be made, can be written to."""
    place = around.directory.root
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return Finding("data", Verdict.PROBLEM, f"{place} is no directory", "choose another: --data DIR")
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding("data", Verdict.PROBLEM, f"{place} can't be written to", "choose another: --data DIR")
    free = LocalDisk(place).free_bytes()
    found = f"{around.data}, {free / 2**30:,.1f} GiB free"
    if free < LEASE_BYTES_MIN:
        found = f"{free // 2**20} MiB free at {place}"
        todo = f"free at least {LEASE_BYTES_MIN // 2**20} MiB; a running crawl waits for that by itself"
        return Finding("data", Verdict.PROBLEM, found, todo)
    return Finding("data", Verdict.OK, found if around.directory.root.exists() else found + ", made by the first crawl")


def check_owner(around: Surroundings) -> Finding:
    """No other process writes to the data directory."""
    lock = around.directory.lock
    try:
        if lock.is_file():
            DirectoryLock(lock).release()
    except DirectoryInUse as busy:
        todo = f"look with `gossamer status --data {around.data}`, end it with `gossamer stop --data {around.data}`"
        return Finding("owner", Verdict.WARNING, str(busy), todo)
    except OSError as error:
        return Finding("owner", Verdict.PROBLEM, f"{lock}: {error.strerror}", "crawl as the user who owns it")
    return Finding("owner", Verdict.OK, "no other process crawls here")


def check_state(around: Surroundings) -> Finding:
    """What is stored can be read."""
    try:
        with open_reading(around.data) as reading:
            crawls = reading.crawls
    except NothingThere:
        return Finding("state", Verdict.OK, "nothing stored yet")
    except (StoreCorrupt, StoreLocked, msgspec.MsgspecError) as error:
        todo = "restore the directory from a copy, or crawl with another: --data DIR"
        return Finding("state", Verdict.PROBLEM, str(error), todo)
    newest = f", the newest {crawls[-1].crawl_id}: {crawls[-1].status}" if crawls else ""
    return Finding("state", Verdict.OK, f"{len(crawls)} crawls{newest}")


CHECKS: Final[tuple[Callable[[Surroundings], Finding], ...]] = (
    check_python,
    check_libraries,
    check_clock,
    check_open_files,
    check_names,
    check_certificates,
    check_configuration,
    check_data,
    check_owner,
    check_state,
)


def diagnose(around: Surroundings) -> Diagnosis:
    """All checks in order."""
    findings = [check(around) for check in CHECKS]
    ok = all(finding.verdict is not Verdict.PROBLEM for finding in findings)
    return Diagnosis(__version__, ok, findings, libraries())


@click.command("doctor", short_help="Check this machine and say what to do.")
@data_option
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    envvar="GOSSAMER_CONFIG",
    help=f"TOML file of config keys; {CONFIG_FILE} when it is there.",
)
@click.option("--concurrency", type=click.IntRange(1, 100_000), metavar="N", help="Fetches in flight to have room for.")
@click.option("--name", default=NAME_LOOKED_UP, show_default=True, help="The name to resolve.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(data: Path, config: Path | None, concurrency: int | None, name: str, as_json: bool) -> None:  # noqa: FBT001
    """Check Python, libraries, clock, limits, names, configuration and the data directory.

    Changes nothing. Exit code 1: a problem that would keep a crawl from running.
    """
    diagnosis = diagnose(Surroundings(data, config, os.environ, concurrency, name))
    if as_json:
        write_document(diagnosis)
    else:
        write_lines(prose(diagnosis))
    if not diagnosis.ok:
        raise click.exceptions.Exit(1)


def prose(diagnosis: Diagnosis) -> list[str]:
    """A line each, what to do below it, and the sum."""
    lines = []
    for finding in diagnosis.findings:
        verdict = styled(f"{finding.verdict.value:<9}", COLOURS[finding.verdict])
        lines.append(f"{verdict}{finding.check:<15}{finding.found}")
        if finding.todo:
            lines.append(f"{'':<24}→ {finding.todo}")
    counts = Counter(finding.verdict for finding in diagnosis.findings if finding.verdict is not Verdict.OK)
    named = ", ".join(f"{count} {verdict}{'s' * (count > 1)}" for verdict, count in sorted(counts.items()))
    sum_ = "ready to crawl" if diagnosis.ok else "not ready to crawl"
    return [*lines, "", f"{sum_} ({named})" if named else sum_]


COMMANDS = [doctor]
