"""What a store says of its runs."""

from __future__ import annotations

from io_harness.store import leases
from io_harness.store.base import Transaction
from io_harness.store.codec import as_float, as_int, as_maybe_int, as_maybe_text, as_text, only
from io_harness.store.records import (
    ContextEvent,
    Drift,
    MemoryRecall,
    ProviderCall,
    Recorded,
    RunRecord,
    StepRecord,
)
from io_harness.store.requests import parse_request
from io_harness.store.rows import (
    calls,
    completion,
    context_event,
    observed,
    refreshes,
    reported,
    run_record,
    step_record,
    unfinished,
    usage,
)
from io_harness.store.versions import VersionReader
from io_harness.types import Observation

_RUN = (
    "SELECT run_id, goal, workspace, contract, provider, model, policy, started, parent, outcome,"
    " reason, finished FROM runs"
)


def runs(tx: Transaction) -> tuple[RunRecord, ...]:
    """Return every run, oldest first."""
    return tuple(map(run_record, tx.execute(f"{_RUN} ORDER BY run")))


def run(tx: Transaction, run_id: str) -> RunRecord:
    """Return one run."""
    return run_record(only(tx.execute(f"{_RUN} WHERE run = ?", (leases.known(tx, run_id),))))


def steps(tx: Transaction, run_id: str, step: int | None) -> tuple[StepRecord, ...]:
    """Return the steps of a run, or the one asked for."""
    number = leases.known(tx, run_id)
    rows = tx.execute(
        "SELECT step, decision, stop, reasoning, prompt, input, output, cache_read, cache_write,"
        " reported, committed FROM steps WHERE run = ? AND step >= ? AND step <= ? ORDER BY step",
        (number, 0 if step is None else step, 2**63 - 1 if step is None else step),
    )
    versions = VersionReader(tx)
    return tuple(
        step_record(tx, number, row, versions, observations(tx, number, as_int(row[0])))
        for row in rows
    )


def observations(tx: Transaction, number: int, step: int | None = None) -> list[Observation]:
    """Return a run's observations, or one step's, in ledger order."""
    rows = tx.execute(
        "SELECT o.step, o.call, kind, target, text, CASE WHEN args IS NULL THEN arguments ELSE"
        " args END, first_line, last_line, total_lines, scope, key, digest, paths"
        " FROM observations o LEFT JOIN calls c USING (run, step, call)"
        " WHERE run = ? AND (? IS NULL OR step = ?) ORDER BY step, call",
        (number, step, step),
    )
    return [observed(tx, row) for row in rows]


def observation(tx: Transaction, run_id: str, step: int, call: int) -> Observation | None:
    """Return one observation, if there is one."""
    number = leases.known(tx, run_id)
    found = (seen for seen in observations(tx, number, step) if seen.call == call)
    return next(found, None)


def context_events(tx: Transaction, run_id: str) -> tuple[ContextEvent, ...]:
    """Return what happened to the context of a run."""
    rows = tx.execute(
        "SELECT step, sequence, kind, detail, est_section, est_request, input, output, cache_read,"
        " cache_write, pieces FROM context_events JOIN origins USING (run)"
        " WHERE run = ? ORDER BY step, sequence",
        (leases.named(tx, run_id),),
    )
    versions = VersionReader(tx)
    return tuple(context_event(row, versions) for row in rows)


def provider_calls(tx: Transaction, run_id: str) -> tuple[ProviderCall, ...]:
    """Return every attempt at an answer."""
    rows = tx.execute(
        "SELECT step, attempt, kind, latency, input, output, cache_read, cache_write, detail"
        " FROM provider_calls WHERE run = ? ORDER BY step, attempt",
        (leases.known(tx, run_id),),
    )
    return tuple(
        ProviderCall(
            step=as_int(step),
            attempt=as_int(attempt),
            kind=as_text(kind),
            latency=as_float(latency),
            usage=reported(tokens),
            detail=as_text(detail),
        )
        for step, attempt, kind, latency, *tokens, detail in rows
    )


def drift(tx: Transaction, run_id: str) -> Drift:
    """Return estimate against report."""
    model = run(tx, run_id).model
    rows = tx.execute(
        "SELECT count(*), coalesce(sum(est_request), 0), coalesce(sum(input), 0)"
        " FROM context_events WHERE run = ? AND kind = 'assembled' AND input IS NOT NULL",
        (leases.known(tx, run_id),),
    )
    requests, estimated, reported = map(as_int, only(rows))
    return Drift(
        run_id=run_id,
        model=model,
        requests=requests,
        estimated=estimated,
        reported=reported,
        ratio=reported / estimated if estimated else None,
    )


def recalls(tx: Transaction, run_id: str) -> tuple[MemoryRecall, ...]:
    """Return the notes that a run was shown."""
    rows = tx.execute(
        "SELECT step, name, key, seq, note_run_id, note_step FROM memory_recalls"
        " JOIN workspaces USING (workspace) WHERE run = ? ORDER BY step, workspace, seq",
        (leases.known(tx, run_id),),
    )
    return tuple(
        MemoryRecall(
            step=as_int(step),
            workspace=as_text(name),
            key=as_text(key),
            seq=as_int(seq),
            note_run_id=as_text(note_run_id),
            note_step=as_int(note_step),
        )
        for step, name, key, seq, note_run_id, note_step in rows
    )


def load(tx: Transaction, run_id: str) -> Recorded:
    """Return all that resume needs."""
    number = leases.known(tx, run_id)
    manifest, state, prompt = only(
        tx.execute("SELECT manifest, state, prompt FROM progress WHERE run = ?", (number,))
    )
    answered = tx.execute(
        "SELECT step, input, output, cache_read, cache_write, reported, committed, (SELECT"
        " est_request FROM context_events e WHERE e.run = s.run AND e.step = s.step AND"
        " kind = 'assembled' ORDER BY sequence DESC LIMIT 1)"
        " FROM steps s WHERE run = ? AND decision IS NOT NULL ORDER BY step",
        (number,),
    )
    last_step = as_int(answered[-1][0]) if answered else 0
    (attempts,) = only(
        tx.execute(
            "SELECT count(*) FROM provider_calls WHERE run = ? AND step > ?", (number, last_step)
        )
    )
    answer = completion(tx, number, last_step) if answered else None
    return Recorded(
        run=run(tx, run_id),
        observations=tuple(observations(tx, number)),
        refreshes=refreshes(tx, number, None),
        manifest=as_maybe_text(manifest),
        state=as_maybe_text(state),
        usages=tuple(usage(row[1:5]) if row[5] else None for row in answered),
        estimates=tuple(as_maybe_int(row[7]) for row in answered),
        last_step=last_step,
        last_completion=answer,
        last_request=None
        if prompt is None
        else parse_request(VersionReader(tx).text(as_int(prompt))),
        unfinished=unfinished(tx, number, last_step, answer)
        if answer and not answered[-1][6]
        else None,
        attempts=as_int(attempts),
        calls=calls(tx, number),
    )
