"""Parts of Markdown pages that a program fills, between `<!-- kind:name -->` and `<!-- /kind -->`. What: elsewhere."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def pages() -> list[Path]:
    """All Markdown pages of the repository that may have such parts."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str, kind: str, render: Callable[[str], str]) -> str:
    """`text` with every part of that kind as `render` gives it by name."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{render(found[2])}\n{found[3]}"

    return re.sub(rf"(<!-- {kind}:([a-z_]+) -->)\n.*?(<!-- /{kind} -->)", part, text, flags=re.DOTALL)


def stale(kind: str, render: Callable[[str], str]) -> Iterator[tuple[Path, str]]:
    """Pages that differ from what they should be, with what they should be."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        right = filled(text, kind, render)
        if right != text:
            yield page, right


def fill(kind: str, render: Callable[[str], str]) -> None:
    """Bring all pages up to date and say which were not."""
    for page, right in list(stale(kind, render)):
        page.write_text(right, encoding="utf-8")
        sys.stderr.write(f"{page.relative_to(ROOT)} is up to date now\n")
