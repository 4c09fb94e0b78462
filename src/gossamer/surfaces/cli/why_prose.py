"""What `why` says to people: the steps of a story below each other. The story itself is of `views.why`."""

import textwrap
from collections.abc import Iterator

from gossamer.surfaces.cli.looking_prose import moment
from gossamer.surfaces.cli.printing import BOLD, DIM, is_terminal, printable, styled, width
from gossamer.views.why import WhyView
from gossamer.views.why_case import Step

DECISION_CELLS = 12


def why_prose(story: WhyView) -> Iterator[str]:
    """The steps below each other; long reasons go on under themselves."""
    yield f"{styled(printable(story.url), BOLD)}  {styled(story.state or 'never admitted')}"
    yield ""
    size_of_what = max(len(step.what) for step in story.steps)
    before = ""
    for step in story.steps:
        name = "" if step.what == before else step.what
        before = step.what
        lead = "  " + styled(f"{name:<{size_of_what}}", DIM) + "  "
        yield from _wrapped(lead, size_of_what + 4, step)


def _wrapped(lead: str, indent: int, step: Step) -> Iterator[str]:
    """Short decisions make a column of their own; after a long one, a URL, its reason follows on the line."""
    decision, because = printable(step.decision), printable(step.because)
    at = f"  {moment(step.at)}" if step.at else ""
    space = (width() if is_terminal() else 10_000) - indent
    hang = DECISION_CELLS + 2 if len(decision) <= DECISION_CELLS else 0
    first = styled(decision) + " " * (hang - len(decision)) if hang else ""
    text = because if hang else f"{decision}  {because}"
    lines = textwrap.wrap(text, max(space - hang, 20), break_long_words=False, break_on_hyphens=False) or [""]
    if at and len(lines[-1]) + len(at) > space - hang:
        lines.append("")
        at = at.strip()
    elif not lines[-1]:
        at = at.strip()
    lines[-1] += styled(at, DIM)
    yield lead + first + lines[0]
    yield from (" " * (indent + hang) + line for line in lines[1:])
