"""The commands answer reported mistakes of other crawlers rightly. Robots availability: `test_rules_robots_from_web`."""

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from click.testing import CliRunner
from tests.surfaces.public_cases import (
    CASES,
    SITEMAP_02,
    SITEMAP_02_ROBOTS,
    TEXT_01_ABSENT,
    TEXT_01_BODY,
    TEXT_01_ONCE,
    TEXT_01_PATTERNS,
    Case,
)

from gossamer.surfaces.cli.rules import COMMANDS

BY_NAME = {command.name: command for command in COMMANDS}


def ask(command: str, questions: Iterable[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
    """The answers of `command --jsonl`, one a question."""
    questions = list(questions)
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    result = CliRunner().invoke(BY_NAME[command], ["--jsonl", *options], input=lines, catch_exceptions=False)
    assert result.exit_code == 0
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_reported_mistake_is_not_made(case: Case) -> None:
    (answer,) = ask(case.command, [case.question])
    answer["urls"] = [link["url"] for link in answer.get("links", answer.get("entries", []))]
    for key, expected in case.expected.items():
        assert key in answer
        assert expected in (..., answer[key])


@pytest.mark.parametrize("kind", ["full", "main"], ids=["h-text-01-full", "h-text-01-main"])
def test_blocks_are_apart_words_are_whole_and_nothing_comes_twice(kind: str) -> None:
    (answer,) = ask("parse", [{"url": "https://example.com/", "body": TEXT_01_BODY}], "--text", kind)
    text = answer["mainText" if kind == "main" else "text"]
    assert [text.count(once) for once in TEXT_01_ONCE] == [1] * len(TEXT_01_ONCE)
    assert all(re.search(pattern, text) for pattern in TEXT_01_PATTERNS)
    assert not any(absent in text for absent in TEXT_01_ABSENT)


def test_h_sitemap_02_an_index_that_lists_itself_is_one_url_among_its_sitemaps() -> None:
    """The walk with a memory ends, because every name of a document is the same string. Who walks is the frontier."""
    (robots,) = ask("robots", [{"robots": SITEMAP_02_ROBOTS, "agent": "examplebot", "urls": []}])
    ahead = list(robots["sitemaps"])
    requested: list[str] = []
    pages: list[str] = []
    while ahead and len(requested) < 10:
        url = ahead.pop()
        if url in requested:
            continue
        requested.append(url)
        target = "https://example.com/index.xml" if url.endswith("/moved.xml") else url
        (sitemap,) = ask("sitemap", [{"url": target, "body": SITEMAP_02.get(target, SITEMAP_02_ROBOTS)}])
        ahead += sitemap["sitemaps"]
        pages += [entry["url"] for entry in sitemap["entries"]]
    assert pages == ["https://example.com/p"]
    assert sorted(url.rpartition("/")[2] for url in requested) == ["child.xml", "index.xml", "moved.xml", "robots.txt"]
