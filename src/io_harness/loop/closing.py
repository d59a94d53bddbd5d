"""What follows from a step: a note to the model, the end of the run, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from io_harness.events import Verified
from io_harness.loop.acting import Acts
from io_harness.loop.outcome import End, Outcome
from io_harness.loop.stall import Stall
from io_harness.loop.state import Run
from io_harness.loop.verifying import verify
from io_harness.store import Event as TraceEvent
from io_harness.types import Completion, ObsKind

CHECKS = 3
"""How often the output of a failed check goes back to the model."""

CHECK_SECONDS = 3_600.0
"""How long a check may take where no time budget says less."""

_CUT_OFF = frozenset({"max_tokens", "length", "model_context_window_exceeded"})
_REFUSED = frozenset({"refusal", "content_filter"})


_GO_ON = "Your answer was cut off at its limit of tokens; go on from there."
_SILENT = (
    "Your answer was cut off at its limit of tokens before it said anything: take a smaller step."
)
_EMPTY = "Your answer was empty: go on with the task, or say in a sentence that it is done."


@dataclass(frozen=True, slots=True)
class Closing:
    """What is added to a step: a note as (kind, target, text), the end, events for the trace."""

    note: tuple[ObsKind, str | None, str] | None = None
    end: End | None = None
    events: tuple[TraceEvent, ...] = ()


def after_calls(run: Run, completion: Completion, acts: Acts) -> Closing:
    """See whether a step with calls got anywhere."""
    stall = run.stall.after(
        completion.calls, acts.in_order(), changed=acts.changed, in_view=run.in_view
    )
    return Closing() if stall is None else _stuck(stall, denied=acts.denied)


def _stuck(stall: Stall, *, denied: bool = False) -> Closing:
    if not stall.final:
        note = f"You are getting nowhere: {stall.what}. Do something else, or say what is missing."
        return Closing(
            _note(note), events=(TraceEvent(kind="replan", detail={"what": stall.what}),)
        )
    stalled = TraceEvent(kind="stalled", detail={"what": stall.what})
    if denied:
        reason = (
            f"{stall.what}, and was denied each time: allow it in the policy, or change the goal, "
            "and start again"
        )
        return Closing(end=End(Outcome.DENIED, reason), events=(stalled,))
    reason = f"{stall.what}, after a note did not help: start again with a clearer goal"
    return Closing(end=End(Outcome.STALLED, reason), events=(stalled,))


async def after_words(run: Run, completion: Completion) -> Closing:
    """See whether a task that the model says is done is done."""
    is_silent = not completion.text.strip()
    if completion.stop in _CUT_OFF:
        stall = run.stall.after_silence() if is_silent else None
        return Closing(_note(_SILENT if is_silent else _GO_ON)) if stall is None else _stuck(stall)
    if completion.stop in _REFUSED:
        said = completion.text or "it gave no reason"
        reason = f"the model refused the task ({said}): change the goal or take another model"
        return Closing(end=End(Outcome.DENIED, reason))
    if is_silent and run.contract.verification.is_none and not _was_told(run, _EMPTY):
        return Closing(_note(_EMPTY))
    left = run.seconds_left()
    seconds = CHECK_SECONDS if left is None else max(1.0, left)
    report = await verify(run.contract.verification, run.tools, seconds=seconds)
    run.tell(Verified(step=run.step, passed=report.passed, output=report.output))
    if report.passed:
        return Closing(end=End(Outcome.SUCCESS, _first_line(report.output)))
    run.failed_checks += 1
    note = _note(f"Not done yet: {report.output}")
    if run.failed_checks <= CHECKS:
        return Closing(note)
    reason = (
        f"the check failed {run.failed_checks} times ({_first_line(report.output)}): "
        "look at its output and start again"
    )
    return Closing(note, End(Outcome.VERIFICATION_FAILED, reason))


def _note(text: str) -> tuple[ObsKind, str | None, str]:
    return ObsKind.MESSAGE, "harness", text


def _was_told(run: Run, text: str) -> bool:
    """Whether the newest thing in the ledger is a note of ours with this text."""
    newest = run.ledger[len(run.ledger) - 1] if len(run.ledger) else None
    return newest is not None and (newest.kind, newest.target, newest.text) == _note(text)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
