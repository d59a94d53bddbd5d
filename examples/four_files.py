"""The task that the two growth examples share: four files, read again and again, one changed."""

from __future__ import annotations

import argparse
from pathlib import Path

from io_harness import Provider, ScriptedProvider, ToolCall, provider_from
from io_harness.errors import ConfigError

GOAL = (
    "Read parse.py, check.py, store.py and show.py until you know how a record passes through "
    "them. Then set LIMIT in check.py to 200, read it once more, and say what you changed."
)
FILES = ("parse.py", "check.py", "store.py", "show.py")
TURNS = 20


def make_workspace(root: Path) -> None:
    """Write the four files."""
    for name in FILES:
        stem = name.removesuffix(".py")
        lines = "".join(
            f"def {stem}_{n}(record):\n    return {stem}_rule(record, {n})\n\n\n" for n in range(30)
        )
        (root / name).write_text(f"LIMIT = 100\n\n\n{lines}")


def provider(model: str | None) -> Provider:
    """Return the model named on the command line, or a script that needs no key."""
    try:
        return provider_from(model) if model else ScriptedProvider(_script())
    except ConfigError as error:
        raise SystemExit(str(error)) from None


def arguments(what: str) -> argparse.Namespace:
    """Read the options that every example has."""
    parser = argparse.ArgumentParser(
        description=what, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="as anthropic:claude-sonnet-4-5; without it a script")
    parser.add_argument("--store", help="where the trace is kept; without it nowhere")
    return parser.parse_args()


def heading() -> None:
    """Print the heading of the table."""
    print(f"{'step':>4}  {'chars':>8}  {'estimate':>8}  {'reported':>8}  decision")


def row(step: int, chars: int, estimate: int, reported: int | None, decision: str) -> None:
    """Print a request: its code points, estimated and reported tokens, and what came of it."""
    tokens = "-" if reported is None else f"{reported:,}"
    print(f"{step:>4}  {chars:>8,}  {estimate:>8,}  {tokens:>8}  {decision}")


def _script() -> list[str | ToolCall]:
    reads: list[str | ToolCall] = [
        _read(FILES[turn % len(FILES)], offset=1 + 20 * (turn // len(FILES)))
        for turn in range(TURNS)
    ]
    edit = ToolCall(
        "", "edit_file", {"path": "check.py", "old": "LIMIT = 100", "new": "LIMIT = 200"}
    )
    return [*reads, edit, _read("check.py", offset=1), "LIMIT is 200 now."]


def _read(path: str, *, offset: int) -> ToolCall:
    return ToolCall("", "read_file", {"path": path, "offset": offset, "limit": 80})
