"""The answers about rules, for people. The same answers for programs are in `rule_answers` and `document_answers`."""

from collections.abc import Iterable, Sequence
from typing import Any

from gossamer.core.robots import RobotsDecision
from gossamer.surfaces.cli.json_lines import Answer
from gossamer.surfaces.cli.rule_answers import Judgement, number


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Columns two spaces apart, the last one as long as it is."""
    rows = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def url_prose(answers: Iterable[Answer]) -> str:
    """A block for each URL; one that is none has its fault instead."""
    return "\n\n".join(aligned((key, str(value)) for key, value in answer.items()) for answer in answers)


def robots_prose(judgement: Judgement, urls: Sequence[str]) -> str:
    """Each URL with the rule that decided and its line, then what the file says beside rules.

    Without URLs all rules of the agent's group.
    """
    verdicts = [_verdict(decision, url) for decision, url in zip(judgement.decisions, urls, strict=True)]
    facts = [("sitemap", sitemap) for sitemap in judgement.sitemaps]
    facts += [("problem", problem) for problem in judgement.problems]
    if judgement.crawl_delay_s is not None:
        facts.insert(0, ("crawl-delay", f"{number(judgement.crawl_delay_s)} s"))
    blocks = [aligned(verdicts) if urls else _group(judgement), aligned(facts)]
    return "\n\n".join(filter(None, blocks))


def _group(judgement: Judgement) -> str:
    if not judgement.group:
        return "no rule binds this agent: all is allowed" if judgement.is_known else ""
    rules = aligned((rule.text, f"(line {rule.line})") for rule in judgement.group)
    return f"rules for User-agent: {judgement.bound_as}\n{rules}"


def _verdict(decision: RobotsDecision, url: str) -> tuple[str, str, str]:
    rule = f"{decision.rule} (line {decision.line})" if decision.rule else "no rule" if decision.allowed else ""
    return "allowed" if decision.allowed else "not allowed", url, rule


def page_prose(answer: dict[str, Any]) -> str:
    """Facts, links and the text that was asked for."""
    robots = [name for name, is_set in answer["robots"].items() if is_set]
    facts = [(key, str(answer[key] or "-")) for key in ("charset", "title", "language", "canonical", "contentHash")]
    facts.insert(-1, ("robots", ", ".join(robots) or "-"))
    facts.append(("links", str(len(answer["links"]))))
    links = [(f"  {link['from']}", link["url"], link["rel"]) for link in answer["links"]]
    return "\n\n".join(filter(None, [aligned(facts), aligned(links), answer.get("mainText", answer["text"])]))


def sitemap_prose(answer: dict[str, Any]) -> str:
    """Counts, then sitemaps, pages with their dates, and problems."""
    sitemaps, entries, problems = answer["sitemaps"], answer["entries"], answer["problems"]
    head = [("kind", answer["kind"]), ("pages", str(len(entries))), ("sitemaps", str(len(sitemaps)))]
    pages = aligned((entry["lastmod"] or "-", entry["url"]) for entry in entries)
    notes = aligned(("problem", problem) for problem in problems)
    return "\n\n".join(filter(None, [aligned(head), "\n".join(sitemaps), pages, notes]))
