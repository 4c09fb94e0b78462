"""Traps that only many URLs show, by the counts of a host and of a site; and whole walks with all the rules."""

from collections.abc import Callable
from functools import cache

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.trap_walk import YEAR, Seen, TrapWalk

from gossamer.core.page import ParseOptions, outlinks, parse_page
from gossamer.core.patterns import Form, form_of
from gossamer.core.rows import SiteRow
from gossamer.core.site_traps import (
    CALENDAR_MIN,
    HOSTS_FREE,
    LEVEL_MAX,
    PATTERN_FREE,
    PATTERNS_MAX,
    SITES_FREE,
    TEXTS_JUDGED_MIN,
    TEXTS_PER_HOST,
    TEXTS_PER_SITE,
    TEXTS_REMEMBERED_MAX,
    YEARS_AHEAD_MAX,
    HostCounts,
    Novelty,
    PatternCount,
    SiteTrap,
    Weighed,
    ceiling_of,
    count_admitted,
    count_text,
    explain_site_trap,
    is_host_burst,
    is_site_burst,
    weigh,
)
from gossamer.core.url import Url, UrlFault, host_of, normalize, target_of
from gossamer.testing.lab_hosts import LabConfig, Profile, Trap
from gossamer.testing.lab_web import LabRequest, LabWeb

HOME = "https://example.com/"


def form(path: str) -> Form:
    return form_of(Url(HOME + path))


def admit(counts: HostCounts, page: str | None, *paths: str) -> list[SiteTrap | None]:
    """What is said of URLs in turn, each counted when it is admitted."""
    source, said = None if page is None else form(page), []
    for path in paths:
        weighed = weigh(counts, source, form(path), YEAR)
        said.append(weighed.trap)
        if weighed.trap is None:
            count_admitted(counts, source, form(path))
    return said


def months(count: int, first: int = 0) -> list[str]:
    return [f"cal/{2000 + month // 12}/{month % 12 + 1}/" for month in range(first, first + count)]


# Calendars.


def test_months_that_only_lead_to_months_end_after_fifty() -> None:
    said = admit(HostCounts(), "cal/2000/1/", *months(60))
    assert said == [None] * PATTERN_FREE + [SiteTrap.ENDLESS_CALENDAR] * 10


def test_an_archive_pays_its_way_with_the_articles_it_leads_to() -> None:
    counts = HostCounts()
    for at, month in enumerate(months(300)):
        assert admit(counts, "cal/2000/1/", month) == [None]
        assert admit(counts, month, f"{month}{'on-' * at}sale", f"{month}{'on-' * at}strike") == [None, None]


def test_what_every_month_of_a_trap_has_does_not_pay_for_it() -> None:
    counts = HostCounts()
    for month in months(PATTERN_FREE + 10):
        said = admit(counts, "cal/2000/1/", month)
        admit(counts, month, f"{month}export", f"{month}1/", f"{month}15/", f"event/add?date={month[4:8]}-01-01")
    assert said == [SiteTrap.ENDLESS_CALENDAR]


def test_an_article_below_its_month_is_no_part_of_the_calendar() -> None:
    counts = HostCounts()
    articles = [f"2024/{number % 12 + 1}/about-{'x' * number}" for number in range(1, 500)]
    assert set(admit(counts, "2024/1/", *articles)) == {None}


def test_dates_that_another_page_or_a_sitemap_names_are_welcome() -> None:
    counts = HostCounts()
    admit(counts, "cal/2000/1/", *months(60))
    assert admit(counts, "contents", "cal/2099/1/", *months(300)) == [None] * 301
    assert admit(counts, None, "cal/2099/1/") == [None]


def test_a_calendar_does_not_lead_into_the_far_future() -> None:
    counts = HostCounts()
    far = f"cal/{YEAR + YEARS_AHEAD_MAX + 1}/1/"
    admit(counts, "cal/2000/1/", *months(CALENDAR_MIN - 1))
    assert admit(counts, "cal/2000/1/", far) == [None], "nine dates are no calendar yet"
    assert admit(counts, "cal/2000/1/", far, f"cal/{YEAR + YEARS_AHEAD_MAX}/1/") == [SiteTrap.FAR_DATE, None]


def test_numbers_of_threads_are_years_by_chance() -> None:
    counts = HostCounts()
    threads = [f"thread/{number}/{page}" for number in range(1_800, 2_300) for page in range(1, 4)]
    assert set(admit(counts, "thread/1/1", *threads)) == {None}


# Filters.


def test_filters_combined_again_and_again_end() -> None:
    shop = [
        f"list?colour={colour}&size={size}&sort={sort}&view={view}"
        for colour in range(8) for size in range(8) for sort in range(3) for view in range(3)
    ]  # fmt: skip
    said = admit(HostCounts(), shop[0], *shop)
    assert said.count(None) <= 8 * (8 + 8 + 3 + 3) + 8
    assert set(said) == {None, SiteTrap.RECOMBINED_PARAMETERS}


