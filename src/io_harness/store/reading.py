"""What a store says of its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from io_harness.store import damage, leases
from io_harness.store.base import Row, Transaction
from io_harness.store.codec import as_int, as_maybe_int, as_maybe_text, only
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
    memory_recall,
    observed,
    provider_call,
    refreshes,
    run_record,
    step_record,
    unfinished,
    usage,
)
from io_harness.store.versions import VersionReader
from io_harness.types import Observation

T = TypeVar("T")

_RUN = (
    "SELECT run_id, goal, workspace, contract, provider, model, policy, started, parent, outcome,"
    " reason, finished FROM runs"
)


def runs(tx: Transaction) -> tuple[RunRecord, ...]:
    """Return every run, oldest first."""
    rows = tx.execute(f"{_RUN} ORDER BY run")
    return _each(rows, lambda row: f"run {row[0]!r:.80}", run_record)


def run(tx: Transaction, run_id: str) -> RunRecord:
    """Return one run."""
    with damage.reading(f"run {run_id!r}"):
        return run_record(only(tx.execute(f"{_RUN} WHERE run = ?", (leases.known(tx, run_id),))))


def steps(tx: Transaction, run_id: str, step: int | None = None) -> Iterator[StepRecord]:
    """Yield the steps of a run, or the one asked for."""
    number = leases.known(tx, run_id)
    rows = tx.execute(
        "SELECT step, decision, stop, reasoning, prompt, input, output, cache_read, cache_write,"
        " reported, committed FROM steps WHERE run = ? AND step >= ? AND step <= ? ORDER BY step",
        (number, 0 if step is None else step, 2**63 - 1 if step is None else step),
    )
    versions = VersionReader(tx)
    for row in rows:
        with damage.reading(f"step {row[0]!r} of run {run_id!r}"):
            seen = observations(tx, number, as_int(row[0]))
            made = step_record(tx, number, row, versions, seen)
        yield made


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
    with damage.reading(f"step {step} of run {run_id!r}"):
        found = (seen for seen in observations(tx, number, step) if seen.call == call)
        return next(found, None)


def context_events(tx: Transaction, run_id: str) -> Iterator[ContextEvent]:
    """Yield what happened to the context of a run."""
    rows = tx.execute(
        "SELECT step, sequence, kind, detail, est_section, est_request, input, output, cache_read,"
        " cache_write, pieces FROM context_events JOIN origins USING (run)"
        " WHERE run = ? ORDER BY step, sequence",
        (leases.named(tx, run_id),),
    )
    versions = VersionReader(tx)
    for row in rows:
        with damage.reading(f"event {row[1]!r} of step {row[0]!r} of run {run_id!r}"):
            made = context_event(row, versions)
        yield made


def provider_calls(tx: Transaction, run_id: str) -> tuple[ProviderCall, ...]:
    """Return every attempt at an answer."""
    rows = tx.execute(
        "SELECT step, attempt, kind, latency, input, output, cache_read, cache_write, detail"
        " FROM provider_calls WHERE run = ? ORDER BY step, attempt",
        (leases.known(tx, run_id),),
    )
    return _each(
        rows, lambda row: f"attempt {row[1]!r} at step {row[0]!r} of run {run_id!r}", provider_call
    )


def drift(tx: Transaction, run_id: str) -> Drift:
    """Return estimate against report."""
    model = run(tx, run_id).model
    rows = tx.execute(
        "SELECT coalesce(est_request, 0), input"
        " FROM context_events WHERE run = ? AND kind = 'assembled' AND input IS NOT NULL",
        (leases.known(tx, run_id),),
    )
    estimated = sum(as_int(row[0]) for row in rows)  # here, for SQLite's sum ends at 2**63
    reported = sum(as_int(row[1]) for row in rows)
    return Drift(
        run_id=run_id,
        model=model,
        requests=len(rows),
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
    return _each(rows, lambda row: f"a note that run {run_id!r} was shown", memory_recall)


def load(tx: Transaction, run_id: str) -> Recorded:
    """Return all that resume needs."""
    with damage.reading(f"run {run_id!r}"):
        return _loaded(tx, run_id)


def _loaded(tx: Transaction, run_id: str) -> Recorded:
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


def _each(rows: list[Row], what: Callable[[Row], str], make: Callable[[Row], T]) -> tuple[T, ...]:
    """Return what is made of each row; one that is damaged is named."""
    made: list[T] = []
    for row in rows:
        with damage.reading(what(row)):
            made.append(make(row))
    return tuple(made)
