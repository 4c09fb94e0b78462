"""Configuration, parsed once and then trusted: option > environment > file > default, every fault reported at once."""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gossamer.config_faults import ConfigFaults, Fault
from gossamer.config_values import (
    choice,
    connect_to,
    contact,
    integer,
    network,
    number,
    or_none,
    pattern,
    product,
    readable_file,
    robots,
    switch,
)
from gossamer.core.addresses import AddressRules
from gossamer.core.admission import Admissibility
from gossamer.core.backoff import RetryRules
from gossamer.core.bloom_saved import BloomPlan
from gossamer.core.budget import Ceilings
from gossamer.core.connect_to import ConnectMap, ConnectTo
from gossamer.core.politeness import DelayRules
from gossamer.core.priority import Wishes
from gossamer.core.scope import Scope, ScopeKind
from gossamer.core.url import Url


@dataclass(frozen=True, slots=True)
class Option:
    """One setting in all its spellings. `read` turns a string (or a TOML value) into the value or raises ValueError."""

    key: str
    flag: str
    metavar: str
    read: Callable[[Any], Any]
    default: Any
    allowed: str
    help: str
    many: bool = False

    @property
    def variables(self) -> tuple[str, str]:
        """Names in the environment: after the key, and after the flag."""
        return f"GOSSAMER_{self.key.upper()}", f"GOSSAMER_{self.flag.removeprefix('--').replace('-', '_').upper()}"


_SECONDS = "a number of seconds from 0 to 86,400"
_COUNT = "a whole number from 1 to 10^12, or none"

