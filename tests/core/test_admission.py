"""One gate for every URL: scope, then traps, each refusal with a name."""

import re

import pytest

from gossamer.core.admission import INSIDE, Admissibility
from gossamer.core.scope import Scope, ScopeKind
from gossamer.core.url import Url

SEED = Url("http://example.com/docs/")


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://example.com/docs/a", INSIDE),
        ("https://www.example.com/", INSIDE),
        ("http://elsewhere.com/", "outside"),
        ("http://example.com/private/x", "excluded"),
        ("http://example.com/" + "a/" * 100, "path-too-deep"),
    ],
)
def test_a_url_is_inside_or_it_is_said_why_not(url: str, verdict: str) -> None:
    gate = Admissibility(Scope(ScopeKind.SITE, (SEED,), exclude=(re.compile("/private/"),)))
    assert gate.verdict(Url(url)) == verdict


def test_scope_speaks_before_the_traps() -> None:
    gate = Admissibility(Scope(ScopeKind.HOST, (SEED,)))
    assert gate.verdict(Url("http://elsewhere.com/" + "a/" * 100)) == "outside"


def test_what_is_not_included_has_a_name_of_its_own() -> None:
    gate = Admissibility(Scope(ScopeKind.SITE, (SEED,), include=(re.compile("/docs/"),)))
    assert gate.verdict(Url("http://example.com/news/")) == "not-included"
