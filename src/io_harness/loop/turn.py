"""The loop: one turn, from the budgets to the next, on this page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from io_harness.loop.acting import Acts, act
from io_harness.loop.asking import answer
from io_harness.loop.closing import Closing, after_calls, after_words
from io_harness.loop.outcome import End, Outcome
from io_harness.loop.state import Run
from io_harness.store import StartedCall
from io_harness.tools import Deferred
from io_harness.types import Completion, Observation, ObsKind
from io_harness.workspace import counted


async def drive(run: Run) -> End:
    """Take turns until the run ends."""
    while True:
        end = await turn(run)
        if end is not None:
            return end


async def turn(run: Run) -> End | None:
    """Take one turn: ask, do what the answer asks for, and see where that leaves the run."""
    end = _spent(run)
    if end is not None:
        return end
    completion = await answer(run, run.step + 1)
    if isinstance(completion, End):
        return completion
    return await finish_step(run, completion, Acts(), {})


async def finish_step(
    run: Run, completion: Completion, acts: Acts, started: Mapping[int, StartedCall]
) -> End | None:
    """Do what is left of the newest step, and commit it with what follows from it."""
    try:
        async with asyncio.timeout(run.seconds_left()) as limit:
            await act(run, completion.calls, acts, started)
    except BaseException as error:
        await _commit(run, completion, acts, Closing(), whole=False)
        if isinstance(error, TimeoutError) and limit.expired():
            return _time_is_up(run)
        raise
    if acts.deferred is not None:
        await _commit(run, completion, acts, Closing(), whole=False)
        return _awaiting(acts.deferred)
    if completion.calls:
        closing = after_calls(run, completion, acts)
    else:
        closing = await after_words(run, completion)
    await _commit(run, completion, acts, closing)
    return closing.end


async def _commit(
    run: Run, completion: Completion, acts: Acts, closing: Closing, *, whole: bool = True
) -> None:
    """Commit 3: the step's observations, whole, with all that resume needs to go on."""
    said = Observation(run.step, ObsKind.MESSAGE, None, completion.text, call=-1)
    observations = [*([said] if completion.text else []), *acts.in_order()]
    if closing.note is not None:
        number = len(completion.calls)
        observations.append(Observation(run.step, *closing.note, call=number))
    run.end = closing.end
    events = (*run.trace_events, *closing.events)
    run.trace_events.clear()
    await run.journal.stepped(
        run.lease,
        run.step,
        observations,
        events=events,
        state=run.state_text(),
        whole=whole,
    )
    if whole:
        run.is_open = False
        for observation in observations:
            run.push(observation)


def _spent(run: Run) -> End | None:
    """Say which budget is spent, if one is."""
    contract = run.contract
    seconds, tokens = run.seconds_left(), run.tokens_left()
    if run.step >= contract.max_steps:
        return End(
            Outcome.STEP_CAP,
            f"the limit of {counted(contract.max_steps, 'step')} is reached: resume with a higher "
            "one (max_steps)",
        )
    if seconds is not None and seconds <= 0:
        return _time_is_up(run)
    if tokens is not None and tokens <= 0:
        return End(
            Outcome.TOKEN_BUDGET,
            f"{run.spending.total:,} tokens of {contract.token_budget:,} are spent: "
            "resume with a larger budget",
        )
    return None


def _time_is_up(run: Run) -> End:
    return End(
        Outcome.TIME_BUDGET,
        f"the time budget of {run.contract.time_budget:g} s is spent: resume with a larger one",
    )


def _awaiting(deferred: Deferred) -> End:
    act, subject = deferred.request.act.value, deferred.request.subject
    return End(
        Outcome.AWAITING_APPROVAL,
        f"{act} of {subject!r} waits for approval: resume the run where somebody can give it",
    )
