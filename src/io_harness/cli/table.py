"""Rows under headings, as wide as the terminal is; numbers and names are never cut."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from io_harness.cli.output import out, plain

_GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and what becomes of its column where there is no room.

    With a `fold` it wraps, to no less than that many cells; else it stays whole. Columns with a
    `drop` are left out, the largest first; those without never are.
    """

    name: str
    fold: int = 0
    drop: int = 0


def print_table(columns: Iterable[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under their headings; numbers to the right."""
    shown = (tuple(map(plain, row)) for row in rows)
    head, *body = table(columns, shown, width=terminal_width())
    out.print(Text(head, style="bold"))
    for line in body:
        out.print(line)


def terminal_width() -> int | None:
    """The cells of a line; `None` where no terminal limits it, as in a pipe."""
    there = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if there or "COLUMNS" in os.environ else None


def table(
    columns: Iterable[Column], rows: Iterable[Sequence[str]], *, width: int | None
) -> Iterator[str]:
    """Yield the lines of a table; `width` None is room for everything."""
    named, kept = list(columns), [list(row) for row in rows]
    widths = [
        max(cell_len(text) for text in (column.name, *(row[place] for row in kept)))
        for place, column in enumerate(named)
    ]
    if width is not None:
        places = _with_room(named, widths, width)
        named = [named[place] for place in places]
        kept = [[row[place] for place in places] for row in kept]
        widths = _folded(named, [widths[place] for place in places], width)
    right = [all(_is_number(row[place]) for row in kept) for place in range(len(named))]
    yield from _lines([column.name for column in named], widths, right)
    for row in kept:
        yield from _lines(row, widths, right)


def _with_room(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """The places of the columns that stay: all, or so many that each has its least width."""
    least = [
        min(w, column.fold) if column.fold else w for column, w in zip(columns, widths, strict=True)
    ]
    places = list(range(len(columns)))
    while _total([least[place] for place in places]) > width:
        last = max(places, key=lambda place: columns[place].drop)
        if not columns[last].drop:
            break
        places.remove(last)
    return places


def _folded(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """The widths with the widest columns that wrap made narrower, as far as it takes."""
    fitted = list(widths)
    while _total(fitted) > width:
        able = [p for p, c in enumerate(columns) if c.fold and fitted[p] > c.fold]
        if not able:
            break
        fitted[max(able, key=fitted.__getitem__)] -= 1
    return fitted


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _lines(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    columns = [
        [line.plain for line in Text(cell).wrap(out, w, overflow="fold")]
        for cell, w in zip(cells, widths, strict=True)
    ]
    for level in range(max(map(len, columns))):
        parts = []
        for lines, w, numbers in zip(columns, widths, right, strict=True):
            text = lines[level] if level < len(lines) else ""
            pad = " " * (w - cell_len(text))
            parts.append(pad + text if numbers else text + pad)
        yield (" " * _GAP).join(parts).rstrip()


def _is_number(text: str) -> bool:
    return text in ("", "-") or text.replace(",", "").replace(".", "").replace("×", "").isdigit()
