"""The command `gossamer`: a table of commands, each loaded when it is asked for, so that `gossamer url` starts fast."""

import importlib
import sys
from collections.abc import Mapping
from typing import Final

import click

from gossamer import __version__

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "crawl": ("crawl", "Crawl from seeds until nothing is left or the budget is spent."),
    "pause": ("control", "Let a running crawl rest."),
    "resume": ("control", "Let a paused crawl go on."),
    "set": ("control", "Change delays and budgets, also of a running crawl."),
    "stop": ("control", "End a running crawl; `gossamer crawl` resumes it."),
    "status": ("looking", "How far a crawl is."),
    "pages": ("looking", "The URLs of a crawl and what became of them."),
    "text": ("stored", "The stored text of a URL."),
    "raw": ("stored", "The stored bytes of a URL."),
    "why": ("looking", "Every decision about a URL, in order."),
    "hosts": ("looking", "The hosts of a crawl and their manners."),
    "audit": ("audit", "Prove from the contact log that the crawl was polite."),
    "verify": ("looking", "Prove that the accounts of a crawl are right."),
    "export": ("stored", "Write pages, links or texts to a file."),
    "robots": ("rules", "What a robots.txt allows."),
    "url": ("rules", "The normal form and the key of URLs."),
    "parse": ("rules", "What the parser makes of a page."),
    "sitemap": ("rules", "What a sitemap names."),
    "fingerprint": ("rules", "The content hash of a text."),
    "retry-after": ("rules", "How long a Retry-After asks to wait."),
    "lab": ("lab", "A small local web for trying things."),
    "doctor": ("doctor", "Check this machine and say what to do."),
}


class LazyCommands(click.Group):
    """Knows names and one-line helps without importing anything."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Import the module that holds the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"gossamer.surfaces.cli.{COMMANDS[cmd_name][0]}")
        commands: list[click.Command] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A name that is none is met with those that resemble it."""
        if args[0] in COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib  # noqa: PLC0415  for typing errors only

        near = difflib.get_close_matches(args[0], COMMANDS)
        meant = f"did you mean {' or '.join(near)}?" if near else "`gossamer --help` lists them"
        raise click.UsageError(f"no command {args[0]!r}; {meant}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The table itself, so that `--help` imports nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="gossamer")
def gossamer() -> None:
    """A polite, durable web crawler."""


def main() -> None:
    """Entry point: the exit codes of docs/commands.md, and one sentence instead of a traceback for what a user did."""
    try:
        code = gossamer.main(standalone_mode=False)
    except click.UsageError as error:
        click.echo(f"gossamer: {error.format_message()}", err=True)
        code = 2
    except click.ClickException as error:
        click.echo(f"gossamer: {error.format_message()}", err=True)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away: nothing to say, and nobody to say it to
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
