"""What the rules say of a URL, a robots.txt and a Retry-After: questions as JSON has them, answers too.

Documents are in `document_answers`, reading and writing in `json_lines`, options in `rules`.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

import ada_url

from gossamer.adapters.system.clock import SystemClock
from gossamer.core.fingerprint import hex_hash
from gossamer.core.retry_after import RETRY_AFTER_MAX_S, explain_retry_after
from gossamer.core.robots import RobotsDecision, RobotsFile, RobotsRule, parse_robots
from gossamer.core.url import URL_CHARS_MAX, Url, UrlFault, host_of, normalize, site_of, url_key
from gossamer.surfaces.cli.json_lines import Answer, BadRequest, Request, shown

# URLs -----------------------------------------------------------------------------------------------------------------

_URL_FAULTS: Final = {
    UrlFault.UNPARSABLE: "is no URL, and there is no base that would make it one",
    UrlFault.SCHEME_NOT_SUPPORTED: "is no http or https URL",
    UrlFault.CREDENTIALS: "carries a user name or a password, which are never sent",
    UrlFault.HOST_INVALID: "has no valid host",
    UrlFault.PORT_INVALID: "has no valid port (allowed: 0 to 65535)",
    UrlFault.TOO_LONG: f"is longer than {URL_CHARS_MAX} characters",
}


def url_answer(request: Request) -> Answer:
    """`{url, base?}` → `{url, host, site, key}`. Raises BadRequest, also for what is no http URL."""
    url = web_url(request.text("url"), request.optional_text("base"))
    return {"url": url, "host": host_of(url), "site": site_of(host_of(url)), "key": hex_hash(url_key(url))}


def web_url(raw: str, base: str | None = None) -> Url:
    """The normal form. Raises BadRequest."""
    url = normalize(raw, base)
    if isinstance(url, UrlFault):
        raise BadRequest(f"{url.value}: {shown(raw)} {_URL_FAULTS[url]}")
    return url


# robots.txt -----------------------------------------------------------------------------------------------------------


class Judgement(NamedTuple):
    """What one agent may do with some URLs, in their order.

    `group` are all rules that bind it, by the name `bound_as`; there are none while robots.txt is not known.
    """

    decisions: tuple[RobotsDecision, ...]
    crawl_delay_s: float | None
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...] = ()
    bound_as: str = "*"
    group: tuple[RobotsRule, ...] = ()
    is_known: bool = True

    def as_answer(self) -> Answer:
        """`{allowed[], rules[], crawlDelay, sitemaps[]}`; a URL that no rule names has the rule null."""
        return {
            "allowed": [decision.allowed for decision in self.decisions],
            "rules": [decision.rule for decision in self.decisions],
            "crawlDelay": None if self.crawl_delay_s is None else number(self.crawl_delay_s),
            "sitemaps": list(self.sitemaps),
        }


def robots_answer(request: Request) -> Answer:
    """`{robots | robotsHex, agent, urls[]}` → see `Judgement.as_answer`."""
    file = parse_robots(request.octets("robots"))
    return judged(file, request.text("agent"), request.texts("urls")).as_answer()


def judged(file: RobotsFile, agent: str, urls: Sequence[str]) -> Judgement:
    """What `file` says to `agent`; its host is that of each URL, or `urls` are paths."""
    rules = file.rules_for(agent)
    decisions = tuple(rules.decide(_requested(url)) for url in urls)
    bound_as, groups = file.named(agent)
    group = tuple(rule for each in groups for rule in each.rules)
    return Judgement(decisions, rules.crawl_delay_s, file.sitemaps, file.problems, bound_as, group)


def nothing_allowed(urls: Sequence[str], why: str) -> Judgement:
    """While robots.txt can't be had (RFC 9309 2.3.1.4)."""
    return Judgement((RobotsDecision(allowed=False),) * len(urls), None, (), (why,), is_known=False)


def _requested(url: str) -> str:
    """What would be asked for: dot segments resolved, as in every URL of a crawl, but with all of its parameters.

    The normal form has no tracking parameters, and a rule may be about one. What cannot be parsed is judged as written.
    """
    try:
        return ada_url.join_url("http://a.invalid/", url) if url.startswith("/") else ada_url.normalize_url(url)
    except ValueError:
        return url


# Retry-After ----------------------------------------------------------------------------------------------------------

DATE_CHARS_MAX: Final = 64
_RFC3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)
_LATEST_S: Final = datetime(9_900, 1, 1, tzinfo=UTC).timestamp()  # what is asked for may lie later


def retry_after_answer(request: Request) -> Answer:
    """`{value, date}` → `{seconds}`: to wait from `date`, that of the response or of now. Raises BadRequest."""
    value, date = request.text("value"), request.optional_text("date")
    seconds = explain_retry_after(value, _real_now() if date is None else moment_s(date))
    if isinstance(seconds, str):
        raise BadRequest(seconds)
    return {"seconds": number(seconds)}


def retry_after_prose(answer: Answer) -> str:
    """The same for people, who may wonder about a wish that was shortened."""
    if "error" in answer:
        return str(answer["error"])
    is_most = answer["seconds"] == RETRY_AFTER_MAX_S
    return f"{answer['seconds']} s" + (" (a week, the most that is obeyed)" if is_most else "")


def moment_s(text: str) -> float:
    """An HTTP-date or an RFC 3339 time as seconds since 1970. Raises BadRequest."""
    text = text.strip()
    try:
        instant = _instant(text[: DATE_CHARS_MAX + 1])
        seconds = instant.timestamp()
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds < _LATEST_S:
        raise BadRequest(f"date must be an HTTP-date or an RFC 3339 time from 1970 on, got {shown(text)}")
    return seconds


def _instant(text: str) -> datetime:
    if len(text) > DATE_CHARS_MAX:
        raise ValueError
    if _RFC3339.fullmatch(text):
        return datetime.fromisoformat(text.upper())
    instant = parsedate_to_datetime(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)  # the asctime form names no zone


def _real_now() -> float:
    return SystemClock().now()


def number(value: float) -> int | float:
    """`value` as people write it: 3, not 3.0."""
    return int(value) if value.is_integer() else value
