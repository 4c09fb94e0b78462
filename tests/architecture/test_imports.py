"""Who may import whom: the contracts of import-linter, and what `core` keeps away from."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.repository import PACKAGE, ROOT, functions, imported, parsed

CORE = sorted((PACKAGE / "core").glob("*.py"))
# Everything of the standard library that core needs. What reads clocks, disks, networks or dice is not among it.
STANDARD = {
    "base64", "binascii", "bisect", "calendar", "codecs", "collections", "contextlib", "dataclasses", "datetime",
    "email", "enum", "functools", "gzip", "hashlib", "heapq", "html", "io", "ipaddress", "itertools", "json", "math",
    "operator", "re", "string", "struct", "types", "typing", "unicodedata", "urllib", "zlib",
}  # fmt: skip
NOT_PURE = {("datetime", "now"), ("urllib.request", ""), ("io", "open"), ("io", "FileIO")}
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint", "__import__"}


@pytest.mark.slow
def test_the_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_core_is_there() -> None:
    assert len(CORE) > 20


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_core_takes_nothing_from_the_standard_library_that_touches_the_world(path: Path) -> None:
    for module, name in imported(parsed(path).tree):
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names:
            assert top in STANDARD, f"{path.name} imports {module}"
            assert (module, name) not in NOT_PURE, f"{path.name} imports {module}.{name}"


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_core_imports_no_other_layer(path: Path) -> None:
    ours = {module for module, _ in imported(parsed(path).tree) if module.partition(".")[0] == "gossamer"}
    assert {module for module in ours if not module.startswith("gossamer.core")} == set()


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_core_waits_for_nothing_and_calls_nothing_of_the_world(path: Path) -> None:
    import ast  # noqa: PLC0415  the only test that reads calls

    tree = parsed(path).tree
    assert not [each.name for each in functions(tree) if isinstance(each, ast.AsyncFunctionDef)]
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called & FORBIDDEN_CALLS == set()


def test_adapters_are_constructed_by_composition_roots_only() -> None:
    """A stage or a view knows ports. A surface may ask an adapter about the machine, by functions, never by engines."""
    for layer in ("core", "ports", "stages", "views"):
        for path in sorted((PACKAGE / layer).rglob("*.py")):
            found = {module for module, _ in imported(parsed(path).tree) if module.startswith("gossamer.adapters")}
            assert found == set(), f"{path.relative_to(ROOT)} imports {found}"
