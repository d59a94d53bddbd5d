"""What must, and what may, be superseded: sets of lines, and every later observation tried.

Where the spec leaves a choice open, or a size hangs on the length of a marker, the model knows
a least and a most: what is covered at least must be superseded, what is covered at most may be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from io_harness.types import Observation, ObsKind

from .grammar import clean
from .scenario import Fact
from .world import slice_lines, split_lines

MARKER_LEAST = len("elided truncated")
MARKER_MOST = 400
LINE_STARTS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
KEYED_BY_TARGET = {ObsKind.GREP, ObsKind.FIND, ObsKind.SKILL}
KEYED_BY_KEY = {ObsKind.TOOL, ObsKind.MCP, ObsKind.CHILD, ObsKind.MESSAGE, ObsKind.ERROR}


Versions: TypeAlias = Mapping[str, Sequence[tuple[int, str | None]]]


class Must(Enum):
    """How sure the model is that an observation is superseded."""

    YES = "yes"
    MAY = "may"
    NO = "no"


def entry_cap(budget: int) -> int:
    """An eighth of the ceiling in code points, and at least 2,000."""
    return max(2_000, budget * 4 // 8)


def least_shown(text: str) -> int:
    """The length of a text as shown if no line of it needs a backslash."""
    return len(clean(text))


def most_shown(text: str) -> int:
    """The length of a text as shown if every line of it needs a backslash."""
    return least_shown(text) + 1 + len(LINE_STARTS.findall(text))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whole lines from `first` on, `part` code points of the next, and the end if it was seen."""

    first: int
    whole: int
    part: int
    end: bool

    def amount(self, line: int) -> float:
        """How much of one line this shows."""
        after = self.first + self.whole
        if self.first <= line < after or (self.end and line >= after):
            return math.inf
        return self.part if line == after else 0

    @property
    def last(self) -> int:
        """The last line that shows anything."""
        return self.first + self.whole - 1 + bool(self.part)


def kept(text: str, room: int, measure: Callable[[str], int]) -> tuple[int, int]:
    """Whole lines that fit in a room, and how much of the next one does."""
    used = whole = 0
    for line in split_lines(text):
        size = measure(line)
        if used + size > room:
            return whole, max(0, room - used)
        used += size
        whole += 1
    return whole, 0


def _cover(seen: Observation, cap: int, *, most: bool) -> Coverage:
    first = seen.lines[0] if seen.lines else 1
    got = len(split_lines(seen.text))
    if (least_shown if most else most_shown)(seen.text) <= cap:
        asked = math.inf if seen.lines is None else seen.lines[1] - first + 1
        end = got < asked or got == 0 or first + got - 1 == seen.total_lines
        return Coverage(first, got, 0, end)
    if most:
        whole, part = kept(seen.text, cap - MARKER_LEAST, least_shown)
    else:
        whole, part = kept(seen.text, cap - MARKER_MOST, most_shown)
        part = 0 if whole else part
    return Coverage(first, whole, part, end=False)


def least_cover(fact: Fact) -> Coverage:
    """What a read showed at the very least when it entered."""
    return _cover(fact.observation, entry_cap(fact.entry_budget), most=False)


def most_cover(fact: Fact) -> Coverage:
    """What it showed at the very most when it entered."""
    return _cover(fact.observation, entry_cap(fact.entry_budget), most=True)


def possible_covers(fact: Fact, versions: Versions) -> list[Coverage]:
    """What it may have shown at one time or another, refreshes counted."""
    seen = fact.observation
    offset = seen.lines[0] if seen.lines else 1
    limit = seen.lines[1] - offset + 1 if seen.lines else None
    covers = [most_cover(fact)]
    for count, text in versions.get(fact.path or "", ()):
        if count > fact.position and text is not None:
            lines, _, total = slice_lines(text, offset, limit)
            later = replace(seen, text=lines, total_lines=total)
            covers.append(_cover(later, entry_cap(fact.most_budget), most=True))
    return covers


def ever_cut(fact: Fact, versions: Versions) -> bool:
    """Whether the read, or a refresh of it, may have been cut: its lines don't move then."""
    texts = [fact.observation.text]
    offset = fact.observation.lines[0] if fact.observation.lines else 1
    for count, text in versions.get(fact.path or "", ()):
        if count > fact.position and text is not None:
            texts.append(slice_lines(text, offset, None)[0])
    return max(map(most_shown, texts)) > entry_cap(0)


def covered(target: Coverage, by: Iterable[Coverage], *, to_the_end: bool) -> bool:
    """Whether the others together show every line of the target, and the end where asked."""
    others = tuple(by)
    lines = list(range(target.first, target.last + 1))
    if to_the_end and target.end:
        beyond = max([target.last, *(other.last for other in others)]) + 1
        lines += range(target.first + target.whole, beyond + 1)
    return bool(others) and all(
        max(other.amount(line) for other in others) >= target.amount(line) for line in lines
    )


def question(fact: Fact) -> tuple[object, ...] | None:
    """What two observations that are not reads must share to be one answer; none: never."""
    seen: Observation = fact.observation
    if seen.kind is ObsKind.WRITE:
        return None if fact.path is None else (seen.kind, fact.path)
    if seen.kind in KEYED_BY_TARGET and seen.target is not None:
        return (seen.kind, seen.target, seen.scope)
    if seen.kind in KEYED_BY_KEY and seen.key is not None:
        return (seen.kind, seen.key)
    return None


def later_answers(fact: Fact, facts: Sequence[Fact]) -> list[Fact]:
    """Every later observation that could have to do with this one being superseded."""
    later = [other for other in facts if other.position > fact.position]
    if fact.observation.kind is ObsKind.READ:
        return [
            other
            for other in later
            if other.observation.kind is ObsKind.READ and other.path == fact.path
        ]
    asked = question(fact)
    return [other for other in later if asked is not None and question(other) == asked]


def superseded(
    fact: Fact, facts: Sequence[Fact], failed: frozenset[int], versions: Versions
) -> Must:
    """Whether later answers replace this one.

    A read whose refresh failed shows nothing any more: that it replaced others before may stand
    or not, so it counts for `may` only. So does what only a refresh of a later read shows.
    """
    later = later_answers(fact, facts)
    if fact.observation.kind is not ObsKind.READ:
        return Must.YES if later else Must.NO
    sure = [least_cover(other) for other in later if other.position not in failed]
    if covered(most_cover(fact), sure, to_the_end=True):
        return Must.YES
    most = [cover for other in later for cover in possible_covers(other, versions)]
    return Must.MAY if covered(least_cover(fact), most, to_the_end=False) else Must.NO


def differs(fact: Fact, text: str | None) -> bool:
    """Whether a version of a read's file differs in what the read showed of it, at the most."""
    if text is None:
        return True
    cover = most_cover(fact)
    lines = split_lines(text)[cover.first - 1 :]
    shown = split_lines(fact.observation.text)
    if cover.end:
        return lines != shown
    count = cover.whole + bool(cover.part)
    return lines[:count] != shown[:count]
