"""Reads a section from top to bottom, as a model would, and holds what it then knows of each file.

A read shows lines; a hunk puts lines in the place of others and moves the later ones; a void
takes back all that was shown of a file. What is held in the end must be what the files hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from io_harness.context import Piece, PieceStatus
from io_harness.types import ObsKind

from . import grammar
from .shown import WHOLE, demand

CHANGED = re.compile(rf"\[changed ({grammar.TARGET}), (.*)\]")
HUNK = re.compile(
    r"(?:lines (\d+)-(\d+)|after line (\d+)): (?:now lines (\d+)-(\d+) of (\d+)|now gone)"
    r"(?:, later lines move by ([+-]\d+))?, step \d+: .*"
)
VOID = re.compile(r"step \d+: .*; nothing shown of it before holds.*")


@dataclass(slots=True)
class Held:
    """The lines of one file as shown, by number; `part` is one cut inside."""

    lines: dict[int, str] = field(default_factory=dict)
    part: tuple[int, str] | None = None


@dataclass(slots=True)
class Replayer:
    """What somebody knows who has read the section so far."""

    canonical: Callable[[str], str]
    files: dict[str, Held] = field(default_factory=dict)
    whole: dict[tuple[int, int], Piece] = field(default_factory=dict)
    readers: dict[str, set[tuple[int, int]]] = field(default_factory=dict)

    def read(self, piece: Piece) -> None:
        """Take in one piece."""
        line, _, rest = piece.text.partition("\n")
        if changed := CHANGED.fullmatch(line):
            token = changed[1]
            path = grammar.unquote(token) if token.startswith('"') else token
            self._changed(path, changed[2], rest)
        elif piece.kind is not None:
            place = (piece.step, piece.call)
            self.whole.pop(place, None)
            if piece.status in WHOLE:
                self.whole[place] = piece
                if piece.kind is ObsKind.READ:
                    self._show(piece, line, rest[:-1])

    def _show(self, piece: Piece, line: str, body: str) -> None:
        path = self.canonical(piece.target or "")
        self.readers.setdefault(path, set()).add((piece.step, piece.call))
        head = grammar.head_of(line)
        demand(head, "no header", line)
        assert head
        found = grammar.LINES.fullmatch(head.detail)
        if not found:
            # In the tightest room a header has no line numbers: nobody can say what it shows.
            tight = not head.detail
            demand(tight or grammar.NO_LINES.fullmatch(head.detail), "no lines", line)
            return
        first, last = int(found[1]), int(found[2])
        shown = body.split("\n")
        held = self.files.setdefault(path, Held())
        if "cut inside" in shown[-1] and grammar.MARKER.fullmatch(shown[-1]):
            held.part = (last, shown[last - first])
            last -= 1
        held.lines.update(zip(range(first, last + 1), shown, strict=False))

    def _changed(self, path: str, what: str, rest: str) -> None:
        if VOID.fullmatch(what):
            demand(not rest, "a void shows lines", what)
            self.files.pop(path, None)
            for place in self.readers.pop(path, set()):
                self.whole.pop(place, None)
            return
        found = HUNK.fullmatch(what)
        demand(found, "no hunk", what)
        assert found
        start = int(found[1] or int(found[3]) + 1)
        last = int(found[2] or found[3])
        move = int(found[7] or 0)
        first, stop = (int(found[4]), int(found[5])) if found[4] else (start, start - 1)
        demand(stop - last == move, "the lines don't add up", what)
        held = self.files.setdefault(path, Held())
        after = {number + move: text for number, text in held.lines.items() if number > last}
        held.lines = {number: text for number, text in held.lines.items() if number < start}
        held.lines.update(after)
        held.lines.update(zip(range(first, stop + 1), rest.split("\n"), strict=False))
        if held.part is not None and held.part[0] >= start:
            # A line cut inside that a hunk replaces is told whole, or gone.
            moved = (held.part[0] + move, held.part[1])
            held.part = moved if held.part[0] > last else None


def read_all(pieces: list[Piece], canonical: Callable[[str], str]) -> Replayer:
    """What somebody knows who has read all of a section."""
    replayer = Replayer(canonical)
    for piece in pieces:
        if piece.status is not PieceStatus.MEMORY:
            replayer.read(piece)
    return replayer
