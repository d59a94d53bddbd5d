"""Curves as text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

HEIGHT = 12
_MARKS = "*o+x"


def plot(curves: Mapping[str, Sequence[int]], *, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a plot: values upwards, their positions to the right.

    Where curves meet the later one shows. A position has two cells where `width` has them.
    """
    top = max((max(values, default=0) for values in curves.values()), default=0) or 1
    count = max((len(values) for values in curves.values()), default=0)
    gutter = len(f"{top:,}")
    stride = 2 if width is None or gutter + 2 + 2 * count <= width else 1
    grid = [[" "] * (stride * count) for _ in range(HEIGHT)]
    for mark, values in zip(_MARKS, curves.values(), strict=False):
        for place, value in enumerate(values):
            grid[round(value / top * (HEIGHT - 1))][stride * place] = mark
    for level in reversed(range(HEIGHT)):
        label = f"{round(top * level / (HEIGHT - 1)):,}" if level % 3 == 2 or level == 0 else ""
        yield f"{label:>{gutter}} |{''.join(grid[level]).rstrip()}"
    yield f"{'':>{gutter}} +{'-' * (stride * count)}"
    names = ", ".join(f"{mark} {name}" for mark, name in zip(_MARKS, curves, strict=False))
    yield f"{'':>{gutter}}  {names}"
