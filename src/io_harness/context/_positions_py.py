"""Positions in plain Python: what each observation is to the kernel, and what stands for it."""

from __future__ import annotations

from array import array

from ._index_py import MAX_AXIS, MAX_COUNT, NONE, Index, text_of, whole, within
from ._texts_py import filled

PLAIN, KEYED, READ, WRITE, SEARCH = 0, 1, 2, 3, 4
LIVE, SUPERSEDED, FAILED = 0, 1, 2
# What stands at a position: of a carried text whether it is cut or refreshed, or that it is a
# stub; a position that holds no text is as good as collapsed.
CUT, REFRESHED, STUB, COLLAPSED = 1, 2, 4, 8
SHIFT = 4
MAX_SIZE = 2**32 - 1
MAX_TOP = 255


class Positions(Index):
    """The observations as they entered, what is held of each, and the live ones in a list.

    What the last walk carried is kept true here, for a position that leaves the live ones or
    changes its size changes it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._prev, self._next = array("i"), array("i")
        self._gid, self._seen = array("i"), array("i")
        self._stub_version = array("i")
        self._size = array("q")
        self._stub_size, self._top_size = array("i"), array("B")
        self._state, self._kind = array("b"), array("b")
        self._code = array("q")
        self._text: list[str] = []
        self._newest = NONE
        self.live = 0
        self.live_chars = 0
        self.work = 0
        self._turn = self._writes = 0
        # The walk: where it goes on, the oldest position carried, how many and of what size.
        self._cursor = NONE
        self._first = NONE
        self.used = 0
        self.carried = 0
        # What the walk before carried, by its newest position, while that is as it was; a walk
        # that comes to the joint takes it over.
        self._walked = NONE
        self._joint = NONE
        # From which position on nothing was hidden in the section before.
        self._low_before = 0

    def __len__(self) -> int:
        return len(self._size)

    # Entering.

    def add(  # noqa: PLR0917  # keywords would cost a third of the call
        self, kind: int, gid: int, lo: int, hi: int, size: int, text: str | None, mark: int
    ) -> list[int]:
        """Enter the next position, newest of all; gives the positions it supersedes.

        `size` is in code points, arguments included. For a read `[lo, hi)` is what it shows, on
        an axis where line L starts at L << 32 and a line cut inside ends at (L << 32) + kept.
        A group of -1 is a question of its own, never superseded. `text` and `mark` are as in
        `show`.
        """
        within("kind", kind, PLAIN, SEARCH)
        within("lo", lo, 0, MAX_AXIS)
        within("hi", hi, 0, MAX_AXIS)
        within("size", size, 0, MAX_SIZE)
        if whole("gid", gid) != NONE:
            self._group(gid)
        within("the number of positions", len(self._size), 0, MAX_COUNT)
        within("mark", mark, 0, CUT | REFRESHED)
        if text is not None:
            text_of("text", text)
        return self._add(kind, gid, lo, hi, size, text, mark)

    def _add(  # noqa: PLR0917  # keywords would cost a third of the call
        self, kind: int, gid: int, lo: int, hi: int, size: int, text: str | None, mark: int
    ) -> list[int]:
        """The same, all of it checked."""
        position = len(self._size)
        self.work += 1
        self._append(kind, gid, size)
        self._text[position] = "" if text is None else text
        self._code[position] = position << SHIFT | (mark | COLLAPSED if text is None else mark)
        if gid == NONE:
            return []
        self._version[gid] += 1
        if kind == READ:
            superseded = self._paint(gid, lo, hi, position) if lo < hi else []
        else:
            superseded = [self._last[gid]] if self._last[gid] != NONE else []
            self._last[gid] = position
            if kind == WRITE:
                self._walked = self._joint = NONE
                self._file_version[gid] += 1
                self._write_version[gid] = self._file_version[gid]
                self._writes += 1
        for old in superseded:
            self._retire(old, SUPERSEDED)
        return superseded

    def _append(self, kind: int, gid: int, size: int) -> None:
        position = len(self._size)
        self._gid.append(gid)
        self._seen.append(NONE)
        self._parts.append(0)
        self._stub_version.append(0)
        self._size.append(size)
        self._stub_size.append(0)
        self._top_size.append(0)
        self._state.append(LIVE)
        self._code.append(position << SHIFT | COLLAPSED)
        self._kind.append(kind)
        self._text.append("")
        self._prev.append(self._newest)
        self._next.append(NONE)
        if self._newest != NONE:
            self._next[self._newest] = position
        self._newest = position
        self.live += 1
        self.live_chars += size

    def _retire(self, position: int, state: int) -> None:
        if self._state[position] == LIVE:
            before, after = self._prev[position], self._next[position]
            self._joint = NONE
            if self._first <= position <= self._walked:
                self.used -= self._size[position]
                self.carried -= 1
                if position == self._walked:
                    self._walked = before if self.carried else NONE
            if before != NONE:
                self._next[before] = after
            if after != NONE:
                self._prev[after] = before
            else:
                self._newest = before
            if self._cursor == position:
                self._cursor = before
            if self._first == position:
                self._first = after
            self.live -= 1
            self.live_chars -= self._size[position]
        self._state[position] = state
        top = self.top(position) if position >= self._low_before else ""
        self._let_go(position)
        self._text[position] = top

    def _let_go(self, position: int) -> None:
        self._text[position] = ""
        self._code[position] = self._code[position] & ~STUB | COLLAPSED

    # What Python hands over for a position.

    def show(self, position: int, text: str | None, size: int, mark: int) -> None:
        """Set the text shown where a position is carried, its size, and CUT or REFRESHED.

        Without a text the position is `missing` once it is carried.
        """
        self._at(position)
        within("size", size, 0, MAX_SIZE)
        within("mark", mark, 0, CUT | REFRESHED)
        if text is not None:
            text_of("text", text)
        if self._state[position] == LIVE:
            self.live_chars += size - self._size[position]
            if position <= self._walked or position <= self._joint:
                self._walked = self._joint = NONE
        self._size[position] = size
        self._text[position] = "" if text is None else text
        self._code[position] = position << SHIFT | (mark | COLLAPSED if text is None else mark)

    def set_stub(self, position: int, text: str, size: int) -> None:
        """Set the one line that stands for a position now; it is asked for again when wrong."""
        self._at(position)
        within("size", size, 0, MAX_COUNT)
        text_of("text", text)
        self._stub_size[position] = size
        self._stub_version[position] = self._stub_wanted(position)
        self._top_size[position] = 0
        self._text[position] = text
        self._code[position] = self._code[position] & ~COLLAPSED | STUB

    def set_below(
        self, position: int, more: int, words: tuple[str, ...], *values: int | str
    ) -> bool:
        """Set a stub that begins with `top`; False where there is none, and nothing was set.

        `words` are as in `filled`, around the top and the values; `more` is the size of what goes
        with the stub.
        """
        top = self.top(position)
        within("more", more, 0, MAX_COUNT)
        if not top:
            return False
        text = filled(words, top, *values)
        self.set_stub(position, text, len(text) + more)
        self._top_size[position] = len(top) if len(top) <= MAX_TOP else 0
        return True

    def _stub_wanted(self, position: int) -> int:
        """What a stub's words depend on: the answers that came later."""
        return self._version[self._gid[position]] if self._state[position] == SUPERSEDED else 0

    def top(self, position: int) -> str:
        """The first line of a carried text, its closing bracket left off: how a stub begins.

        Kept for a turn after the position was retired, and in a stub that `set_below` set; ""
        where no such text is held.
        """
        text = self._text[self._at(position)]
        if self._code[position] & STUB:
            return text[: self._top_size[position]]
        end = text.find("\n")
        return text if end < 0 else text[: max(end - 1, 0)]

    def fail(self, position: int) -> None:
        """A refresh failed: the position leaves the live ones."""
        self._retire(self._at(position), FAILED)

    def state(self, position: int) -> int:
        """LIVE, SUPERSEDED or FAILED."""
        return self._state[self._at(position)]

    def mark(self, position: int) -> int:
        """CUT and REFRESHED, or 0."""
        return self._code[self._at(position)] & (CUT | REFRESHED)

    def size(self, position: int) -> int:
        """The code points of a position where it is carried, arguments included."""
        return self._size[self._at(position)]

    def newest(self) -> int:
        """The newest live position; -1 for none."""
        return self._newest

    def before(self, position: int) -> int:
        """The live position before a live one; -1 for none."""
        return self._prev[self._at(position)]

    def gid(self, position: int) -> int:
        """The group of a position; -1 for none."""
        return self._gid[self._at(position)]

    def kind(self, position: int) -> int:
        """PLAIN, KEYED, READ, WRITE or SEARCH."""
        return self._kind[self._at(position)]

    def _at(self, position: int) -> int:
        """A position that has entered."""
        if not 0 <= whole("position", position) < len(self._size):
            raise IndexError(f"there is no position {position}, {len(self._size)} have entered")
        return position

    def replaced_by(self, position: int) -> int:
        """The position that answers instead: itself while it is live; -1 for none, or several."""
        state, gid = self._state[self._at(position)], self._gid[position]
        if state != SUPERSEDED:
            return int(position) if state == LIVE else NONE
        if self._kind[position] != READ:
            return self._last[gid]
        return NONE if gid in self._segments else self._owner[gid]

    # Freshness of files.

    def touch(self, gid: int) -> None:
        """A file may have changed: what was seen of it must be looked at again."""
        self._file_version[self._group(gid)] += 1
        self._walked = self._joint = NONE

    def freshen(self, position: int) -> None:
        """A read or search was looked at, and is shown as things now are."""
        position = self._at(position)
        self._seen[position] = self._wanted(position)

    def is_fresh(self, position: int) -> bool:
        """Whether a read or search was looked at since anything changed for it."""
        return self._seen[self._at(position)] == self._wanted(position)

    def unseen_write(self, position: int) -> bool:
        """Whether a later write of a read's file has not been looked at yet."""
        gid = self._gid[self._at(position)]
        if gid == NONE or self._last[gid] <= position:
            return False
        return self._seen[position] < self._write_version[gid]

    def _wanted(self, position: int) -> int:
        kind, gid = self._kind[position], self._gid[position]
        if kind == READ and gid != NONE:
            return self._file_version[gid]
        return self._writes if kind == SEARCH else NONE

    def checked(self, gid: int) -> None:
        """A file's signature was looked at in this turn."""
        self._turn_of[self._group(gid)] = self._turn
