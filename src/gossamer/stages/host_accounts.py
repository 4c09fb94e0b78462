"""What a batch counts in: the tally of each host and the row of its site, looked up once a batch."""

from gossamer.core.rows import TallyRow
from gossamer.core.url import Url, host_of, site_of
from gossamer.stages.host_queue import Site
from gossamer.stages.posting import Posting
from gossamer.stages.sites import Sites
from gossamer.stages.tallies import Tallies


class HostAccounts:
    """Whatever is given out by `tally` is written with the batch; a site only when it is put into `posting.sites`."""

    def __init__(self, tallies: Tallies, sites: Sites) -> None:
        self._tallies = tallies
        self._sites = sites

    def turn(self) -> None:
        """To be called when no batch is open."""
        self._tallies.turn()
        self._sites.turn()

    def tally(self, posting: Posting, key: bytes, url: str) -> TallyRow:
        """That of the host of this URL (its key is 16 bytes), to be changed."""
        host = key[:8]
        tally = posting.tallies.get(host)
        if tally is None:
            tally = posting.tallies[host] = self.look(posting, key, url)
        return tally

    def look(self, posting: Posting, key: bytes, url: str) -> TallyRow:
        """The same, only to be looked at: of a host without URLs nothing is written."""
        return posting.tallies.get(key[:8]) or self._tallies.of(key[:8], host_of(Url(url)))

    def site(self, posting: Posting, host: bytes, tally: TallyRow) -> Site:
        """The site of a host."""
        site = posting.site_of.get(host)
        if site is None:
            site = posting.site_of[host] = self._sites.of(tally.site)
        return site

    def site_of_page(self, url: str) -> Site:
        """The site of that URL."""
        return self._sites.of(site_of(host_of(Url(url))))

    def head(self, site: Site) -> Site | None:
        """The head of the family of a site; None for one that belongs to nobody."""
        return self._sites.of(site.row.family) if site.row.family else None

    def found_text(self, posting: Posting, site: Site) -> None:
        """A page of the site had a text that is new to the crawl."""
        site.row.texts += 1
        posting.sites[site.key] = site
        head = self.head(site)
        if head is not None and head is not site:
            head.row.kin_texts += 1
            posting.sites[head.key] = head
