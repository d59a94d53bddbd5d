"""One request: how large it may be, what goes in, and the answer, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from io_harness.context.budget import MIN_CEILING_TOKENS
from io_harness.context.messages import build_messages
from io_harness.errors import ProviderError
from io_harness.events import Completed
from io_harness.loop.account import (
    Prepared,
    account_for,
    fixed_tokens,
    know_request,
    record_of,
    request_event,
)
from io_harness.loop.outcome import End, Outcome
from io_harness.loop.prefix import stable_chars
from io_harness.loop.retry import TimeBudgetSpentError, ask
from io_harness.loop.spending import section_ceiling
from io_harness.loop.state import Run
from io_harness.providers.base import KnowsWindow
from io_harness.store import ProviderCall, refresh_events, refreshes_of
from io_harness.types import Completion, CompletionRequest, MemoryEntry, Message


async def answer(run: Run, step: int) -> Completion | End:
    """Ask the model for step `step`, and commit its answer with the request it answers."""
    ceiling = _ceiling(run)
    if isinstance(ceiling, End):
        return ceiling
    notes = await _notes(run)
    tried: list[Prepared] = []
    while True:
        prepared = _prepare(run, step, ceiling, notes)
        if tried and prepared.request == tried[0].request:
            return _overflow(tried, "and there is nothing more to leave out")
        tried.append(prepared)
        run.unrecorded.append(record_of(run, prepared))
        run.tell(request_event(run, step, prepared))
        if run.is_refused:
            run.is_refused = False
            ceiling = run.ceiling_cap = _halved(prepared)
            continue
        try:
            answered = await ask(run, step, prepared.request)
        except TimeBudgetSpentError as error:
            return End(Outcome.TIME_BUDGET, _time_reason(run, str(error)))
        except ProviderError as error:
            if error.kind != "context_overflow":
                return _provider_failed(run, error)
            if len(tried) == 2:
                return _overflow(tried, "twice")
            ceiling = run.ceiling_cap = _halved(prepared)
            continue
        await _commit(run, step, tried, answered, notes)
        return answered[0]


def _ceiling(run: Run) -> int | End:
    """Return the most estimated tokens for the section, or why none fits the model's window."""
    contract = run.contract
    ratio = run.calibration.ratio if contract.calibration else 1.0
    wished = section_ceiling(contract.context_budget, run.tokens_left())
    ceiling = max(MIN_CEILING_TOKENS, int(wished / ratio))
    window = run.provider.context_window if isinstance(run.provider, KnowsWindow) else None
    if run.ceiling_cap is not None:
        ceiling = min(ceiling, run.ceiling_cap)
    if window is None:
        return ceiling
    fixed = fixed_tokens(run)
    room = int((window - contract.output_reserve) / ratio) - fixed
    if room < MIN_CEILING_TOKENS:
        return End(
            Outcome.CONTEXT_OVERFLOW,
            f"the fixed part has an estimated {fixed:,} tokens (tools, system text, goal) and "
            f"{contract.output_reserve:,} are kept for the answer, which leaves no room in the "
            f"{window:,} of {run.provider.model}: shorten the goal, offer fewer tools, lower the "
            "output reserve or take a model with a larger window",
        )
    return min(ceiling, room)


async def _notes(run: Run) -> tuple[MemoryEntry, ...]:
    if run.contract.memory_mode == "off":
        return ()
    return await run.journal.notes(run.workspace_key)


def _prepare(run: Run, step: int, ceiling: int, notes: Sequence[MemoryEntry]) -> Prepared:
    assembled = run.assembler.assemble(step=step, budget_tokens=ceiling, notes=notes)
    messages = _with_reasoning(run, build_messages(assembled.pieces, run.calls))
    request = CompletionRequest(
        system=run.system,
        tools=run.toolbox.specs,
        messages=(run.goal, *messages),
        max_output_tokens=run.contract.output_reserve,
        stable_chars=stable_chars(run.section, messages),
    )
    return Prepared(request, assembled, ceiling, fixed_tokens(run))


def _with_reasoning(run: Run, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Give the newest step's reasoning back with its calls: some vendors demand it."""
    newest = run.completion
    if newest is None or newest.reasoning is None or not newest.calls:
        return messages
    ids = tuple(run.calls[run.step, number].id for number in range(len(newest.calls)))
    return tuple(
        replace(message, reasoning=newest.reasoning)
        if message.calls and tuple(call.id for call in message.calls) == ids
        else message
        for message in messages
    )


async def _commit(
    run: Run,
    step: int,
    tried: Sequence[Prepared],
    answered: tuple[Completion, ProviderCall],
    notes: Sequence[MemoryEntry],
) -> None:
    """Commit 1: from here on the provider is not asked for this step again."""
    completion, call = answered
    prepared = tried[-1]
    made = prepared.assembled
    refreshes = [refresh for one in tried for refresh in refreshes_of(one.assembled)]
    await run.journal.completed(
        run.lease,
        step,
        completion,
        request=prepared.request,
        assemblies=tuple(run.unrecorded),
        call=call,
        refreshes=refreshes,
        recalled=[note for note in notes if note.key in made.recalled_keys],
        recalled_from=run.workspace_key,
        events=[event for one in tried for event in refresh_events(one.assembled, run.ledger)],
        manifest=made.manifest,
        state=run.state_text(),
    )
    know_request(run, refreshes)
    run.attempts, run.section = 0, prepared.request.messages[1:]
    run.step, run.completion, run.is_open = step, completion, True
    run.know_calls(step, completion)
    account_for(run, completion, prepared.est_request)
    run.tell(
        Completed(
            step=step,
            text=completion.text,
            calls=tuple(c.name for c in completion.calls),
            usage=completion.usage,
            seconds=call.latency,
        )
    )


def _halved(prepared: Prepared) -> int:
    """Return half of what was too much: of the ceiling, or of the section where it was less."""
    sent = min(prepared.ceiling, prepared.assembled.est_tokens)
    return max(MIN_CEILING_TOKENS, sent // 2)


def _overflow(tried: Sequence[Prepared], how: str) -> End:
    sizes = " and ".join(f"{prepared.est_request:,}" for prepared in tried)
    return End(
        Outcome.CONTEXT_OVERFLOW,
        f"the provider refused the request as too long for its context {how}, at an estimated "
        f"{sizes} tokens: lower the context budget or take a model with a larger window",
    )


def _provider_failed(run: Run, error: ProviderError) -> End:
    tries = f" (attempt {run.attempts})" if run.attempts > 1 else ""
    after = "resume the run later" if error.retryable else "then resume the run"
    link = ": " if error.retryable else ", "
    return End(Outcome.PROVIDER_FAILED, f"{error}{tries}{link}{after}", error.retryable)


def _time_reason(run: Run, why: str) -> str:
    return (
        f"the time budget of {run.contract.time_budget:g} s is spent ({why}): "
        "resume with a larger one"
    )
