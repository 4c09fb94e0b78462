"""XML as the web writes it is read to its end; what it makes of sitemaps and feeds is in their own tests."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.loose_xml import (
    DEPTH_MAX,
    PROBLEMS_MAX,
    Element,
    Problems,
    attributes,
    decoded_xml,
    elements,
    resolved,
)


def read(text: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    problems = Problems()
    ended = [each for each in elements(text, problems, frozenset()) if isinstance(each, Element)]
    return [
        ("/".join([*(node.name for node in each.ancestors), each.node.name]), each.text) for each in ended
    ], problems.all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a><b>x</b><b/>y</a>", [("a/b", "x"), ("a/b", ""), ("a", "y")]),
        ("<n:a xmlns:n='u'><n:b>x</n:b></n:a>", [("a/b", "x"), ("a", "")]),
        ("<A><B>x</b></a>", [("a/b", "x"), ("a", "")]),
        ("<a><![CDATA[<b>&amp;]]></a>", [("a", "<b>&amp;")]),
        ("<a><!-- <b>x</b> -->y</a>", [("a", "y")]),
        ("<?xml version='1.0'?><a>x</a>", [("a", "x")]),
        ("<a t='1>2'>x</a>", [("a", "x")]),
        ("<a>&#65;&#x42;&amp;&lt;</a>", [("a", "AB&<")]),
    ],
)
def test_well_formed_documents(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == (expected, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a><b>x & y</b></a>", ("a/b", "x & y")),
        ("<a><b>x</a>", ("a/b", "x")),
        ("<a></c><b>x</b></a>", ("a/b", "x")),
        ("<a><b>1 < 2</b></a>", ("a/b", "1 < 2")),
        ("<a><b>&nbsp;</b></a>", ("a/b", "&nbsp;")),
        ("<a><b>&#0;</b></a>", ("a/b", "\ufffd")),
        ('<a t="1><b>x</b></a>', ("a/b", "x")),
        ('<!DOCTYPE a [<!ENTITY e "boom">]><a><b>&e;</b></a>', ("a/b", "&e;")),
    ],
)
def test_broken_documents_are_read_on_and_named(text: str, expected: tuple[str, str]) -> None:
    found, problems = read(text)
    assert expected in found
    assert problems or "t=" in text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("\ufeff<a>é</a>".encode(), "<a>é</a>"),
        ("<a>é</a>".encode("utf-16"), "<a>é</a>"),
        ("<a>é</a>".encode("utf-16-be"), "<a>é</a>"),
        ('<?xml encoding="windows-1252"?><a>é</a>'.encode("cp1252"), '<?xml encoding="windows-1252"?><a>é</a>'),
        ('<?xml encoding="zip"?><a>é</a>'.encode(), '<?xml encoding="zip"?><a>é</a>'),
        (b"<a>\xff</a>", "<a>\ufffd</a>"),
    ],
)
def test_the_text_of_octets(body: bytes, expected: str) -> None:
    assert decoded_xml(body, Problems()) == expected


@pytest.mark.parametrize(
    "text",
    ["<a>" * 3_000, "<" * 50_000, "<a b='" * 5_000, "<![CDATA[" * 5_000, "<!--" * 9_000, "&" * 50_000, "<a " * 20_000],
)
@pytest.mark.slow
def test_hostile_documents_cost_their_length_and_no_more(text: str) -> None:
    before = time.process_time()
    found, problems = read(text)
    assert time.process_time() - before < 2
    assert len(found) <= DEPTH_MAX
    assert 0 < len(problems) <= PROBLEMS_MAX


@given(st.binary(max_size=300) | st.text(alphabet="<>/!?[]-&;#'\" =abx\n", max_size=300).map(str.encode))
def test_no_octets_are_an_exception(body: bytes) -> None:
    problems = Problems()
    text = decoded_xml(body, problems)
    for each in elements(text, problems, frozenset({"a"})):
        node = each.node if isinstance(each, Element) else each
        assert isinstance(attributes(node.raw_attributes, problems), dict)
    assert len(problems.all()) <= PROBLEMS_MAX


def test_the_first_of_two_attributes_wins_and_prefixes_stay() -> None:
    assert attributes(' HREF="a" href=\'b\' xml:lang="en"', Problems()) == {"href": "a", "xml:lang": "en"}


def test_only_the_entities_of_xml_itself_are_resolved() -> None:
    assert resolved("&lt;&copy;&#xD800;&quot", Problems()) == "<&copy;\ufffd&quot"