def test_a_new_value_is_welcome_in_a_list_that_has_ended() -> None:
    counts = HostCounts()
    shop = [f"list?a={a}&b={b}&c={c}" for a in range(10) for b in range(10) for c in range(10)]
    assert admit(counts, shop[0], *shop)[-1] is SiteTrap.RECOMBINED_PARAMETERS
    assert admit(counts, shop[0], "list?a=1&b=2&c=new") == [None]


@pytest.mark.parametrize(("articles", "languages"), [(3_000, 2), (100, 7), (30, 7), (10, 7)])
def test_a_site_of_nothing_but_parameters_stays_alive(articles: int, languages: int) -> None:
    pages = [f"index.php?lang={lang}&page=article&id={n}" for n in range(articles) for lang in range(languages)]
    assert set(admit(HostCounts(), pages[0], *pages)) == {None}


# What leads to its own kind comes later.


def test_a_pattern_with_nothing_to_show_falls_behind_with_each_doubling() -> None:
    counts = HostCounts()
    levels = []
    for number in range(4_000):
        levels.append(weigh(counts, form("p?n=0"), form(f"p?n={number}"), YEAR).level)
        count_admitted(counts, form("p?n=0"), form(f"p?n={number}"))
    assert [levels.index(level) for level in range(LEVEL_MAX + 1)] == [0, *(PATTERN_FREE * 2**n for n in range(7))]


def test_a_chain_of_ten_thousand_pages_with_text_stays_in_front() -> None:
    counts = HostCounts()
    for number in range(10_000):
        page, following = form(f"comic/{number}/"), form(f"comic/{number + 1}/")
        count_text(counts, page, is_new=True)
        assert weigh(counts, page, following, YEAR) == Weighed()
        count_admitted(counts, page, following)


def test_a_table_of_contents_meets_no_rule() -> None:
    counts = HostCounts()
    assert all(weigh(counts, form("contents"), form(f"doc/{number}"), YEAR) == Weighed() for number in range(9))
    admit(counts, "contents", *(f"doc/{number}" for number in range(10_000)))
    assert counts.patterns == {}


# Repetition.


def repetitive(new: int, known: int) -> HostCounts:
    counts = HostCounts()
    for at in range(new + known):
        count_text(counts, form(""), is_new=at < new)
    return counts


@pytest.mark.parametrize(
    ("new", "known", "level"),
    [(0, 19, 0), (0, 20, 5), (20, 0, 0), (100, 99, 0), (50, 50, 1), (50, 150, 2), (10, 40, 3), (1, 63, 6), (1, 64, 7)],
)
def test_a_host_that_repeats_itself_falls_behind(new: int, known: int, level: int) -> None:
    counts = repetitive(new, known)
    assert counts.novelty.level == level
    assert weigh(counts, None, form("a"), YEAR) == Weighed(level=level)


def test_a_host_with_nothing_but_copies_gets_no_more_urls_of_its_own() -> None:
    counts = repetitive(1, 64)
    assert admit(counts, "x", "y") == [SiteTrap.MOSTLY_DUPLICATES]
    assert admit(counts, None, "y") == [None], "what others name is asked for, if late"


def test_a_host_that_has_something_new_again_recovers() -> None:
    counts = repetitive(0, 5_000)
    for at in range(2 * TEXTS_REMEMBERED_MAX):
        count_text(counts, form(f"{at}"), is_new=True)
    assert counts.novelty.level == 0


@pytest.mark.parametrize(
    ("novelty", "ceiling", "left"),
    [
        (Novelty(), 1_000, 1_000),
        (Novelty(50, 50), 1_000, 500),
        (Novelty(0, 64), 1_000, TEXTS_JUDGED_MIN),
        (Novelty(0, 64), 5, 5),
        (Novelty(0, 64), None, None),
    ],
)
def test_each_level_halves_the_budget(novelty: Novelty, ceiling: int | None, left: int | None) -> None:
    assert ceiling_of(ceiling, novelty) == left


# Hosts of a site.


def test_a_site_has_ten_hosts_and_one_more_for_five_texts() -> None:
    assert not is_host_burst(SiteRow("a.test", hosts=HOSTS_FREE - 1, texts=0), None)
    assert is_host_burst(SiteRow("a.test", hosts=HOSTS_FREE, texts=0), None)
    assert is_host_burst(SiteRow("a.test", hosts=HOSTS_FREE, texts=TEXTS_PER_HOST - 1), None)
    assert not is_host_burst(SiteRow("a.test", hosts=HOSTS_FREE, texts=TEXTS_PER_HOST), None)


