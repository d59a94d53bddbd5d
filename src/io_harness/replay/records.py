"""What an importer yields: typed records of one recorded run, and a report of what it met."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from io_harness.types import ObsKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.types import Usage


@dataclass(frozen=True, slots=True)
class Whole:
    """The file holds exactly this text now."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Old text replaced by new, pair after pair; `every` where all occurrences were meant."""

    path: str
    pairs: tuple[tuple[str, str], ...]
    every: bool = False


@dataclass(frozen=True, slots=True)
class Splice:
    """Lines `first` to `last` (1-based, inclusive) replaced; `last = first - 1` inserts."""

    path: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Append:
    """Text added at the end of the file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Sed:
    """A sed script applied in place; `extended` for -E and -r."""

    path: str
    script: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """The file goes by another name now; what that name held is gone."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Gone:
    """The file was removed."""

    path: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The file has again the text it had before the run first changed it (git checkout PATH)."""

    path: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The file changed in a way the recording does not tell."""

    path: str


Change: TypeAlias = Whole | Swap | Splice | Append | Sed | Moved | Gone | Restored | Unknown


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a call asks for, as far as its name and arguments tell.

    `lines` are the lines asked for, `None` the whole file; `last` of `lines` may be 0 for
    "to the end". `targets` are all files a call reads or writes, the first one its target.
    `exact` tells that the call does this one thing: a read prints those lines of the one file
    and nothing else, an exit code is this write's own.
    """

    kind: ObsKind
    target: str | None = None
    lines: tuple[int, int] | None = None
    scope: str | None = None
    targets: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that entered the model's context, and the request that caused it.

    `step` counts model requests from 1 (0 is what stood there before the first). `call` is the
    position among the answer's calls; what the model said has -1. `kind` is what the call was
    meant to be: a failed one has `is_error` and holds or changes nothing. `text` is the result
    as the model got it; for an `exact` read it is the lines of the file and nothing else.
    `usage` is what the provider reported, on the first record of a step.
    """

    step: int
    call: int
    kind: ObsKind
    target: str | None
    lines: tuple[int, int] | None
    scope: str | None
    args: str
    text: str
    is_error: bool
    usage: Usage | None
    tool: str = field(default="", kw_only=True)
    total_lines: int | None = field(default=None, kw_only=True)
    exact: bool = field(default=False, kw_only=True)
    targets: tuple[str, ...] = field(default=(), kw_only=True)
    paths: tuple[str, ...] = field(default=(), kw_only=True)
    changes: tuple[Change, ...] = field(default=(), kw_only=True)

    @property
    def chars(self) -> int:
        """Code points that sending this record takes: its text and its arguments."""
        return len(self.text) + len(self.args)


@dataclass(slots=True)
class MappingReport:
    """What an importer understood of a file and what it did not; nothing is dropped unseen.

    `notes` counts by reason: broken lines, unknown types, missing results and the like.
    """

    notes: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    @property
    def not_understood(self) -> int:
        """How many parts of the file gave no record though they may have been in the context."""
        return sum(self.unknown.values())


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded run in the order it entered the context."""

    path: str
    format: str
    records: tuple[Record, ...]
    steps: int
    report: MappingReport

    def kinds(self) -> Mapping[str, int]:
        """Records by kind, failed ones under the kind they were meant to be."""
        return Counter(record.kind.value for record in self.records)
