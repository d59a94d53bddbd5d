"""Keep the last N observations, as SWE-agent's `last_n_observations` history processor does.

Source: swe-agent.com, reference of history processors: `n` observations are kept, `polling`
(our `every`) moves the boundary only every so many steps to keep the prompt cache warm.
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
class LastObservations:
    """The newest `keep` results stay whole; the boundary moves every `every` requests."""

    keep: int
    every: int

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """Older results are cleared when the boundary moves."""
        state = Elision(run, terms.entry_cap_chars)
        for step, positions in enumerate(steps_of(run)[: run.steps]):
            state.append(positions)
            if step % self.every == 0:
                for place in state.results()[: -self.keep]:
                    state.clear(place)
            yield state.parts
