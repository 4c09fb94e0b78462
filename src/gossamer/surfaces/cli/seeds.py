"""Seeds as a user writes them: normal form, or one sentence about each that is none."""

from collections.abc import Sequence

import click

from gossamer.config import CrawlConfig
from gossamer.core.outcome import Reason
from gossamer.core.url import Url, UrlFault, host_of, normalize, scheme_host_port
from gossamer.ports.dns import Dns, Unresolved

SEEDS_LOOKED_UP_MAX = 100
"""Seeds whose names are tried before the start; a long list has dead ones, and they find their own end."""


def normal_seeds(written: Sequence[str]) -> tuple[Url, ...]:
    """The seeds in normal form, each once. Raises a usage error that names every fault."""
    faults: list[str] = []
    seeds: dict[Url, None] = {}
    for seed in written:
        url = normalize(seed)
        if not isinstance(url, UrlFault):
            seeds[url] = None
        elif "://" not in seed:
            faults.append(f"seed {seed!r} has no scheme; write https://{seed}")
        else:
            faults.append(f"seed {seed!r} is no URL to crawl: {url.value}; allowed: http:// and https:// URLs")
    if faults:
        raise click.UsageError("\n".join(faults))
    return tuple(seeds)


async def unresolvable(dns: Dns, config: CrawlConfig, seeds: Sequence[Url]) -> dict[Url, Reason]:
    """Which of the first seeds have a name without address, and why."""
    routes = config.connect_map
    missing: dict[Url, Reason] = {}
    for seed in seeds[:SEEDS_LOOKED_UP_MAX]:
        _, host, port = scheme_host_port(seed)
        routed, _ = routes.route(host, port)
        found = await dns.resolve(routed or host)
        if isinstance(found, Unresolved):
            missing[seed] = found.reason
    return missing


def sentence(seed: Url, reason: Reason) -> str:
    """What is wrong with a seed whose name has no address."""
    return f"seed {seed}: the name {host_of(seed)} can't be resolved ({reason.value})"
