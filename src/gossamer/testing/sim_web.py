"""A web made of scripts: what each URL and each name answers, when, and how often it was asked. Nothing leaves here."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from gossamer.core.outcome import Reason, Truncation
from gossamer.core.url import Url, host_of, target_of
from gossamer.ports.dns import Resolved, Unresolved
from gossamer.ports.web import Request, Response, Unanswered

MISSING_OCTETS = 1_000
"""By how much the Content-Length of a truncated answer is too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a server, after `latency_s`; `failure` instead of everything else when none comes."""

    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    latency_s: float = 0.0
    truncated: Truncation | None = None
    failure: Reason | None = None


class Visit(NamedTuple):
    """A request as a script sees it: how many came before it for this URL, and when."""

    url: str
    before: int
    at_s: float


Script = Answer | Sequence[Answer] | Callable[[Visit], Answer]
"""Always the same, one after another (the last one stays), or computed."""
NameScript = Sequence[str] | Unresolved | Callable[[float], "Sequence[str] | Unresolved"]
"""Addresses, a failure, or either by the time of the look-up."""

NOT_FOUND = Answer(status=404, body=b"nothing here")


def page(*hrefs: str, text: str = "", latency_s: float = 0.0) -> Answer:
    """An HTML page that links to `hrefs`."""
    links = "".join(f'<a href="{href}">{number}</a> ' for number, href in enumerate(hrefs))
    body = f"<!doctype html><title>t</title><p>{text}</p>{links}".encode()
    return Answer(fields=(("content-type", "text/html"),), body=body, latency_s=latency_s)


def any_page(url: str) -> Answer:
    """For `SimWeb.elsewhere`: every URL is a page without links, and robots.txt is absent."""
    return NOT_FOUND if url.endswith("/robots.txt") else page()


def plain(text: str, content_type: str = "text/plain") -> Answer:
    """Some text: robots.txt, a sitemap."""
    return Answer(fields=(("content-type", content_type),), body=text.encode())


def redirect(location: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status=status, fields=(("location", location),))


def refusal(status: int = 503, retry_after: str = "") -> Answer:
    """A 429 or 503, or any answer without content."""
    return Answer(status=status, fields=(("retry-after", retry_after),) if retry_after else ())


def failing(reason: Reason, latency_s: float = 0.0) -> Answer:
    """No answer."""
    return Answer(failure=reason, latency_s=latency_s)


def hanging() -> Answer:
    """Keeps the client until its total time limit, 300 s here."""
    return failing(Reason.TOTAL_TIMEOUT, latency_s=300.0)


@dataclass(slots=True)
class Exchange:
    """One contact as the server saw it. `ended_at` is None while it lasts. Status 0: no answer."""

    url: str
    host: str
    address: str
    began_at: float
    ended_at: float | None = None
    status: int = 0


@dataclass
class SimWeb:
    """See `ports.web.Web` and `ports.dns.Dns`.

    `answers` by URL in normal form; `elsewhere` computes the others (404 at first). `names` by host; others have an
    address of their own. A host that is asked twice at once is a mistake of the caller, and raises.
    """

    answers: dict[str, Script] = field(default_factory=dict)
    elsewhere: Callable[[str], Script] = lambda _: NOT_FOUND
    names: dict[str, NameScript] = field(default_factory=dict)
    look_up_s: dict[str, float] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    look_ups: list[tuple[str, float]] = field(default_factory=list)
    _visits: Counter[str] = field(default_factory=Counter)
    _busy: set[str] = field(default_factory=set)
    _addresses: dict[str, str] = field(default_factory=dict)

    def robots(self, host: str, *scripts: Answer | str) -> None:
        """What http://`host`/robots.txt answers, one after another."""
        answers = [plain(script) if isinstance(script, str) else script for script in scripts]
        self.answers[f"http://{host}/robots.txt"] = answers

    async def fetch(self, request: Request) -> Response | Unanswered:
        """See `ports.web.Web`."""
        loop, host = asyncio.get_running_loop(), host_of(Url(request.url))
        assert host not in self._busy, f"{host} is asked for {request.url} while it still answers"
        visit = Visit(request.url, self._visits[request.url], loop.time())
        answer = self._answer(visit)
        self._visits[request.url] += 1
        exchange = Exchange(request.url, host, request.address, visit.at_s)
        self.exchanges.append(exchange)
        self._busy.add(host)
        try:
            await asyncio.sleep(answer.latency_s)
        finally:  # also where a stop or a kill breaks it off
            self._busy.discard(host)
            exchange.ended_at = loop.time() if answer.latency_s else visit.at_s
        if answer.failure is not None:
            return Unanswered(reason=answer.failure, detail="", began_at=exchange.began_at, ended_at=exchange.ended_at)
        exchange.status = answer.status
        return _response(answer, exchange)

    async def resolve(self, host: str) -> Resolved | Unresolved:
        """See `ports.dns.Dns`. Nothing is remembered: every question is answered by the script."""
        loop = asyncio.get_running_loop()
        if _is_address(host):
            return Resolved((host.strip("[]"),))
        self.look_ups.append((host, loop.time()))
        await asyncio.sleep(self.look_up_s.get(host, 0.0))
        script = self.names.get(host)
        found = script(loop.time()) if callable(script) else script
        if isinstance(found, Unresolved):
            return found
        return Resolved(tuple(found) if found else (self._own_address(host),))

    async def close(self) -> None:
        """Nothing to close."""

    def _answer(self, visit: Visit) -> Answer:
        script = self.answers.get(visit.url)
        if script is None:
            script = self.elsewhere(visit.url)
        if isinstance(script, Answer):
            return script
        return script(visit) if callable(script) else script[min(visit.before, len(script) - 1)]

    def _own_address(self, host: str) -> str:
        number = len(self._addresses)
        return self._addresses.setdefault(host, f"93.184.{number // 250}.{number % 250 + 1}")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _response(answer: Answer, exchange: Exchange) -> Response:
    length = len(answer.body) + (MISSING_OCTETS if answer.truncated else 0)
    fields = (*answer.fields, ("content-length", str(length)))
    head = f"HTTP/1.1 {answer.status} Scripted\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "\r\n"
    assert exchange.ended_at is not None
    return Response(
        request_head=f"GET {target_of(Url(exchange.url))} HTTP/1.1\r\nHost: {exchange.host}\r\n\r\n".encode(),
        status=answer.status,
        head=head.encode("latin-1"),
        fields=fields,
        wire_body=answer.body,
        payload=answer.body,
        truncated=answer.truncated,
        began_at=exchange.began_at,
        ended_at=exchange.ended_at,
    )
