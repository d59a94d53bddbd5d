"""The demo: what a request costs when a loop sends everything it ever saw."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import typer

from io_harness.types import Message, ToolResult

STEPS = 20
FILES = 4
LINES = 60


def show() -> None:
    """Read four real files in turn, twenty times, and print how the request grows."""
    with tempfile.TemporaryDirectory(prefix="io-harness-demo-") as name:
        root = Path(name)
        files = [_write_module(root, number) for number in range(FILES)]
        typer.echo("Every turn reads one of four files; everything read is sent again.\n")
        typer.echo("  step   request chars   estimated tokens")
        messages: list[Message] = []
        for step in range(1, STEPS + 1):
            text = files[(step - 1) % FILES].read_text()
            messages.append(Message("tool", results=(ToolResult(f"call_{step}", text),)))
            chars = sum(len(result.text) for m in messages for result in m.results)
            typer.echo(f"  {step:>4}   {chars:>13,}   {math.ceil(chars / 4):>16,}")


def _write_module(root: Path, number: int) -> Path:
    path = root / f"module_{number}.py"
    path.write_text("".join(f"VALUE_{number}_{line} = {line}\n" for line in range(LINES)))
    return path
