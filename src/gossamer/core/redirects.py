"""Where a 3xx answer leads. Whether to go there (scope, robots, budget) and when is decided elsewhere.

A hop is a new URL for its own host's queue; `Refresh` is a matter of the page, not of this file.
"""

from typing import Final

from gossamer.core.http_message import Fields, field_values
from gossamer.core.outcome import Reason
from gossamer.core.url import Url, UrlFault, normalize_location, url_key

CHAIN_MAX: Final = 10  # hops behind a discovered URL; browsers allow 20, robots.txt 5 (RFC 9309 2.3.1.2)

# 300 offers a choice and 304, 305, 306 redirect nobody (RFC 9110 15.4).
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


def is_redirect(status: int) -> bool:
    """Whether `status` sends a GET elsewhere."""
    return status in REDIRECTS


def redirect_target(fields: Fields, url: str) -> Url | Reason:
    """The normalised target of a redirect from `url`, or why it leads nowhere.

    BAD_LOCATION: none, empty, several different, or no http URL. REDIRECT_LOOP: the target is `url` itself under
    another spelling. Longer circles need the chain: the ledger, which has it, ends them with the same reason.
    A Url and a Reason are both str: ask `isinstance(x, Reason)`.
    """
    locations = {value for value in field_values(fields, "location") if value}
    if len(locations) != 1:
        return Reason.BAD_LOCATION
    target = normalize_location(locations.pop(), url)
    if isinstance(target, UrlFault):
        return Reason.BAD_LOCATION
    return Reason.REDIRECT_LOOP if url_key(target) == url_key(Url(url)) else target
