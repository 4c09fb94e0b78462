"""One document from the web, for commands that look at just one. Beside `bootstrap`: the stack is made and ended here.

There is no crawl around it, hence no robots.txt, no gaps and no contact log: it is for what a person asks for by name,
with at most REDIRECTS_MAX + 1 contacts.
"""

import asyncio
from typing import Final, NamedTuple

from gossamer import __version__
from gossamer.adapters.dns.resolver import CaresDns, DnsLimits
from gossamer.adapters.http.client import HttpClient
from gossamer.adapters.http.limits import FetchLimits
from gossamer.adapters.system.clock import SystemClock
from gossamer.core.addresses import AddressRules
from gossamer.core.answers import outcome_of_answer
from gossamer.core.decoding import decode_body
from gossamer.core.http_message import field_values
from gossamer.core.outcome import Denied, Outcome, Reason, Redirected, Unreachable
from gossamer.core.url import Url, UrlFault, normalize, scheme_host_port
from gossamer.ports.clock import Clock
from gossamer.ports.dns import Dns, Unresolved
from gossamer.ports.web import Request, Response, Unanswered, Web

REDIRECTS_MAX: Final = 5
"""RFC 9309 2.3.1.2."""
LIMITS: Final = FetchLimits(connect_timeout_s=10.0, first_byte_timeout_s=15.0, total_timeout_s=30.0)
"""Somebody waits for it."""


class Answer(NamedTuple):
    """How it ended. `status` is 0 and `body` empty where nobody answered; the body's content codings are off."""

    status: int
    body: bytes
    outcome: Outcome


def fetch_once(url: str, *, user_agent: str, allow: AddressRules) -> Answer:
    """GET `url` and follow its redirects, each to an address that `allow` permits. Never raises for what the web does.

    Where the last of too many redirects leads on, the outcome is Redirected. ValueError: `url` is no http URL. Not to
    be called inside a running loop; takes at most (DNS 5 s + 30 s) × 6.
    """
    start = normalize(url)
    if isinstance(start, UrlFault):
        raise ValueError(f"no http URL: {start.value}")  # noqa: TRY004 -- a fault is a value, a wrong caller is not
    return asyncio.run(_fetch(start, user_agent, allow))


async def _fetch(url: Url, user_agent: str, allow: AddressRules) -> Answer:
    dns, web = CaresDns(DnsLimits()), HttpClient(LIMITS)
    try:
        stack = _Stack(dns, web, SystemClock(), allow, _headers(user_agent))
        for _ in range(REDIRECTS_MAX):
            answer = await stack.contact(url)
            if not isinstance(answer.outcome, Redirected):
                return answer
            url = Url(answer.outcome.target)
        return await stack.contact(url)
    finally:
        await web.close()
        await dns.close()


def _headers(user_agent: str) -> tuple[tuple[str, str], ...]:
    sent = user_agent if "/" in user_agent else f"{user_agent}/{__version__}"
    return (("User-Agent", sent), ("Accept", "*/*"), ("Accept-Encoding", "gzip, deflate, br, zstd"))


class _Stack(NamedTuple):
    dns: Dns
    web: Web
    clock: Clock
    allow: AddressRules
    headers: tuple[tuple[str, str], ...]

    async def contact(self, url: Url) -> Answer:
        """One exchange with an allowed address of the URL's host."""
        _, host, port = scheme_host_port(url)
        found = await self.dns.resolve(host)
        if isinstance(found, Unresolved):
            return Answer(0, b"", Unreachable(found.reason))
        address = next(filter(self.allow.is_allowed, found.addresses), None)
        if address is None:
            return Answer(0, b"", Denied(Reason.ADDRESS_NOT_ALLOWED))
        response = await self.web.fetch(Request(url=url, address=address, connect_port=port, headers=self.headers))
        if isinstance(response, Unanswered):
            return Answer(0, b"", Unreachable(response.reason))
        return self._answer(url, response)

    def _answer(self, url: Url, response: Response) -> Answer:
        outcome = outcome_of_answer(response.status, response.fields, response.truncated, url, self.clock.now())
        codings = ", ".join(field_values(response.fields, "content-encoding"))
        return Answer(response.status, decode_body(response.payload, codings, LIMITS.body_bytes_max).body, outcome)
