"""The kernel in plain Python: the specification of the compiled one, and its fallback.

A kernel holds no text but what it is handed to keep: it knows observations as positions, files
and questions as groups, and lines as intervals on one axis (see `Kernel.add`). Live
observations are on a linked list, so that nothing here walks the superseded, the failed or the
ones that left the window.
"""

from __future__ import annotations

from array import array

from ._index_py import NONE, Index

PLAIN, KEYED, READ, WRITE, SEARCH = 0, 1, 2, 3, 4
LIVE, SUPERSEDED, FAILED = 0, 1, 2
CUT, REFRESHED, STUB, COLLAPSED = 1, 2, 4, 8
_WATCHED = (READ, SEARCH)
MAX_POSITIONS = 2**31 - 2


def cut_head(text: str, size: int) -> int:
    """The end of the longest head of at most `size` code points that splits no surrogate pair."""
    if size >= len(text):
        return len(text)
    if size <= 0:
        return 0
    if "\ud800" <= text[size - 1] <= "\udbff" and "\udc00" <= text[size] <= "\udfff":
        return size - 1
    return size


def cut_tail(text: str, size: int) -> int:
    """The start of the longest tail of at most `size` code points that splits no pair."""
    if size >= len(text):
        return 0
    if size <= 0:
        return len(text)
    start = len(text) - size
    if "\ud800" <= text[start - 1] <= "\udbff" and "\udc00" <= text[start] <= "\udfff":
        return start + 1
    return start


def cut_lines(text: str, size: int) -> int:
    """The end of the whole lines that fit in `size`, their last line end left off; -1 for none."""
    if size >= len(text):
        return len(text)
    if size < 0:
        return -1
    return text.rfind("\n", 0, size + 1)


