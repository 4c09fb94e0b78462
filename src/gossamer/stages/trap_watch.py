"""What parsed pages show of their host: texts new or known, session parameters. The rules are in `core.site_traps`."""

from gossamer.core.messages import Found, Parsed
from gossamer.core.patterns import form_of
from gossamer.core.rows import TallyRow
from gossamer.core.site_traps import TEXT_CHARS_JUDGED_MIN, count_text
from gossamer.core.url import Url, link_keys
from gossamer.core.visits import after_page, without_visit
from gossamer.ports.partition_store import Batch, Family, PartitionStore
from gossamer.stages.seen import ExactSeen


class TrapWatch:
    """Keeps the hashes of all texts of a crawl, in TEXTS, and counts in the tallies of hosts."""

    def __init__(self, store: PartitionStore, crawl: int) -> None:
        self._texts = ExactSeen(store, crawl, Family.TEXTS)

    def turn(self) -> None:
        """To be called when no batch is open."""
        self._texts.turn()

    def parsed(self, batch: Batch, tally: TallyRow, event: Parsed, url: Url) -> bool:
        """Count a page; whether its text is new to the crawl. Short texts and none are not judged."""
        tally.visits = after_page(tally.visits, url, [Url(link) for link in event.pages.urls])
        page = event.page
        if page.content_hash is None or page.text_chars < TEXT_CHARS_JUDGED_MIN:
            return False
        key = page.content_hash.to_bytes(8, "big")
        is_new = bool(self._texts.unknown([key])) and self._texts.add(batch, key)
        count_text(tally.counts, form_of(url), is_new=is_new)
        return is_new


def without_visits(found: Found, host: bytes, dropped: frozenset[str]) -> Found:
    """The links, those to the page's own host without the parameters that name a visit there."""
    if not dropped:
        return found
    urls, keys = [], []
    for at, written in enumerate(found.urls):
        key = found.keys[16 * at : 16 * at + 16]
        url = without_visit(Url(written), dropped) if key[:8] == host else Url(written)
        urls.append(str(url))
        keys.append(key if url == written else link_keys([url])[0])
    return Found(urls, b"".join(keys))
