"""Clear old tool results above a threshold, as Anthropic's context editing does.

Source: docs.claude.com, context editing, `clear_tool_uses_20250919`: trigger 100,000 input
tokens, keep the 3 newest tool uses, clear the results and leave the calls.
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
class ClearToolResults:
    """Above so many tokens (fixed part included) all results but the newest are cleared."""

    above_tokens: int
    keep: int

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """Grows until the trigger; then all old results go at once."""
        state = Elision(run, terms.entry_cap_chars)
        for positions in steps_of(run)[: run.steps]:
            state.append(positions)
            if state.tokens() + terms.fixed > self.above_tokens:
                for place in state.results()[: -self.keep]:
                    state.clear(place)
            yield state.parts