class Kernel(Index):
    """The supersession index, the walk of the fit, and the emission of what it chose."""

    def __init__(self) -> None:
        super().__init__()
        self._prev = array("i")
        self._next = array("i")
        self._gid = array("i")
        self._seen = array("i")
        self._stub_version = array("i")
        self._size = array("q")
        self._stub_size = array("q")
        self._state = array("b")
        self._mark = array("b")
        self._kind = array("b")
        self._shown: list[str | None] = []
        self._stub: list[str | None] = []
        self._newest = NONE
        self.live = 0
        self.live_chars = 0
        self.work = 0
        self._turn = 0
        self._stat = False
        self._cursor = NONE
        self._first = NONE
        self._room = 0
        self.used = 0
        self.carried = 0
        self._stub_cursor = NONE
        self._stub_room = 0
        self.stub_used = 0
        self._stubs: list[int] = []
        self._missing: list[int] = []
        self._writes = 0
        self._first_before = NONE
        self._stub_before = 0

    def __len__(self) -> int:
        return len(self._size)

    # Entering.

    def add(self, kind: int, gid: int, lo: int, hi: int, size: int) -> list[int]:
        """Enter the next position, newest of all; gives the positions it supersedes.

        `size` is in code points, arguments included. For a read `[lo, hi)` is what it shows, on
        an axis where line L starts at L << 32 and a line cut inside ends at (L << 32) + kept.
        A group of -1 is a question of its own, never superseded.
        """
        position = len(self._size)
        if position > MAX_POSITIONS:
            raise OverflowError(f"a ledger holds at most {MAX_POSITIONS:,} observations")
        self._append(kind, gid, size)
        if gid == NONE:
            return []
        self._version[gid] += 1
        if kind == READ:
            superseded = self._paint(gid, lo, hi, position) if lo < hi else []
        else:
            superseded = [self._last[gid]] if self._last[gid] != NONE else []
            self._last[gid] = position
            if kind == WRITE:
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
        self._stub_version.append(NONE)
        self._size.append(size)
        self._stub_size.append(0)
        self._state.append(LIVE)
        self._mark.append(0)
        self._kind.append(kind)
        self._shown.append(None)
        self._stub.append(None)
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
            if before != NONE:
                self._next[before] = after
            if after != NONE:
                self._prev[after] = before
            else:
                self._newest = before
            if self._cursor == position:
                self._cursor = before
            self.live -= 1
            self.live_chars -= self._size[position]
        self._state[position] = state
        self._stub_version[position] = NONE
        self._shown[position] = None
        self._stub[position] = None

    # What Python hands over for a position.

    def show(self, position: int, text: str | None, size: int, mark: int) -> None:
        """Set the text shown where a position is carried, its size, and CUT or REFRESHED."""
        if self._state[position] == LIVE:
            self.live_chars += size - self._size[position]
        self._size[position] = size
        self._mark[position] = mark
        self._shown[position] = text

    def set_stub(self, position: int, text: str, size: int) -> None:
        """Set the one line that stands for a position now; it is asked for again when wrong."""
        self._stub[position] = text
        self._stub_size[position] = size
        superseded = self._state[position] == SUPERSEDED
        self._stub_version[position] = self._version[self._gid[position]] if superseded else 0

    def fail(self, position: int) -> None:
        """A refresh failed: the position leaves the live ones."""
        self._retire(position, FAILED)

    def state(self, position: int) -> int:
        """LIVE, SUPERSEDED or FAILED."""
        return self._state[position]

    def mark(self, position: int) -> int:
        """CUT and REFRESHED, or 0."""
        return self._mark[position]

    def size(self, position: int) -> int:
        """The code points of a position where it is carried, arguments included."""
        return self._size[position]

    def newest(self) -> int:
        """The newest live position; -1 for none."""
        return self._newest

    def before(self, position: int) -> int:
        """The live position before a live one; -1 for none."""
        return self._prev[position]

    def gid(self, position: int) -> int:
        """The group of a position; -1 for none."""
        return self._gid[position]

    def kind(self, position: int) -> int:
        """PLAIN, KEYED, READ, WRITE or SEARCH."""
        return self._kind[position]

    # Freshness of files.

    def file_version(self, gid: int) -> int:
        """How often a file is known to have changed."""
        return self._file_version[gid]

    def write_version(self, gid: int) -> int:
        """What `file_version` was right after the newest write of a file; 0 for none."""
        return self._write_version[gid]

    def touch(self, gid: int) -> None:
        """A file may have changed: what was seen of it must be looked at again."""
        self._file_version[gid] += 1

    def freshen(self, position: int) -> None:
        """A read or search was looked at, and is shown as things now are."""
        self._seen[position] = self._wanted(position)

    def is_fresh(self, position: int) -> bool:
        """Whether a read or search was looked at since anything changed for it."""
        return self._seen[position] == self._wanted(position)

    def unseen_write(self, position: int) -> bool:
        """Whether a later write of a read's file has not been looked at yet."""
        gid = self._gid[position]
        return self._last[gid] > position and self._seen[position] < self._write_version[gid]

    def _wanted(self, position: int) -> int:
        kind = self._kind[position]
        if kind == READ:
            return self._file_version[self._gid[position]]
        return self._writes if kind == SEARCH else NONE

    def checked(self, gid: int) -> None:
        """A file's signature was looked at in this turn."""
        self._turn_of[gid] = self._turn

    # The fit.

    def start(self, room: int, turn: int, stat: bool) -> None:
        """Begin the walk from the newest live position; `stat`: look at every file once a turn."""
        self._room = room
        self._turn = turn
        self._stat = stat
        self._cursor = self._newest
        self._first = NONE
        self._missing = []
        self.used = 0
        self.carried = 0

    def walk(self) -> int:
        """Go on until a read or search must be looked at (its position) or the walk ends (-1)."""
        position = self._cursor
        while position != NONE:
            kind = self._kind[position]
            if kind in _WATCHED:
                stale = self._seen[position] != self._wanted(position)
                if stale or self._unchecked(kind, position):
                    self._cursor = position
                    return position
            self.work += 1
            if self.used + self._size[position] > self._room:
                break
            if self._shown[position] is None:
                self._missing.append(position)
            self.used += self._size[position]
            self.carried += 1
            self._first = position
            position = self._prev[position]
        self._cursor = NONE
        return NONE

    def _unchecked(self, kind: int, position: int) -> bool:
        return self._stat and kind == READ and self._turn_of[self._gid[position]] != self._turn

    def missing(self) -> list[int]:
        """The carried positions whose text was let go, and has to be set again."""
        return self._missing

    def start_stubs(self, room: int, newest_cut: bool) -> None:
        """Begin the stubs, newest first; `newest_cut`: the newest live one is carried, cut."""
        if newest_cut:
            self._first = self._newest
            self.carried = 1
        self._stub_cursor = len(self._size) - 1
        self._stub_room = room
        self.stub_used = 0
        self._stubs = []

    def stubs(self) -> int:
        """Go on until a stub's line must be made (its position) or no more fits (-1)."""
        position = self._stub_cursor
        while position >= 0:
            state = self._state[position]
            if state == LIVE and 0 <= self._first <= position:
                self.work += 1
                position -= 1
                continue
            wanted = self._version[self._gid[position]] if state == SUPERSEDED else 0
            if self._stub_version[position] != wanted:
                self._stub_cursor = position
                return position
            self.work += 1
            if self.stub_used + self._stub_size[position] > self._stub_room:
                break
            self.stub_used += self._stub_size[position]
            self._stubs.append(position)
            position -= 1
        self._stub_cursor = NONE
        return NONE

    @property
    def stub_count(self) -> int:
        """How many stubs were chosen."""
        return len(self._stubs)

    def emit(self, parts: list[str], collapsed: str) -> array[int]:
        """Append the chosen texts in order to `parts`; gives what each one is.

        Each number is a position << 4 with CUT, REFRESHED, STUB or COLLAPSED. `collapsed` is the
        line that stands at the place of the oldest position counted; "" where none is.
        """
        order = array("q")
        stubs = self._stubs
        at = len(stubs) - 1
        position = self._first
        if collapsed:
            oldest = 0
            while position != NONE and position == oldest:
                self._take(position, parts, order)
                position = self._next[position]
                oldest += 1
            parts.append(collapsed)
            order.append(oldest << 4 | COLLAPSED)
        while position != NONE or at >= 0:
            if at < 0 or (position != NONE and position < stubs[at]):
                self._take(position, parts, order)
                position = self._next[position]
            else:
                parts.append(self._stub[stubs[at]] or "")
                order.append(stubs[at] << 4 | STUB)
                at -= 1
        return order

    def _take(self, position: int, parts: list[str], order: array[int]) -> None:
        parts.append(self._shown[position] or "")
        order.append(position << 4 | self._mark[position])

    def release(self) -> None:
        """Let go the texts of what is no longer shown, so that a long run holds only a window."""
        position = self._prev[self._first] if self._first != NONE else self._newest
        while position != NONE and (
            self._shown[position] is not None or 0 <= self._first_before <= position
        ):
            self._shown[position] = None
            position = self._prev[position]
        self._first_before = self._first
        lowest = self._stubs[-1] if self._stubs else len(self._size)
        for position in range(self._stub_before, lowest):
            self._stub[position] = None
            self._stub_version[position] = NONE
        self._stub_before = lowest
