"""Numbers for a few of many positions, in sixteen bytes each where a dictionary takes 160."""

from __future__ import annotations

from array import array
from bisect import bisect_left


class Sparse:
    """A number for some positions; they come in ascending order."""

    __slots__ = ("_numbers", "_positions")

    def __init__(self) -> None:
        self._positions = array("q")
        self._numbers = array("q")

    def put(self, position: int, number: int) -> None:
        """Give the next position a number."""
        self._positions.append(position)
        self._numbers.append(number)

    def get(self, position: int) -> int | None:
        """The number of a position; `None` where it has none."""
        at = bisect_left(self._positions, position)
        if at == len(self._positions) or self._positions[at] != position:
            return None
        return self._numbers[at]
