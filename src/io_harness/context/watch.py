"""Looking again: reads compared with their files, refreshed once a change, or failed."""

from __future__ import annotations

from . import render
from ._index_py import hash64
from ._positions_py import SEARCH
from .entry import Refresh
from .freshness import Files, Look, asked, same
from .hunks import Hunk
from .kernel import count_lines
from .keys import file_subject
from .view import View


class Watch:
    """What keeps a view true; `made` are the refreshes of this turn.

    `sees_files` is whether reads are compared with their files.
    """

    def __init__(self, view: View, files: Files) -> None:
        """Watch the files behind a view."""
        self.made: list[Refresh] = []
        self.sees_files = files.visible
        self._view = view
        self._files = files
        self._checked: set[int] = set()
        self.in_turn = False
        self._totals: dict[int, int] = {}

    def end_turn(self) -> None:
        """Forget which files were looked at in this turn, and what was refreshed."""
        self._checked = set()
        self.made = []
        self.in_turn = False

    def look(self, position: int, step: int, cap: int) -> None:
        """Make a read or search true: as it was, refreshed, or failed."""
        kernel = self._view.kernel
        if kernel.kind(position) == SEARCH:
            self._mention_writes(position)
            kernel.freshen(position)
            return
        self.check(kernel.gid(position))
        if not kernel.is_fresh(position):
            self._look_at_lines(position, step, cap)

    def looked(self, position: int) -> None:
        """A read is known to be true after all that was written so far."""
        kernel = self._view.kernel
        kernel.freshen(position)
        written = kernel.last(kernel.gid(position))
        if written > position:
            self._view.past_writes[position] = written

    def move(self, position: int, hunk: Hunk) -> None:
        """The lines of a live read are elsewhere since a change of its file."""
        first, count = self._asked(position)
        if count is None:
            # All of the file stays all of it.
            return
        last = first + count - 1
        if first > hunk.old[1]:
            first += hunk.shift
        if last >= hunk.old[1]:
            last += hunk.shift
        self._view.moved[position] = first, max(1, last - first + 1)

    def _asked(self, position: int) -> tuple[int, int | None]:
        """The first line and the number of lines that stand for a read now."""
        moved = self._view.moved.get(position)
        if moved is not None:
            return moved
        refresh = self._view.refreshes.get(position)
        return asked(self._view.ledger.pushed(position), refresh, self._view.head(position))

    def check(self, gid: int) -> None:
        """Look once a turn whether a file's signature gives reason to look at its content."""
        if self.sees_files and gid not in self._checked:
            self._checked.add(gid)
            self.in_turn = True
            self._view.kernel.checked(gid)
            if self._files.changed(gid, self._view.path(gid)):
                self._view.kernel.touch(gid)

    def look_at_file(self, gid: int) -> Look:
        """All of a file as it is now."""
        return self._read(gid, 1, None)

    def _read(self, gid: int, first: int, limit: int | None) -> Look:
        look = self._files.look(self._view.path(gid), first, limit)
        if look.result is not None and look.result.total_lines is not None:
            self._totals[gid] = look.result.total_lines
        return look

    def fail(self, position: int, step: int, because: str) -> None:
        """A live read cannot be made true."""
        reason = self.reason(position)
        self._record(Refresh(position, step, reason, because=because))

    def _record(self, refresh: Refresh) -> None:
        self._view.apply(refresh)
        self.made.append(refresh)
        self.in_turn = True

    def _look_at_lines(self, position: int, step: int, cap: int) -> None:
        observation, refresh = (
            self._view.ledger.pushed(position),
            self._view.refreshes.get(position),
        )
        head = self._view.head(position)
        first, limit = self._asked(position)
        look = self._read(self._view.kernel.gid(position), first, limit)
        now = look.result
        stayed = position not in self._view.moved or self._view.moved[position] == asked(
            observation, refresh, head
        )
        if now is not None and stayed and same(observation, refresh, head, now):
            self.looked(position)
            return
        if now is None:
            self.fail(position, step, look.because)
            return
        lines = None if limit is None else (first, first + limit - 1)
        reason = self.reason(position)
        self._record(
            Refresh(position, step, reason, now.text, lines, now.total_lines, now.digest, cap)
        )
        self.looked(position)

    def reason(self, position: int) -> str:
        """What made a read wrong: the newest write not looked at yet, or somebody else."""
        if not self._view.kernel.unseen_write(position):
            return render.CHANGED_ON_DISK
        return render.wrote(
            self._view.place(self._view.kernel.last(self._view.kernel.gid(position)), position)
        )

    def _mention_writes(self, position: int) -> None:
        """Say in a search's header which of the files it hit were written since."""
        written = []
        for path in self._view.hits(position):
            subject = file_subject(path)
            gid = self._view.kernel.find(hash64(subject), subject)
            if gid >= 0 and (last := self._view.kernel.last(gid)) > position:
                written.append((last, path))
        if written:
            files = [
                (path, self._view.place(last, position))
                for last, path in sorted(written, reverse=True)
            ]
            self._view.mention(position, render.written_since(files))

    def total_lines(self, position: int) -> int | None:
        """How many lines a read's file is known to have: by the newest look, else by the read."""
        known = self._totals.get(self._view.kernel.gid(position))
        if known is not None:
            return known
        observation = self._view.ledger.pushed(position)
        if observation.lines is None and observation.total_lines is None:
            return count_lines(observation.text)
        return observation.total_lines
