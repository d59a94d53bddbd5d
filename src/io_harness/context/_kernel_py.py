"""The kernel in plain Python: the specification of the compiled one, and its fallback.

A kernel holds no text but what it is handed to keep: it knows observations as positions, files
and questions as groups, and lines as intervals on one axis (see `Kernel.add`). Live
observations are on a linked list, so that nothing here walks the superseded, the failed or the
ones that left the window.
"""

from __future__ import annotations

from array import array
from itertools import chain, compress
from typing import TypeAlias

from ._index_py import MAX_AXIS, MAX_COUNT, NONE, text_of, whole, within
from ._lines_py import Extent, count_lines, extent, plain_read
from ._positions_py import (
    COLLAPSED,
    LIVE,
    MAX_SIZE,
    READ,
    SEARCH,
    SHIFT,
    STUB,
    SUPERSEDED,
    Positions,
)
from ._texts_py import cut_head, cut_lines, cut_tail, filled, grouped, has_any, is_bare

__all__ = [
    "Extent",
    "Kernel",
    "count_lines",
    "cut_head",
    "cut_lines",
    "cut_tail",
    "extent",
    "filled",
    "grouped",
    "has_any",
    "is_bare",
    "plain_read",
]

# Positions carried, entered, hidden; code points of text and arguments; positions visited; texts
# below the block.
Counts: TypeAlias = tuple[int, int, int, int, int, int]
# The texts below the block, or where the first starts and each ends in the section.
Texts: TypeAlias = "list[str] | array[int]"

_WATCHED = (READ, SEARCH)
MARGIN = 16


