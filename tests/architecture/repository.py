"""The files of this repository, for tests that look at them."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gossamer"
_NOT_OURS = {".git", ".venv", ".cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", "__pycache__"}


class Source(NamedTuple):
    """A Python file, parsed."""

    path: Path
    lines: int
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()


@cache
def committed() -> tuple[Path, ...]:
    """Every file that git knows; without git (an unpacked archive) every file that is not made by tools."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        found = [path for path in ROOT.rglob("*") if not _NOT_OURS.intersection(path.relative_to(ROOT).parts)]
    return tuple(path for path in found if path.is_file())


@cache
def shipped() -> tuple[Source, ...]:
    """The Python of the package, the benchmarks and the tools."""
    places = (PACKAGE, ROOT / "bench", ROOT / "tools")
    return tuple(parsed(path) for place in places for path in sorted(place.rglob("*.py")))


def parsed(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path, text.count("\n"), ast.parse(text))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, nested ones and methods too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of each import: ('os', '') for `import os`, ('os', 'path') for `from os import path`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
