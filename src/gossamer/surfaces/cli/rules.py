"""The rules one by one: `robots`, `url`, `parse`, `sitemap`, `fingerprint` and `retry-after`, each without a crawl.

Every command takes plain arguments, or questions as JSON Lines under `--jsonl`. What it answers comes from
`rule_answers` and `document_answers`; the latter brings the parsers, so it is imported where a document is parsed.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import click

from gossamer.core.addresses import AddressRules, parse_networks
from gossamer.core.robots import parse_robots
from gossamer.core.url import UrlFault, normalize
from gossamer.surfaces.cli.json_lines import (
    Answer,
    BadRequest,
    Request,
    answer_lines,
    read_file,
    shown,
    write_document,
    write_json_line,
    write_text,
)
from gossamer.surfaces.cli.rule_answers import (
    Judgement,
    judged,
    moment_s,
    retry_after_answer,
    retry_after_prose,
    robots_answer,
    url_answer,
    web_url,
)
from gossamer.surfaces.cli.rule_prose import page_prose, robots_prose, sitemap_prose, url_prose

JSON: Final = "json"
JSONL: Final = "jsonl"

_C = TypeVar("_C", bound=Callable[..., object])


def _answers_in_three_forms(as_json: str = "Print one JSON document.") -> Callable[[_C], _C]:
    """`--json` and `--jsonl`; the parameter `form` is None for people."""

    def with_forms(command: _C) -> _C:
        click.option("--json", "form", flag_value=JSON, help=as_json)(command)
        click.option("--jsonl", "form", flag_value=JSONL, help="Answer questions, JSON Lines on stdin.")(command)
        return command

    return with_forms


# The commands ---------------------------------------------------------------------------------------------------------


@click.command("robots", short_help="Ask a robots.txt about URLs.")
@click.argument("source", metavar="FILE|URL", required=False)
@click.argument("urls", metavar="URL...", nargs=-1)
@click.option("--agent", metavar="A", help="Product token or user agent to ask for. [default: gossamer]")
@click.option("--allow-address", "networks", metavar="CIDR", multiple=True, help="Also fetch from such addresses.")
@_answers_in_three_forms()
def robots(source: str | None, urls: tuple[str, ...], agent: str | None, networks: tuple[str, ...], form: str) -> None:
    """Say which URLs a robots.txt allows, and which rule decides (RFC 9309); without URLs all rules for the agent.

    URLs may be paths. FILE may be - for standard input. From a URL the file is fetched first: without one (4xx) all
    is allowed, and nothing is while it cannot be had. Exit code 1: a URL is not allowed.

    With --jsonl: {"robots" or "robotsHex", "agent", "urls"} gives {"allowed", "rules", "crawlDelay", "sitemaps"}.
    """
    if form == JSONL:
        _nothing_beside_jsonl({"FILE|URL": source, "--agent": agent, "--allow-address": networks})
        return answer_lines(robots_answer)
    for url in urls:
        _url_or_path(url)
    judgement = _judged(_needed("FILE|URL", source), agent or "gossamer", urls, networks)
    if form == JSON:
        write_document(judgement.as_answer())
    else:
        write_text(robots_prose(judgement, urls))
    return _exit_on_no(all(decision.allowed for decision in judgement.decisions))


@click.command("url", short_help="Put URLs in normal form.")
@click.argument("urls", metavar="URL...", nargs=-1)
@click.option("--base", metavar="B", help="The URL that relative ones are resolved against.")
@_answers_in_three_forms("Print JSON Lines, one a URL.")
def url(urls: tuple[str, ...], base: str | None, form: str) -> None:
    """Give the normal form of URLs, their host, site and key. Exit code 1: one of them is no http URL.

    With --jsonl: {"url", "base"} gives {"url", "host", "site", "key"} or {"error"}.
    """
    if form == JSONL:
        _nothing_beside_jsonl({"URL": urls, "--base": base})
        return answer_lines(url_answer)
    answers = [_answered(url_answer, {"url": url, "base": base}) for url in _needed("URL", urls)]
    if form == JSON:
        for answer in answers:
            write_json_line(answer)
    else:
        write_text(url_prose(answers))
    return _exit_on_no(not any("error" in answer for answer in answers))


@click.command("parse", short_help="Show what parsing makes of a page.")
@click.argument("file", metavar="FILE", required=False)
@click.option("--url", metavar="U", help="Where the page was found; its links are resolved against it.  [required]")
@click.option(
    "--header", "headers", metavar="'K: V'", multiple=True, help="A header field of the response. Repeatable."
)
@click.option(
    "--text",
    type=click.Choice(["full", "main", "none"]),
    default="full",
    show_default=True,
    help="All visible text, the main part without menus and the like, or none.",
)
@_answers_in_three_forms()
def parse(file: str | None, url: str | None, headers: tuple[str, ...], text: str, form: str) -> None:
    """Give charset, title, language, links, text and hash of a page. FILE may be - for standard input.

    With --jsonl: {"url", "body" or "bodyHex", "headers"} gives {"charset", "title", "language", "canonical", "robots",
    "links", "text", "contentHash"}, with --text main also "mainText". "body" is sent as UTF-8.
    """
    from gossamer.surfaces.cli.document_answers import parse_answer  # noqa: PLC0415 -- see the module

    if form == JSONL:
        _nothing_beside_jsonl({"FILE": file, "--url": url, "--header": headers})
        return answer_lines(partial(parse_answer, text=text))
    question = {
        "url": _web_url("--url", url),
        "headers": _fields(headers),
        "body": read_file("FILE", _needed("FILE", file)),
    }
    return _show(parse_answer(Request(question), text), form, page_prose)


@click.command("sitemap", short_help="Show what a sitemap or feed lists.")
@click.argument("file", metavar="FILE", required=False)
@click.option("--url", metavar="U", help="Where it was found; relative locations, which some have, need it.")
@_answers_in_three_forms()
def sitemap(file: str | None, url: str | None, form: str) -> None:
    """List the pages and sitemaps that a sitemap, an index, a feed or a list of URLs names. FILE may be -.

    With --jsonl: {"url", "body" or "bodyHex"} gives {"kind", "entries", "sitemaps", "problems"}.
    """
    from gossamer.surfaces.cli.document_answers import sitemap_answer, sitemap_of  # noqa: PLC0415 -- see the module

    if form == JSONL:
        _nothing_beside_jsonl({"FILE": file, "--url": url})
        return answer_lines(sitemap_answer)
    found_at = "" if url is None else _web_url("--url", url)
    return _show(sitemap_of(read_file("FILE", _needed("FILE", file)), found_at), form, sitemap_prose)


@click.command("fingerprint", short_help="Hash texts as pages are compared.")
@click.argument("files", metavar="FILE...", nargs=-1)
@_answers_in_three_forms("Print JSON Lines, one a file.")
def fingerprint(files: tuple[str, ...], form: str) -> None:
    """Give the content hash of texts: equal hashes are equal texts but for white space. FILE may be -.

    With --jsonl: {"text"} gives {"contentHash"}.
    """
    from gossamer.surfaces.cli import document_answers as answers  # noqa: PLC0415 -- see the module

    if form == JSONL:
        _nothing_beside_jsonl({"FILE": files})
        return answer_lines(answers.fingerprint_answer)
    for file in _needed("FILE", files):
        answer = answers.fingerprint(answers.text_of(read_file("FILE", file)))
        if form == JSON:
            write_json_line({"file": file, **answer})
        else:
            write_text(f"{answer['contentHash']}  {file}")
    return None


@click.command("retry-after", short_help="Read a Retry-After field.", context_settings={"ignore_unknown_options": True})
@click.argument("value", metavar="VALUE", required=False)
@click.option("--date", metavar="D", help="The response's Date, HTTP-date or RFC 3339. [default: now]")
@_answers_in_three_forms()
def retry_after(value: str | None, date: str | None, form: str) -> None:
    """Say how many seconds a Retry-After value asks to wait. Exit code 1: it is malformed and would be ignored.

    With --jsonl: {"value", "date"} gives {"seconds"} or {"error"}.
    """
    if form == JSONL:
        _nothing_beside_jsonl({"VALUE": value, "--date": date})
        return answer_lines(retry_after_answer)
    if date is not None:
        _or_usage_error("--date", lambda: moment_s(date))
    answer = _answered(retry_after_answer, {"value": _needed("VALUE", value), "date": date})
    _show(answer, form, retry_after_prose)
    return _exit_on_no("error" not in answer)


COMMANDS: Final = (robots, url, parse, sitemap, fingerprint, retry_after)


# What they share ------------------------------------------------------------------------------------------------------


def _answered(answer: Callable[[Request], Answer], question: Mapping[str, object]) -> Answer:
    try:
        return answer(Request(question))
    except BadRequest as fault:
        return {"error": str(fault)}


def _show(answer: Answer, form: str | None, prose: Callable[[dict[str, Any]], str]) -> None:
    if form == JSON:
        write_document(answer)
    else:
        write_text(prose(answer))


def _exit_on_no(is_yes: bool) -> None:  # noqa: FBT001 -- the one thing it is about
    if not is_yes:
        raise click.exceptions.Exit(1)


_T = TypeVar("_T", str, tuple[str, ...])


def _needed(name: str, value: _T | None) -> _T:
    if value is None or value == ():
        raise click.UsageError(f"{name} is missing; give it, or --jsonl to read questions from standard input")
    return value


def _nothing_beside_jsonl(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value:
            raise click.UsageError(f"{name} cannot be given with --jsonl; each line of standard input brings its own")


def _or_usage_error(name: str, read: Callable[[], object]) -> None:
    try:
        read()
    except BadRequest as fault:
        raise click.UsageError(f"{name}: {fault}") from fault


def _web_url(name: str, raw: str | None) -> str:
    needed = _needed(name, raw)
    _or_usage_error(name, lambda: web_url(needed))
    return needed


def _url_or_path(raw: str) -> None:
    if not raw.startswith("/") and isinstance(normalize(raw), UrlFault):
        raise click.UsageError(
            f"URL = {shown(raw)} is not valid; allowed: http and https URLs, and paths that begin with /"
        )


def _fields(headers: Sequence[str]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise click.UsageError(f"--header = {shown(header)} is not valid; allowed: 'NAME: VALUE'")
        fields.setdefault(name.strip().lower(), []).append(value)
    return fields


def _judged(source: str, agent: str, urls: Sequence[str], networks: Sequence[str]) -> Judgement:
    allowed, faults = parse_networks(networks)
    if faults:
        raise click.UsageError("; ".join(f"--allow-address: {fault}" for fault in faults))
    if not source.lower().startswith(("http://", "https://")):
        return judged(parse_robots(read_file("FILE|URL", source)), agent, urls)

    from gossamer.surfaces.cli.robots_from_web import judged_from_web  # noqa: PLC0415 -- brings the network stack

    return judged_from_web(_web_url("FILE|URL", source), agent, urls, AddressRules(allowed))
