"""What a reader can take in: the limits of the house on functions, modules and parameters."""

import ast

import pytest
from tests.architecture.repository import PACKAGE, Source, functions, parsed, shipped

FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 400
PARAMETERS_MAX = 5

VAGUE = {"manager", "handler", "helper", "helpers", "utils", "util", "misc", "common", "stuff"}


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without its docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    return len([each for each in given.posonlyargs + given.args + given.kwonlyargs if each.arg not in {"self", "cls"}])


SOURCES = [pytest.param(source, id=source.name) for source in shipped()]


@pytest.mark.parametrize("source", SOURCES)
def test_a_function_fits_on_a_screen(source: Source) -> None:
    long = {each.name: code_lines(each) for each in functions(source.tree) if code_lines(each) > FUNCTION_LINES_MAX}
    assert long == {}


@pytest.mark.parametrize("source", SOURCES)
def test_a_module_is_read_in_one_sitting(source: Source) -> None:
    assert source.lines <= MODULE_LINES_MAX


@pytest.mark.parametrize("source", SOURCES)
def test_a_function_takes_few_parameters(source: Source) -> None:
    many = {each.name: parameters(each) for each in functions(source.tree) if parameters(each) > PARAMETERS_MAX}
    assert many == {}


@pytest.mark.parametrize("source", SOURCES)
def test_a_module_says_what_is_in_it(source: Source) -> None:
    assert source.path.stem not in VAGUE
    assert ast.get_docstring(source.tree) or not source.tree.body


@pytest.mark.parametrize("source", SOURCES)
def test_everything_is_caught_by_name(source: Source) -> None:
    """`except Exception` is for the one place that translates a library without exceptions of its own.

    What cleans up and raises again catches nothing.
    """
    wide = [
        ast.unparse(node)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
        and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
    ]
    assert not wide or source.path == PACKAGE / "adapters" / "rocksdb" / "partition_store.py"


def test_every_module_of_core_has_its_own_test() -> None:
    tests = PACKAGE.parents[1] / "tests" / "core"
    modules = [
        path.stem
        for path in sorted((PACKAGE / "core").glob("*.py"))
        if parsed(path).tree.body and path.stem != "__init__"
    ]
    assert [name for name in modules if not (tests / f"test_{name}.py").is_file()] == []
