"""A section that only grows: what the model holds now."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TypeAlias

from ._positions_py import SHIFT, STUB
from .assembled import carries
from .hunks import ShownFile
from .render import NotesBlock

# A piece to be appended: what it is, its text, the arguments sent with it.
Addition: TypeAlias = tuple[int, str, str]


def size_of(additions: Iterable[Addition]) -> int:
    """The code points of what is appended, arguments included."""
    return sum(len(text) + len(args) for _, text, args in additions)


class Section:
    """What the model holds now: texts in order, and what they show of each file."""

    def __init__(self, block: NotesBlock) -> None:
        """Begin with the memory block."""
        self.block = block
        self.texts: list[str] = []
        self.codes = array("q")
        self.chars = len(block.text)
        self.carried: set[int] = set()
        self.files: dict[int, ShownFile] = {}
        self.squeezed: tuple[int, str, int | None] | None = None
        self.squeezed_lines: tuple[int, int] | None = None
        self.hidden = 0

    def put(self, code: int, text: str, args: str = "") -> None:
        """Append a piece."""
        self.codes.append(code)
        self.texts.append(text)
        self.chars += len(text) + len(args)
        if carries(code):
            self.carried.add(code >> SHIFT)

    def names(self, position: int) -> bool:
        """Whether a stub stands for a position."""
        return (position << SHIFT | STUB) in self.codes
