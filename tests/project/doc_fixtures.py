"""What a code block of the documents may take for granted, and the script that runs one.

A block runs alone, in an empty directory. One that needs more names a fixture in a comment on the
line before it, `<!-- fixture: NAME -->`, and gets the names that the function here returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping


def nothing() -> dict[str, object]:
    """Nothing at all: what a reader has who pastes the block."""
    return {}


FIXTURES: Mapping[str, Callable[[], dict[str, object]]] = {"": nothing}


def run(name: str, place: str, line: int, code: str) -> None:
    """Run a block with a fixture's names; a traceback points into the document."""
    names = FIXTURES[name]() | {"__name__": "__main__"}
    exec(compile("\n" * line + code, place, "exec"), names)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.read())
