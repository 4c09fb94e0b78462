"""The map is the territory: what the table says is what the code of the stages does, and what the docs show."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from gossamer.pipeline import PIPELINE, WORDS, diagram
from gossamer.ports.partition_store import Family

ROOT = Path(__file__).parents[1]
STAGES = ROOT / "src" / "gossamer" / "stages"
MODULES = {
    "frontier": ("frontier", "front_queues", "tallies", "workbench", "judge", "host_queue"),
    "fetch": ("fetch", "robots_fetch", "capture", "address_gap"),
    "store": ("store", "ledger", "admitting", "seen", "bloom_seen", "tallies", "sites", "trap_watch", "host_places"),
    "parse": ("parse", "parse_capture"),
}
READING, WRITING = {"get", "get_many", "contains_many", "scan"}, {"put", "delete", "delete_range"}
FAMILIES = {family.value for family in Family}
OUTSIDE = {"web"}


def uses(stage: str, methods: set[str]) -> set[str]:
    """Families that the code of a stage passes to these methods."""
    return {family for module in MODULES[stage] for family in _uses(STAGES / f"{module}.py", methods)}


def _uses(path: Path, methods: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.arguments):
            # The family that such a set has where none is named.
            yield from (Family[default.attr].value for default in node.defaults if _is_family(default))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ExactSeen":
            # A set of keys on a family of its own: read and written.
            yield from (Family[arg.attr].value for arg in node.args if _is_family(arg))
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods):
            continue
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Attribute) and isinstance(first.value, ast.Name) and first.value.id == "Family":
            yield Family[first.attr].value


def _is_family(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Family"


def mapped(name: str, side: str) -> set[str]:
    return {word for stage in PIPELINE if stage.name == name for word in getattr(stage, side).split()}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_map_names_the_families_that_the_code_of_a_stage_reads_and_writes(name: str) -> None:
    assert mapped(name, "reads") & FAMILIES == uses(name, READING)
    assert mapped(name, "writes") & FAMILIES == uses(name, WRITING)


def test_every_module_that_touches_the_state_belongs_to_a_stage() -> None:
    before_the_stages = {"replay", "bloom_start"}  # they take in what the last process left
    touching = {path.stem for path in STAGES.glob("*.py") if any(_uses(path, READING | WRITING))} - before_the_stages
    assert touching <= {module for modules in MODULES.values() for module in modules}


def test_every_stage_is_a_module_of_that_name() -> None:
    assert {stage.name for stage in PIPELINE} == MODULES.keys()
    assert all(importlib.util.find_spec(f"gossamer.stages.{stage.name}") for stage in PIPELINE)


def test_the_messages_that_the_map_names_are_classes_and_its_paths_are_files() -> None:
    story = ast.get_docstring(ast.parse((STAGES.parent / "pipeline.py").read_text(encoding="utf-8"))) or ""
    modules = [*STAGES.glob("*.py"), STAGES.parent / "core" / "messages.py"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in modules]
    classes = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    named = set(re.findall(r"\b(?:[A-Z][a-z]+){2,}\b|\b(?:Verdict|Settled|Discovered|Parsed|Unparsed)\b", story))
    assert len(named) > 7
    assert {name for name in named if name.removesuffix("s") not in classes and name not in classes} == set()
    assert all((STAGES.parent / path).is_file() for path in re.findall(r"\w+/\w+\.py", story))


def test_every_word_of_the_map_is_told_and_every_family_is_on_it() -> None:
    words = {word for stage in PIPELINE for word in f"{stage.reads} {stage.writes}".split()}
    assert words == WORDS.keys()
    assert words >= FAMILIES


def test_nothing_is_read_that_nobody_writes() -> None:
    read = {word for stage in PIPELINE for word in stage.reads.split()}
    written = {word for stage in PIPELINE for word in stage.writes.split()}
    assert read - written == OUTSIDE


def test_a_page_reads_what_an_earlier_stage_wrote_or_what_was_there_before_it() -> None:
    in_memory = WORDS.keys() - FAMILIES - OUTSIDE
    written: set[str] = set()
    for stage in PIPELINE:
        assert set(stage.reads.split()) & in_memory <= written, stage
        written |= set(stage.writes.split())


def test_only_the_store_writes_to_the_partition() -> None:
    assert not any(set(stage.writes.split()) & FAMILIES for stage in PIPELINE if stage.name != "store")


def test_the_diagram_fits_a_terminal_and_shows_the_stages_in_order() -> None:
    lines = diagram().splitlines()
    assert max(map(len, lines)) <= 88
    shown = [line.split()[1] for line in lines if line.startswith(("│   ", "┌─▶", "└──")) and line[4:5].isalpha()]
    assert shown == [stage.name for stage in PIPELINE]


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_the_docs_show_exactly_this_diagram(page: str) -> None:
    assert f"```text\n{diagram()}\n```" in (ROOT / page).read_text(encoding="utf-8")
