"""Noticing a run that gets nowhere: first a note to the model, the second time the end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from io_harness import jsontext
from io_harness.contract import StallLimits
from io_harness.providers.prompt import arguments_text
from io_harness.types import JSON, Observation, ObsKind, ToolCall


@dataclass(frozen=True, slots=True)
class Stall:
    """What the run is stuck in, in words for the model; `final` the second time."""

    what: str
    final: bool


@dataclass(slots=True)
class StallTracker:
    """Counts the same call in a row, and steps that neither show nor change anything new.

    Its state is JSON text, so that it survives a resume.
    """

    limits: StallLimits
    last_call: str = ""
    repeats: int = 0
    idle_steps: int = 0
    notes: int = 0
    seen: dict[str, None] = field(default_factory=dict)

    def after(
        self, calls: Sequence[ToolCall], observations: Iterable[Observation], *, changed: bool
    ) -> Stall | None:
        """Take in one step; say what the run is stuck in, if it is."""
        for call in calls:
            now = f"{call.name} {arguments_text(call.arguments)}"
            self.repeats = self.repeats + 1 if now == self.last_call else 1
            self.last_call = now
        fresh = [mark for mark in _marks(observations) if mark not in self.seen]
        self.seen.update(dict.fromkeys(fresh))
        self.idle_steps = 0 if fresh or changed or not calls else self.idle_steps + 1
        return self._stall()

    def _stall(self) -> Stall | None:
        if self.repeats >= self.limits.repeats:
            what = f"the call {_shown(self.last_call)} was made {self.repeats} times in a row"
        elif self.idle_steps >= self.limits.idle_steps:
            what = (
                f"the last {self.idle_steps} steps showed nothing that was not seen before and "
                "changed nothing"
            )
        else:
            return None
        self.repeats, self.idle_steps, self.last_call = 0, 0, ""
        self.notes += 1
        return Stall(what, final=self.notes > 1)

    def state(self) -> dict[str, JSON]:
        """Return what `restore` needs."""
        return {
            "last_call": self.last_call,
            "repeats": self.repeats,
            "idle_steps": self.idle_steps,
            "notes": self.notes,
        }

    def restore(self, state: dict[str, JSON], observations: Iterable[Observation]) -> None:
        """Go on from a state, over a run's observations so far."""
        self.last_call = str(state.get("last_call", ""))
        self.repeats = cast("int", state.get("repeats", 0))
        self.idle_steps = cast("int", state.get("idle_steps", 0))
        self.notes = cast("int", state.get("notes", 0))
        self.seen = dict.fromkeys(_marks(observations))


def _marks(observations: Iterable[Observation]) -> Iterator[str]:
    """Name what observations show, by kind, question and text; words alone show nothing."""
    for observation in observations:
        if observation.kind is not ObsKind.MESSAGE:
            question = [observation.kind, observation.target, observation.scope, observation.key]
            text = observation.text.encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(text, digest_size=16).hexdigest()
            yield f"{jsontext.dumps(question)} {digest}"


def _shown(call: str) -> str:
    return call if len(call) <= 200 else f"{call[:199]}…"
