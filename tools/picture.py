"""The pictures of the README, from real sessions in a terminal: `python -m tools.picture`.

A crawl of the lab takes half a minute; of its live view, which replaces itself, one frame is kept.
"""

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tools.sections import ROOT

IMAGES: Final = ROOT / "docs" / "images"
COLUMNS, ROWS = 100, 60
WHY_COLUMNS: Final = 128  # so wide that a decision and its time are on one line
FRAME: Final = re.compile(r"╭─[^╭]*?╯", re.DOTALL)
MOVES: Final = re.compile("\x1b\\[[0-9;?]*[A-LN-Za-ln-z]|\r")  # all control sequences but colours (…m)
DONE: Final = re.compile(r"(\d+)%")
SHOWN_AT_PERCENT: Final = 55
PAGE: Final = "http://blog.site01.test/orphan/0.html"  # found by a sitemap only, in a charset of its own
# Fonts from elsewhere would be fetched by everybody who looks; the reader's own do.
SVG: Final = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace"
)


def session(command: list[str], directory: Path, columns: int = COLUMNS) -> str:
    """What a terminal gets to see of a command."""
    owner, terminal = pty.openpty()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    size = {"COLUMNS": str(columns), "LINES": str(ROWS)}
    environment = {**os.environ, **size, "PATH": path, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, cwd=directory, stdout=terminal, stderr=terminal, env=environment):
        os.close(terminal)
        seen = io.BytesIO()
        while octets := _read(owner):
            seen.write(octets)
    os.close(owner)
    return seen.getvalue().decode("utf-8", "replace").replace("\r\n", "\n")


def _read(owner: int) -> bytes:
    try:
        return os.read(owner, 65_536)
    except OSError:  # Linux says so when the other side is closed
        return b""


def still(seen: str) -> str:
    """A session with one frame of the live view, the first in which enough is done."""
    frames = list(FRAME.finditer(seen))
    if not frames:
        return MOVES.sub("", seen)
    chosen = next((frame for frame in frames if _percent(frame[0]) >= SHOWN_AT_PERCENT), frames[-1])
    return MOVES.sub("", seen[: frames[0].start()] + chosen[0] + "\x1b[0m\n" + seen[frames[-1].end() :])


def _percent(frame: str) -> int:
    found = DONE.search(MOVES.sub("", re.sub("\x1b\\[[0-9;]*m", "", frame)))
    return int(found[1]) if found else 0


def draw(name: str, title: str, sessions: list[tuple[str, str]], columns: int = COLUMNS) -> None:
    """Write `docs/images/NAME.svg`: for each session its command and what it printed."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    for number, (command, seen) in enumerate(sessions):
        console.print(Text.assemble("\n" * bool(number), ("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(re.sub(r"\n{3,}", "\n\n", seen).strip("\n")))
    svg = console.export_svg(title=title, code_format=SVG, unique_id=name)
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
    sys.stderr.write(f"docs/images/{name}.svg is written\n")


def main() -> None:
    """A crawl of the lab; then one of its pages."""
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        crawl = still(session([sys.executable, "-m", "gossamer.surfaces.cli.first_crawl"], directory))
        draw("crawl", "make crawl", [("make crawl", crawl)])
        look = f"gossamer why {PAGE} --data gossamer-lab"
        draw("why", "gossamer why", [(look, session(look.split(), directory, WHY_COLUMNS))], WHY_COLUMNS)


if __name__ == "__main__":
    main()
