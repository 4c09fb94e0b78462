"""The lab tells the truth about itself: what it says is reachable is what an independent walk of its bytes finds."""

import gzip
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote, urldefrag, urljoin, urlsplit, urlunsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.testing.lab_hosts import CHARSETS, Fate, LabConfig, Profile, Trap
from gossamer.testing.lab_paths import Kind, Route, path_of, route_of
from gossamer.testing.lab_web import LabRequest, LabResponse, LabWeb, Reachable

BIG = LabConfig(profile=Profile.POLITE, hosts=12, pages_per_host=30, dead_share=0.25, stalling_share=0.1)
CONFIGS = [
    LabConfig(),
    LabConfig(seed=7, hosts=11, pages_per_host=17),
    LabConfig(seed=3, hosts=1, pages_per_host=1),
    LabConfig(profile=Profile.TRAPS),
    BIG,
]


def get(web: LabWeb, url: str, visit: int = 0, **headers: str) -> LabResponse:
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.respond(LabRequest(parts.netloc, target, named, visit))


def header(response: LabResponse, name: str) -> str:
    return dict(response.headers)[name]


class Anchors(HTMLParser):
    """The standard library's view of a page: base, anchors and the declared charset."""

    def __init__(self) -> None:
        super().__init__()
        self.base, self.hrefs = "", list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if href is not None and tag == "base":
            self.base = href
        elif href is not None and tag == "a":
            self.hrefs.append(href)


def links_in(url: str, response: LabResponse) -> Iterator[str]:
    declared = re.search(
        r"charset=\"?([\w-]+)", header(response, "Content-Type") + response.body[:200].decode("latin-1")
    )
    assert declared is not None, f"{url} declares no charset"
    parser = Anchors()
    parser.feed(response.body.decode(declared[1]))
    for href in parser.hrefs:
        joined = urldefrag(urljoin(urljoin(url, parser.base), href.strip())).url
        if joined.startswith("http://"):
            parts = urlsplit(joined)
            host = (parts.hostname or "") + (f":{parts.port}" if parts.port not in {None, 80} else "")
            yield urlunsplit(("http", host, quote(parts.path, safe="/%"), parts.query, ""))


def rules_of(web: LabWeb, host: str) -> list[tuple[str, bool]]:
    """The rules for everybody, longest first (RFC 9309 §2.2.2)."""
    response = get(web, f"http://{host}/robots.txt")
    if response.status != 200:
        return []
    everybody = response.body.decode().partition("User-agent: *\n")[2].partition("User-agent:")[0]
    found = re.findall(r"^(Allow|Disallow): (\S+)$", everybody, re.MULTILINE)
    return sorted(((path, verb == "Allow") for verb, path in found), key=lambda rule: -len(rule[0]))


def sitemap_links(web: LabWeb, host: str) -> list[str]:
    robots = get(web, f"http://{host}/robots.txt")
    waiting = re.findall(r"^Sitemap: (\S+)$", robots.body.decode(), re.MULTILINE) if robots.status == 200 else []
    found: list[str] = []
    while waiting:
        url = waiting.pop()
        body = get(web, url).body
        tree = ET.fromstring(gzip.decompress(body) if url.endswith(".gz") else body)
        locations = [element.text or "" for element in tree.iter() if element.tag.endswith("}loc")]
        (waiting if tree.tag.endswith("}sitemapindex") else found).extend(locations)
    return found


def walk(web: LabWeb, *, with_sitemaps: bool = True) -> Reachable:
    """An honest crawl that knows the lab only by its answers, its list of names and its list of traps."""
    found: dict[str, set[str]] = {name: set() for name in Reachable.__dataclass_fields__}
    rules: dict[str, list[tuple[str, bool]]] = {}
    waiting, known = deque(web.seeds), set(web.seeds)
    while waiting:
        url = waiting.popleft()
        host = urlsplit(url).netloc
        state, targets = visit(web, url, rules)
        found[state].add(url)
        if host in web.hosts and state not in {"traps", "unreachable"} and host not in rules:
            rules[host] = rules_of(web, host)
            if with_sitemaps:
                targets = [*targets, *sitemap_links(web, host)]
        for target in targets:
            if target not in known:
                known.add(target)
                waiting.append(target)
    return Reachable(**{name: frozenset(urls) for name, urls in found.items()})


