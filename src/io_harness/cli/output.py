"""Writing to a terminal: what files and models say cannot steer it."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from io_harness import jsontext

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def plain(text: str, *, lines: bool = False) -> str:
    r"""Return text whose control and format characters are shown as `\u{1b}`.

    `lines` keeps line ends and tabs.
    """
    kept = "\n\t" if lines else ""
    return "".join(
        char
        if char in kept or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else f"\\u{{{ord(char):x}}}"
        for char in text
    )


def short(text: str, width: int) -> str:
    """Return one line of at most `width` characters."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 1]}…"


def call_in_short(name: str, target: str, width: int = 80) -> str:
    """Return a call in a few words: its tool, and what it was about where that is known."""
    said = target if target.startswith(name) else f"{name} {target}"
    return short(said, width)


def say(text: str = "") -> None:
    """Print one line of ours."""
    out.print(text)


def complain(text: str) -> None:
    """Print one line to standard error."""
    err.print(text)


def print_json(value: object) -> None:
    """Print one JSON value on one line."""
    sys.stdout.write(jsontext.dumps(value) + "\n")
    sys.stdout.flush()


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print rows under their headings; numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    kept = [list(row) for row in rows]
    for place, column in enumerate(columns):
        numbers = bool(kept) and all(_is_number(row[place]) for row in kept)
        table.add_column(
            column, justify="right" if numbers else "left", overflow="fold", no_wrap=place == 0
        )
    for row in kept:
        table.add_row(*row)
    out.print(table, soft_wrap=False)


def _is_number(text: str) -> bool:
    return text in ("", "-") or text.replace(",", "").replace(".", "").replace("×", "").isdigit()