def test_a_rich_site_does_not_feed_a_farm_in_its_name() -> None:
    rich = SiteRow("a.test", hosts=HOSTS_FREE, texts=1_000)
    assert not is_host_burst(SiteRow("a.test", hosts=HOSTS_FREE - 1), HostCounts(texts=1))
    assert is_host_burst(rich, HostCounts(texts=TEXTS_PER_HOST - 1))
    assert not is_host_burst(rich, HostCounts(texts=TEXTS_PER_HOST))
    assert is_host_burst(rich, HostCounts(texts=TEXTS_PER_HOST, hosts_led=1))


def test_a_farm_with_a_text_of_its_own_on_every_host_ends_as_well() -> None:
    def farm(url: Url) -> Seen:
        return Seen([Url(f"http://w{host_of(url)[1:-5]}{n}.a.test/") for n in range(9)], text=url)

    assert len(TrapWalk(farm).seed("http://w.a.test/").walk(1_000).fetched) <= 12


def test_a_site_of_eighty_languages_is_admitted_as_its_pages_come_in() -> None:
    hosts = [f"http://l{n}.wiki.test/" for n in range(80)]

    def wiki(url: Url) -> Seen:
        articles = [normalize(f"/title-{word}", url) for word in "abcdefghij"]
        return Seen([*map(Url, hosts), *(a for a in articles if not isinstance(a, UrlFault))], text=url)

    walked = TrapWalk(wiki).seed(hosts[0]).walk(10_000)
    assert {host_of(url) for url in walked.fetched} == {host_of(Url(url)) for url in hosts}


# Sites behind a site.


def test_behind_a_site_are_a_hundred_and_one_more_for_five_texts_of_the_family() -> None:
    assert not is_site_burst(SiteRow("a.test", kin=SITES_FREE - 1))
    assert is_site_burst(SiteRow("a.test", kin=SITES_FREE, texts=TEXTS_PER_SITE - 1))
    assert not is_site_burst(SiteRow("a.test", kin=SITES_FREE, texts=1, kin_texts=TEXTS_PER_SITE - 1))


def test_a_farm_whose_domains_all_link_to_one_another_ends_as_well() -> None:
    def farm(url: Url) -> Seen:
        if "seed" in url:
            return Seen([Url("http://farm0.test/")], text=url)
        return Seen([Url(f"http://farm{n}.test/") for n in range(1_000)], text=url)

    walked = TrapWalk(farm).seed("http://seed.test/").walk(2_000)
    assert len(walked.fetched) <= 1 + 1 + SITES_FREE * TEXTS_PER_SITE // (TEXTS_PER_SITE - 1) + 1
    assert walked.refused[SiteTrap.SITE_BURST] > 0


def test_sites_that_a_seed_links_to_are_all_welcome() -> None:
    linked = [Url(f"http://s{n}.test/") for n in range(1_000)]
    assert len(TrapWalk(lambda url: Seen(linked, text=url)).seed("http://seed.test/").walk(2_000).fetched) == 1_001


def test_a_web_of_sites_with_something_to_read_is_crawled_from_one_seed() -> None:
    """Each site has twenty pages and leads to two that nobody else names."""

    def web(url: Url) -> Seen:
        host, number = host_of(url), int(host_of(url)[1:-5])
        pages = [Url(f"http://{host}/{word}") for word in "abcdefghijklmnopqrs"]
        return Seen([*pages, *(Url(f"http://s{2 * number + n}.test/") for n in range(2) if number < 1_024)], text=url)

    walked = TrapWalk(web).seed("http://s1.test/").walk(100_000)
    assert len({host_of(url) for url in walked.fetched}) == 2_047


# Bounds.


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 99), st.booleans(), st.booleans()), max_size=300))
def test_what_is_kept_of_a_host_is_bounded(story: list[tuple[int, int, bool, bool]]) -> None:
    counts = HostCounts()
    for pattern, number, is_from_kin, is_new in story:
        url = form(f"{'x' * pattern}/{number}")
        count_admitted(counts, url if is_from_kin else form("1/1/1"), url)
        count_text(counts, url, is_new=is_new)
        assert 0 <= weigh(counts, url, url, YEAR).level <= LEVEL_MAX
    assert len(counts.patterns) <= PATTERNS_MAX
    assert all(0 <= count.own <= len(story) for count in counts.patterns.values())
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(counts), type=HostCounts) == counts


def test_a_row_stays_small() -> None:
    full = HostCounts({2**63 + n: PatternCount(10_000, 99, 9_999, 9_999, 9_999) for n in range(PATTERNS_MAX)})
    assert len(msgspec.msgpack.encode(full)) < 1_000


def test_many_slugs_with_numbers_are_not_taken_for_one_pattern() -> None:
    counts = HostCounts()
    slugs = [f"2024/5/{word}-{number}" for number in range(50) for word in map("x".__mul__, range(1, 60))]
    for slug in slugs:
        count_admitted(counts, form("2024/5/a-1"), form(slug))
    assert max(count.own for count in counts.patterns.values()) <= 50