def visit(web: LabWeb, url: str, rules: dict[str, list[tuple[str, bool]]]) -> tuple[str, list[str]]:
    parts = urlsplit(url)
    if web.trap(url) is not None:
        return "traps", []
    if parts.netloc not in web.hosts:
        return "external", []
    response = get(web, url, visit=1)
    if response.behaviour.fate is not Fate.ANSWERS:
        return "unreachable", []
    host_rules = rules[parts.netloc] if parts.netloc in rules else rules_of(web, parts.netloc)
    if not next((allowed for path, allowed in host_rules if parts.path.startswith(path)), True):
        return "disallowed", []
    if response.status in {404, 410}:
        return "missing", []
    if 300 <= response.status < 400:
        return "redirects", [urljoin(url, header(response, "Location"))]
    assert response.status == 200, f"{url} answered {response.status}"
    return "pages", list(links_in(url, response))


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.profile}-{c.seed}-{c.hosts}")
@pytest.mark.parametrize("with_sitemaps", [True, False])
def test_an_independent_walk_finds_what_the_lab_says_is_reachable(config: LabConfig, with_sitemaps: bool) -> None:
    web = LabWeb(config)
    walked, told = walk(web, with_sitemaps=with_sitemaps), web.reachable(with_sitemaps=with_sitemaps)
    for field in Reachable.__dataclass_fields__:
        assert getattr(walked, field) == getattr(told, field), field


def test_the_plain_lab_has_some_of_everything_and_is_small() -> None:
    truth = LabWeb(LabConfig()).reachable()
    assert 250 <= len(truth.pages) <= 350
    assert min(len(truth.missing), len(truth.redirects), len(truth.disallowed), len(truth.external)) >= 10
    assert not truth.traps
    assert not truth.unreachable


def test_some_pages_are_named_by_sitemaps_only() -> None:
    web = LabWeb(LabConfig())
    only_in_sitemaps = web.reachable().pages - web.reachable(with_sitemaps=False).pages
    assert only_in_sitemaps
    assert all("/orphan/" in url for url in only_in_sitemaps)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.profile}-{c.seed}-{c.hosts}")
def test_the_page_total_is_the_number_of_reachable_pages(config: LabConfig) -> None:
    web = LabWeb(config)
    assert web.page_total() == len(web.reachable().pages)


def test_polite_hosts_are_equal_and_as_many_are_dead_as_asked() -> None:
    web = LabWeb(BIG)
    fates = [plan.fate for plan in web.plans]
    assert (fates.count(Fate.RESETS), fates.count(Fate.STALLS)) == (3, 1)
    assert web.page_total() == 8 * 30
    assert len(web.seeds) == 12


def test_two_labs_of_one_seed_answer_alike_and_of_another_seed_differently() -> None:
    one, other, foreign = LabWeb(LabConfig()), LabWeb(LabConfig()), LabWeb(LabConfig(seed=2))
    urls = sorted(one.reachable().pages)[:40]
    assert [get(one, url) for url in urls] == [get(other, url) for url in urls]
    assert [get(one, url).body for url in urls] != [get(foreign, url).body for url in urls]


