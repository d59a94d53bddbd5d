"""Asking a provider, and asking again: each attempt is in the trace."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable

from io_harness.contract import Retries
from io_harness.errors import ConfigError, ProviderError
from io_harness.events import AttemptFailed
from io_harness.loop.answered import checked
from io_harness.loop.state import Run
from io_harness.providers import faults
from io_harness.store import ProviderCall
from io_harness.types import Completion, CompletionRequest

_LONGEST_WISH = 3_600.0


class TimeBudgetSpentError(Exception):
    """The time budget ends before the provider can be asked again; the message says why."""


async def ask(run: Run, step: int, request: CompletionRequest) -> tuple[Completion, ProviderCall]:
    """Return the answer and the attempt that brought it.

    Raises the last `ProviderError` once no further attempt is worth it, and
    `TimeBudgetSpentError`.
    """
    first = run.attempts + 1
    while True:
        run.attempts += 1
        started = time.monotonic()
        try:
            completion = await _once(run, request)
        except ProviderError as error:
            await _failed(run, step, error, time.monotonic() - started, run.attempts - first)
            continue
        latency = time.monotonic() - started
        call = ProviderCall(
            step=step, attempt=run.attempts, kind="ok", latency=latency, usage=completion.usage
        )
        return completion, call


async def _once(run: Run, request: CompletionRequest) -> Completion:
    deadline, left = run.contract.retries.deadline, run.seconds_left()
    who = f"{run.provider.name}:{run.provider.model}"
    try:
        seconds = deadline if left is None else max(0.0, min(deadline, left))
        async with asyncio.timeout(seconds) as limit:
            completion = await _awaited(run.provider.complete(request), who)
    except TimeoutError as error:
        if not limit.expired():
            raise faults.gave_up(who, error) from error
        if left is not None and left <= deadline:
            raise TimeBudgetSpentError("the provider was still answering") from error
        raise faults.late(who, deadline) from error
    if not completion.text and not completion.calls and completion.usage is None:
        raise faults.empty(who)
    return completion


async def _awaited(answer: Awaitable[Completion] | Completion, who: str) -> Completion:
    """Return a provider's answer; `ConfigError` where its author gave something else."""
    if not isinstance(answer, Awaitable):
        raise ConfigError(f"{who}: complete must be async, and gave {answer!r} at once")
    return checked(await answer, who)


async def _failed(run: Run, step: int, error: ProviderError, latency: float, retries: int) -> None:
    """Record an attempt that failed and wait for the next one, or raise why there is none."""
    plan = run.contract.retries
    last = not error.retryable or retries + 1 >= plan.attempts
    wait = None if last else _wait(plan, retries, error.retry_after)
    call = ProviderCall(
        step=step, attempt=run.attempts, kind=error.kind, latency=latency, detail=str(error)
    )
    await run.journal.attempted(run.lease, call)
    run.tell(
        AttemptFailed(
            step=step, attempt=run.attempts, kind=error.kind, message=str(error), wait=wait
        )
    )
    if wait is None:
        raise error
    left = run.seconds_left()
    if left is not None and wait >= left:
        raise TimeBudgetSpentError(f"the next attempt is due in {wait:.1f} s: {error}") from error
    await asyncio.sleep(wait)


def _wait(plan: Retries, retries: int, wish: float | None) -> float | None:
    """Return the seconds to wait, `None` where a server asks for more than an hour."""
    if wish is not None and wish > _LONGEST_WISH:
        return None
    delay = min(plan.max_delay, plan.first_delay * 2.0**retries)
    return max(delay * random.uniform(0.5, 1.0), wish or 0.0)  # noqa: S311  (spreads retries)
