"""How many lines a recording's files have at each of their versions.

A real file's number of lines is known from the first read on. A recording may tell it late, or
never: then the lines known are the least, and the number is carried along by what changes add.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from io_harness.replay.files import FileTexts
from io_harness.replay.readtext import count_lines
from io_harness.replay.records import Append, Restored, Splice, Swap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Change, Transcript


@dataclass(slots=True)
class _Stretch:
    """Versions of a file between which it is known how many lines were added.

    `least` and `told` are numbers of lines at the stretch's first version.
    """

    added: int = 0
    least: int = 0
    told: int | None = None
    restored: bool = False
    versions: dict[int, int] = field(default_factory=dict)

    def see(self, version: int, known: int, told: int | None) -> None:
        """At this version so many lines were known, and the file was said to have so many."""
        self.versions[version] = self.added
        self.least = max(self.least, known - self.added)
        if self.told is None and told is not None:
            self.told = told - self.added


def lengths(run: Transcript) -> Mapping[tuple[str, int], int]:
    """The lines of each file (by path) at each version that `FileTexts` gives it."""
    files = FileTexts.empty()
    stretches: dict[str, list[_Stretch]] = {}
    for record in run.records:
        for change in record.changes:
            before = _known(files, change.path)
            files.write(change)
            after = _known(files, change.path)
            added = _added(change, before, after)
            of_file = stretches.setdefault(change.path, [_Stretch()])
            if added is None:
                of_file.append(_Stretch(restored=isinstance(change, Restored)))
            else:
                of_file[-1].added += added
            _see(files, change.path, of_file[-1], None)
        files.learn(record)
        if record.exact and record.target is not None:
            of_file = stretches.setdefault(record.target, [_Stretch()])
            _see(files, record.target, of_file[-1], record.total_lines)
    return {
        (path, version): base + added
        for path, of_file in stretches.items()
        for stretch in of_file
        for base in (_base(stretch, of_file[0]),)
        for version, added in stretch.versions.items()
    }


def _base(stretch: _Stretch, first: _Stretch) -> int:
    """The lines at a stretch's first version."""
    before = max(first.least, first.told or 0) if stretch.restored else 0
    return max(stretch.least, stretch.told or 0, before)


def _known(files: FileTexts, path: str) -> int:
    state = files.state(path)
    return 0 if state is None else count_lines(state.text)


def _see(files: FileTexts, path: str, stretch: _Stretch, told: int | None) -> None:
    state = files.state(path)
    if state is not None:
        stretch.see(state.version, count_lines(state.text), told)


def _added(change: Change, before: int, after: int) -> int | None:
    """How many lines a change added; `None` where the recording does not tell."""
    if isinstance(change, Swap) and not change.every:
        return sum(new.count("\n") - old.count("\n") for old, new in change.pairs)
    if isinstance(change, Splice):
        return count_lines(change.text) - (change.last - change.first + 1)
    if isinstance(change, Append):
        return count_lines(change.text)
    if isinstance(change, Restored):
        return None
    return after - before if before and after else None
