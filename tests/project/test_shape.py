"""How long things are, what signatures say, and what every skip must give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.project.tree import PACKAGE, ROOT, parsed, sources

MODULE_LINES = 300
FUNCTION_LINES = 40

# A module or function that needs more room, and why; "path" or "path:function".
ROOMIER: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    """Every function of the library with the place a reader would look for it."""
    for path in sources():
        for node in ast.walk(parsed(path)):
            if isinstance(node, Function):
                yield f"{path.relative_to(PACKAGE)}:{node.name}", node


def length(node: Function) -> int:
    """The lines of a function, decorators left out."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_outgrows_its_room() -> None:
    lines = {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8").count("\n")
        for path in sources()
    }
    long = {name: n for name, n in lines.items() if n > MODULE_LINES and name not in ROOMIER}
    assert long == {}


def test_no_function_outgrows_a_page() -> None:
    lengths = {name: length(node) for name, node in functions()}
    long = {name: n for name, n in lengths.items() if n > FUNCTION_LINES and name not in ROOMIER}
    assert long == {}
    assert median(lengths.values() or [0]) <= 10


def test_every_exception_is_still_needed() -> None:
    lengths = {name: length(node) for name, node in functions()}
    modules = {str(path.relative_to(PACKAGE)): path for path in sources()}
    for name in ROOMIER:
        if ":" in name:
            assert lengths.get(name, 0) > FUNCTION_LINES, f"{name} fits now: take it off the list"
        else:
            text = modules[name].read_text(encoding="utf-8")
            assert text.count("\n") > MODULE_LINES, f"{name} fits now: take it off the list"


def test_no_signature_says_any() -> None:
    found = []
    for place, node in functions():
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
        for annotation in [node.returns, *(argument.annotation for argument in every)]:
            if annotation and re.search(r"\bAny\b", ast.unparse(annotation)):
                found.append(f"{place} (line {node.lineno})")
    assert found == []


def written_files() -> Iterator[Path]:
    """Every text file that belongs to the project, a checkout's and a source archive's alike."""
    trees = ("src", "csrc", "tests", "benchmarks", "examples", "docs", ".github", ".ci")
    inside = (path for tree in trees for path in (ROOT / tree).rglob("*"))
    for path in sorted([*inside, *ROOT.glob("[!.]*.*"), ROOT / "LICENSE"]):
        if path.is_file() and path.suffix in {".py", ".pyx", ".pyi", ".md", ".toml", ".yml", ""}:
            yield path


def test_no_file_names_the_machine_it_was_written_on() -> None:
    traces = re.compile(r"/wor[k]/|\.lib[r]ary/|before-sto[p]|/root/\.pyen[v]")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in written_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if traces.search(line)
    ]
    assert found == []


def reasonless(node: ast.AST) -> bool:
    """Whether a node skips or forgives a test without saying why."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in {"pytest.mark.skip", "pytest.mark.xfail"}
    if not isinstance(node, ast.Call):
        return False
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    match ast.unparse(node.func):
        case "pytest.skip" | "pytest.mark.skip":
            return not node.args and "reason" not in named
        case "pytest.mark.skipif" | "pytest.mark.xfail":
            return "reason" not in named
    return False


def test_every_skip_has_a_reason() -> None:
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tree = parsed(path)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.expr) and id(node) not in called and reasonless(node)
        ]
    assert found == []
