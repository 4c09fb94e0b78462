"""Who lives in the lab web: profiles, host names, what each host is like. Not here: paths (lab_paths), pages."""

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

HOSTS_MAX = 100_000
PAGES_PER_HOST_MAX = 1_000_000
LATENCY_MAX_S = 600.0


class Profile(StrEnum):
    """What the lab is for."""

    PLAIN = "plain"  # a small believable web: rules, sitemaps, redirects, errors, charsets, one slow host
    POLITE = "polite"  # many hosts of equal size, for measuring the pace; some may be dead or stalling
    TRAPS = "traps"  # a few pages around every kind of endless space


class Fate(StrEnum):
    """How a host meets a request."""

    ANSWERS = "answers"
    RESETS = "resets"  # the connection is reset: the nearest thing to a closed port where all hosts share one
    STALLS = "stalls"  # the request is read and never answered


class Trap(StrEnum):
    """An endless space of URLs."""

    CALENDAR = "calendar"
    SESSION = "session"
    REPEAT = "repeat"
    QUERY = "query"
    REDIRECT = "redirect"
    SUBDOMAINS = "subdomains"
    FARM = "farm"


class Sitemap(StrEnum):
    NONE = "none"
    PLAIN = "plain"
    INDEX_GZIP = "index-gzip"  # an index naming one gzipped file


@dataclass(frozen=True, slots=True, kw_only=True)
class LabConfig:
    """All that decides a lab web; equal configs give equal bytes. None means the profile's own size."""

    seed: int = 1
    profile: Profile = Profile.PLAIN
    hosts: int | None = None
    pages_per_host: int | None = None
    latency_min_s: float = 0.0
    latency_max_s: float = 0.0
    dead_share: float = 0.0
    stalling_share: float = 0.0

    def __post_init__(self) -> None:
        faults = [*self._size_faults(), *self._share_faults()]
        if faults:
            raise ValueError("; ".join(faults))

    def _size_faults(self) -> list[str]:
        faults = []
        if self.hosts is not None and not 1 <= self.hosts <= HOSTS_MAX:
            faults.append(f"hosts must be in 1…{HOSTS_MAX}, got {self.hosts}")
        if self.pages_per_host is not None and not 1 <= self.pages_per_host <= PAGES_PER_HOST_MAX:
            faults.append(f"pages_per_host must be in 1…{PAGES_PER_HOST_MAX}, got {self.pages_per_host}")
        if not 0 <= self.latency_min_s <= self.latency_max_s <= LATENCY_MAX_S:
            asked = f"{self.latency_min_s}…{self.latency_max_s}"
            faults.append(f"latency must be 0 ≤ min ≤ max ≤ {LATENCY_MAX_S:g} s, got {asked}")
        return faults

    def _share_faults(self) -> list[str]:
        if self.dead_share < 0 or self.stalling_share < 0 or self.dead_share + self.stalling_share > 1:
            asked = f"{self.dead_share} and {self.stalling_share}"
            return [f"dead_share and stalling_share must be ≥ 0 and ≤ 1 in sum, got {asked}"]
        return []

    @property
    def host_count(self) -> int:
        return self.hosts or {Profile.PLAIN: 30, Profile.POLITE: 100, Profile.TRAPS: 2 * len(Trap)}[self.profile]

    @property
    def page_count(self) -> int:
        """Pages of an average host."""
        return self.pages_per_host or {Profile.PLAIN: 8, Profile.POLITE: 20, Profile.TRAPS: 10}[self.profile]


class HostPlan(NamedTuple):
    """What one host is like. Numbers count the URLs of a kind that the host has besides its ordinary pages."""

    name: str
    site: str
    pages: int
    charset: str = "utf-8"
    charset_in_header: bool = True
    is_gzipped: bool = False
    has_robots: bool = True
    crawl_delay_s: float | None = None
    sitemap: Sitemap = Sitemap.NONE
    is_throttled: bool = False
    latency_min_s: float = 0.0
    latency_max_s: float = 0.0
    fate: Fate = Fate.ANSWERS
    trap: Trap | None = None
    gone: int = 0
    redirects: int = 0
    private: int = 0  # behind Disallow
    allowed: int = 0  # below a disallowed path, behind a longer Allow
    orphans: int = 0  # named by the sitemap only


CHARSETS = ("utf-8", "windows-1252", "utf-8", "koi8-r", "utf-8", "shift_jis", "utf-8", "iso-8859-2")


def plan_hosts(config: LabConfig) -> list[HostPlan]:
    """All hosts of the lab in a fixed order; the plan of a host depends on nothing but the config."""
    match config.profile:
        case Profile.POLITE:
            return _polite(config)
        case Profile.TRAPS:
            return [
                _lively(config, index)._replace(trap=tuple(Trap)[(index // 2) % len(Trap)] if index % 2 == 0 else None)
                for index in range(config.host_count)
            ]
        case Profile.PLAIN:
            return [_lively(config, index) for index in range(config.host_count)]


def _site_name(number: int, count: int) -> str:
    return f"site{number:0{max(2, len(str(count - 1)))}d}.test"


def _lively(config: LabConfig, index: int) -> HostPlan:
    """A host with the everyday oddities, chosen by its index so that small labs have some of each too."""
    sites = (config.host_count + 1) // 2
    site = _site_name(index // 2, sites)
    prefix = "" if index % 2 == 0 else ("www.", "blog.", "docs.")[(index // 2) % 3]
    pages = config.page_count * (4 if index == 0 else 1)  # one host is much bigger than the rest, as everywhere
    has_rules = index % 3 != 1
    sitemap = (Sitemap.PLAIN, Sitemap.NONE, Sitemap.NONE, Sitemap.INDEX_GZIP, Sitemap.NONE)[index % 5]
    crawl_delay_s = 1.0 if index % 10 == 3 else None
    is_slow = config.profile is Profile.PLAIN and index == 7
    return HostPlan(
        name=prefix + site,
        site=site,
        pages=pages,
        charset=CHARSETS[index % len(CHARSETS)],
        charset_in_header=index % 4 < 2,
        is_gzipped=index % 2 == 0,
        has_robots=has_rules or crawl_delay_s is not None or sitemap is not Sitemap.NONE,
        crawl_delay_s=crawl_delay_s,
        sitemap=sitemap,
        is_throttled=index == 5,
        # 0.25 s becomes a gap of 2.5 s at the default delay factor of 10: a crawl of the plain lab ends in 20–30 s.
        latency_min_s=0.25 if is_slow else config.latency_min_s,
        latency_max_s=0.25 if is_slow else config.latency_max_s,
        gone=1 + index % 2,
        redirects=5 if index % 8 == 0 else index % 2,
        private=2 if has_rules else 0,
        allowed=1 if has_rules else 0,
        orphans=2,
    )


def _polite(config: LabConfig) -> list[HostPlan]:
    """Hosts that differ in nothing but their fate, each a site of its own."""
    count = config.host_count
    dead, stalling = round(count * config.dead_share), round(count * config.stalling_share)
    fates = [Fate.RESETS] * dead + [Fate.STALLS] * stalling
    fates += [Fate.ANSWERS] * (count - len(fates))
    random.Random(f"{config.seed}|fates").shuffle(fates)
    return [
        HostPlan(
            name=_site_name(index, count),
            site=_site_name(index, count),
            pages=config.page_count,
            latency_min_s=config.latency_min_s,
            latency_max_s=config.latency_max_s,
            fate=fate,
        )
        for index, fate in enumerate(fates[:count])
    ]
