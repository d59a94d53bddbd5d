"""What the model could see in a request of what it then used."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING

import orjson

from io_harness.replay.policy import Part, Shown
from io_harness.replay.records import Change, Gone, Moved, Record, Swap, Transcript, Whole
from io_harness.types import JSON, ObsKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from io_harness.replay.figures import Figures

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{6,}")


def shows(part: Part) -> bool:
    """Whether a part has its record's text, and not a line about it."""
    return part.shown not in {Shown.STUB, Shown.COLLAPSED}


class View:
    """What stands in the request now: identifiers, lines and records, each with its count."""

    def __init__(self) -> None:
        self.identifiers: Counter[str] = Counter()
        self.records: Counter[int] = Counter()
        self.refreshes: dict[str, dict[Part, None]] = {}
        self._lines: Counter[int] = Counter()
        self._parts: dict[Part, None] = {}

    def add(self, parts: Iterable[Part]) -> None:
        """These parts are in the request now."""
        for part in parts:
            self._parts[part] = None
            words, lines = _content(part.text, part.args)
            self.identifiers.update(words)
            self._lines.update(lines)
            if part.record is not None and shows(part):
                self.records[part.record] += 1
            if part.path is not None and shows(part):
                self.refreshes.setdefault(part.path, {})[part] = None

    def drop(self, parts: Iterable[Part]) -> None:
        """These parts left the request."""
        for part in parts:
            self._parts.pop(part, None)
            words, lines = _content(part.text, part.args)
            self.identifiers.subtract(words)
            self._lines.subtract(lines)
            if part.record is not None and shows(part):
                self.records[part.record] -= 1
            if part.path is not None and shows(part):
                self.refreshes.get(part.path, {}).pop(part, None)

    def holds(self, text: str) -> bool:
        """Whether all lines of a text stand in the request; its ends may be parts of lines."""
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if not line.strip() or self._lines[hash(line)] > 0:
                continue
            at_an_end = at in {0, len(lines) - 1}
            if not at_an_end or not any(_has(part, line) for part in self._parts):
                return False
        return True


def _has(part: Part, text: str) -> bool:
    return text in part.text or any(text in value for value in _strings(part.args))


@lru_cache(maxsize=20_000)
def _content(text: str, args: str) -> tuple[tuple[str, ...], array[int]]:
    """The identifiers and the lines of a part, each once; lines by their hash, to keep it small.

    Arguments are read as what their JSON holds.
    """
    decoded = "\n".join(_strings(args))
    words = {*_IDENTIFIER.findall(text), *_IDENTIFIER.findall(decoded)}
    lines = {*text.split("\n"), *decoded.split("\n")}
    return tuple(map(intern, words)), array("q", map(hash, lines))


def _strings(args: str) -> Iterator[str]:
    """All text in an arguments' JSON, patch lines without their sign."""
    try:
        value: JSON = orjson.loads(args)
    except orjson.JSONDecodeError:
        yield args
        yield from (line[1:] for line in args.split("\n") if line[:1] in {"+", "-", " "})
        return
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
        elif isinstance(top, dict):
            stack.extend(top.values())
        elif isinstance(top, list):
            stack.extend(top)


def _edits(change: Change, path: str) -> bool:
    """Whether a change edits the file's text; to remove or rename it nobody needs its text."""
    return change.path == path and not isinstance(change, Gone | Moved)


class Uses:
    """What the model did at each step that needed something to be in the request."""

    def __init__(self, run: Transcript, cap: int) -> None:
        self._run = run
        self._cap = cap
        self._shows: dict[str, int] = {}
        self._writes: dict[str, list[int]] = {}
        self._touched: dict[str, int] = {}
        self._known: set[str] = set()
        self._by_step: dict[int, list[int]] = {}
        for position, record in enumerate(run.records):
            self._by_step.setdefault(record.step, []).append(position)
        self._learn(0)

    def judge(self, step: int, view: View, figures: Figures) -> None:
        """Measure the answer of this step against its request, then learn from it."""
        used: set[str] = set()
        for position in self._by_step.get(step, ()):
            record = self._run.records[position]
            if record.kind is ObsKind.MESSAGE and record.call != -1:
                continue
            said = (
                record.text if record.kind is ObsKind.MESSAGE else "\n".join(_strings(record.args))
            )
            used.update(_IDENTIFIER.findall(said))
            if record.kind is ObsKind.WRITE and not record.is_error:
                self._edit(record, view, figures)
        for word in used & self._known:
            figures.echo.add(seen=view.identifiers[word] > 0)
        self._learn(step)

    def _edit(self, record: Record, view: View, figures: Figures) -> None:
        olds = [old for c in record.changes if isinstance(c, Swap) for old, _ in c.pairs]
        if olds:
            figures.quoted.add(seen=all(view.holds(old) for old in olds))
        path = record.target
        shown = self._shows.get(path) if path else None
        if path and shown is not None and any(_edits(c, path) for c in record.changes):
            figures.strict.add(seen=self._visible(path, shown, view))
            figures.sight.add(seen=view.records[self._touched[path]] > 0)

    def _visible(self, path: str, shown: int, view: View) -> bool:
        """Whether the newest text shown of a file is there, and every change made to it since."""
        refreshes = view.refreshes.get(path, {})
        based = [p.as_of for p in refreshes if p.shown is Shown.REFRESHED]
        if view.records[shown] > 0:
            based.append(shown)
        void = max((p.as_of for p in refreshes if p.shown is Shown.VOIDED), default=-1)
        based = [position for position in based if position >= void]
        if not based:
            return False
        current = max(based)
        hunks = [p.as_of for p in refreshes if p.shown is Shown.APPENDED]
        return all(
            write <= current or view.records[write] > 0 or any(h >= write for h in hunks)
            for write in self._writes.get(path, ())
        )

    def _learn(self, step: int) -> None:
        for position in self._by_step.get(step, ()):
            record = self._run.records[position]
            self._known.update(_IDENTIFIER.findall(record.text))
            self._known.update(_IDENTIFIER.findall("\n".join(_strings(record.args))))
            if record.is_error:
                continue
            if record.kind is ObsKind.READ:
                for path in record.targets:
                    self._shows[path] = self._touched[path] = position
            for change in record.changes:
                self._touched[change.path] = position
                if isinstance(change, Whole) and len(record.args) <= self._cap:
                    self._shows[change.path] = position
                elif isinstance(change, Whole | Gone | Moved):
                    # A text longer than the entry cap leaves the arguments: no request shows it.
                    self._shows.pop(change.path, None)
                self._writes.setdefault(change.path, []).append(position)
