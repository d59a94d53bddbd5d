"""Curves as text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

HEIGHT = 12
_MARKS = "*o+x"


def plot(curves: Mapping[str, Sequence[int]], *, height: int = HEIGHT) -> Iterator[str]:
    """Yield the lines of a plot: values upwards, their positions to the right.

    Where curves meet the later one shows.
    """
    top = max((max(values, default=0) for values in curves.values()), default=0) or 1
    width = max((len(values) for values in curves.values()), default=0)
    grid = [[" "] * (2 * width) for _ in range(height)]
    for mark, values in zip(_MARKS, curves.values(), strict=False):
        for place, value in enumerate(values):
            grid[round(value / top * (height - 1))][2 * place] = mark
    gutter = len(f"{top:,}")
    for level in reversed(range(height)):
        label = f"{round(top * level / (height - 1)):,}" if level % 3 == 2 or level == 0 else ""
        yield f"{label:>{gutter}} |{''.join(grid[level]).rstrip()}"
    yield f"{'':>{gutter}} +{'-' * (2 * width)}"
    names = ", ".join(f"{mark} {name}" for mark, name in zip(_MARKS, curves, strict=False))
    yield f"{'':>{gutter}}  {names}"
