"""Ledgers of the shapes that runs take, of any length and with the same tail at every length.

An observation's content and step hang on its distance from the end of the ledger, never on its
position: ledgers of 1,000 and 1,000,000 observations end alike, to the byte, and so do the ones
pushed after. What then differs between their assemblies is the cost of the length alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from io_harness.types import Observation, ObsKind

LAST_STEP = 2_000_000
CEILING = 24_000
LINE = "    value = compute(first, second)  # a line of code as it comes\n"
TEXTS = tuple(LINE * count for count in range(4, 40))
RANGES = 10_000
HUGE = LINE * 64_000

Shape: TypeAlias = Callable[[int], Observation]


def _step(offset: int) -> int:
    return LAST_STEP + offset


def _text(offset: int) -> str:
    return TEXTS[offset * 7 % len(TEXTS)]


def _read(offset: int, target: str, lines: tuple[int, int] | None = None) -> Observation:
    text = _text(offset)
    count = text.count("\n")
    if lines is None:
        return Observation(_step(offset), ObsKind.READ, target, text, total_lines=count)
    return Observation(
        _step(offset), ObsKind.READ, target, text, lines=lines, total_lines=RANGES * 50
    )


def one_file(offset: int) -> Observation:
    """One file, read again for ever."""
    return _read(offset, "src/only.py")


def distinct(offset: int) -> Observation:
    """No target ever comes back."""
    return _read(offset, f"src/module_{offset % 10_000_000:07d}.py")


def ranges(offset: int) -> Observation:
    """10,000 different ranges of one file, over and over."""
    first = offset % RANGES * 50 + 1
    return _read(offset, "src/long.py", (first, first + _text(offset).count("\n") - 1))


def repeats(offset: int) -> Observation:
    """Three observations in ten ask again what was asked 20 before."""
    asked = distinct(offset - 20 if offset % 10 < 3 else offset)
    return replace(asked, step=_step(offset))


def writes(offset: int) -> Observation:
    """Nothing but writes, over 500 files."""
    target = f"src/module_{offset % 500:03d}.py"
    arguments = '{"path": "' + target + '", "content": "' + "c" * 180 + '"}'
    return Observation(_step(offset), ObsKind.WRITE, target, "changed", args=arguments)


def commands(offset: int) -> Observation:
    """Command output, which nothing ever supersedes."""
    return Observation(_step(offset), ObsKind.TOOL, "pytest -q", _text(offset))


def huge_last(offset: int) -> Observation:
    """As `repeats`, but every tenth observation is 4 MB."""
    seen = repeats(offset)
    return replace(seen, text=HUGE, kind=ObsKind.TOOL) if offset % 10 == 9 else seen


LONG_SHAPE = "30 % repeats"
SHAPES: dict[str, Shape] = {
    "one file": one_file,
    "distinct": distinct,
    "ranges": ranges,
    "30 % repeats": repeats,
    "writes": writes,
    "commands": commands,
    "huge entries": huge_last,
}


def ledger_of(shape: Shape, length: int) -> Iterator[Observation]:
    """The observations of a ledger: the last one has offset -1."""
    return map(shape, range(-length, 0))