class Kernel(Positions):
    """The supersession index, the walk of the fit, and the emission of what it chose."""

    def __init__(self) -> None:
        super().__init__()
        self._stat = False
        self._room = 0
        # The carried positions whose text was let go, and has to be set again.
        self.missing: list[int] = []
        self._kept = (NONE, 0, 0)
        self._stub_cursor = NONE
        self._stub_room = 0
        self.stub_used = 0
        self.stub_count = 0
        # The window: the position from which on nothing is hidden; the oldest one carried in the
        # section before.
        self._low = 0
        self._first_before = NONE

    # Entering a usual read.

    def add_read(  # noqa: PLR0917  # keywords would cost a third of the call
        self,
        words: tuple[str, ...],
        signs: tuple[str, ...],
        step: int,
        target: str,
        text: str,
        lines: tuple[int, int] | None,
        total: int | None,
        subject: str,
        keeps: bool,
        fresh: bool,
    ) -> list[int] | None:
        """Enter a `plain_read`, as `add` does; `None` where it is none, and nothing entered.

        `subject` is its file's. `keeps`: the kernel keeps its text. `fresh`: it was looked at, as
        by `freshen`.
        """
        gid = self.group_of(subject)
        plain = plain_read(words, signs, step, target, text, lines, total)
        if plain is None:
            return None
        made, shown = plain
        position = within("the number of positions", len(self), 0, MAX_COUNT)
        size, kept = within("size", len(made), 0, MAX_SIZE), made if keeps else None
        superseded = self._add(READ, gid, shown.lo, shown.hi, size, kept, 0)
        if fresh:
            self._seen[position] = self._file_version[gid]
        return superseded

    # The fit.

    def start(self, room: int, turn: int, stat: bool) -> int:
        """Begin the walk from the newest live position; gives what `walk` gives.

        `stat`: every file is looked at once a turn.
        """
        self._room = whole("room", room)
        self._turn = within("turn", turn, 0, MAX_COUNT)
        self._stat = stat
        self._joint = NONE if stat or self.missing else self._walked
        self._kept = self._first, self.used, self.carried
        self._walked = NONE
        self._cursor = self._newest
        self._first = NONE
        self.missing = []
        self.used = 0
        self.carried = 0
        return self.walk()

    def walk(self) -> int:
        """Go on until a read or search must be looked at (its position) or the walk ends (-1)."""
        sizes, codes, kinds, before = self._size, self._code, self._kind, self._prev
        position, left = self._cursor, self._room - self.used
        if position == NONE:
            return NONE
        self._cursor = NONE
        while position != NONE:
            if position == self._joint:
                position = self._take_over()
                left = self._room - self.used
                continue
            if kinds[position] in _WATCHED and self._must_look(position):
                self._cursor = position
                return position
            self.work += 1
            left -= sizes[position]
            if left < 0:
                break
            if codes[position] & (STUB | COLLAPSED):
                self.missing.append(position)
            self.used += sizes[position]
            self.carried += 1
            self._first = position
            position = before[position]
        self._walked = self._newest if self.carried else NONE
        return NONE

    def _take_over(self) -> int:
        """Carry what the walk before did, without its oldest where they do not fit any more.

        Gives the position to go on from; -1 where some did not fit.
        """
        first, used, carried = self._kept
        self._joint = NONE
        older = self._prev[first]
        while carried and self.used + used > self._room:
            used -= self._size[first]
            carried -= 1
            first = self._next[first]
            older = NONE
            self.work += 1
        if carried:
            self.used += used
            self.carried += carried
            self._first = first
        return older

    def _must_look(self, position: int) -> bool:
        """Whether a read or search changed, or its file was not looked at this turn."""
        gid = self._gid[position]
        if self._kind[position] == SEARCH or gid == NONE:
            return self._seen[position] != self._wanted(position)
        if self._seen[position] != self._file_version[gid]:
            return True
        return self._stat and self._turn_of[gid] != self._turn

    def start_stubs(self, room: int, cut: int) -> int:
        """Begin the stubs, newest first; gives what `stubs` gives.

        `cut` is the size of the newest live one where it is carried all the same, cut; else -1.
        """
        self._stub_room = whole("room", room)
        if within("cut", cut, -1, MAX_SIZE) >= 0 and self._newest != NONE:
            self._first = self._newest
            self.carried = 1
            self.used = cut
            self._walked = NONE
        self._stub_cursor = len(self._size) - 1
        self.stub_used = 0
        self.stub_count = 0
        self._low = len(self._size)
        return self.stubs()

    def stubs(self) -> int:
        """Go on until a stub's line must be made (its position) or no more fits (-1)."""
        start = self._stub_cursor
        if start == NONE:
            return NONE
        states, codes, sizes = self._state, self._code, self._stub_size
        first = self._first if self._first != NONE else len(self._size)
        left, count = self._stub_room - self.stub_used, 0
        self._stub_cursor = NONE
        # From the first on all are carried but those that are not LIVE, which is 0.
        between = compress(range(start, first - 1, -1), reversed(states[first : start + 1]))
        for position in chain(between, range(min(start, first - 1), -1, -1)):
            if not codes[position] & STUB or (
                states[position] == SUPERSEDED
                and self._stub_version[position] != self._version[self._gid[position]]
            ):
                self._stub_cursor = position
                break
            size = sizes[position]
            if size > left:
                self.work += 1
                break
            left -= size
            count += 1
        else:
            position = NONE
        self.stub_used = self._stub_room - left
        self.stub_count += count
        self.work += start - position
        self._low = position + 1
        return self._stub_cursor

    @property
    def hidden(self) -> int:
        """How many are neither carried nor a stub."""
        return len(self._size) - self.carried - self.stub_count

    def emit(
        self, block: str, collapsed: tuple[str, ...], cut: str | None, since: int
    ) -> tuple[str, array[int], Texts, Counts]:
        """The section: `block` and the chosen texts in order; what each is; those texts.

        What it is: a position << 4 with CUT, REFRESHED, STUB or COLLAPSED. `collapsed` are the
        words around the count of those `hidden`, as in `filled`: the line at the place of the
        oldest of them. `cut` stands for the text of the newest live position where that had to
        be cut. The last value is an account; `since` is what `work` was before the turn.
        """
        text_of("block", block)
        line = filled(collapsed, grouped(self.hidden)) if self.hidden else ""
        if cut is not None:
            text_of("cut", cut)
        work = self.work - within("since", since, 0, MAX_AXIS)
        parts: list[str] = []
        order = array("q")
        low, position = self._low, self._first
        if line:
            oldest = 0
            while position == oldest < low:
                position = self._take(position, parts, order)
                oldest += 1
            parts.append(line)
            order.append(oldest << SHIFT | COLLAPSED)
        while NONE != position < low:
            position = self._take(position, parts, order)
        parts += self._text[low:]
        order.extend(self._code[low:])
        if cut is not None:
            at = len(order) - 1
            while at >= 0 and order[at] >> SHIFT != self._newest:
                at -= 1
            if at >= 0:
                parts[at] = cut
        chars = len(block) + self.used + self.stub_used + len(line)
        counts = self.carried, len(self._size), self.hidden, chars, work, len(parts)
        self._release()
        return "".join([block, *parts]), order, parts, counts

    def _take(self, position: int, parts: list[str], order: array[int]) -> int:
        parts.append(self._text[position])
        order.append(self._code[position])
        return self._next[position]

    def _release(self) -> None:
        """Let go the texts of what is no longer shown, so that a long run holds only a window.

        The last ones are kept: a stub that had no room this turn may have some in the next.
        """
        low = max(self._low - MARGIN, 0)
        first = self._first if self._first != NONE else len(self._size)
        position = self._prev[first] if self._first != NONE else self._newest
        while position != NONE and (
            not self._code[position] & (STUB | COLLAPSED) or 0 <= self._first_before <= position
        ):
            if position < low:
                self._let_go(position)
            position = self._prev[position]
        self._first_before = self._first
        for position in range(self._low_before, low):
            if position < first or self._state[position] != LIVE:
                self._let_go(position)
        self._low_before = low
