"""Requests in which old results have given way to a placeholder while their calls stay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from io_harness.replay.policy import Cut, Part, Shown
from io_harness.types import ObsKind

if TYPE_CHECKING:
    from io_harness.replay.records import Transcript

PLACEHOLDER = "[Old tool result content cleared]"


@dataclass(slots=True)
class Elision:
    """The growing list of a run's parts, and which results in it were cleared."""

    run: Transcript
    cap: int
    parts: list[Part] = field(default_factory=list)
    _cut: Cut = field(init=False)

    def __post_init__(self) -> None:
        self._cut = Cut(self.cap)

    def append(self, positions: list[int]) -> None:
        """The records at these positions enter."""
        self.parts.extend(self._cut.part(p, self.run.records[p]) for p in positions)

    def results(self) -> list[int]:
        """Places in `parts` of tool results that still stand in full, oldest first."""
        return [
            place
            for place, part in enumerate(self.parts)
            if part.shown is not Shown.STUB and self._is_result(part)
        ]

    def clear(self, place: int) -> None:
        """Put the placeholder where a result stood; its call's arguments stay."""
        old = self.parts[place]
        self.parts[place] = Part(PLACEHOLDER, old.args, Shown.STUB, old.record)

    def tokens(self) -> float:
        """Estimated tokens of all parts."""
        return sum(part.chars for part in self.parts) / 4

    def _is_result(self, part: Part) -> bool:
        return part.record is not None and (
            self.run.records[part.record].kind is not ObsKind.MESSAGE
        )
