import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.core.html_limits import ATTRIBUTES_MAX, DEPTH_MAX, bounded_markup

NESTED = 100_000


@pytest.mark.parametrize("tag", ["div", "ul", "section", "x-y", "blockquote"])
@pytest.mark.parametrize("closed", [True, False])
def test_a_tree_is_never_too_deep_and_keeps_its_text_and_links(tag: str, closed: bool) -> None:
    end = f"</{tag}>" * NESTED if closed else ""
    page = (f"<{tag} class=a>" * NESTED + "deep<a href=/x>link</a>" + end + "after").encode()
    bounded = bounded_markup(page)
    assert bounded.count(b"<" + tag.encode()) == DEPTH_MAX
    assert bounded.count(b"</" + tag.encode()) == (DEPTH_MAX if closed else 0)
    assert b"deep<a href=/x>link</a>" in bounded
    assert bounded.endswith(b"after")


def test_a_long_page_that_is_not_deep_is_untouched() -> None:
    for piece in (b"<p>a<br>b<li>c", b"<div><p>x</p></div>", b"<table><tr><td>a<td>b</table>", b"<span></span>"):
        page = piece * 20_000
        assert bounded_markup(page) is page


def test_a_tag_of_too_many_attributes_is_cut_and_what_follows_is_not() -> None:
    for quote in ('"', "'", ""):
        attributes = b"".join(f" a{number}={quote}1{quote}".encode() for number in range(20 * ATTRIBUTES_MAX))
        tree = LexborHTMLParser(bounded_markup(b"<a href=/first" + attributes + b">x</a><a href=/second>y</a>"))
        assert [node.attributes["href"] for node in tree.css("a")] == ["/first", "/second"]


def test_a_huge_attribute_is_no_matter() -> None:
    page = b"<img src='data:image/png;base64," + b"iVBORw0KGgo/" * 100_000 + b"'><a href=/x>y</a>"
    assert bounded_markup(page) is page


@pytest.mark.slow
def test_the_bound_makes_hostile_pages_cheap() -> None:
    start_s = time.process_time()
    for page in (b"<div>" * NESTED, b"<ul>" * NESTED, b"<a " + b"".join(b" a%d" % n for n in range(NESTED)) + b">"):
        LexborHTMLParser(bounded_markup(page))
    assert time.process_time() - start_s < 1
