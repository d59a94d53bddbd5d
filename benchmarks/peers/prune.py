"""Prune tool output beyond the newest tokens, as opencode does.

Source: opencode.ai, documentation of compaction: outputs older than the newest 40,000 tokens of
output are erased once more than 20,000 tokens can be gained that way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.peers.elide import Elision
from io_harness.replay.policy import Part, Terms, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from io_harness.replay.records import Transcript


@dataclass(frozen=True, slots=True)
class PruneOldOutput:
    """Results beyond the newest `keep_tokens` go when that gains `gain_tokens` or more."""

    keep_tokens: int
    gain_tokens: int

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """Newest results are counted first; what lies beyond is cleared in one go."""
        state = Elision(run, terms.entry_cap_chars)
        for positions in steps_of(run)[: run.steps]:
            state.append(positions)
            beyond = self._beyond(state)
            if sum(len(state.parts[p].text) for p in beyond) / 4 >= self.gain_tokens:
                for place in beyond:
                    state.clear(place)
            yield state.parts

    def _beyond(self, state: Elision) -> list[int]:
        newest = 0.0
        beyond: list[int] = []
        for place in reversed(state.results()):
            if newest > self.keep_tokens:
                beyond.append(place)
            newest += len(state.parts[place].text) / 4
        return beyond
