"""Searches: what is found, what is left out and said to be, and at which cost."""

from __future__ import annotations

import random
import re
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from io_harness.errors import PathOutside
from io_harness.types import Effect
from io_harness.workspace import Hit, PatternError, searching, tree
from io_harness.workspace.ignore import parsed
from io_harness.workspace.lines import LINE_MAX_BYTES, hits_in
from io_harness.workspace.pattern import LinePattern, PathPattern
from tests.workspace.privilege import as_nobody

if TYPE_CHECKING:
    from pathlib import Path

    from io_harness.workspace import Workspace


def make(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def naive_hits(text: str, pattern: str, context: int) -> list[tuple[int, str, bool]]:
    """Line by line, with the standard library: what RE2 on the whole text must agree with."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    matching = {n for n, line in enumerate(lines, 1) if re.search(pattern, line)}
    near = {n + d for n in matching for d in range(-context, context + 1)}
    return [(n, line, n in matching) for n, line in enumerate(lines, 1) if n in near]


@pytest.mark.parametrize(
    "pattern", ["a", "^a", "b$", "^$", "a*", "[^a]+", "a.b", "(a|b)+c?", r"\s", "^", "$", ".", "é"]
)
def test_hits_agree_with_a_naive_search(pattern: str) -> None:
    rng = random.Random(pattern)
    wanted = LinePattern(pattern, ignore_case=False)
    for _ in range(150):
        text = "".join(rng.choice("aabc é\n\n") for _ in range(rng.randint(0, 40)))
        for context in (0, 1, 3):
            hits, more = hits_in(text.encode(), wanted, "f", context=context, limit=10**6)
            got = [(hit.line, hit.text, hit.matched) for hit in hits]
            assert got == naive_hits(text, pattern, context), (text, context)
            assert not more


def test_context_that_overlaps_is_shown_once() -> None:
    text = "".join(f"{n}\n" for n in range(1, 8))
    pattern = LinePattern("^[345]$", ignore_case=False)
    hits, _ = hits_in(text.encode(), pattern, "f", context=2, limit=10)
    assert [hit.line for hit in hits] == [1, 2, 3, 4, 5, 6, 7]
    assert [hit.line for hit in hits if hit.matched] == [3, 4, 5]


@pytest.mark.parametrize("char", ["x", "é", "😀"])
def test_a_long_line_is_a_window_on_its_match(workspace: Workspace, root: Path, char: str) -> None:
    text = char * 150_000 + "needle" + char * 100_000
    (root / "min.js").write_text(f"short\n{text}\n", encoding="utf-8")
    for context in (0, 1):
        result = workspace.grep("needle", context=context)
        hit = next(hit for hit in result.hits if hit.matched)
        assert "needle" in hit.text
        assert len(hit.text.encode()) < LINE_MAX_BYTES + 60
        before, after = re.findall(r"\[([\d,]+) bytes", hit.text)
        shown = hit.text.encode().count(char.encode()) * len(char.encode())
        counted = int(before.replace(",", "")) + int(after.replace(",", "")) + shown
        assert counted == 250_000 * len(char.encode())


def test_grep_finds_in_order_and_names_its_files(workspace: Workspace, root: Path) -> None:
    make(root, b__two="x needle\n", a="needle\nno\nneedle", c="nothing")
    result = workspace.grep("needle")
    assert [(hit.path, hit.line) for hit in result.hits] == [("a", 1), ("a", 3), ("b/two", 1)]
    assert (result.matches, result.paths, result.left_out) == (3, ("a", "b/two"), "")
    assert workspace.grep("needle", "b").paths == ("b/two",)
    assert workspace.grep("needle", "b/two").hits == (Hit("b/two", 1, "x needle", matched=True),)
    assert workspace.grep("NEEDLE", ignore_case=True).matches == 3
    assert workspace.grep("needle", glob="b/*").paths == ("b/two",)
    assert workspace.grep("needle", glob="tw?").paths == ("b/two",)


def test_searches_stay_inside(workspace: Workspace, root: Path) -> None:
    (root / "out").symlink_to("..")
    (root / "file").symlink_to("../secret")
    for path in ("..", "/etc", "out", "file", "out/root-evil", "../nothing"):
        with pytest.raises(PathOutside):
            workspace.grep("SECRET", path)
        with pytest.raises(PathOutside):
            workspace.find("*", path)
        with pytest.raises(PathOutside):
            workspace.list(path)
    assert workspace.grep("SECRET").hits == ()
    assert workspace.find("*").paths == ()


def test_missing_places_are_missing(workspace: Workspace, root: Path) -> None:
    make(root, file="x")
    for place in ("none", "none/x"):
        with pytest.raises(FileNotFoundError):
            workspace.grep("x", place)
        with pytest.raises(FileNotFoundError):
            workspace.find("x", place)
        with pytest.raises(FileNotFoundError):
            workspace.list(place)
    with pytest.raises(NotADirectoryError):
        workspace.find("x", "file")
    with pytest.raises(NotADirectoryError):
        workspace.list("file")


def test_gitignore_is_respected_the_nearest_deciding(workspace: Workspace, root: Path) -> None:
    make(
        root,
        **{
            ".gitignore": "*.log\nbuild/\n/only-here\n!important.log\n[\n",
            "a.log": "needle",
            "important.log": "needle",
            "only-here": "needle",
            "sub/only-here": "needle",
            "sub/.gitignore": "!a.log\nnested/*\n!nested/kept\n",
            "sub/a.log": "needle",
            "sub/b.log": "needle",
            "sub/nested/kept": "needle",
            "sub/nested/gone": "needle",
            "build/out": "needle",
            "sub/build/out": "needle",
            ".git/config": "needle",
        },
    )
    expected = ("important.log", "sub/a.log", "sub/only-here", "sub/nested/kept")
    result = workspace.grep("needle")
    assert result.paths == expected
    assert result.left_out == "left out: 6 named by .gitignore"
    assert set(workspace.find("*").paths) == {*expected, ".gitignore", "sub/.gitignore"}
    # What is asked for by its name is searched, though it is ignored.
    assert workspace.grep("needle", "build").paths == ("build/out",)
    assert workspace.grep("needle", "a.log").paths == ("a.log",)
    # The rules above a place hold in it.
    assert workspace.grep("needle", "sub/nested").paths == ("sub/nested/kept",)


def test_an_ignore_file_is_matched_in_linear_time_whatever_else_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pathspec._backends.agg._BEST_BACKEND", "simple")
    rules = parsed(b"*a*a*a*b\n", "", None)
    assert rules is not None
    assert type(rules.spec._backend).__name__ == "Re2GiBackend"


@pytest.mark.parametrize(
    "lines",
    [
        b"a*" * 300_000,
        b"[z-a]\n",
        b"!\n//\n/\n\\\n[a-\n{a,{b\n \n#\n",
        b"\xff\xfe\0\n",
        b"\n".join(b"d%d/**/x?%d*.y" % (n, n) for n in range(4_000)),
    ],
)
def test_a_hostile_gitignore_neither_fails_nor_hides(
    workspace: Workspace, root: Path, capfd: pytest.CaptureFixture[str], lines: bytes
) -> None:
    make(root, **{"kept": "needle", "a.log": "needle"})
    (root / ".gitignore").write_bytes(lines + b"\n*.log\n")
    began = time.perf_counter()
    result = workspace.grep("needle")
    assert result.paths == ("kept",)
    assert result.left_out.endswith("1 named by .gitignore")
    assert time.perf_counter() - began < 60
    assert capfd.readouterr() == ("", "")


def test_what_is_no_text_is_left_out_and_counted(workspace: Workspace, root: Path) -> None:
    make(root, text="needle")
    (root / "elf").write_bytes(b"\x7fELF\0needle")
    (root / "latin").write_bytes("needle grün".encode("latin-1"))
    (root / "wide").write_bytes("\ufeffwide needle\n".encode("utf-16-le"))
    with (root / "big").open("wb") as file:
        file.truncate(65 * 2**20)
    result = workspace.grep("needle")
    assert result.paths == ("text", "wide")
    assert result.hits[1].text == "wide needle"
    assert result.left_out == "left out: 2 not text, 1 over 64 MiB"


def test_the_gate_is_asked_before_a_file_is_opened(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, open="needle", ask="needle", deny="needle", closed__x="needle", wait__x="needle")
    opened: list[str] = []
    real = workspace._root.open_child

    def watched(directory: int, name: str, path: str) -> object:
        opened.append(path)
        return real(directory, name, path)

    monkeypatch.setattr(workspace._root, "open_child", watched)
    effects = {"ask": Effect.ASK, "wait": Effect.ASK, "deny": Effect.DENY, "closed": Effect.DENY}

    def gate(path: str) -> Effect:
        return effects.get(path, Effect.ALLOW)

    result = workspace.grep("needle", gate=gate)
    assert (result.paths, opened) == (("open",), ["open"])
    assert result.left_out == "left out: 2 may only be read with approval"
    found = workspace.find("*", gate=gate)
    assert (found.paths, found.left_out) == (("open",), result.left_out)
    names = [entry.name for entry in workspace.list(gate=gate).entries]
    assert names == ["ask", "open", "wait"]


def test_a_full_search_stops_and_counts_what_is_left(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "GREP_MAX_MATCHES", 5)
    make(root, a="x\nx\n", b="x\n" * 10, c="x\n", d="y\n")
    result = workspace.grep("x")
    assert [hit.path for hit in result.hits] == ["a"] * 2 + ["b"] * 3
    assert result.left_out == (
        "stopped at 5 matching lines: b has more, 2 more files not searched; "
        "narrow the pattern, the path or the glob"
    )
    monkeypatch.setattr(searching, "FIND_MAX_PATHS", 3)
    found = workspace.find("*")
    assert found.paths == ("a", "b", "c")
    assert found.left_out == "1 more path; narrow the pattern or the path"


def test_the_text_of_a_search_is_bounded_too(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "GREP_MAX_CHARS", 100)
    make(root, a="x" * 30 + "\n" + "x" * 30 + "\n" + "x" * 60 + "\n", b="x")
    result = workspace.grep("x")
    assert [(hit.path, hit.line) for hit in result.hits] == [("a", 1), ("a", 2)]
    assert result.left_out.startswith(
        "stopped at 2 matching lines: a has more, 1 more file not searched"
    )


def test_what_may_not_be_opened_is_counted(workspace: Workspace, root: Path) -> None:
    make(root, a="needle", b="needle", closed__c="needle")
    (root / "a").chmod(0)
    (root / "closed").chmod(0)
    try:
        with as_nobody():
            result = workspace.grep("needle")
            with pytest.raises(PermissionError):
                workspace.list("closed")
    finally:
        (root / "closed").chmod(0o700)
    assert (result.paths, result.left_out) == (("b",), "left out: 2 could not be read")


def test_the_librarys_own_files_are_in_no_search(workspace: Workspace, root: Path) -> None:
    make(root, a="needle", store="needle")
    (root / f".io-harness-{'a' * 16}.tmp").write_text("needle")
    status = (root / "store").stat()
    workspace.hide(status.st_dev, status.st_ino)
    assert workspace.grep("needle").paths == ("a",)
    assert workspace.find("*").paths == ("a",)
    assert [entry.name for entry in workspace.list().entries] == ["a"]


def test_ten_million_matching_lines_cost_little(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"a\n" * 10_000_000)
    tracemalloc.start()
    began = time.perf_counter()
    result = workspace.grep("a")
    elapsed = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.matches == searching.GREP_MAX_MATCHES
    assert "f has more" in result.left_out
    assert peak < 24 * 2**20, "the file itself, 19 MiB, and little else"
    assert elapsed < 60


def test_a_hostile_pattern_is_linear(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"a" * 2**20 + b"!")
    began = time.perf_counter()
    assert workspace.grep("(a+)+$").matches == 0
    assert workspace.grep("(a|aa)+$").matches == 0
    assert workspace.grep("(a+)+!").matches == 1
    assert workspace.grep("(.*)(.*)(.*)(.*)(.*)[^!]$").matches == 0
    assert time.perf_counter() - began < 60, "backtracking would take for ever"


def test_a_glob_that_is_too_long_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("io_harness.workspace.pattern._translated", pytest.fail)
    with pytest.raises(PatternError, match="the pattern has 1,000,000 characters"):
        PathPattern("[" * 1_000_000)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(?=x)", "(?="),
        ("(?<!x)y", "(?<!"),
        (r"(a)\1", r"\1"),
        ("(", "missing )"),
        ("a" * 1_001, "1,001 characters"),
        ("", "empty"),
        ("\ud83e", "lone surrogate"),
        ("a++", "++"),
        ("x{2000}", "{2000}"),
        ("one\ntwo", "within one line"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_named(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], pattern: str, told: str
) -> None:
    with pytest.raises(PatternError) as caught:
        workspace.grep(pattern)
    assert told in str(caught.value)
    assert capfd.readouterr() == ("", ""), "RE2 logs nothing"


def test_a_pattern_is_a_pattern_and_no_option(workspace: Workspace, root: Path) -> None:
    make(root, f="-f/etc/passwd --pre=sh\n")
    for pattern in ("-f/etc/passwd", "--pre=sh", "-e"):
        assert workspace.grep(pattern).matches == (pattern != "-e")


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", "d/a.py", ".py"], ["a.pyc", "py"]),
        ("*", ["a", "d/e/f"], []),
        ("src/*.py", ["src/a.py"], ["src/d/a.py", "a.py", "x/src/a.py"]),
        ("./src/*.py", ["src/a.py"], ["src/d/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/d/e/a.py"], ["a.py"]),
        ("**/test_*", ["test_a", "d/test_b"], ["atest_"]),
        ("src/**", ["src/a", "src/d/e"], ["src", "a"]),
        ("*.{js,ts}", ["a.js", "d/b.ts"], ["a.jsx", "a.{js,ts}"]),
        ("a?c", ["abc", "aéc"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "bx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["ax", "/x"]),
        ("[]x", ["[]x"], ["x"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a+b(c).", ["a+b(c)."], ["aab(c)."]),
        ("new\nline*", ["new\nline s"], ["newline"]),
        ("caf*", ["caf\udce9"], []),
        ("a,b", ["a,b"], ["a", "b"]),
    ],
)
def test_globs(glob: str, yes: list[str], no: list[str]) -> None:
    pattern = PathPattern(glob)
    assert [path for path in yes if not pattern.matches(path)] == []
    assert [path for path in no if pattern.matches(path)] == []


def test_list_bounds_and_counts(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, **{f"f{n:03}": "x" * n for n in range(30)})
    monkeypatch.setattr("io_harness.workspace.listing.LIST_MAX_ENTRIES", 10)
    listing = workspace.list()
    assert [(e.name, e.size) for e in listing.entries] == [(f"f{n:03}", n) for n in range(10)]
    assert listing.left_out == "20 more entries; find narrows them by a pattern"


def test_a_walk_ends_at_its_bounds_and_says_so(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, **{f"d{n}__f": "needle" for n in range(10)})
    monkeypatch.setattr(tree, "TREE_MAX_ENTRIES", 12)
    result = workspace.grep("needle")
    assert 0 < result.matches < 10
    assert "stopped after 13 names; give a path" in result.left_out
    monkeypatch.setattr(tree, "TREE_MAX_SECONDS", -1.0)
    assert "stopped after -1 s" in workspace.find("*").left_out


def test_a_walk_that_meets_no_file_ends_at_its_bounds_too(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (root / "empty" / f"{number}" / "deeper").mkdir(parents=True)
    make(root, **{".gitignore": "*.log", **{f"ignored__{n}.log": "needle" for n in range(20)}})
    monkeypatch.setattr(tree, "TREE_MAX_ENTRIES", 12)
    for path, seen in (("empty", 20), ("ignored", 20)):
        for left_out in (workspace.find("*", path).left_out, workspace.grep("x", path).left_out):
            assert f"stopped after {seen} names; give a path" in left_out
