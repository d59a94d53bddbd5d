"""Noticing a run that gets nowhere: first a note to the model, the second time the end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from io_harness import jsontext
from io_harness.contract import StallLimits
from io_harness.jsontext import arguments_text
from io_harness.types import JSON, Observation, ObsKind, ToolCall


@dataclass(frozen=True, slots=True)
class Stall:
    """What the run is stuck in, in words for the model; `final` the second time."""

    what: str
    final: bool


Place: TypeAlias = tuple[int, int]
"""A step, and a call within it."""

_RETURNS = 3
"""How often one result counts as new again because it was no longer in view.

Getting back what a small ceiling left out is work; a run that reads two files in turn, of which a
request holds one, must end nevertheless.
"""

_NOT_SOUGHT = frozenset({ObsKind.ERROR, ObsKind.WRITE})


@dataclass(slots=True)
class StallTracker:
    """Counts the same call in a row, and steps that neither show nor change anything new.

    What the model said is nothing new. Its state is JSON text, so that it survives a resume.
    """

    limits: StallLimits
    last_call: str = ""
    repeats: int = 0
    idle_steps: int = 0
    notes: int = 0
    seen: dict[str, Place] = field(default_factory=dict)
    returns: dict[str, int] = field(default_factory=dict)

    def after(
        self,
        calls: Sequence[ToolCall],
        observations: Sequence[Observation],
        *,
        changed: bool,
        in_view: AbstractSet[Place],
    ) -> Stall | None:
        """Take in one step; say what the run is stuck in, if it is.

        `in_view` is where the results stand that the request of this step carried.
        """
        for call in calls:
            now = f"{call.name} {arguments_text(call.arguments)}"
            self.repeats = self.repeats + 1 if now == self.last_call else 1
            self.last_call = now
        shown = [(_mark(seen), seen) for seen in observations if seen.kind is not ObsKind.MESSAGE]
        news = [mark for mark, seen in shown if self._is_news(mark, seen.kind, in_view)]
        self.seen.update((mark, _place(seen)) for mark, seen in shown)
        self.idle_steps = 0 if news or changed or not calls else self.idle_steps + 1
        return self._stall()

    def after_silence(self) -> Stall | None:
        """Take in a step that neither said nor asked for anything."""
        self.idle_steps += 1
        return self._stall()

    def _is_news(self, mark: str, kind: ObsKind, in_view: AbstractSet[Place]) -> bool:
        """Whether the model had not seen this, or has it in view no more."""
        before = self.seen.get(mark)
        if before is None:
            return True
        returned = self.returns.get(mark, 0)
        if before in in_view or kind in _NOT_SOUGHT or returned >= _RETURNS:
            return False
        self.returns[mark] = returned + 1
        return True

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
            "returns": dict(self.returns),
        }

    def restore(self, state: dict[str, JSON], observations: Iterable[Observation]) -> None:
        """Go on from a state, over a run's observations so far."""
        self.last_call = str(state.get("last_call", ""))
        self.repeats = cast("int", state.get("repeats", 0))
        self.idle_steps = cast("int", state.get("idle_steps", 0))
        self.notes = cast("int", state.get("notes", 0))
        self.returns = cast("dict[str, int]", state.get("returns", {}))
        self.seen = {
            _mark(seen): _place(seen) for seen in observations if seen.kind is not ObsKind.MESSAGE
        }


def _mark(observation: Observation) -> str:
    """Name what an observation shows, by kind, question and text."""
    question = [observation.kind, observation.target, observation.scope, observation.key]
    text = observation.text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=16).hexdigest()
    return f"{jsontext.dumps(question)} {digest}"


def _place(observation: Observation) -> Place:
    return observation.step, observation.call or 0


def _shown(call: str) -> str:
    return call if len(call) <= 200 else f"{call[:199]}…"