OPTIONS: tuple[Option, ...] = (
    Option("scope", "--scope", "KIND", choice(*(k.value for k in ScopeKind)), "site", "host, site, prefix or any",
           "how far around each seed to go"),
    Option("include", "--include", "RE", pattern, (), "a regular expression",
           "fetch only URLs that match (searched in the normalised URL)", many=True),
    Option("exclude", "--exclude", "RE", pattern, (), "a regular expression",
           "never fetch URLs that match; wins over --include", many=True),
    Option("prefer", "--prefer", "RE", pattern, (), "a regular expression",
           "fetch URLs that match before others, two levels of priority up", many=True),
    Option("defer", "--defer", "RE", pattern, (), "a regular expression",
           "fetch URLs that match after others, two levels of priority down", many=True),
    Option("max_pages", "--max-pages", "N", or_none(integer(1, 10**12)), None, _COUNT,
           "stop after N fetched pages, exactly"),
    Option("max_pages_per_host", "--max-pages-per-host", "N", or_none(integer(1, 10**12)), None, _COUNT,
           "fetch at most N pages of one host, exactly"),
    Option("max_pages_per_site", "--max-pages-per-site", "N", or_none(integer(1, 10**12)), None, _COUNT,
           "fetch at most N pages of one site, exactly"),
    Option("max_pages_per_host_day", "--max-pages-per-host-day", "N", or_none(integer(1, 10**12)), None, _COUNT,
           "fetch at most N pages of one host in a day (UTC), exactly"),
    Option("site_budgets", "--site-budgets", "RULE", choice("none", "star"), "none", "none or star",
           "star: 10 to 10,000 pages a site, by how many other sites link to it"),
    Option("max_hops", "--max-hops", "N", or_none(integer(0, 10_000)), None,
           "a whole number from 0 to 10,000, or none", "follow links at most N steps away from a seed"),
    Option("delay_s", "--delay", "S", number(0, 86_400), 1.0, _SECONDS, "rest of a host after each contact"),
    Option("delay_factor", "--delay-factor", "F", number(0, 1_000), 10.0, "a number from 0 to 1,000",
           "rest at least F times as long as the last answer took"),
    Option("delay_max_s", "--delay-max", "S", number(0, 86_400), 60.0, _SECONDS,
           "limit of that; a longer robots crawl-delay leaves the host alone"),
    Option("per_address_delay_s", "--per-address-delay", "S", number(0, 86_400), 0.1, _SECONDS,
           "between contacts of one IP address, whatever the host"),
    Option("attempts", "--attempts", "N", integer(1, 100), 5, "a whole number from 1 to 100",
           "tries of a URL before it becomes a dead letter"),
    Option("retry_base_s", "--retry-base", "S", number(0, 86_400), 60.0, _SECONDS,
           "wait before the second try; doubles for each further one"),
    Option("concurrency", "--concurrency", "N", integer(1, 100_000), 1_000, "a whole number from 1 to 100,000",
           "fetches in flight"),
    Option("parsers", "--parsers", "N", integer(1, 256), max(1, (os.cpu_count() or 2) - 1),
           "a whole number from 1 to 256", "parser processes"),
    Option("user_agent", "--user-agent", "PRODUCT", product, "gossamer", "letters, '_' and '-', at most 64",
           "product token, sent as PRODUCT/VERSION and matched in robots.txt"),
    Option("contact", "--contact", "URL-or-mail", contact, "", "a URL or a mail address without spaces",
           "who runs this crawl, sent along so that site owners can ask"),
    Option("robots", "--robots", "RULE", robots, frozenset(), "obey, or off-for=HOST[,HOST…]",
           "obey robots.txt, or switch it off for hosts named one by one"),
    Option("robots_unreachable", "--robots-unreachable", "MODE", choice("rfc", "google"), "rfc", "rfc or google",
           "what holds while robots.txt can't be had"),
    Option("sitemaps", "--sitemaps/--no-sitemaps", "", switch, True, "true or false",
           "read the sitemaps that robots.txt names"),
    Option("text", "--text", "KIND", choice("full", "main", "none"), "full", "full, main or none",
           "which text to keep of a page"),
    Option("seen", "--seen", "KIND", choice("exact", "bloom"), "exact", "exact or bloom",
           "how known URLs are kept: all on disk, or in memory by a filter that takes a few new ones for known"),
    Option("seen_urls", "--seen-urls", "N", integer(1_000, 10**10), 10_000_000, "a whole number from 1,000 to 10^10",
           "with --seen bloom: URLs expected; for more it grows"),
    Option("seen_error", "--seen-error", "P", number(1e-6, 0.1), 0.01, "a number from 0.000001 to 0.1",
           "with --seen bloom: share of new URLs that may be taken for known, and are lost"),
    Option("connect_to", "--connect-to", "HOST:PORT:ADDR:PORT", connect_to, (),
           "HOST:PORT:ADDR:PORT as curl's; HOST may be * or *.suffix, PORT empty",
           "connect to another address or port; first match wins", many=True),
    Option("allow_address", "--allow-address", "CIDR", network, (), "an IP network such as 127.0.0.0/8",
           "also connect to these private or local addresses", many=True),
    Option("ca_file", "--ca-file", "PEM", readable_file, None, "a readable PEM file",
           "certificates to trust instead of the system's"),
)  # fmt: skip
BY_KEY = {option.key: option for option in OPTIONS}
CHANGEABLE = (
    *("delay_s", "delay_factor", "delay_max_s", "per_address_delay_s", "concurrency"),
    *("max_pages", "max_pages_per_host", "max_pages_per_site", "max_pages_per_host_day"),
)
"""Settings that a running crawl can change."""
_KEY_OF_VARIABLE = {variable: option.key for option in OPTIONS for variable in option.variables}
_OTHER_VARIABLES = ("GOSSAMER_DATA", "GOSSAMER_CONFIG")
_PREFIX = "GOSSAMER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlConfig:
    """All settings of a crawl. Stages take the few they need."""

    scope: str
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    prefer: tuple[re.Pattern[str], ...]
    defer: tuple[re.Pattern[str], ...]
    max_pages: int | None
    max_pages_per_host: int | None
    max_pages_per_site: int | None
    max_pages_per_host_day: int | None
    site_budgets: str
    max_hops: int | None
    delay_s: float
    delay_factor: float
    delay_max_s: float
    per_address_delay_s: float
    attempts: int
    retry_base_s: float
    concurrency: int
    parsers: int
    user_agent: str
    contact: str
    robots: frozenset[str]
    robots_unreachable: str
    sitemaps: bool
    text: str
    seen: str
    seen_urls: int
    seen_error: float
    connect_to: tuple[ConnectTo, ...]
    allow_address: tuple[Any, ...]
    ca_file: str | None

    def admissibility(self, seeds: Sequence[str]) -> Admissibility:
        """Scope around these seeds (in normal form), and the trap rules."""
        scope = Scope(ScopeKind(self.scope), tuple(Url(seed) for seed in seeds), self.include, self.exclude)
        return Admissibility(scope)

    @property
    def wishes(self) -> Wishes:
        """What comes first and last."""
        return Wishes(self.prefer, self.defer)

    @property
    def ceilings(self) -> Ceilings:
        """Exact limits of the crawl."""
        return Ceilings(
            pages=self.max_pages,
            pages_per_host=self.max_pages_per_host,
            pages_per_site=self.max_pages_per_site,
            pages_per_host_day=self.max_pages_per_host_day,
            hops=self.max_hops,
            is_star=self.site_budgets == "star",
        )

    @property
    def delay_rules(self) -> DelayRules:
        """How long a host rests."""
        return DelayRules(self.delay_s, self.delay_factor, self.delay_max_s)

    @property
    def retry_rules(self) -> RetryRules:
        """How often and when a URL is tried again."""
        return RetryRules(self.attempts, self.retry_base_s)

    @property
    def bloom_plan(self) -> BloomPlan:
        """What the filter of known URLs is sized for, with `seen` = bloom."""
        return BloomPlan(self.seen_urls, self.seen_error)

    def request_headers(self, version: str) -> tuple[tuple[str, str], ...]:
        """What every request carries beside Host."""
        about = f" (+{self.contact})" if self.contact else ""
        return (
            ("User-Agent", f"{self.user_agent}/{version}{about}"),
            ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
            ("Accept-Encoding", "gzip, deflate, br, zstd"),
        )

    @property
    def address_rules(self) -> AddressRules:
        """Which addresses may be contacted."""
        return AddressRules(self.allow_address)

    @property
    def connect_map(self) -> ConnectMap:
        """Where connections go instead."""
        return ConnectMap(self.connect_to)