@pytest.mark.slow
def test_another_process_with_another_hash_seed_answers_alike() -> None:
    program = (
        "import hashlib; from gossamer.testing.lab_web import *; w = LabWeb(LabConfig());"
        "print(hashlib.sha256(b''.join(w.respond(LabRequest(h, '/', {})).body for h in w.hosts)).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_each_charset_of_the_lab_is_declared_in_the_header_or_in_the_page() -> None:
    web = LabWeb(LabConfig())
    places = set()
    for plan in web.plans:
        response = get(web, f"http://{plan.name}/")
        in_header = f"charset={plan.charset}" in header(response, "Content-Type")
        in_page = f'<meta charset="{plan.charset}">'.encode() in response.body
        assert in_header != in_page
        places.add((plan.charset, in_header))
        response.body.decode(plan.charset)
    assert {charset for charset, _ in places} == set(CHARSETS)
    assert {place for _, place in places} == {True, False}


def test_gzip_is_sent_only_to_those_who_accept_it() -> None:
    web = LabWeb(LabConfig())
    plain, packed = get(web, "http://site00.test/"), get(web, "http://site00.test/", accept_encoding="gzip, br")
    assert header(packed, "Content-Encoding") == "gzip"
    assert "Content-Encoding" not in dict(plain.headers)
    assert gzip.decompress(packed.body) == plain.body


def test_an_unchanged_page_is_304_for_its_own_etag_only() -> None:
    web = LabWeb(LabConfig())
    etag = header(get(web, "http://site00.test/"), "ETag")
    assert get(web, "http://site00.test/", if_none_match=etag)[::2] == (304, b"")
    assert get(web, "http://site00.test/", if_none_match='"other"').status == 200


def test_a_throttled_host_refuses_once_and_says_for_how_long() -> None:
    web = LabWeb(LabConfig())
    (plan,) = [plan for plan in web.plans if plan.is_throttled]
    url = f"http://{plan.name}{path_of(Route(Kind.PAGE, 1))}"
    assert get(web, url).status == 429
    assert int(header(get(web, url), "Retry-After")) > 0
    assert get(web, url, visit=1).status == 200


def test_latency_lies_in_the_asked_range_and_differs() -> None:
    web = LabWeb(LabConfig(profile=Profile.POLITE, hosts=3, latency_min_s=0.05, latency_max_s=0.5))
    waits = [get(web, f"http://{web.hosts[0]}{path_of(Route(Kind.PAGE, n))}").behaviour.latency_s for n in range(20)]
    assert all(0.05 <= wait <= 0.5 for wait in waits)
    assert len(set(waits)) > 10


@pytest.mark.parametrize("trap", list(Trap))
def test_each_trap_is_endless_and_known_as_a_trap(trap: Trap) -> None:
    web = LabWeb(LabConfig(profile=Profile.TRAPS))
    doors = [door for door in web.trap_doors() if web.trap(door) is trap]
    known, waiting = set(doors), deque(doors)
    for _ in range(60):
        assert waiting, f"{trap} ends after {len(known)} URLs"
        url = waiting.popleft()
        assert web.trap(url) is trap
        response = get(web, url)
        onward = [header(response, "Location")] if response.status == 302 else list(links_in(url, response))
        fresh = [link for link in (urljoin(url, link) for link in onward) if link not in known]
        known.update(fresh)
        waiting.extend(fresh)
    assert len(known) >= 60


def test_all_faults_of_a_config_are_told_together() -> None:
    with pytest.raises(ValueError) as told:
        LabConfig(hosts=0, pages_per_host=-1, latency_min_s=2, latency_max_s=1, dead_share=0.7, stalling_share=0.7)
    assert all(word in str(told.value) for word in ("hosts", "pages_per_host", "latency", "dead_share"))


@given(st.sampled_from(list(Kind)), st.integers(0, 10**9 - 1))
def test_a_path_leads_back_to_its_route(kind: Kind, number: int) -> None:
    route = Route(kind, 0 if kind in {Kind.ROBOTS, Kind.SITEMAP, Kind.SITEMAP_PART} else number)
    assert route_of(path_of(route)) == route


@given(
    profile=st.sampled_from(list(Profile)),
    host=st.one_of(
        st.text(), st.sampled_from(["site00.test", "site03.test", "w0.farm.site05.test", "farm-00000000.test"])
    ),
    target=st.one_of(
        st.text(),
        st.builds(
            "{}{}".format,
            st.sampled_from(["/calendar/", "/shop/", "/maze/", "/list?", "/forever/", "/hop/", "/go/"]),
            st.text(),
        ),
    ),
)
@settings(deadline=None)
@pytest.mark.slow
def test_no_request_whatever_raises(profile: Profile, host: str, target: str) -> None:
    response = LabWeb(LabConfig(profile=profile)).respond(LabRequest(host, target, {}))
    assert response.status in {200, 301, 302, 303, 307, 308, 404, 410, 414, 429}
    assert all("\r" not in value and "\n" not in value for _, value in response.headers)


def test_an_endless_target_is_refused() -> None:
    assert LabWeb(LabConfig()).respond(LabRequest("site00.test", "/" + "9" * 100_000, {})).status == 414
