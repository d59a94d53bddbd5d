"""What a shell script reads, searches or writes."""

from __future__ import annotations

import pytest

from io_harness.replay.commands import command_meaning
from io_harness.replay.records import (
    Append,
    Gone,
    Meaning,
    Moved,
    Restored,
    Sed,
    Swap,
    Unknown,
    Whole,
)
from io_harness.types import ObsKind


def meaning(script: str) -> Meaning:
    return command_meaning(script, "/w", "/w")


@pytest.mark.parametrize(
    ("script", "path", "lines"),
    [
        ("cat a.py", "a.py", None),
        ("cat ./x/../a.py", "a.py", None),
        ("cat /w/a.py", "a.py", None),
        ("cd sub && cat a.py", "sub/a.py", None),
        ("cd /other; cat a.py", "/other/a.py", None),
        ("cat 'a b.py'", "a b.py", None),
        ("cat a\\ b.py", "a b.py", None),
        ("head a.py", "a.py", (1, 10)),
        ("head -n 5 a.py", "a.py", (1, 5)),
        ("head -5 a.py", "a.py", (1, 5)),
        ("tail -n +7 a.py", "a.py", (7, 0)),
        ("sed -n '12,30p' a.py", "a.py", (12, 30)),
        ("sed -n 12p a.py", "a.py", (12, 12)),
        ("sed -n '12,$p' a.py", "a.py", (12, 0)),
        ("nl -ba a.py | sed -n '3,9p'", "a.py", (3, 9)),
        ("sed -n '10,20p' a.py | head -3", "a.py", (10, 12)),
        ("awk 'NR>=3 && NR<=8' a.py", "a.py", (3, 8)),
        ("bash -lc 'cat a.py'", "a.py", None),
        ("timeout 5 cat a.py", "a.py", None),
        ("LANG=C cat a.py 2>/dev/null", "a.py", None),
        ("/bin/cat a.py", "a.py", None),
    ],
)
def test_a_read_of_one_file_is_exact(script: str, path: str, lines: tuple[int, int] | None) -> None:
    found = meaning(script)

    assert (found.kind, found.target, found.lines, found.exact) == (
        ObsKind.READ,
        path,
        lines,
        True,
    )


@pytest.mark.parametrize(
    "script",
    [
        "cat a.py b.py",
        "cat *.py",
        "tail a.py",
        "head -c 9 a.py",
        "cat a.py && cat b.py",
        "cat -A a.py",
    ],
)
def test_a_read_of_more_or_less_than_lines_of_one_file_is_not_exact(script: str) -> None:
    found = meaning(script)

    assert (found.kind, found.exact) == (ObsKind.READ, False)


@pytest.mark.parametrize(
    ("script", "kind", "target"),
    [
        ("grep -rn 'foo bar' src", ObsKind.GREP, "foo bar"),
        ("grep -e one -e two f", ObsKind.GREP, "one"),
        ("rg -g '*.py' word", ObsKind.GREP, "word"),
        ("cat a.py | grep def", ObsKind.GREP, "def"),
        ("git grep word", ObsKind.GREP, "word"),
        ("find . -name '*.py' | head", ObsKind.FIND, "find . -name '*.py' | head"),
        ("rg --files src", ObsKind.FIND, "rg --files src"),
        ("ls -la", ObsKind.FIND, "ls -la"),
        ("pytest -q", ObsKind.TOOL, None),
        ("npm run check 2>&1 | grep error", ObsKind.TOOL, None),
        ("cd x && npm run check 2>&1 | grep error", ObsKind.TOOL, None),
        ("cat a.py && pytest", ObsKind.TOOL, None),
        ("git checkout -b topic", ObsKind.TOOL, None),
        ("echo hello", ObsKind.TOOL, None),
        ("", ObsKind.TOOL, None),
        ("'", ObsKind.TOOL, None),
    ],
)
def test_kinds_of_commands(script: str, kind: ObsKind, target: str | None) -> None:
    assert (meaning(script).kind, meaning(script).target) == (kind, target)


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        ("cat <<'EOF' > a.py\nx = $y\nEOF", [Whole("a.py", "x = $y\n")]),
        ("cat > a.py <<EOF\nx = 1\nEOF\npython a.py", [Whole("a.py", "x = 1\n")]),
        ("cat <<EOF > a.py\nx = $y\nEOF", [Unknown("a.py")]),
        ("cat <<'EOF' >> a.py\nx\nEOF", [Append("a.py", "x\n")]),
        ("echo 'a b' > f", [Whole("f", "a b\n")]),
        ("echo $HOME > f", [Unknown("f")]),
        ("pytest > log 2>&1", [Unknown("log")]),
        ("make 2>/dev/null | tee log", [Unknown("log")]),
        ("sed -i 's/a/b/' f.py", [Sed("f.py", "s/a/b/")]),
        ("sed -E -i -e '3d' f.py g.py", [Sed("f.py", "3d", True), Sed("g.py", "3d", True)]),
        ("sed -i '' 's/a/b/' f.py", [Sed("f.py", "s/a/b/")]),
        ("perl -pi -e 's/a/b/' f", [Unknown("f")]),
        ("mv a b", [Moved("a", "b")]),
        ("rm -rf a b", [Gone("a"), Gone("b")]),
        ("git checkout -- a.py", [Restored("a.py")]),
        ("git restore a.py", [Restored("a.py")]),
        ("{ cat a; cat b; } > c", [Unknown("c")]),
        (
            "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
            "\nE",
            [Swap("a.py", (("x\n", "y\n"),))],
        ),
    ],
)
def test_writes_tell_what_they_change(script: str, changes: list[object]) -> None:
    found = meaning(script)

    assert found.kind is ObsKind.WRITE
    assert list(found.changes) == changes


def test_a_script_too_long_to_be_a_command_is_a_tool() -> None:
    assert meaning("cat a.py #" + "x" * 300_000).kind is ObsKind.TOOL


def test_deep_nesting_ends() -> None:
    assert meaning("(" * 5_000 + "cat a" + ")" * 5_000).kind in set(ObsKind)
