"""What a request carries: parts in order, and the policies that choose them.

A policy is driven through a run: for each request it sees the records so far and gives the
request's parts. Parts are compared by identity, so a policy that keeps a part keeps the object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from io_harness.replay.records import Record, Transcript


class Shown(StrEnum):
    """How a part shows its record: the strip of the page has one colour for each."""

    CARRIED = "carried"
    BOUNDED = "bounded"
    REFRESHED = "refreshed"
    APPENDED = "appended"
    VOIDED = "voided"
    STUB = "stub"
    COLLAPSED = "collapsed"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One stretch of a request: text and arguments as sent, and whose they are.

    `record` is the position of the record shown, `None` for text that belongs to none. `path`
    and `as_of` say of a refresh, of lines appended after a change, or of a line that takes back
    all that was shown, which file they concern and up to which record's changes (its position)
    they know it.
    """

    text: str
    args: str = ""
    shown: Shown = Shown.CARRIED
    record: int | None = None
    path: str | None = None
    as_of: int = -1

    @property
    def chars(self) -> int:
        """Code points that sending the part takes."""
        return len(self.text) + len(self.args)


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms requests are made and billed.

    `ceiling` and `fixed` in tokens of 4 code points; `read` and `write` are the price of a
    cached and of a new token, in tokens at the plain price.
    """

    ceiling: int = 24_000
    read: float = 0.1
    write: float = 1.25
    fixed: int = 4_000

    @property
    def entry_cap_chars(self) -> int:
        """The most code points of one observation: an eighth of the ceiling, at least 2,000."""
        return max(2_000, self.ceiling * 4 // 8)


class Policy(Protocol):
    """Chooses what each request of a run carries."""

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """The parts of request 1, 2, … to the last; request k sees records of steps before k."""


def steps_of(run: Transcript) -> list[list[int]]:
    """Positions of the records of each step, from step 0 to the last."""
    found: list[list[int]] = [[] for _ in range(run.steps + 1)]
    for position, record in enumerate(run.records):
        found[min(record.step, run.steps)].append(position)
    return found


_LONG = re.compile(r'"((?:[^"\\]|\\.){201,})"')


def elided(args: str, cap: int) -> str:
    """Arguments over a cap: their long strings give way to their length, else they go."""
    short = _LONG.sub(lambda m: f'"[{len(m[1])} chars elided]"', args)
    return short if len(short) <= cap and short[:1] == "{" else "{}"


@dataclass(slots=True)
class Cut:
    """Records as parts, each bounded once by the entry cap: the same for every policy."""

    cap: int
    _parts: dict[int, Part] = field(default_factory=dict)

    def part(self, position: int, record: Record) -> Part:
        """The record's part, made once."""
        made = self._parts.get(position)
        if made is None:
            args = record.args if len(record.args) <= self.cap else elided(record.args, self.cap)
            text = record.text[: max(self.cap - len(args), 0)]
            whole = len(text) + len(args) == record.chars
            made = Part(text, args, Shown.CARRIED if whole else Shown.BOUNDED, position)
            self._parts[position] = made
        return made


@dataclass(frozen=True, slots=True)
class Everything:
    """Append-only: every observation stays in every later request."""

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """One list that grows."""
        cut = Cut(terms.entry_cap_chars)
        parts: list[Part] = []
        for positions in steps_of(run)[: run.steps]:
            parts.extend(cut.part(p, run.records[p]) for p in positions)
            yield parts
