"""`show`, `remember` and `forget`: the run's own trace, and the workspace's notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from io_harness.tools.base import Plan, ToolContext, ToolError
from io_harness.tools.builtin import builtin
from io_harness.tools.outcome import ToolOutcome
from io_harness.types import ObsKind

if TYPE_CHECKING:
    from io_harness.tools.base import MemoryWriter
    from io_harness.types import MemoryWrite


@builtin()
def show(
    here: ToolContext,
    step: Annotated[int, "the step, as a header or a stub names it"],
    call: Annotated[int, "the call within the step, counted from 0"] = 0,
    start: Annotated[int, "first character to show, counted from 0"] = 0,
    limit: Annotated[int | None, "number of characters; all that follow if left out"] = None,
) -> Plan:
    """Show the original text of an earlier result, as it was then: what was elided, whole."""
    if start < 0 or (limit is not None and limit < 0):
        raise ToolError(f"start {start} and limit {limit}: both are 0 or more")

    async def perform() -> ToolOutcome:
        if here.trace is None:
            raise ToolError("this run keeps no trace to show from")
        observation = await here.trace.observation(step, call)
        if observation is None:
            raise ToolError(
                f"there is no result of call {call} in step {step}; headers and stubs name them"
            )
        length = len(observation.text)
        if length and start >= length:
            raise ToolError(f"start {start:,} is past the end: the text has {length:,} characters")
        end = length if limit is None else min(length, start + limit)
        what = observation.target or observation.kind
        since = ", changed since" if here.trace.is_changed(observation) else ""
        target = f"show {what} as it was at step {step}{since}"
        return ToolOutcome(ObsKind.TOOL, target, observation.text[start:end])

    return Plan((), perform)


def _memory(here: ToolContext) -> MemoryWriter:
    if here.memory is None:
        raise ToolError("this run has no memory to write to")
    return here.memory


@builtin(effectful=True, trusted=True)
def remember(
    here: ToolContext,
    key: Annotated[str, "short name of the note, at most 128 characters"],
    value: Annotated[str, "the note, at most 2,000 characters"],
) -> Plan:
    """Keep a note for later runs over this workspace; a note of the same key is replaced."""

    async def perform() -> ToolOutcome:
        written = await _memory(here).remember(key, value)
        return ToolOutcome(ObsKind.TOOL, "remember", _remembered(key, written))

    return Plan((), perform)


def _remembered(key: str, written: MemoryWrite) -> str:
    told = [f"remembered {key!r}"]
    if written.truncated:
        told.append("the value was too long and was cut")
    if written.evicted:
        told.append(f"the oldest notes made room: {', '.join(map(repr, written.evicted))}")
    return "; ".join(told)


@builtin(effectful=True, trusted=True)
def forget(here: ToolContext, key: Annotated[str, "the note's key"]) -> Plan:
    """Delete a note about this workspace."""

    async def perform() -> ToolOutcome:
        existed = await _memory(here).forget(key)
        told = f"forgot {key!r}" if existed else f"there is no note {key!r}; nothing was deleted"
        return ToolOutcome(ObsKind.TOOL, "forget", told)

    return Plan((), perform)
