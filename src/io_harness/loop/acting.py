"""Doing what an answer asks for: its calls in order, each effect recorded before it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from io_harness import jsontext
from io_harness.events import ToolCalled
from io_harness.loop.memory import place
from io_harness.loop.settling import settled, started_detail
from io_harness.loop.state import Run
from io_harness.store import Event as TraceEvent
from io_harness.store import StartedCall
from io_harness.tools import Deferred, Started, ToolOutcome
from io_harness.types import JSON, Observation, ToolCall

_REPEATABLE = frozenset({"remember", "forget"})
"""Effects on the store, which knows a repeated one by its step and call."""
_REASON_CHARS = 500


@dataclass(slots=True)
class Acts:
    """What the calls of one step came to, in order, and what they did."""

    observations: dict[int, Observation] = field(default_factory=dict)
    changed: bool = False
    denied: bool = False
    deferred: Deferred | None = None

    def in_order(self) -> list[Observation]:
        """The observations in the order of the calls."""
        return [self.observations[number] for number in sorted(self.observations)]


async def act(
    run: Run,
    calls: Sequence[ToolCall],
    acts: Acts,
    started: Mapping[int, StartedCall],
) -> None:
    """Do the calls of the newest step that `acts` has no observation of.

    Calls without effects that stand side by side overlap; others wait for all before them. Ends
    early where an approver defers.
    """
    open_calls = [(n, call) for n, call in enumerate(calls) if n not in acts.observations]
    for group in _groups(run, open_calls):
        if len(group) == 1:
            number, call = group[0]
            await _do(run, number, call, acts, started.get(number))
        else:
            await asyncio.gather(*(_do(run, n, call, acts, started.get(n)) for n, call in group))
        if acts.deferred is not None:
            return


def _groups(run: Run, calls: Sequence[tuple[int, ToolCall]]) -> list[list[tuple[int, ToolCall]]]:
    """Put neighbours that have no effects together; anything else stands alone."""
    groups: list[list[tuple[int, ToolCall]]] = []
    joinable = False
    for number, call in calls:
        tool = run.toolbox.get(call.name)
        quiet = tool is not None and not tool.effectful
        if quiet and joinable:
            groups[-1].append((number, call))
        else:
            groups.append([(number, call)])
        joinable = quiet
    return groups


async def _do(
    run: Run, number: int, call: ToolCall, acts: Acts, started: StartedCall | None
) -> None:
    place.set((run.step, number))
    if started is not None and call.name not in _REPEATABLE:
        outcome: ToolOutcome | Deferred = await settled(run, started)
    else:
        outcome = await run.toolbox.dispatch(
            call, run.tools, before_effect=lambda effect: _record_start(run, number, effect)
        )
    if isinstance(outcome, Deferred):
        acts.deferred = acts.deferred or outcome
        return
    args = outcome.arguments if outcome.arguments is not None else call.arguments
    # What was no object is kept as a JSON text: a lenient reader must not take it for one.
    acts.observations[number] = outcome.observation(
        step=run.step, call=number, args=jsontext.dumps(args)
    )
    acts.changed = acts.changed or outcome.changed
    acts.denied = acts.denied or outcome.denied
    _report(run, number, call, outcome)


async def _record_start(run: Run, number: int, effect: Started) -> None:
    """Commit 2: an effect is about to start."""
    await run.journal.call_started(
        run.lease,
        run.step,
        number,
        detail=started_detail(effect),
    )


def _report(run: Run, number: int, call: ToolCall, outcome: ToolOutcome) -> None:
    if outcome.note is not None:
        detail: dict[str, JSON] = {"call": number, "note": outcome.note}
        run.trace_events.append(TraceEvent(kind="file_note", detail=detail))
    for approval in outcome.approvals:
        run.trace_events.append(
            TraceEvent(
                kind="approval",
                detail={
                    "call": number,
                    "act": approval.act.value,
                    "subject": approval.subject,
                    "choice": approval.choice.value,
                    "reason": approval.reason,
                },
            )
        )
    run.tell(
        ToolCalled(
            step=run.step,
            call=number,
            name=call.name,
            kind=outcome.kind,
            target=outcome.target,
            chars=len(outcome.text),
            is_error=outcome.is_error,
            reason=outcome.text[:_REASON_CHARS] if outcome.is_error else "",
        )
    )
