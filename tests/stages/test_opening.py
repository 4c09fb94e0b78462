"""Which crawl a command is about."""

import json

import pytest

from gossamer.core.rows import CrawlRow, State
from gossamer.stages.opening import SeenKindDiffers, change_options, open_crawl

NOW = 1_800_000_000.0
SEEDS = ["http://a.test/", "http://b.test/", "http://a.test/"]


def test_an_empty_directory_gets_a_crawl_with_each_seed_once() -> None:
    opening = open_crawl([], SEEDS, {"delay_s": 1.0}, new=False, now=NOW)
    assert (opening.is_new, opening.changes) == (True, ())
    assert (opening.crawl.number, opening.crawl.crawl_id) == (1, "20270115-080000-1")
    assert opening.crawl.seeds == SEEDS[:2]
    assert json.loads(opening.crawl.options) == {"delay_s": 1.0}


def test_an_unfinished_crawl_goes_on_with_more_seeds_and_other_options() -> None:
    first = open_crawl([], SEEDS, {"delay_s": 1.0, "scope": "site", "exclude": ["x"]}, new=False, now=NOW).crawl
    first.ended_at, first.counters.fetched = NOW + 5, 7
    opening = open_crawl([first], ["http://c.test/", SEEDS[0]], {"delay_s": 2.0, "scope": "site"}, new=False, now=NOW)
    assert opening.is_new is False
    assert opening.crawl is first
    assert opening.crawl.seeds == ["http://a.test/", "http://b.test/", "http://c.test/"]
    assert opening.added == ("http://c.test/",)
    assert opening.changes == ("delay_s: 1.0 → 2.0", "exclude: ['x'] → not set")
    assert (opening.crawl.ended_at, opening.crawl.counters.fetched) == (None, 7)


def test_long_lists_are_not_printed_whole() -> None:
    first = open_crawl([], SEEDS, {"connect_to": [str(n) for n in range(9)]}, new=False, now=NOW).crawl
    assert open_crawl([first], [], {}, new=False, now=NOW).changes == ("connect_to: 9 entries → not set",)


def test_another_crawl_gets_the_next_number_and_leaves_the_old_ones_alone() -> None:
    first = open_crawl([], SEEDS, {}, new=False, now=NOW).crawl
    second = open_crawl([first], ["http://z.test/"], {"delay_s": 9}, new=True, now=NOW).crawl
    assert (second.number, second.crawl_id, second.seeds) == (2, "20270115-080000-2", ["http://z.test/"])
    assert (first.seeds, first.options) == (SEEDS[:2], "{}")


def test_the_newest_crawl_goes_on() -> None:
    first = open_crawl([], SEEDS, {}, new=False, now=NOW).crawl
    second = open_crawl([first], SEEDS, {}, new=True, now=NOW + 60).crawl
    assert open_crawl([first, second], [], {}, new=False, now=NOW + 90).crawl is second


def spent(options: dict[str, object], *, fetched: int = 10) -> CrawlRow:
    """A crawl whose run ended at a ceiling."""
    crawl = open_crawl([], SEEDS, options, new=False, now=NOW).crawl
    crawl.counters.fetched, crawl.counters.states[State.READY] = fetched, 5
    crawl.counters.states[State.FETCHED] = fetched
    crawl.clean, crawl.end, crawl.status = True, "budget-spent", "completed"
    return crawl


TOTAL: dict[str, object] = {"max_pages": 10}
OF_A_HOST: dict[str, object] = {"max_pages_per_host": 3, "max_pages": 50}


@pytest.mark.parametrize(
    ("before", "after", "still"),
    [
        (TOTAL, TOTAL, True),
        (TOTAL, {"max_pages": 5}, True),
        (TOTAL, {"max_pages": 11}, False),
        (TOTAL, {}, False),
        (TOTAL, {"max_pages": 10, "max_pages_per_host": 4, "delay_s": 3}, True),
        (OF_A_HOST, OF_A_HOST, True),
        (OF_A_HOST, {"max_pages_per_host": 4, "max_pages": 50}, False),
        (OF_A_HOST, {"max_pages": 50}, False),
    ],
)
def test_a_spent_budget_stays_spent_until_a_ceiling_is_higher(
    before: dict[str, object], after: dict[str, object], *, still: bool
) -> None:
    assert open_crawl([spent(before)], [], after, new=False, now=NOW).still_spent is still


