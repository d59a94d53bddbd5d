"""Trim to the newest messages that fit: LangChain's `trim_messages(strategy="last")` and kin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.replay.policy import Cut, Part, Terms, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from io_harness.replay.records import Transcript


@dataclass(frozen=True, slots=True)
class TrimMessages:
    """The task stays, then the newest steps that fit the ceiling, whole steps only."""

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """Drops the oldest steps, as many as needed, each time anew."""
        cut = Cut(terms.entry_cap_chars)
        task, *later = steps_of(run)[: run.steps]
        head = [cut.part(p, run.records[p]) for p in task]
        steps: list[list[Part]] = []
        first = 0
        yield head
        for positions in later:
            steps.append([cut.part(p, run.records[p]) for p in positions])
            while first < len(steps) - 1 and _chars(head, steps[first:]) > terms.ceiling * 4:
                first += 1
            yield [*head, *(part for step in steps[first:] for part in step)]


def _chars(head: list[Part], steps: list[list[Part]]) -> int:
    return sum(p.chars for p in head) + sum(p.chars for step in steps for p in step)