def resolve(
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None,
    stored: Mapping[str, Any] | None = None,
) -> CrawlConfig:
    """The configuration from the command line's raw values, the environment, a TOML file and what a crawl had before.

    `given` maps config keys to raw values, absent or None where the option was not used; `stored` is an `as_plain`.
    Raises ConfigFaults with all faults of all sources.
    """
    faults: list[Fault] = []
    from_file = _read_file(file, faults) if file else {}
    values: dict[str, Any] = {}
    for option in OPTIONS:
        raw, source = _find(option, given, environment, from_file, str(file))
        if raw is None and stored is not None:
            raw, source = stored.get(option.key), "the crawl's own options"
        values[option.key] = option.default if raw is None else _read(option, raw, source, faults)
    if faults:
        place = {key: number for number, key in enumerate(from_file)}
        raise ConfigFaults(sorted(faults, key=lambda f: place.get(f.key, -1) if f.source == str(file) else -1))
    return CrawlConfig(**values)


def read_changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of settings that change while a crawl runs, from raw ones; those that are None are left out.

    Raises ConfigFaults with all faults.
    """
    faults = [Fault(key, "", "", key, "can't be changed while a crawl runs") for key in given if key not in CHANGEABLE]
    options = [(BY_KEY[key], given[key]) for key in CHANGEABLE if given.get(key) is not None]
    values = {option.key: _read(option, raw, option.flag, faults) for option, raw in options}
    if faults:
        raise ConfigFaults(faults)
    return values


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """A sentence about each variable that looks like one of ours and is none; the tests' own are left out."""
    known = {name.removeprefix(_PREFIX) for name in (*_KEY_OF_VARIABLE, *_OTHER_VARIABLES)}
    written = [name.removeprefix(_PREFIX) for name in sorted(environment) if name.startswith(_PREFIX)]
    return [
        f"{_PREFIX}{name} in the environment is not known; "
        + (_did_you_mean(name, known, _PREFIX) or "see gossamer crawl --help")
        for name in written
        if name not in known and not name.startswith("TEST_")
    ]


def _did_you_mean(written: str, known: Iterable[str], prefix: str = "") -> str:
    near = difflib.get_close_matches(written, known, n=1)
    return f"did you mean {prefix}{near[0]}?" if near else ""


def _find(
    option: Option, given: Mapping[str, Any], environment: Mapping[str, str], file: Mapping[str, Any], path: str
) -> tuple[Any, str]:
    if given.get(option.key) not in (None, ()):
        return given[option.key], option.flag.partition("/")[0]
    for variable in option.variables:
        if variable in environment:
            raw = environment[variable]
            return (raw.split() if option.many else raw), variable
    return file.get(option.key), path


def _read(option: Option, raw: Any, source: str, faults: list[Fault]) -> Any:
    parts = list(raw) if option.many and isinstance(raw, list | tuple) else [raw]
    values: list[Any] = []
    for part in parts:
        try:
            values.append(option.read(part))
        except (ValueError, KeyError, TypeError, OverflowError, OSError):
            faults.append(Fault(option.key, str(part), option.allowed, source))
    return tuple(values) if option.many else (values[0] if values else None)


def _read_file(path: Path, faults: list[Fault]) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        faults.append(_about_file(path, f"can't be read: {error.strerror}"))
        return {}
    except UnicodeDecodeError as error:
        faults.append(_about_file(path, f"not UTF-8 at byte {error.start}"))
        return {}
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).removesuffix(")").rpartition(" (at ")
        faults.append(_about_file(path, f"{where}: {what}" if what else where))
        return {}
    faults.extend(_unknown_key(path, key) for key in values.keys() - BY_KEY.keys())
    return values


def _about_file(path: Path, sentence: str) -> Fault:
    return Fault("", "", "", str(path), sentence)


def _unknown_key(path: Path, key: str) -> Fault:
    """Keys are often written as the option is spelt."""
    spelt = _KEY_OF_VARIABLE.get(f"{_PREFIX}{key.replace('-', '_').upper()}")
    hint = f"did you mean {spelt}?" if spelt else _did_you_mean(key, BY_KEY)
    return Fault(key, "", "", str(path), f"unknown key {key}; {hint or 'known: ' + ', '.join(sorted(BY_KEY))}")


def as_plain(config: CrawlConfig) -> dict[str, Any]:
    """The configuration as strings, numbers and lists, such as `resolve` reads it again; unset options left out."""
    plain: dict[str, Any] = {}
    for field in fields(config):
        value = _plain(field.name, getattr(config, field.name))
        if value not in (None, [], ""):
            plain[field.name] = value
    return plain


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain_part(part) for part in value]
    if key == "robots":
        return "off-for=" + ",".join(sorted(value)) if value else "obey"
    return value


def _plain_part(part: Any) -> str:
    if isinstance(part, re.Pattern):
        return str(part.pattern)
    if isinstance(part, ConnectTo):
        bracketed = [f"[{name}]" if name and ":" in name else name or "" for name in (part.host, part.to_address)]
        return f"{bracketed[0]}:{part.port or ''}:{bracketed[1]}:{part.to_port or ''}"
    return str(part)
