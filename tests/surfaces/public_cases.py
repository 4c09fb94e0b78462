"""Mistakes that other crawlers made and their users reported, as questions to the commands. Expected keys only.

Where a report is debatable, the answer is the one that its reading of the standards recommends.
"""

from typing import Any, NamedTuple


class Case(NamedTuple):
    """One line for a command, and what must be in its answer. `urls` stands for the URLs of links or entries."""

    id: str
    command: str
    question: dict[str, Any]
    expected: dict[str, Any]


def _robots_03() -> list[Case]:
    body = (
        "User-agent: alphabot\nCrawl-delay: 3\nUser-agent: betabot\nSitemap: https://example.com/sm.xml\n"
        "Disallow: /private/\n\nUser-agent: deltabot\nDisallow:\n\nUser-agent: *\nDisallow: /\n"
    )
    checks = (
        ("alphabot", ("private/x", "open"), (False, True), 3),
        ("betabot", ("private/x", "open"), (False, True), None),
        ("deltabot", ("private/x",), (True,), None),
        ("gammabot", ("open",), (False,), None),
    )
    return [
        Case(
            f"h-robots-03-{agent}",
            "robots",
            {"robots": body, "agent": agent, "urls": [f"https://example.com/{path}" for path in paths]},
            {"allowed": list(allowed), "sitemaps": ["https://example.com/sm.xml"], "crawlDelay": delay_s},
        )
        for agent, paths, allowed, delay_s in checks
    ]


def _robots_05() -> list[Case]:
    mark, agent, rule = "efbbbf", "557365722d6167656e743a202a", "446973616c6c6f773a202f"
    variants = {
        "cr": mark + agent + "0d" + rule + "0d",
        "lf": mark + agent + "0a" + rule + "0a",
        "crlf": mark + agent + "0d0a" + rule + "0d0a",
        "no-final-line-end": mark + agent + "0d" + rule,
    }
    return [
        Case(
            f"h-robots-05-{name}",
            "robots",
            {"robotsHex": octets, "agent": "examplebot", "urls": ["https://example.com/x"]},
            {"allowed": [False], "rules": ["Disallow: /"]},
        )
        for name, octets in variants.items()
    ]


def _url_01() -> list[Case]:
    results = {
        "https://example.com/a%20b%23c%2520?x=%26y#frag": "https://example.com/a%20b%23c%2520?x=%26y",
        "https://example.com/q%3Fz/%2Fp": "https://example.com/q%3Fz/%2Fp",
        "https://example.com/a/./b/../c/%2e%2e/d": "https://example.com/a/d",
        "../../../../files/x.jpg": "https://example.com/files/x.jpg",
    }
    base = "https://example.com/web/page"
    once = [
        Case(f"h-url-01-{n}", "url", {"url": u, "base": base}, {"url": r}) for n, (u, r) in enumerate(results.items())
    ]
    again = [Case(f"h-url-01-{n}-again", "url", {"url": r}, {"url": r}) for n, r in enumerate(results.values())]
    return once + again


def _retry_01() -> list[Case]:
    """`error`: the field is ignored, and the default holds."""
    now = "Tue, 01 Sep 2026 12:00:00 GMT"
    seconds = {
        "120": 120,
        "0": 0,
        " 30 ": 30,
        "-5": None,
        "soon": None,
        "1.5": 2,
        "Tue, 01 Sep 2026 12:01:00 GMT": 60,
        "Tue, 01 Sep 2026 11:00:00 GMT": 0,
        "": None,
    }
    return [
        Case(
            f"h-retry-01-{value!r}",
            "retry-after",
            {"value": value, "date": now},
            {"seconds": wait_s} if wait_s is not None else {"error": ...},
        )
        for value, wait_s in seconds.items()
    ]


