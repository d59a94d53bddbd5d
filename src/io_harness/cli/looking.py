"""`runs` and `show`: what the store has of runs."""

from __future__ import annotations

from typing import NamedTuple

from io_harness.cli.account import account_of, happened
from io_harness.cli.output import call_in_short, plain, print_json, say, short
from io_harness.cli.progress import as_json
from io_harness.cli.request import lines_of, told
from io_harness.cli.stores import find_run, look_at_store
from io_harness.cli.table import Column, print_table
from io_harness.errors import ConfigError
from io_harness.store import ContextEvent, ProviderCall, RunRecord, StepRecord, Store
from io_harness.store.codec import MAX_INTEGER
from io_harness.types import Observation, ObsKind, ToolCall
from io_harness.workspace import counted


class OfStep(NamedTuple):
    """One step, what happened to its context and the attempts at its answer."""

    step: StepRecord
    events: tuple[ContextEvent, ...]
    calls: tuple[ProviderCall, ...]


def runs(store_name: str | None, *, json: bool) -> None:
    """List the runs of a store, newest last."""
    with look_at_store(store_name) as store:
        found = store.runs()
    if json:
        print_json({"runs": [_run_row(run) for run in found]})
    elif not found:
        say("no runs yet")
    else:
        print_table(
            (
                Column("run"),
                Column("outcome"),
                Column("goal", fold=16, drop=1),
                Column("model", fold=12, drop=2),
                Column("started", drop=3),
            ),
            (
                (
                    run.run_id,
                    run.outcome or "unfinished",
                    short(run.goal, 60),
                    plain(f"{run.provider}:{run.model}"),
                    run.started[:19],
                )
                for run in found
            ),
        )


def show(
    store_name: str | None, wanted: str, *, step: int | None, request: bool, json: bool
) -> None:
    """Show a run's steps, or one step whole, or the request it sent."""
    with look_at_store(store_name) as store:
        run = find_run(store, wanted)
        if step is None and request:
            raise ConfigError("--request shows the request of one step: name it with --step N")
        if step is not None:
            _show_step(_of_step(store, run, step), request=request, json=json)
        elif json:
            print_json(_run_object(store, run, store.steps(run.run_id)))
        else:
            _show_run(store, run, store.steps(run.run_id))


def _show_run(store: Store, run: RunRecord, steps: tuple[StepRecord, ...]) -> None:
    say(f"run {run.run_id}: {run.outcome or 'unfinished'}")
    say(f"goal: {plain(run.goal)}")
    say(f"workspace: {plain(run.workspace)}, model {plain(run.provider)}:{plain(run.model)}")
    if run.reason:
        say(f"reason: {plain(run.reason)}")
    say()
    if not steps:
        say("no steps yet")
        return
    requests = _requests(store, run.run_id)
    print_table(
        (
            Column("step"),
            Column("estimate"),
            Column("reported"),
            Column("cached", drop=1),
            Column("what the model did", fold=20),
        ),
        (_step_row(step, requests.get(step.step)) for step in steps),
    )
    drift = store.drift(run.run_id)
    if drift.ratio is not None:
        say()
        over = counted(drift.requests, "request")
        say(
            f"over {over} {drift.reported:,} tokens were reported and "
            f"{drift.estimated:,} estimated: {drift.ratio:.2f} for one"
        )


def _step_row(step: StepRecord, request: ContextEvent | None) -> tuple[str, ...]:
    usage = step.usage
    did = ", ".join(
        _did(call, seen)
        for call, seen in zip(
            step.calls, [o for o in step.observations if (o.call or 0) >= 0], strict=False
        )
    )
    return (
        str(step.step),
        _count(None if request is None else request.est_request),
        _count(None if usage is None else usage.input),
        _count(None if usage is None else usage.cache_read),
        did or short(step.decision, 80),
    )


def _did(call: ToolCall, seen: Observation) -> str:
    if seen.kind is ObsKind.ERROR:
        return short(f"{call.name} failed: {seen.text}", 70)
    return call_in_short(call.name, seen.target or "", 50)


def _show_step(found: OfStep, *, request: bool, json: bool) -> None:
    step = found.step
    if json:
        print_json(
            {
                **_step_object(step),
                "prompt": step.prompt,
                "context_events": [as_json(event) for event in found.events],
                "provider_calls": [as_json(call) for call in found.calls],
            }
        )
    elif request:
        _show_request(found)
    else:
        account = list(happened(found.events, found.calls))
        for line in ("--- account", *account, "--- answer") if account else ():
            say(line)
        if step.decision:
            say(told(step.decision), whole=True)
        for seen in step.observations:
            if (seen.call or 0) >= 0:
                target = short(seen.target or "", 100)
                say(f"[{seen.kind.value} {target}] {plain(seen.args)}", whole=True)
                say(told(seen.text).rstrip("\n"), whole=True)


def _show_request(found: OfStep) -> None:
    step = found.step
    say("--- account")
    for line in account_of(found.events):
        say(line)
    if step.request is None:
        say(told(step.prompt), whole=True)
    else:
        for line in lines_of(step.request):
            say(line, whole=True)


def _of_step(store: Store, run: RunRecord, number: int) -> OfStep:
    found = store.steps(run.run_id, step=number) if 0 < number <= MAX_INTEGER else ()
    if found:
        events, calls = store.context_events(run.run_id), store.provider_calls(run.run_id)
        return OfStep(
            found[0],
            tuple(event for event in events if event.step == number),
            tuple(call for call in calls if call.step == number),
        )
    have = len(store.steps(run.run_id))
    raise ConfigError(f"the run has no step {number}: it has {counted(have, 'step')}")


def _requests(store: Store, run_id: str) -> dict[int, ContextEvent]:
    """Return the last request of each step."""
    events = store.context_events(run_id)
    return {event.step: event for event in events if event.kind == "assembled"}


def _run_row(run: RunRecord) -> dict[str, object]:
    kept = ("run_id", "goal", "workspace", "provider", "model", "started", "finished")
    return {name: getattr(run, name) for name in kept} | {
        "outcome": run.outcome,
        "reason": run.reason,
    }


def _run_object(store: Store, run: RunRecord, steps: tuple[StepRecord, ...]) -> dict[str, object]:
    return {
        **_run_row(run),
        "steps": [_step_object(step) for step in steps],
        "context_events": [as_json(event) for event in store.context_events(run.run_id)],
        "provider_calls": [as_json(call) for call in store.provider_calls(run.run_id)],
        "drift": as_json(store.drift(run.run_id)),
    }


def _step_object(step: StepRecord) -> dict[str, object]:
    return {
        "step": step.step,
        "decision": step.decision,
        "calls": [as_json(call) for call in step.calls],
        "usage": None if step.usage is None else as_json(step.usage),
        "committed": step.committed,
        "observations": [as_json(seen) for seen in step.observations],
    }


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
