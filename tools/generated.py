"""Docs made from the program itself: `python -m tools.generated` fills them, tests hold them to it.

The map of the pipeline, the table of settings, the commands with their options.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import click

from gossamer.config import OPTIONS, Option
from gossamer.pipeline import WORDS, diagram
from gossamer.ports.partition_store import Family
from gossamer.surfaces.cli.main import COMMANDS, gossamer
from tools.sections import fill

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Crawling": ("crawl", "set", "pause", "resume", "stop"),
    "Looking": ("status", "pages", "text", "raw", "why", "hosts", "audit", "verify", "export"),
    "The rules one by one": ("robots", "url", "parse", "sitemap", "fingerprint", "retry-after"),
    "Trying and checking": ("lab", "doctor"),
}
"""Commands that are in no group come at the end, so that none is forgotten."""
DEFAULT_IN_WORDS: Final = {"parsers": "cores − 1, at least 1"}  # the others are the same on every machine


def render(name: str) -> str:
    """The part of that name."""
    return PARTS[name]()


def pipeline() -> str:
    """The map as plain text."""
    return f"```text\n{diagram()}\n```"


def words() -> str:
    """What each word of the map means, and where it lives."""
    families = {family.value for family in Family}
    rows = [(f"`{word}`", "state" if word in families else "", meaning) for word, meaning in WORDS.items()]
    return _table(("word", "", "meaning"), rows)


def options() -> str:
    """All settings with key, option, default and what is allowed."""
    rows = [
        (f"`{option.key}`", f"`{option.flag} {option.metavar}`".replace(" `", "`"), _default(option), _about(option))
        for option in OPTIONS
    ]
    return _table(("key", "option", "default", "meaning; allowed"), rows)


def _default(option: Option) -> str:
    if option.key in DEFAULT_IN_WORDS:
        return DEFAULT_IN_WORDS[option.key]
    if option.key == "robots":
        return "`obey`"
    if option.default in (None, (), ""):
        return "none"
    return f"`{str(option.default).lower() if isinstance(option.default, bool) else option.default}`"


def _about(option: Option) -> str:
    many = "; may be given again, in the file a list" if option.many else ""
    return f"{option.help}; {option.allowed}{many}"


def overview() -> str:
    """The commands with a line each."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = tuple(name for name in COMMANDS if name not in grouped)
    rows = [
        (group if name == names[0] else "", f"`gossamer {name}`", COMMANDS[name][1])
        for group, names in (*GROUPS.items(), ("Other", rest))
        for name in names
        if name in COMMANDS
    ]
    return _table(("", "command", ""), rows)


def commands() -> str:
    """A section for each command: usage, what it says of itself, options. Those of a crawl are in configuration.md."""
    return "\n\n".join(_command(name) for name in COMMANDS)


def _command(name: str) -> str:
    context = click.Context(gossamer, info_name="gossamer")
    command = gossamer.get_command(context, name)
    assert command is not None
    inner = click.Context(command, info_name=name, parent=context)
    usage = " ".join(command.collect_usage_pieces(inner))
    settings = {option.key for option in OPTIONS}
    own = [option for option in command.params if isinstance(option, click.Option)]
    is_crawl = settings <= {option.name for option in own}
    shown = [option for option in own if not (is_crawl and option.name in settings)]
    rows = [(f"`{_spelling(option)}`", _help(option)) for option in shown]
    parts = [f"## gossamer {name}", f"```text\ngossamer {name} {usage}\n```", inspect.cleandoc(command.help or "")]
    parts += [_table(("option", ""), rows)] if rows else []
    parts += ["And all settings of [configuration.md](configuration.md)."] if is_crawl else []
    return "\n\n".join(parts)


def _spelling(option: click.Option) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    metavar = option.metavar or option.type.name.upper()
    if isinstance(option.type, click.Choice):
        metavar = "|".join(map(str, option.type.choices))
    return f"{names} {metavar}"


def _help(option: click.Option) -> str:
    text = (option.help or "").replace("  [default", " [default")
    return f"{text} [default: {option.default}]" if option.show_default and option.default is not None else text


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "pipeline": pipeline,
    "words": words,
    "options": options,
    "overview": overview,
    "commands": commands,
}


if __name__ == "__main__":
    fill("generated", render)