CASES: tuple[Case, ...] = (
    Case(
        "h-robots-01",
        "robots",
        {
            "robots": "User-agent: *\nDisallow: /*sort=\nDisallow: /stock.html?*\n",
            "agent": "examplebot",
            "urls": [
                "https://example.com/list?sort=asc",
                "https://example.com/list?page=2&sort=asc",
                "https://example.com/sort/",
                "https://example.com/",
                "https://example.com/stock.html?id=1",
                "https://example.com/stock.html",
            ],
        },
        {"allowed": [False, False, True, True, False, True]},
    ),
    Case(
        "h-robots-02",
        "robots",
        {
            "robots": "User-agent: *\nDisallow: /caf%C3%A9/\nDisallow: /~user/\nDisallow: /find?next=https://example.org\n",
            "agent": "examplebot",
            "urls": [
                "https://example.com/café/menu",
                "https://example.com/caf%c3%a9/menu",
                "https://example.com/%7Euser/x",
                "https://example.com/cafe/",
                "https://example.com/find?next=https%3A%2F%2Fexample.org/x",
            ],
        },
        {"allowed": [False, False, False, True, False]},
    ),
    *_robots_03(),
    *_robots_05(),
    *_url_01(),
    Case(
        "h-url-02",
        "parse",
        {
            "url": "https://example.com/",
            "body": "<a href='http://my_shop.example.com/x'>1</a><a href='http://r3---sn-ab.example.com/'>2</a>"
            f"<a href='http://{64 * 'a'}.example.com/'>3</a><a href='http://a..example.com/'>4</a>"
            "<a href='http://exa mple.com/'>5</a><a href='/last'>6</a>",
        },
        {"urls": ["http://my_shop.example.com/x", "http://r3---sn-ab.example.com/", "https://example.com/last"]},
    ),
    Case(
        "h-html-01",
        "parse",
        {
            "url": "https://example.com/forum/view/7/0/",
            "body": '<head><base href="/forum/"><base href="/other/"></head><body><a href="post/9">p</a>'
            '<a href="/abs">a</a><a href="?q=1">q</a></body>',
        },
        {"urls": ["https://example.com/forum/post/9", "https://example.com/abs", "https://example.com/forum/?q=1"]},
    ),
    Case(
        "h-html-02",
        "parse",
        {
            "url": "https://example.com/s",
            "body": '<a href="?a=1&amp;b=2">1</a><a href="?a=1&#38;c=2">2</a><a href="?a=1&copy=2&reg=3">3</a>'
            '<a href="?x=1&order=2">4</a><a href="?x=1&#x26;d=2">5</a>',
        },
        {
            "urls": [
                "https://example.com/s?a=1&b=2",
                "https://example.com/s?a=1&c=2",
                "https://example.com/s?a=1&copy=2&reg=3",
                "https://example.com/s?x=1&order=2",
                "https://example.com/s?x=1&d=2",
            ]
        },
    ),
    Case(
        "h-html-03",
        "parse",
        {
            "url": "https://example.com/",
            "bodyHex": b'<a href="/one\0">1</a><p>te\0xt</p><a href="/two">2</a><a href="/three">3</a>'.hex(),
        },
        {"urls": ["https://example.com/one%EF%BF%BD", "https://example.com/two", "https://example.com/three"]},
    ),
    Case(
        "h-charset-01",
        "parse",
        {
            "url": "https://example.com/",
            "headers": {"Content-Type": "text/html; charset=windows-1251"},
            "bodyHex": "efbbbfd09fd180d0b8d0b2d0b5d182",
        },
        {"charset": "UTF-8", "text": "Привет"},
    ),
    Case(
        "h-charset-02",
        "parse",
        {
            "url": "https://example.com/",
            "headers": {"Content-Type": "text/html; charset=ISO-8859-1"},
            "bodyHex": "9368699420802081",
        },
        {"charset": "windows-1252", "text": "\u201chi\u201d \u20ac \x81"},
    ),
    Case(
        "h-charset-03",
        "parse",
        {
            "url": "https://example.com/",
            "headers": {"Content-Type": "text/html"},
            "bodyHex": (
                b'<html><head><!-- %s --><meta charset="utf-8"><title>%s</title>' % (5_000 * b"x", "مرحبا".encode())
            ).hex(),
        },
        {"charset": "UTF-8", "title": "مرحبا"},
    ),
    Case(
        "h-sitemap-01",
        "sitemap",
        {
            "url": "https://example.com/sitemap.xml",
            "body": '\n \n<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            "<url><loc>\n   https://example.com/a\n  </loc></url>"
            "<url><loc>https://example.com/s?y=2024&amp;mm=07&amp;dd=11</loc></url>"
            "<url><loc><![CDATA[https://example.com/c?x=1&y=2]]></loc></url></urlset>",
        },
        {
            "kind": "urlset",
            "urls": [
                "https://example.com/a",
                "https://example.com/s?y=2024&mm=07&dd=11",
                "https://example.com/c?x=1&y=2",
            ],
        },
    ),
    *_retry_01(),
)

TEXT_01_BODY = (
    "<body><nav>Menu</nav><main><h1>Title</h1><p>First part.</p>Loose words<div><h4>Sub</h4>"
    "<p><strong>fo</strong>o bar</p></div><div>Text</div><span>Next</span>"
    "<table><tr><td>a1</td><td>b2</td></tr></table>x<br>y</main></body>"
)
TEXT_01_ONCE = ("First part.", "Loose words", "foo bar")
TEXT_01_PATTERNS = (r"Loose words\s+Sub", r"Text\s+Next", r"a1\s+b2", r"x\s+y")
TEXT_01_ABSENT = ("fo o", "wordsSub", "TextNext", "a1b2")

SITEMAP_02: dict[str, str] = {
    "https://example.com/index.xml": "<sitemapindex><sitemap><loc>https://example.com/index.xml</loc></sitemap>"
    "<sitemap><loc>https://example.com/child.xml</loc></sitemap>"
    "<sitemap><loc>https://example.com/moved.xml</loc></sitemap></sitemapindex>",
    "https://example.com/child.xml": "<urlset><url><loc>https://example.com/p</loc></url></urlset>",
}
SITEMAP_02_ROBOTS = "Sitemap: https://example.com/robots.txt\nSitemap: https://example.com/index.xml"
