"""The map: the stages in the order of a page's life, and what each of them reads and writes. Start reading here.

Each name is a module of `stages`, each word is told below. What passes between them in memory:

stages/frontier.py  hands out a PageLease or a RobotsLease, or a Verdict on a URL that nobody may be asked for
stages/fetch.py     takes a lease; reports Settled for a page, HostChanged for a robots.txt, Discovered for its sitemaps
stages/store.py     commits a group of such events through stages/ledger.py; tells what is durable, with ParseJobs
stages/parse.py     sends ParseJobs to parser processes; reports Parsed, Unparsed or ParseFailed

Messages are in stages/events.py and core/messages.py. Nothing here runs: stages/runner.py is where it runs.
"""

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Final, NamedTuple


class Stage(NamedTuple):
    """A step in a page's life: words of WORDS that it reads and writes."""

    name: str
    reads: str
    writes: str


PIPELINE: Final = (
    Stage("frontier", reads="front ready urls hosts tallies robots", writes="leases"),
    Stage("fetch", reads="leases web", writes="contacts warc outcomes"),
    Stage(
        "store",
        reads="outcomes urls seen waiting tallies sites",
        writes="urls ready waiting captures robots hosts tallies sites front meta",
    ),
    Stage("parse", reads="captures warc", writes="text parsed"),
    Stage(
        "store",
        reads="parsed urls seen tallies sites linkers texts",
        writes="pages links captures seen urls ready tallies sites linkers texts front meta",
    ),
)  # and the next page begins with `ready`

WORDS: Final[Mapping[str, str]] = {
    # Between the stages, in memory: a crash forgets them, and what they lead to is done again.
    "leases": "a URL (or a robots.txt) handed out; its host is taken until the contact ends",
    "outcomes": "how contacts ended, robots.txt that was learned, URLs that redirects and robots.txt name",
    "parsed": "what a parser process made of a capture",
    # Outside and in files.
    "web": "the servers, through DNS and HTTP",
    "contacts": "the log of all contacts, two lines each, the first before a byte is sent",
    "warc": "requests and responses as they crossed the wire",
    "text": "the visible text of pages",
    # Families of the partition store, written by the store stage alone, a batch at a time.
    "seen": "every URL ever admitted; answers whether a link is new",
    "urls": "a row for each of them: state, attempts, last answer, history",
    "front": "hosts with URLs ready, by priority: who is next to come to memory",
    "ready": "the queue of each host",
    "waiting": "URLs that are tried again, by the time when they are due",
    "captures": "the parse queue: stored responses that nobody has parsed yet",
    "pages": "what parsing made of a response: title, language, hash, where the text lies",
    "links": "the outlinks of each page, also those that were not followed, and why",
    "hosts": "manners of each host: next allowed contact, failures, its robots.txt",
    "tallies": "counts of each host, by state",
    "sites": "counts of each site, and how many other sites link to it",
    "linkers": "pairs of sites of which one links to the other",
    "texts": "hashes of all texts: whether a page says something new",
    "robots": "bodies of robots.txt",
    "meta": "crawls with their totals, and the committed length of each file",
}

_READS_WIDTH: Final = 32
_WRITES_WIDTH: Final = 36


def diagram() -> str:
    """The map as plain text, as it stands in README and docs. Ends without a newline."""
    lines = [_line(" ", "", "reads", "writes")]
    for number, stage in enumerate(PIPELINE):
        is_first, is_last = number == 0, number == len(PIPELINE) - 1
        if not is_first:
            lines.append("│      ▼")
        lines += _boxed("└──" if is_last else "┌─▶" if is_first else "│", " " if is_last else "│", stage)
    return "\n".join(lines)


def _boxed(edge: str, edge_below: str, stage: Stage) -> Iterator[str]:
    reads, writes = wrap(stage.reads, _READS_WIDTH), wrap(stage.writes, _WRITES_WIDTH)
    for row in range(max(len(reads), len(writes))):
        first = row == 0
        read, written = (words[row] if row < len(words) else "" for words in (reads, writes))
        yield _line(edge if first else edge_below, stage.name if first else "", read, written)


def _line(edge: str, name: str, reads: str, writes: str) -> str:
    return f"{edge:<4}{name:<12}{reads:<{_READS_WIDTH + 2}}{writes}".rstrip()
