"""What the rules say about a URL: form, scope, traps, ceilings, robots.txt, the host's rest. As they stand now."""

from typing import NamedTuple, assert_never

from gossamer.core.budget import day_of, next_day_at
from gossamer.core.outcome import Reason
from gossamer.core.robots import RobotsRules, parse_robots
from gossamer.core.robots_copy import UNKNOWN_COPY, RobotsCopy
from gossamer.core.robots_gate import (
    Allowed,
    Ask,
    ClosedUntil,
    Forbidden,
    GateRules,
    KnownRobots,
    Unruled,
    Verdict,
    by_rules,
    gate,
)
from gossamer.core.rows import HostRow, OriginRow, TallyRow, UrlRow, new_tally
from gossamer.core.site_traps import ceiling_of
from gossamer.core.traps import explain_trap, trap_of
from gossamer.core.url import Url, host_of, origin_of, site_of
from gossamer.ports.partition_store import Family
from gossamer.views.budgets import SiteBudgets
from gossamer.views.forms import rfc3339
from gossamer.views.hosts import rest_s
from gossamer.views.why_case import Case, Step


def form_step(written: str, url: Url) -> Step:
    """How it was written and what it is called."""
    because = "written in normal form" if written == url else f"the normal form of what was written, {written}"
    return Step("url", url, because)


def scope_step(case: Case, url: Url) -> Step:
    """Whether it lies around a seed."""
    scope = case.rules.admissibility.scope
    return Step("scope", scope.decide(url).value, scope.explain(url).partition(": ")[2])


def trap_step(url: Url) -> Step:
    """Whether its form is that of a trap."""
    trap = trap_of(url)
    if trap is None:
        return Step("traps", "none", "no trap rule matches its form")
    return Step("traps", trap.value, explain_trap(trap))


def hops_step(case: Case, hop: int) -> Step:
    """Whether it is near enough to a seed."""
    limit = case.rules.ceilings.hops
    if limit is None:
        return Step("hops", "inside", f"{hop} from a seed; no limit is set")
    return Step(
        "hops", "inside" if hop <= limit else "too-many-hops", f"{hop} from a seed; at most {limit} are allowed"
    )


def budget_step(case: Case, url: Url, tally: TallyRow | None) -> Step:
    """Whether pages may still be fetched: of the crawl, the host, its site and its day. `at`: when the next day begins,
    where nothing else holds it up.
    """
    ceilings = case.rules.ceilings
    tally = tally or new_tally(host_of(url), site_of(host_of(url)))
    sites = SiteBudgets(case.partition, case.crawl.number, ceilings)
    site = sites.row(tally.site)
    star = " (--site-budgets star)" if ceilings.is_star else ""
    host_pages = ceiling_of(ceilings.pages_per_host, tally.counts.novelty)
    repeats = ", fewer than others because it repeats itself" if host_pages != ceilings.pages_per_host else ""
    limits = [
        (case.crawl.counters.fetched, ceilings.pages, "pages of the crawl are fetched"),
        (tally.fetched, host_pages, f"pages of the host are fetched{repeats}"),
        (site.fetched, sites.ceiling(tally.site), f"pages of the site {tally.site} are fetched{star}"),
        (tally.fetched_on(day_of(case.now)), ceilings.pages_per_host_day, "pages of the host are fetched today (UTC)"),
    ]
    told = [f"{count:,} of {limit:,} {what}" for count, limit, what in limits if limit is not None]
    spent = [at for at, (count, limit, _) in enumerate(limits) if limit is not None and count >= limit]
    until = rfc3339(next_day_at(case.now)) if spent == [len(limits) - 1] else None
    if until is not None:
        told.append("the next day begins")
    return Step("budget", "spent" if spent else "has room", "; ".join(told) or "no limit is set", until)


def robots_step(case: Case, url: Url, host: HostRow | None) -> Step:
    """What robots.txt says: the rule and its line, or why nothing may be fetched and until when."""
    if host is not None and host.host in case.rules.robots_off:
        return Step("robots", "off", f"robots.txt is switched off for {host.host} by --robots off-for")
    origin = host.origins.get(origin_of(url)) if host else None
    if host is None or origin is None:
        return Step("robots", "not asked yet", f"{origin_of(url)}/robots.txt is fetched before any page of it")
    wish = _longest_wish(case, host)
    known = KnownRobots(origin.copy, stored_rules(case, origin), wish.delay_s)
    match gate(known, GateRules(case.rules.delay, case.rules.robots_mode), url, case.now):
        case ClosedUntil(at=at):
            return Step("robots", "closed", f"{_outage(known.copy)}; asked again {_when(at)}")
        case Ask():
            if known.rules is None:
                return Step("robots", "asked again first", f"{_last_word(known.copy)}; no page before that")
            note = "; the copy is old, it is asked again before the next page"
            return _verdict_step(case, known, wish, (by_rules(known, case.rules.delay, url), note))
        case Forbidden() | Allowed() | Unruled() as verdict:
            return _verdict_step(case, known, wish, (verdict, ""))
        case left:
            assert_never(left)


