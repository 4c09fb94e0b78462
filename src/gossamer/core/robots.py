"""robots.txt: reading the file and asking it about a URL (RFC 9309). When and what to fetch is in `robots_copy`.

Pure octet work: any body parses, any URL gets an answer, nothing raises. Where the RFC leaves room we do what the
reference parser (google/robotstxt) does, and where that is unclear we take the more cautious reading.
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from string import ascii_letters, digits
from typing import Final, NamedTuple, assert_never

# RFC 9309 2.5 asks for at least 500 KiB. The shortest rule line has 8 octets, so a file holds at most 64,000 rules;
# they sit in a dict, and only patterns with wildcards cost time one by one: those have a budget of their own.
BODY_BYTES_MAX: Final = 512_000
SITEMAPS_MAX: Final = 1_000
PROBLEMS_MAX: Final = 20
RULE_TEXT_MAX: Final = 2_000  # characters of a rule that go into answers and logs

# Octets of wildcard patterns kept for one agent, each pattern charged at least 32: at most 2,048 of them, some
# milliseconds for the worst hostile file. Past it a Disallow closes its whole literal prefix and an Allow is dropped.
WILDCARD_OCTETS_MAX: Final = 65_536
WILDCARD_OCTETS_MIN: Final = 32
QUERY_SPLITS_MAX: Final = 8  # readings tried of one pattern, see _readings()

_BLANKS: Final = " \t\v\f"
_BOM_OCTETS: Final = "\xef\xbb\xbf\xfe\xff"  # no key starts with these; a BOM glued to a key would open a closed site
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_WITHOUT_COLON: Final = re.compile(r"([A-Za-z-]+)[ \t]+([^ \t]+)")
_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


class _Key(Enum):
    AGENT = auto()
    ALLOW = auto()
    DISALLOW = auto()
    DELAY = auto()
    SITEMAP = auto()


# Keys are compared whole and without case. The misspellings are those that the reference parser accepts.
_KEYS: Final = (
    dict.fromkeys(("user-agent", "useragent", "user agent"), _Key.AGENT)
    | dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), _Key.DISALLOW)
    | dict.fromkeys(("sitemap", "site-map"), _Key.SITEMAP)
    | dict.fromkeys(("crawl-delay", "crawldelay", "crawl delay"), _Key.DELAY)
    | {"allow": _Key.ALLOW}
)


class RobotsRule(NamedTuple):
    """One allow or disallow line. `pattern` is the value as written, one character an octet (Latin-1), never empty."""

    is_allow: bool
    pattern: str
    line: int

    @property
    def text(self) -> str:
        """The line as answers and logs have it."""
        return f"{'Allow' if self.is_allow else 'Disallow'}: {_text(self.pattern)}"[:RULE_TEXT_MAX]


@dataclass(frozen=True, slots=True)
class RobotsGroup:
    """Rules and whom they bind. A delay (named, seconds) binds the first `named` agents only: those above its line."""

    agents: tuple[str, ...]
    rules: tuple[RobotsRule, ...]
    delays: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """Whether a URL may be fetched, and the rule that says so; None where no rule matched."""

    allowed: bool
    rule: str | None = None
    line: int | None = None


class Wildcard(NamedTuple):
    """A pattern cut at its stars: the prefix `first`, `middle` in order, then `last`, at the very end if anchored."""

    rank: int
    decision: RobotsDecision
    first: str
    middle: tuple[str, ...]
    last: str | None
    is_anchored: bool


NO_RULE: Final = RobotsDecision(allowed=True)


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one agent may do on one host. Ranks order rules: longer patterns first, allow before disallow (2.2.2)."""

    crawl_delay_s: float | None
    prefixes: dict[str, tuple[int, RobotsDecision]] = field(repr=False)
    lengths: tuple[int, ...] = field(repr=False)  # of the prefixes, longest first
    wildcards: tuple[Wildcard, ...] = field(repr=False)  # highest rank first

    def decide(self, url: str) -> RobotsDecision:
        """The verdict on an absolute URL (or a path with its query).

        Scheme, host and fragment are not looked at; dot segments must have been resolved. RFC 9309 2.2.2.
        """
        target = _target(url)
        rank, decision = 0, NO_RULE
        prefixes = self.prefixes
        for length in self.lengths:
            found = prefixes.get(target[:length])
            if found is not None:
                rank, decision = found
                break
        for wildcard in self.wildcards:
            if wildcard.rank <= rank:
                break
            if _matches(wildcard, target):
                decision = wildcard.decision
                break
        if not decision.allowed and target == "/robots.txt":
            return NO_RULE
        return decision


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A parsed robots.txt. Sitemaps are as written (relative ones too), `problems` are for people."""

    groups: tuple[RobotsGroup, ...]
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...] = ()

    def rules_for(self, agent: str) -> RobotsRules:
        """The rules for a product token or user-agent string, all groups naming it merged (RFC 9309 2.2.1)."""
        token, named = self.named(agent)
        delays = [seconds for group in named for above, seconds in group.delays if group.agents.index(token) < above]
        return _compile((rule for group in named for rule in group.rules), max(delays, default=None))

    def named(self, agent: str) -> tuple[str, tuple[RobotsGroup, ...]]:
        """The groups that bind `agent`, and by which name.

        A line names an agent when the leading letters, '_' and '-' of both are equal without case ("ExampleBot/2.1"
        names examplebot; "examplebot-news" does not). Without such a group '*' applies, without that all is allowed.
        """
        token = _agent_token(agent)
        named = tuple(group for group in self.groups if token and token in group.agents)
        if named:
            return token, named
        return "*", tuple(group for group in self.groups if "*" in group.agents)


def parse_robots(body: bytes) -> RobotsFile:
    """Groups and sitemaps of a robots.txt, from its first BODY_BYTES_MAX octets; give one octet more to show a cut.

    Lines that are no record are skipped, so an HTML page gives no rules, and records wrapped in HTML are still obeyed
    when they stand on lines of their own (2.3.1.1: follow the parseable rules). Rules above any user-agent are void.
    """
    reading = _Reading()
    for number, line in enumerate(_lines(body), 1):
        record = _record(line)
        if record is not None:
            reading.take(*record, number)
    return reading.finished()


def _lines(body: bytes) -> list[bytes]:
    """Lines ended by CR, LF or CRLF, as UTF-8; the one cut by the limit is left out."""
    head = body[:BODY_BYTES_MAX]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head.decode("utf-16", "replace").encode("utf-8", "replace")
    # Dropping NULs also reads UTF-16 without a mark and UTF-32. A no-break space after a colon is a slip of pasting.
    lines = head.replace(b"\0", b"").replace(b"\xc2\xa0", b" ").splitlines()
    after = body[BODY_BYTES_MAX : BODY_BYTES_MAX + 1]
    is_cut = len(body) >= BODY_BYTES_MAX and not head.endswith((b"\n", b"\r")) and after not in (b"\n", b"\r")
    return lines[:-1] if is_cut else lines


def _record(line: bytes) -> tuple[_Key, str] | None:
    """Key and value of a line, None when it has no known key. A missing colon is forgiven before a single word."""
    text = line.partition(b"#")[0].decode("latin-1").lstrip(_BLANKS + _BOM_OCTETS).rstrip(_BLANKS)
    name, colon, value = text.partition(":")
    key = _KEYS.get(name.rstrip(_BLANKS).lower())
    if key is not None and colon:
        return key, value.strip(_BLANKS)
    words = _WITHOUT_COLON.fullmatch(text)
    key = _KEYS.get(words[1].lower()) if words else None
    return (key, words[2]) if words and key else None


class _Reading:
    """The state of the parser: which agents the next rule binds."""

    def __init__(self) -> None:
        self.groups: list[RobotsGroup] = []
        self.sitemaps: list[str] = []
        self.problems: list[str] = []
        self.agents: list[str] = []
        self.rules: list[RobotsRule] = []
        self.delays: list[tuple[int, float]] = []
        self.has_rule_line = False

    def take(self, key: _Key, value: str, line: int) -> None:
        """One record. Only allow and disallow lines, empty ones too, end a run of user-agent lines (2.2.1)."""
        match key:
            case _Key.AGENT:
                if self.has_rule_line:
                    self.close_group()
                self.agents.append(_agent_token(value))
            case _Key.ALLOW | _Key.DISALLOW:
                self.has_rule_line = bool(self.agents)
                if not self.agents:
                    self.complain(line, "a rule before any user-agent")
                elif value:
                    self.rules.append(RobotsRule(key is _Key.ALLOW, value, line))
            case _Key.DELAY:
                seconds = float(value) if _SECONDS.fullmatch(value) else float("inf")
                if seconds == float("inf"):
                    self.complain(line, "a crawl-delay that is no number")
                else:
                    self.delays.append((len(self.agents), seconds))
            case _Key.SITEMAP:
                if value and len(self.sitemaps) < SITEMAPS_MAX:
                    self.sitemaps.append(_text(value))
            case _:
                assert_never(key)

    def close_group(self) -> None:
        if self.agents:
            self.groups.append(RobotsGroup(tuple(self.agents), tuple(self.rules), tuple(self.delays)))
        self.agents, self.rules, self.delays = [], [], []
        self.has_rule_line = False

    def complain(self, line: int, what: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"line {line}: {what}")

    def finished(self) -> RobotsFile:
        self.close_group()
        return RobotsFile(tuple(self.groups), tuple(self.sitemaps), tuple(self.problems))


def _agent_token(value: str) -> str:
    """The product token in lower case, "*" for everybody, "" when there is none."""
    if value[:1] == "*" and value[1:2] in ("", " ", "\t"):
        return "*"
    token = _TOKEN.match(value)
    return token[0].lower() if token else ""


def _text(octets: str) -> str:
    return octets.encode("latin-1").decode("utf-8", "replace")


# One spelling for octets that mean the same (RFC 9309 2.2.2 and its table), on both sides of the comparison:
# - unreserved characters are written plainly, other octets as %XX with capitals;
# - a reserved character equals its %XX, except where it is structure: '/', '?', '&', '=' in a path; '&', '=' in a query
#   (the RFC's table encodes "https://" in a query value on both sides: '/' is data there);
# - '*' and '$' in a URL are data and written %2A, %24, which is how a pattern asks for them;
# - a '%' without two hex digits stays, so that "/*%" still means "anything percent-encoded".
_UNRESERVED: Final = ascii_letters + digits + "-._~"
_DATA_IN_PATH: Final = _UNRESERVED + ":@!'(),;[]+"
_DATA_IN_QUERY: Final = _DATA_IN_PATH + "/?"
_UNUSUAL: Final = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~:@!'(),;\[\]+/?&=%-]")


def _spellings(data: str) -> dict[str, str]:
    """What each match of _UNUSUAL becomes, where the characters of `data` are written plainly."""
    table = {chr(octet): f"%{octet:02X}" for octet in range(256)}
    for octet in range(256):
        coded = f"%{octet:02X}"
        plain = chr(octet) if chr(octet) in data else coded
        for high in (coded[1], coded[1].lower()):
            for low in (coded[2], coded[2].lower()):
                table[f"%{high}{low}"] = plain
    return table


_IN_PATH: Final = _spellings(_DATA_IN_PATH)
_IN_QUERY: Final = _spellings(_DATA_IN_QUERY)


def _spell(octets: str, table: dict[str, str]) -> str:
    return _UNUSUAL.sub(lambda found: table[found[0]], octets)


def _spell_target(octets: str) -> str:
    path, mark, query = octets.partition("?")
    return _spell(path, _IN_PATH) + mark + _spell(query, _IN_QUERY)


def _target(url: str) -> str:
    """Path and query of a URL in the one spelling; "/" stands for an empty path."""
    url = url.partition("#")[0] if "#" in url else url
    if not url.startswith("/"):
        authority = url.find("://") + 3
        start = url.find("/", authority)
        query = url.find("?", authority)
        if query != -1 and (start == -1 or query < start):
            url = "/" + url[query:]
        else:
            url = url[start:] if start != -1 else "/"
    if _UNUSUAL.search(url) is None:
        return url
    return _spell_target(url if url.isascii() else url.encode("utf-8", "surrogatepass").decode("latin-1"))


def _compile(rules: Iterable[RobotsRule], crawl_delay_s: float | None) -> RobotsRules:
    prefixes: dict[str, tuple[int, RobotsDecision]] = {}
    wildcards: list[Wildcard] = []
    octets_left = WILDCARD_OCTETS_MAX
    for rule in rules:
        decision = RobotsDecision(rule.is_allow, rule.text, rule.line)
        if "*" not in rule.pattern and not rule.pattern.endswith("$"):
            _put_prefix(prefixes, _spell_target(rule.pattern), decision)
            continue
        cost = max(WILDCARD_OCTETS_MIN, len(rule.pattern))
        if cost <= octets_left:
            readings = _readings(rule.pattern, decision)
            octets_left -= cost * len(readings)
            wildcards += readings
        elif not rule.is_allow:
            literal = rule.pattern.partition("*")[0].removesuffix("$")
            _put_prefix(prefixes, _spell_target(literal), decision)
    wildcards.sort(key=lambda wildcard: -wildcard.rank)
    return RobotsRules(
        crawl_delay_s, prefixes, tuple(sorted({len(prefix) for prefix in prefixes}, reverse=True)), tuple(wildcards)
    )


def _put_prefix(prefixes: dict[str, tuple[int, RobotsDecision]], prefix: str, decision: RobotsDecision) -> None:
    """Keep the higher rank; of equal ones the first in the file."""
    rank = 2 * len(prefix) + decision.allowed
    if prefix not in prefixes or prefixes[prefix][0] < rank:
        prefixes[prefix] = (rank, decision)


def _readings(pattern: str, decision: RobotsDecision) -> list[Wildcard]:
    """The pattern cut at its stars, once for each place where the query of a URL can begin and it matters.

    "/*=http%3A%2F%2Fa" has no '?': what follows the star may lie in a path, where %2F is not '/', or in a query,
    where it is. So a second reading "/*?*=http://a" stands beside the first; both have the rank of the pattern.
    """
    is_anchored = pattern.endswith("$")
    raw = pattern.removesuffix("$").split("*")
    asks = next((index for index, piece in enumerate(raw) if "?" in piece), len(raw))
    pieces = [
        _spell(piece, _IN_PATH if index < asks else _IN_QUERY) if index != asks else _spell_target(piece)
        for index, piece in enumerate(raw)
    ]
    rank = 2 * (sum(map(len, pieces)) + len(raw) - 1 + is_anchored) + decision.allowed
    in_query = [_spell(piece, _IN_QUERY) for piece in raw]
    last_different = max((index for index in range(len(raw)) if pieces[index] != in_query[index]), default=0)
    splits = range(1, min(last_different, asks, QUERY_SPLITS_MAX) + 1)
    spellings = [pieces, *([*pieces[:split], "?", *in_query[split:]] for split in splits)]
    return [_cut(rank, decision, spelling, is_anchored=is_anchored) for spelling in spellings]


def _cut(rank: int, decision: RobotsDecision, pieces: Sequence[str], *, is_anchored: bool) -> Wildcard:
    """Stars at the end add nothing, before '$' neither; empty pieces between stars are one star."""
    first, rest = pieces[0], [piece for piece in pieces[1:] if piece]
    is_anchored = is_anchored and (len(pieces) == 1 or pieces[-1] != "")
    last = rest.pop() if rest else None
    return Wildcard(rank, decision, first, tuple(rest), last, is_anchored)


def _matches(wildcard: Wildcard, target: str) -> bool:
    """Each piece at its first place after the one before: if any placing fits, this one does. No backtracking."""
    _, _, first, middle, last, is_anchored = wildcard
    if not target.startswith(first):
        return False
    at = len(first)
    if last is None:
        return not is_anchored or at == len(target)
    for piece in middle:
        found = target.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    if is_anchored:
        return target.endswith(last) and at <= len(target) - len(last)
    return target.find(last, at) >= 0
