"""Starting a run, going on with one, and seeing that its end is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import ParamSpec

from io_harness.contract import TaskContract, contract_from_json
from io_harness.contract.limits import of_kind
from io_harness.errors import ConfigError, HarnessError
from io_harness.events import Observer, RunFinished, RunStarted
from io_harness.loop.acting import Acts
from io_harness.loop.approving import policy_from_json
from io_harness.loop.outcome import FINAL, End, Outcome, RunResult
from io_harness.loop.setup import Setting, answers_of, new_run, recorded_run
from io_harness.loop.spending import Spending
from io_harness.loop.state import Run
from io_harness.loop.turn import drive, finish_step
from io_harness.policy import Approver, Policy
from io_harness.providers import Provider
from io_harness.store import Recorded, RunRecord, Store
from io_harness.store.damage import json_object, restoring
from io_harness.tools import Tool
from io_harness.types import Usage
from io_harness.workspace import Workspace

_RENEW_SECONDS = 10.0

P = ParamSpec("P")


async def run(
    contract: TaskContract,
    provider: Provider,
    store: Store,
    *,
    policy: Policy | None = None,
    approver: Approver | None = None,
    tools: Sequence[Tool] = (),
    observer: Observer | None = None,
) -> RunResult:
    """Work on a contract until it is done or a limit ends it, and say how that went.

    Cancelling records the run as cancelled, to be gone on with by `resume`.

    Args:
        contract: what to do, and within which limits.
        provider: the model.
        store: where all that happens is kept.
        policy: what tools may do; without one `Policy.default()`.
        approver: who is asked where the policy says so.
        tools: tools of one's own, besides the built-in ones.
        observer: is called with each event as it happens.

    Raises:
        PolicyNeedsApprover: the policy would ask, and there is no approver.
        ConfigError: the root, a tool, the store or another argument cannot be used.
        HarnessError: the store failed; what was acknowledged is kept.
    """
    of_kind("contract", contract, TaskContract)
    rules = Policy.default() if policy is None else policy
    setting = Setting(provider, store, rules, approver, tuple(tools), observer)
    with _opened(contract, store) as workspace:
        made = await new_run(contract, setting, workspace)
        made.tell(_started(made, resumed=False))
        return await _driven(made, drive)


async def resume(
    run_id: str,
    provider: Provider,
    store: Store,
    *,
    contract: TaskContract | None = None,
    policy: Policy | None = None,
    approver: Approver | None = None,
    tools: Sequence[Tool] = (),
    observer: Observer | None = None,
) -> RunResult:
    """Go on with a run from where the store has it; a finished one is only reported.

    So is one that the same model refused as too long, unless the contract is given again.
    Contract and policy are the stored ones unless given again, as one with a callable, or with
    a larger budget, must be.

    The other arguments are those of `run`.

    Raises:
        RunUnknown: the store has no such run.
        RunLeased: another driver has it now.
        PolicyNeedsApprover: the policy would ask, and there is no approver.
        ConfigError: the stored contract holds a callable, and none was given; or an argument
            cannot be used.
    """
    of_kind("store", store, Store)
    stored = await asyncio.to_thread(store.run, run_id)
    same_model = (stored.provider, stored.model) == (provider.name, provider.model)
    # What a model refused as too long is not sent to it again.
    refused = stored.outcome == Outcome.CONTEXT_OVERFLOW and same_model and contract is None
    if stored.outcome in FINAL or refused:
        return await reported(store, run_id)
    given = stored_contract(stored) if contract is None else contract
    rules = stored_policy(stored) if policy is None else policy
    setting = Setting(provider, store, rules, approver, tuple(tools), observer)
    with _opened(given, store) as workspace:
        return await _resumed(given, setting, workspace, run_id)


def stored_contract(stored: RunRecord) -> TaskContract:
    """Return the contract of a run; `ConfigError` where it is not one that `run` recorded."""
    with restoring(f"what run {stored.run_id!r} was asked for"):
        if "goal" in json_object(stored.contract):
            return contract_from_json(stored.contract)
    raise ConfigError(
        f"run {stored.run_id!r} was recorded by another driver, with a contract of its own: "
        "go on with it where it was begun"
    )


def stored_policy(stored: RunRecord) -> Policy:
    """Return the policy of a run."""
    with restoring(f"what run {stored.run_id!r} was allowed"):
        return policy_from_json(stored.policy)


def _waited_for(
    name: str, start: Callable[P, Coroutine[None, None, RunResult]]
) -> Callable[P, RunResult]:
    @wraps(start)
    def waiting(*args: P.args, **options: P.kwargs) -> RunResult:
        if _is_inside_a_loop():
            raise RuntimeError(
                f"{name} was called inside a running event loop, which it would block: "
                f"write `await {start.__name__}(...)` there"
            )
        return asyncio.run(start(*args, **options))

    waiting.__name__ = waiting.__qualname__ = name
    waiting.__doc__ = (
        f"Do what `{start.__name__}` does, and wait for it.\n\n"
        f"Raises what `{start.__name__}` raises, and `RuntimeError` inside a running event loop."
    )
    return waiting


run_sync = _waited_for("run_sync", run)
resume_sync = _waited_for("resume_sync", resume)


def _is_inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _resumed(
    contract: TaskContract, setting: Setting, workspace: Workspace, run_id: str
) -> RunResult:
    lease = await setting.store.journal.acquire(run_id)
    try:
        made, recorded = await recorded_run(contract, setting, workspace, lease)
    except BaseException:
        await setting.store.journal.release(lease)
        raise
    made.tell(_started(made, resumed=True))
    return await _driven(made, lambda run: _go_on(run, recorded))


async def _go_on(run: Run, recorded: Recorded) -> End:
    """Finish the step that was in flight, then take turns."""
    if run.end is not None:
        return run.end
    unfinished = recorded.unfinished
    if unfinished is not None:
        done = {
            seen.call: seen
            for seen in recorded.observations
            if seen.step == unfinished.step and seen.call is not None and seen.call >= 0
        }
        started = {call.call: call for call in unfinished.started}
        end = await finish_step(run, unfinished.completion, Acts(done), started)
        if end is not None:
            return end
    return await drive(run)


async def _driven(run: Run, driving: Callable[[Run], Awaitable[End]]) -> RunResult:
    """Drive a run under its lease, and record how it ends."""
    renewing = asyncio.create_task(_renew(run))
    try:
        end = await driving(run)
    except asyncio.CancelledError:
        step = run.step if run.is_open else run.step + 1
        reason = f"interrupted in step {step}: resume goes on from there"
        await _finish(run, End(Outcome.CANCELLED, reason))
        raise
    except BaseException:
        with suppress(HarnessError):
            await run.journal.release(run.lease)
        raise
    finally:
        renewing.cancel()
    await _finish(run, end)
    return _result(run, end)


async def _renew(run: Run) -> None:
    """Hold the lease; where it is lost, the next commit says so."""
    with suppress(HarnessError):
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            run.lease = await run.journal.renew(run.lease)


async def _finish(run: Run, end: End) -> None:
    await run.journal.finished(
        run.lease,
        outcome=end.outcome.value,
        reason=end.reason,
        step=run.step + 1 if run.unrecorded else run.step,
        assemblies=tuple(run.unrecorded),
    )
    run.tell(
        RunFinished(run_id=run.run_id, outcome=end.outcome.value, reason=end.reason, steps=run.step)
    )


def _result(run: Run, end: End) -> RunResult:
    return RunResult(
        run_id=run.run_id,
        outcome=end.outcome,
        reason=end.reason,
        steps=run.step,
        text=run.completion.text if run.completion is not None else "",
        spent=Usage(run.spending.input, run.spending.output),
        retryable=end.retryable,
    )


async def reported(store: Store, run_id: str) -> RunResult:
    """Return the result of a finished run as it is recorded."""
    recorded = await store.journal.load(run_id)
    spending = Spending()
    for _, completion, estimate in answers_of(recorded):
        spending.add(completion, est_input=estimate)
    return RunResult(
        run_id=run_id,
        outcome=Outcome(recorded.run.outcome or ""),
        reason=recorded.run.reason,
        steps=recorded.last_step,
        text=recorded.last_completion.text if recorded.last_completion else "",
        spent=Usage(spending.input, spending.output),
    )


def _started(run: Run, *, resumed: bool) -> RunStarted:
    return RunStarted(
        run_id=run.run_id,
        goal=run.contract.goal,
        provider=run.provider.name,
        model=run.provider.model,
        resumed=resumed,
    )


@contextmanager
def _opened(contract: TaskContract, store: Store) -> Iterator[Workspace]:
    """Open the workspace, the store's own files kept from every tool."""
    with Workspace(contract.root) as workspace:
        for file in store.files:
            workspace.reserve(file)
            # SQLite would roll a journal that lies there back into the database.
            workspace.reserve(file.with_name(f"{file.name}-journal"))
            with suppress(OSError):
                status = file.stat()
                workspace.hide(status.st_dev, status.st_ino)
        yield workspace