def test_a_calendar_is_seen_among_ten_times_as_many_slugs() -> None:
    counts = HostCounts()
    for at, month in enumerate(months(PATTERN_FREE + 2)):
        said = admit(counts, "cal/2000/1/", month)
        for n in range(10):
            count_admitted(counts, form("x/1"), form("x/1"))
            count_admitted(counts, form("2000/1/1"), form(f"2000/1/{'y' * (at * 10 + n)}-1"))
    assert said == [SiteTrap.ENDLESS_CALENDAR]


@pytest.mark.parametrize("trap", list(SiteTrap))
def test_every_trap_is_explained(trap: SiteTrap) -> None:
    assert len(explain_site_trap(trap).split()) > 4


# Whole walks, in the lab.


@cache
def lab(config: LabConfig) -> tuple[LabWeb, Callable[[Url], Seen]]:
    web = LabWeb(config)

    def seen(url: Url) -> Seen:
        response = web.respond(LabRequest(host_of(url), target_of(url), {}, 1))
        fields = {name.lower(): value for name, value in response.headers}
        if 300 <= response.status < 400:
            location = normalize(fields["location"], url)
            assert not isinstance(location, UrlFault)
            return Seen(location=location)
        if response.status != 200:
            return Seen()
        page = parse_page(response.body, url, fields, ParseOptions())
        return Seen([link.url for link in outlinks(page)], page.content_hash)

    return web, seen


TRAPS = LabConfig(profile=Profile.TRAPS)


@pytest.mark.parametrize(
    ("trap", "fetched_max", "reason"),
    [
        (Trap.CALENDAR, 110, "endless-calendar"),  # months and days, 50 each
        (Trap.SESSION, 30, None),  # 12 of the shop under the first visit, 12 once the parameter is known
        (Trap.REPEAT, 40, "repeated-segments"),
        (Trap.QUERY, 200, "recombined-parameters"),  # 17 values, and all pairs of them
        (Trap.REDIRECT, 11, None),
        (Trap.SUBDOMAINS, 12, "host-burst"),
        (Trap.FARM, 1 + SITES_FREE * TEXTS_PER_SITE // (TEXTS_PER_SITE - 1), "site-burst"),
    ],
)
def test_ten_thousand_steps_into_a_trap_are_few(trap: Trap, fetched_max: int, reason: str | None) -> None:
    web, seen = lab(TRAPS)
    door = Url(next(door for door in web.trap_doors() if web.trap(door) is trap))
    walked = TrapWalk(lambda url: seen(url) if web.trap(url) else Seen([door])).seed("http://seed.test/").walk(10_000)
    assert not walked.waiting, "it ends by itself"
    assert len(walked.fetched) - 1 <= fetched_max
    assert reason is None or walked.refused[reason] > 0


@pytest.mark.slow
@pytest.mark.parametrize("config", [LabConfig(), LabConfig(seed=7, hosts=40, pages_per_host=120)], ids=["small", "big"])
def test_no_rule_refuses_or_delays_a_page_of_the_honest_lab(config: LabConfig) -> None:
    web, seen = lab(config)
    walked = TrapWalk(seen).seed(*web.seeds).walk(10_000)
    assert not walked.refused
    assert set(walked.levels.values()) == {0}
    assert web.reachable(with_sitemaps=False).pages <= set(walked.fetched)


@pytest.mark.slow
def test_the_pages_around_all_traps_are_fetched() -> None:
    web, seen = lab(TRAPS)
    walked = TrapWalk(seen).seed(*web.seeds).walk(1_500)
    assert web.reachable(with_sitemaps=False).pages <= set(walked.fetched)


# Public cases.


def test_h_trap_02_a_calendar_ends_and_starves_nobody() -> None:
    def site(url: Url) -> Seen:
        if url == HOME:
            return Seen([Url(f"{HOME}cal?y=2026&m=1"), *(Url(f"{HOME}doc/{n}") for n in range(1, 31))], "home")
        if "/doc/" in url:
            return Seen([], url)
        year, month = (int(value.partition("=")[2]) for value in url.partition("?")[2].split("&"))
        at = year * 12 + month - 1
        around = [f"{HOME}cal?y={other // 12}&m={other % 12 + 1}" for other in (at - 1, at + 1)]
        return Seen([Url(link) for link in around], url)

    walked = TrapWalk(site).seed(HOME).walk(500)
    docs = [at for at, url in enumerate(walked.fetched, 1) if "/doc/" in url]
    assert len(docs) == 30
    assert docs[-1] <= 150
    assert sum("/cal?" in url for url in walked.fetched) <= 120
    assert not walked.waiting
