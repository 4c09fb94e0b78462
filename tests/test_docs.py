"""The docs are true: generated parts are up to date, links lead somewhere, commands exist and the runnable ones run."""

import ast
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import msgspec
import pytest
from tools import figures, generated
from tools.sections import ROOT, pages, stale

from gossamer.core.contacts import BeginContact, Delays, EndContact, RunFacts
from gossamer.surfaces.cli.main import COMMANDS, gossamer
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabOptions, running_lab

PAGES = [*pages(), ROOT / "CHANGELOG.md"]
BLOCK = re.compile(r"^```sh( runnable)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
INLINE = re.compile(r"`((?:gossamer|make|python -m|\.venv/bin/python -m) [^`]+)`")
ELLIPSES = {"…", "[options]"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shell_commands(page: Path) -> Iterator[str]:
    """Every command of ours that a page shows, in blocks and in lines."""
    text = page.read_text(encoding="utf-8")
    for _, block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from (part.strip() for part in re.split(r" \| (?=\S)|\$\(|\)$", line.partition("    #")[0]))
    for inline in INLINE.findall(text):
        if "NAME" not in inline:
            yield inline


# What is made by programs.


def test_generated_parts_are_up_to_date() -> None:
    old = [name_of(page) for page, _ in stale("generated", generated.render)]
    assert old == [], "run: .venv/bin/python -m tools.generated"


def test_figures_in_the_pages_are_those_of_the_files() -> None:
    old = [name_of(page) for page, _ in stale("figures", figures.render)]
    assert old == [], "run: .venv/bin/python -m tools.figures"


def test_every_file_of_figures_says_when_where_and_how() -> None:
    for path in figures.FIGURES.glob("*.json"):
        about, result = figures.read(path)
        assert all(about.values()), path
        assert any(isinstance(value, int | float) for value in result.values()), path


def test_figures_without_a_machine_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"date": "2026-01-01", "pages": 3}')
    with pytest.raises(figures.Incomplete, match="machine"):
        figures.read(path)


def test_a_comparison_is_shown_with_date_machine_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "FIGURES", tmp_path)
    output = 'a table\n{"pages": 12000, "ratio": 0.125, "cpuMsPerPage": 5.5, "scrapyCpuMsPerPage": 44.0}\n'
    figures.record("scrapy_compare", output)
    shown = figures.render("scrapy_compare")
    assert "5.5 ms" in shown
    assert "**0.125**" in shown
    assert "12,000 pages" in shown
    assert figures.machine() in shown
    assert "`python -m bench.scrapy_compare`" in shown


def test_the_command_pages_name_every_command_and_every_setting() -> None:
    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n## gossamer {name}\n" not in commands] == []


def test_every_dependency_has_its_reason_and_none_is_left_over() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["all"]]
    explained = set(re.findall(r"\[([\w-]+)\]\(https://pypi\.org/project/", text))
    assert explained == {re.split(r"[<>=]", requirement)[0] for requirement in needed}
    to_work = text[text.index("## To work on it") : text.index("## What we do not use")]
    tools = {re.split(r"[<>=]", requirement)[0] for requirement in project["dependency-groups"]["dev"]}
    assert {tool for tool in tools - explained if not re.search(rf"\b{tool}\b", to_work)} == set()


@pytest.mark.parametrize("package", ["core", "ports", "stages", "adapters", "testing", "views"])
def test_the_text_of_a_package_names_all_that_is_in_it(package: str) -> None:
    directory = ROOT / "src" / "gossamer" / package
    text = ast.get_docstring(ast.parse((directory / "__init__.py").read_text(encoding="utf-8"))) or ""
    inside = {path.stem for path in directory.iterdir() if not path.name.startswith("_") and path.name != "py.typed"}
    assert {name for name in inside if f"`{name}`" not in text} == set()


def test_the_contact_log_is_shown_and_explained_field_by_field() -> None:
    text = (ROOT / "docs" / "politeness.md").read_text(encoding="utf-8")
    shown = [json.loads(block) for block in re.findall(r"```json\n(\{\"record.+?)```", text, re.DOTALL)]
    for record in shown:
        kind = BeginContact if record["record"] == "begin" else EndContact
        msgspec.convert(record, kind, strict=True)
    fields = {name for kind in (BeginContact, EndContact, Delays, RunFacts) for name in kind.__struct_encode_fields__}
    parts = [*shown, *(record[part] for record in shown for part in ("delays", "run") if part in record)]
    assert {key for part in parts for key in part} == fields | {"record"}
    assert {name for name in fields if f"`{name}`" not in text} == set()


# Links.


def anchors(page: Path) -> set[str]:
    """Of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        ahead += [(page.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link]
    assert [name_of(page) for page in PAGES if page not in reached and page.parent.name != "figures"] == []


# Commands.


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_shown_exists_with_its_options(page: Path) -> None:
    assert [fault for command in shell_commands(page) for fault in faults_of(command)] == []


def faults_of(command: str) -> Iterator[str]:
    words = [word for word in shlex.split(command, comments=True) if word not in ELLIPSES]
    match words:
        case ["gossamer", name, *rest] if not name.startswith("-"):
            if name not in COMMANDS:
                yield f"gossamer {name}"
                return
            found = gossamer.get_command(click.Context(gossamer), name)
            assert found is not None
            known = {spelling for option in found.params for spelling in (*option.opts, *option.secondary_opts)}
            yield from (f"{name} {word}" for word in rest if word.startswith("--") and word not in known)
        case ["make", target, *_]:
            if not re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE):
                yield command
        case ["python" | ".venv/bin/python", "-m", module, *_]:
            if importlib.util.find_spec(module) is None:
                yield command
        case _:
            pass


# What runs.

RUNNABLE = [
    pytest.param(block, id=f"{name_of(page)}-{number}")
    for page in PAGES
    for number, (mark, block) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
    if mark
]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which a small lab was crawled into gossamer-data."""
    here = tmp_path_factory.mktemp("docs")
    fast = ("--delay", "0", "--delay-factor", "0", "--per-address-delay", "0", "--max-pages", "12")
    with running_lab(LabOptions(config=LabConfig(hosts=3, pages_per_host=4), addresses=1)) as lab:
        command = [sys.executable, "-m", "gossamer.surfaces.cli.main", *lab.description.crawl_arguments(), *fast]
        subprocess.run(command, cwd=here, check=True, capture_output=True, timeout=60)
    return here


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("block", RUNNABLE)
def test_runnable_blocks_run_and_say_something(block: str, crawled: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        ["sh", "-euc", block], check=False, cwd=crawled, env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    assert "Traceback" not in ended.stderr
