"""The help of `gossamer crawl`."""

from click.testing import CliRunner

from gossamer.config import OPTIONS
from gossamer.surfaces.cli.crawl import crawl
from gossamer.surfaces.cli.options import GROUPS


def shown() -> str:
    return " ".join(CliRunner().invoke(crawl, ["--help"], terminal_width=200, max_content_width=200).output.split())


def test_every_option_is_in_a_group() -> None:
    grouped = [key for keys in GROUPS.values() for key in keys]
    assert len(grouped) == len(set(grouped))
    assert {option.key for option in OPTIONS} <= set(grouped)


def test_the_help_has_the_groups_and_every_option_once() -> None:
    text = shown()
    places = [text.index(f" {title}: --") for title in GROUPS]
    assert places == sorted(places)
    for option in OPTIONS:
        assert text.count(f" {option.flag.partition('/')[0]} ") >= 1, option.flag
    assert "Other: --config FILE" in text


def test_options_with_few_values_name_them() -> None:
    text = shown()
    assert "host, site, prefix or any" in text
    assert "obey, or off-for=HOST[,HOST…]" in text
    assert "rfc or google" in text
    assert "full, main or none" in text
