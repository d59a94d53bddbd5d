"""What a code block of the documents may take for granted, and the script that runs one.

A block runs alone, in an empty directory. One that needs more names a fixture in a comment on the
line before it, `<!-- fixture: NAME -->`, and gets the names that the function here returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from io_harness import ToolCall


def nothing() -> dict[str, object]:
    """Nothing at all: what a reader has who pastes the block."""
    return {}


def scripted() -> dict[str, object]:
    """`root`, a small workspace, and a `provider_from` that answers from a script, with no key."""
    import io_harness

    root = Path("project")
    root.mkdir()
    (root / "parser.py").write_text("def parse(text):\n    return text.split()\n")
    (root / "test_parser.py").write_text("def test_nothing():\n    assert True\n")
    script: list[ToolCall | str] = [
        ToolCall("1", "read_file", {"path": "parser.py"}),
        ToolCall("2", "remember", {"key": "parser", "value": "splits on whitespace"}),
        "Nothing needs changing.",
    ]
    vars(io_harness)["provider_from"] = lambda _: io_harness.ScriptedProvider(script)
    return {"root": root}


FIXTURES: Mapping[str, Callable[[], dict[str, object]]] = {"": nothing, "scripted": scripted}


def run(name: str, place: str, line: int, code: str) -> None:
    """Run a block with a fixture's names; a traceback points into the document."""
    names = FIXTURES[name]() | {"__name__": "__main__"}
    exec(compile("\n" * line + code, place, "exec"), names)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.read())
