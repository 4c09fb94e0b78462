"""The bytes of lab pages, robots files and sitemaps. Not here: which URLs exist and what links to what (lab_links)."""

import gzip
import random
from collections.abc import Sequence
from html import escape
from urllib.parse import unquote, urlsplit

from gossamer.testing.lab_hosts import HostPlan, Sitemap
from gossamer.testing.lab_words import ENGLISH, LANGUAGE, LOCAL

BASE_EVERY = 11  # one page in so many moves its base URL

# A grey pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c6368000000820081"
    "77cd72b6"
    "0000000049454e44ae426082"
)


def page_html(plan: HostPlan, url: str, links: Sequence[str], rng: random.Random) -> bytes:
    """A page with title, navigation, paragraphs, a table, an image and all `links`, in the charset of its host."""
    base = f"http://{plan.name}/" if rng.randrange(BASE_EVERY) == 0 else url
    anchors = [f'<a href="{_href(link, base, rng)}">{" ".join(rng.choices(ENGLISH, k=2))}</a>' for link in links]
    title = f"{rng.choice(LOCAL[plan.charset])} {' '.join(rng.choices(ENGLISH, k=3))}"
    nav, rest = anchors[:4], anchors[4:]
    half = len(rest) // 2
    text = f"""<!DOCTYPE html>
<html lang="{LANGUAGE[plan.charset]}">
<head>
{"" if plan.charset_in_header else f'<meta charset="{plan.charset}">'}
<title>{title}</title>
<meta name="description" content="{" ".join(rng.choices(ENGLISH, k=12))}">
{f'<base href="{base}">' if base != url else ""}
<style>p {{ margin: 1em }}</style>
<script>var config = {{"next": "/never/{rng.randrange(100)}"}};</script>
</head>
<body>
<nav><ul><li>{"</li><li>".join(nav)}</li></ul></nav>
<main><article>
<h1>{title}</h1>
{_paragraphs(plan, rest[:half], rng)}
<img src="/img/0.png" alt="{rng.choice(ENGLISH)}" width="1" height="1">
{_table(rng)}
<ul>{"".join(f"<li>{anchor}</li>" for anchor in rest[half:])}</ul>
</article></main>
<footer>
<a href="mailto:lab@{plan.site}">write</a> <a href="javascript:void(0)">menu</a> <a href="#top">top</a>
</footer>
</body>
</html>
"""
    return text.encode(plan.charset, "xmlcharrefreplace")


def _paragraphs(plan: HostPlan, anchors: Sequence[str], rng: random.Random) -> str:
    """One paragraph for each link and three more, 30 to 90 words each."""
    local = LOCAL[plan.charset]
    made = []
    for anchor in (*anchors, "", "", ""):
        words = rng.choices(ENGLISH, k=rng.randint(30, 90))
        words[5], words[20] = rng.choice(local), words[20] + "."
        made.append(f"<p>{words[0].capitalize()} {' '.join(words[1:25])} {anchor} {' '.join(words[25:])}.</p>")
    return "\n".join(made)


def _table(rng: random.Random) -> str:
    rows = "".join(f"<tr><td>{word}</td><td>{rng.randrange(10_000)}</td></tr>" for word in rng.choices(ENGLISH, k=6))
    return f"<table><tr><th>what</th><th>how many</th></tr>{rows}</table>"


def _href(link: str, base: str, rng: random.Random) -> str:
    """One of the ways in which people write `link` in a page whose base URL is `base`, escaped for an attribute."""
    there, here = urlsplit(link), urlsplit(base)
    path = f"{there.path}?{there.query}" if there.query else there.path
    form = rng.randrange(12)
    if there.netloc != here.netloc:
        written = {
            0: f"//{there.netloc}{path}",
            1: f"HTTP://{there.netloc.upper()}{path}",
            2: f"http://{there.netloc}:80{path}",
        }.get(form, link)
        return escape(written)
    up = "../" * (here.path.count("/") - 1)
    written = {
        0: link,
        1: f"//{there.netloc}{path}",
        2: f"{path}#{rng.choice(ENGLISH)}",
        3: unquote(path),
        4: f"/.{path}",
        5: f"/{ENGLISH[0]}/..{path}",
        6: f"  {path}\n",
    }.get(form, f"{up or './'}{path[1:]}" if form < 10 else path)
    return escape(written)


def robots_txt(plan: HostPlan) -> bytes:
    lines = ["# rules of " + plan.name, "User-agent: *"]
    if plan.private:
        lines += ["Disallow: /private/", "Allow: /private/open/"]
    else:
        lines += ["Disallow:"]
    if plan.crawl_delay_s is not None:
        lines.append(f"Crawl-delay: {plan.crawl_delay_s:g}")
    lines += ["", "User-agent: rude-crawler", "Disallow: /"]
    if plan.sitemap is not Sitemap.NONE:
        lines += ["", f"Sitemap: http://{plan.name}/sitemap.xml"]
    return ("\n".join(lines) + "\n").encode()


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SITEMAP_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset_xml(urls: Sequence[str]) -> bytes:
    entries = "".join(
        f"<url><loc>{escape(url)}</loc><lastmod>2024-05-{1 + n % 28:02d}</lastmod></url>\n"
        for n, url in enumerate(urls)
    )
    return f"{_XML}<urlset {_SITEMAP_NAMESPACE}>\n{entries}</urlset>\n".encode()


def sitemap_index_xml(plan: HostPlan) -> bytes:
    entry = f"<sitemap><loc>http://{plan.name}/sitemap-1.xml.gz</loc></sitemap>\n"
    return f"{_XML}<sitemapindex {_SITEMAP_NAMESPACE}>\n{entry}</sitemapindex>\n".encode()


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=1, mtime=0)


def error_html(status: int, words: str) -> bytes:
    return f"<!DOCTYPE html>\n<title>{status}</title><h1>{status} {escape(words)}</h1>\n".encode()
