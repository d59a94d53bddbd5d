"""What a recording tells of its files: their text after each read and write, where it can be known.

A file is one text in which a line that nobody has shown is `HOLE`; so a read of lines 40 to 60
and an edit inside them give the new lines 40 to 60 without the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.replay.paths import canonical
from io_harness.replay.readtext import count_lines
from io_harness.replay.records import (
    Append,
    Change,
    Gone,
    Moved,
    Restored,
    Sed,
    Splice,
    Swap,
    Whole,
)
from io_harness.replay.sed import MAX_CHARS, NotComputable, sed

if TYPE_CHECKING:
    from io_harness.replay.records import Record

HOLE = "\0\n"
MAX_HOLES = 200_000


@dataclass(slots=True)
class FileState:
    """One file: what is known of its text, whether the text reaches its end, its version."""

    text: str = ""
    ends: bool = False
    version: int = 0
    gone: bool = False
    original: tuple[str, bool] | None = None


@dataclass(slots=True)
class FileTexts:
    """The files of one run, driven by its records in order.

    `unknown_writes` counts writes after which a file's text could not be told.
    """

    _files: dict[str, FileState]
    unknown_writes: int = 0

    @classmethod
    def empty(cls) -> FileTexts:
        """No file known."""
        return cls({})

    def take(self, record: Record) -> None:
        """Learn from one record: what a read showed, what a write did."""
        if record.is_error:
            return
        for change in record.changes:
            self.write(change)
        self.learn(record)

    def learn(self, record: Record) -> None:
        """Take in what a read showed; other records show nothing."""
        if record.is_error:
            return
        if record.exact and record.target is not None and record.lines is not None:
            self.show(record.target, record.lines[0], record.text, record.total_lines)

    def state(self, path: str) -> FileState | None:
        """The file, where anything is known of it."""
        return self._files.get(path)

    def lines(self, path: str, first: int, last: int | None) -> str | None:
        """These lines now (`None`: to the end); `None` where one of them is not known."""
        state = self._files.get(path)
        if state is None or (last is None and not state.ends):
            return None
        lines = state.text.split("\n")
        count = count_lines(state.text)
        if not state.ends and (last is None or last > count):
            return None
        shown = lines[first - 1 : count if last is None else min(last, count)]
        if any(line == "\0" for line in shown):
            return None
        end = first - 1 + len(shown)
        closes = end < count or state.text.endswith("\n") or not shown
        return "\n".join(shown) + ("\n" if shown and closes else "")

    def show(self, path: str, first: int, text: str, total: int | None) -> None:
        """A read showed these lines. Where they contradict what was known, only they are."""
        state = self._files.setdefault(path, FileState())
        shown = count_lines(text)
        if first - 1 + shown > MAX_HOLES or "\0" in text:
            return
        state.gone = False
        known = self.lines(path, first, first + shown - 1)
        ends = total is not None and first + shown - 1 >= total
        if known is not None and known.rstrip("\n") != text.rstrip("\n"):
            state.text, state.ends = "", False
            state.version += 1
        self._fill(state, first, text, ends=ends)

    def _fill(self, state: FileState, first: int, text: str, *, ends: bool) -> None:
        lines = _split(state.text)
        lines.extend([HOLE] * (first - 1 - len(lines)))
        new = _split(text)
        if ends:
            lines[first - 1 :] = new
        else:
            if new and not new[-1].endswith("\n"):
                new[-1] += "\n"
            lines[first - 1 : first - 1 + len(new)] = new
        state.text, state.ends = "".join(lines), state.ends or ends

    def write(self, change: Change) -> None:
        """One change; a text that it makes unknown is forgotten, and counted."""
        if isinstance(change, Moved):
            self._move(change)
            return
        state = self._files.setdefault(change.path, FileState())
        if state.version == 0:
            state.original = state.text, state.ends
        state.version += 1
        state.gone = isinstance(change, Gone)
        if state.gone:
            self._forget(state)
            return
        if isinstance(change, Restored) and state.original is not None:
            state.text, state.ends = state.original
            return
        after = _after(state, change, self._whole)
        if after is None:
            self.unknown_writes += bool(state.text)
            self._forget(state)
        else:
            state.text = after
            state.ends = state.ends or isinstance(change, Whole)

    def _whole(self, path: str) -> str | None:
        return self.lines(canonical(path), 1, None)

    def _move(self, change: Moved) -> None:
        moved = self._files.pop(change.path, None) or FileState()
        old = self._files.get(change.to)
        moved.version = max(moved.version, old.version if old else 0) + 1
        self._files[change.to] = moved
        self._files[change.path] = FileState(version=moved.version, gone=True)

    def _forget(self, state: FileState) -> None:
        state.text, state.ends = "", False


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _after(state: FileState, change: Change, read: Callable[[str], str | None]) -> str | None:
    """The text after a change, `None` where it cannot be told; `read` gives other files."""
    if isinstance(change, Whole):
        return change.text
    if isinstance(change, Swap):
        return _swapped(state, change)
    if isinstance(change, Splice):
        return _spliced(state, change)
    if isinstance(change, Append):
        return state.text + change.text if state.ends else (state.text or None)
    return _edited(state, change, read) if isinstance(change, Sed) and state.text else None


def _edited(state: FileState, change: Sed, read: Callable[[str], str | None]) -> str | None:
    try:
        return sed(
            state.text,
            change.script,
            extended=change.extended,
            to_end=state.ends,
            read=read,
        )
    except NotComputable:
        return None


def _swapped(state: FileState, change: Swap) -> str | None:
    text = state.text
    for old, new in change.pairs:
        found = text.count(old) if old else 0
        if len(text) + found * len(new) > MAX_CHARS:
            return None
        if found:
            text = text.replace(old, new, -1 if change.every else 1)
        elif not old or (state.ends and HOLE not in text):
            return None
        elif old.count("\n") != new.count("\n"):
            # The change is among lines nobody was shown: what stands before the first is as it was.
            text = text[: text.find(HOLE)] if HOLE in text else text
    return text


def _spliced(state: FileState, change: Splice) -> str | None:
    lines = _split(state.text)
    if change.first - 1 > len(lines) and not state.ends:
        return state.text or None
    if change.last > len(lines) and not state.ends:
        return None
    lines[change.first - 1 : max(change.last, change.first - 1)] = _split(change.text)
    return "".join(lines)
