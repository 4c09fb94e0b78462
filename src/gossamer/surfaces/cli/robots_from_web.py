"""A robots.txt asked for by its URL: what holds when it came, when there is none, and when it cannot be had."""

from collections.abc import Sequence

from gossamer.core.addresses import AddressRules
from gossamer.core.robots import RobotsFile, parse_robots
from gossamer.core.robots_copy import Absent, Body, Unavailable, robots_answer
from gossamer.core.url import target_of
from gossamer.fetch_once import fetch_once
from gossamer.surfaces.cli.rule_answers import Judgement, judged, nothing_allowed, web_url


def judged_from_web(source: str, agent: str, urls: Sequence[str], rules: AddressRules) -> Judgement:
    """As `judged`, for the file at `source`, or of the origin `source` (RFC 9309 2.3.1). Raises BadRequest.

    Without a file all is allowed, in an outage nothing.
    """
    url = web_url(source)
    # Nobody means the page of an origin's root: its rules are asked for.
    file = f"{url}robots.txt" if target_of(url) == "/" else url
    answer = fetch_once(file, user_agent=agent, allow=rules)
    match robots_answer(answer.outcome):
        case Body():
            return judged(parse_robots(answer.body), agent, urls)
        case Absent(status=status):
            absent = RobotsFile((), (), (f"there is no robots.txt (status {status}): all is allowed",))
            return judged(absent, agent, urls)
        case Unavailable(reason=reason):
            return nothing_allowed(urls, f"robots.txt cannot be had ({reason}): nothing is allowed until it can")