def test_more_seeds_are_always_taken_in() -> None:
    opening = open_crawl([spent(TOTAL)], ["http://c.test/"], TOTAL, new=False, now=NOW)
    assert (opening.added, opening.still_spent) == (("http://c.test/",), False)


def test_captures_of_a_run_that_was_killed_are_parsed_whatever_the_budget() -> None:
    killed = spent(TOTAL)
    killed.clean = False
    assert open_crawl([killed], [], TOTAL, new=False, now=NOW).still_spent is False
    behind = spent(TOTAL)
    behind.counters.states[State.CAPTURED] = 1
    assert open_crawl([behind], [], TOTAL, new=False, now=NOW).still_spent is False


def test_a_run_that_begins_has_no_end_yet() -> None:
    assert open_crawl([spent(TOTAL)], [], {}, new=False, now=NOW).crawl.end == ""


def test_a_crawl_that_is_still_spent_is_left_as_it_is() -> None:
    crawl = spent(OF_A_HOST)
    opening = open_crawl([crawl], [], OF_A_HOST | {"delay_s": 9}, new=False, now=NOW)
    assert opening.still_spent
    assert (opening.crawl.end, json.loads(opening.crawl.options)) == ("budget-spent", OF_A_HOST)


def test_options_change_one_by_one_and_none_takes_a_limit_away() -> None:
    crawl = open_crawl([], SEEDS, {"delay_s": 1.0, "max_pages": 10, "scope": "any"}, new=False, now=NOW).crawl
    changes = change_options(crawl, {"delay_s": 3.0, "max_pages": None, "concurrency": 5})
    assert [change.sentence for change in changes] == [
        "concurrency: not set → 5",
        "delay_s: 1.0 → 3.0",
        "max_pages: 10 → not set",
    ]
    assert json.loads(crawl.options) == {"concurrency": 5, "delay_s": 3.0, "scope": "any"}
    assert change_options(crawl, {"delay_s": 3.0}) == []


@pytest.mark.parametrize(
    ("before", "values", "still"),
    [
        (TOTAL, {"max_pages": 11}, False),
        (TOTAL, {"max_pages": None}, False),
        (TOTAL, {"max_pages": 9}, True),
        (OF_A_HOST, {"max_pages_per_host": 4}, False),
        (OF_A_HOST, {"delay_s": 4.0}, True),
    ],
)
def test_a_crawl_with_a_spent_budget_goes_on_when_its_options_had_a_ceiling_raised(
    before: dict[str, object], values: dict[str, object], *, still: bool
) -> None:
    crawl = spent(before)
    change_options(crawl, values)
    assert open_crawl([crawl], [], json.loads(crawl.options), new=False, now=NOW).still_spent is still


@pytest.mark.parametrize(
    ("before", "after"), [({"seen": "exact"}, "bloom"), ({"seen": "bloom"}, "exact"), ({}, "bloom")]
)
def test_a_crawl_does_not_go_on_with_another_kind_of_seen_set(before: dict[str, object], after: str) -> None:
    first = open_crawl([], SEEDS, before, new=False, now=NOW).crawl
    first.ended_at, options = NOW + 5, first.options
    with pytest.raises(SeenKindDiffers, match=rf"can't go on with --seen {after}; resume it with --seen .*--new"):
        open_crawl([first], ["http://c.test/"], {"seen": after}, new=False, now=NOW)
    assert (first.seeds, first.options, first.ended_at) == (SEEDS[:2], options, NOW + 5)
    assert open_crawl([first], SEEDS, {"seen": after}, new=True, now=NOW).is_new


def test_a_crawl_of_before_there_was_a_choice_goes_on() -> None:
    first = open_crawl([], SEEDS, {}, new=False, now=NOW).crawl
    assert open_crawl([first], [], {"seen": "exact"}, new=False, now=NOW).crawl is first