def _verdict_step(case: Case, known: KnownRobots, wish: "_Wish", told: tuple[Verdict, str]) -> Step:
    """`told`: the verdict and what to add to it."""
    verdict, note = told
    at = rfc3339(known.copy.fetched_at if known.copy.last_good_at is None else known.copy.last_good_at)
    if isinstance(verdict, Forbidden) and verdict.reason is Reason.CRAWL_DELAY_TOO_LONG:
        limit = f"longer than the {case.rules.delay.delay_max_s:g} s of --delay-max, so the host is left alone"
        whose = "" if wish.copy is known.copy else f" of {wish.origin}/robots.txt"
        because = f"Crawl-delay: {known.host_crawl_delay_s:g}{whose} is {limit}{note}"
        return Step("robots", "denied", because, rfc3339(wish.copy.last_good_at))
    if isinstance(verdict, Unruled):
        return Step("robots", "allowed", _absent(known.copy), at)
    if verdict.rule is None:
        return Step("robots", "allowed", f"no rule for {case.rules.agent} matches{note}", at)
    because = f"line {verdict.line} of robots.txt: {verdict.rule}{note}"
    decision = "allowed" if isinstance(verdict, Allowed) else "denied"
    return Step("robots", decision, because, at, verdict.rule, verdict.line)


class _Wish(NamedTuple):
    """A host's longest crawl-delay and the origin that asks for it."""

    delay_s: float | None = None
    origin: str = ""
    copy: RobotsCopy = UNKNOWN_COPY


def _longest_wish(case: Case, host: HostRow) -> _Wish:
    """From the stored rules, as the frontier takes it when it reads them; a host's row may be of a former agent."""
    longest = _Wish()
    for name, origin in host.origins.items():
        rules = stored_rules(case, origin)
        delay_s = rules.crawl_delay_s if rules else None
        if delay_s is not None and (longest.delay_s is None or delay_s > longest.delay_s):
            longest = _Wish(delay_s, name, origin.copy)
    return longest


def stored_rules(case: Case, origin: OriginRow) -> RobotsRules | None:
    """The stored robots.txt of an origin, read for the crawl's agent as the frontier does; None when there is none."""
    body = case.partition.get(Family.ROBOTS, origin.body_key) if origin.copy.last_good_at is not None else None
    return None if body is None else parse_robots(body).rules_for(case.rules.agent)


def _absent(copy: RobotsCopy) -> str:
    if copy.failing_since is not None:
        return f"{_outage(copy)}; after so long --robots-unreachable google allows all"
    return "there is no robots.txt (it answered 4xx), so everything is allowed"


def _outage(copy: RobotsCopy) -> str:
    tries = "1 try" if copy.attempts == 1 else f"{copy.attempts} tries"
    return f"robots.txt can't be had since {rfc3339(copy.failing_since)} ({tries}), and without it nothing is fetched"


def _last_word(copy: RobotsCopy) -> str:
    if copy.failing_since is not None:
        return f"{_outage(copy)}; the next try is due"
    if copy.last_good_at is not None:
        return "the stored robots.txt is missing"
    return f"the answer of {rfc3339(copy.fetched_at)} has expired" if copy.fetched_at else "robots.txt is not known yet"


def _when(seconds: float) -> str:
    return f"at {rfc3339(seconds)}"


def delay_step(case: Case, host: HostRow | None) -> Step:
    """How long the host rests between contacts, why so long, and when the next may begin."""
    delay = case.rules.delay
    if host is None:
        return Step("delay", f"{delay.delay_s:g} s", "--delay; the host was never contacted")
    manners, rest = host.manners, rest_s(host, delay)
    if manners.slow_s and rest == manners.slow_s:
        because = "it refused lately (429 or 503) and recovers step by step"
    elif host.crawl_delay_s is not None and rest == host.crawl_delay_s:
        because = "its robots.txt asks for it (Crawl-delay)"
    elif rest == delay.delay_s:
        because = "--delay"
    else:
        because = f"--delay-factor {delay.delay_factor:g} times its last answer's duration, at most --delay-max"
    if manners.failures:
        because += f"; {manners.failures} failures in a row make it rest longer"
    because += f"; the next contact may begin {_next_contact(case, manners.next_allowed_at)}"
    return Step("delay", f"{rest:g} s", because)


def _next_contact(case: Case, next_allowed_at: float) -> str:
    return "now" if next_allowed_at <= case.now else _when(next_allowed_at)


def rules_steps(case: Case, url: Url, row: UrlRow, host: HostRow | None, tally: TallyRow | None) -> list[Step]:
    """Ceilings, robots.txt and the rest in force, for a URL that was admitted."""
    return [
        hops_step(case, row.hop),
        budget_step(case, url, tally),
        robots_step(case, url, host),
        delay_step(case, host),
    ]
