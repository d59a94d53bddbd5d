"""Rows, and what hangs on them, as the values that a store gives out."""

from __future__ import annotations

from collections.abc import Sequence

from io_harness import jsontext
from io_harness.store.base import Row, SQLValue, Transaction
from io_harness.store.codec import as_float, as_int, as_maybe_int, as_maybe_text, as_text, only
from io_harness.store.damage import json_object, of_type
from io_harness.store.records import (
    ContextEvent,
    MemoryRecall,
    PieceTrace,
    ProviderCall,
    Refresh,
    RunRecord,
    StartedCall,
    StepRecord,
    Unfinished,
)
from io_harness.store.requests import arguments_from
from io_harness.store.texts import get_digest, get_maybe_text, get_text
from io_harness.store.versions import VersionReader
from io_harness.types import JSON, Completion, Observation, ObsKind, ToolCall, Usage

_LAST_STEP = 2**62


def run_record(row: Row) -> RunRecord:
    """Return a run: id, goal, workspace, contract, provider, model, policy, started, ..."""
    run_id, goal, workspace, contract, provider, model, policy, started, *rest = row
    parent, outcome, reason, finished = rest
    return RunRecord(
        run_id=as_text(run_id),
        goal=as_text(goal),
        workspace=as_text(workspace),
        contract=as_text(contract),
        provider=as_text(provider),
        model=as_text(model),
        policy=as_text(policy),
        started=as_text(started),
        parent=as_maybe_text(parent),
        outcome=as_maybe_text(outcome),
        reason=as_text(reason),
        finished=as_maybe_text(finished),
    )


def step_record(
    tx: Transaction,
    run: int,
    row: Row,
    versions: VersionReader,
    observations: Sequence[Observation],
) -> StepRecord:
    """Return a step: step, decision, stop, reasoning, prompt, four counts, two flags."""
    step, decision, stop, reasoning, prompt, *tokens, reported, committed = row
    return StepRecord(
        step=as_int(step),
        decision=get_maybe_text(tx, decision) or "",
        prompt="" if prompt is None else versions.text(as_int(prompt)),
        calls=_calls(tx, run, as_int(step)),
        usage=usage(tokens) if reported else None,
        stop=as_maybe_text(stop) or "",
        reasoning=_json(get_maybe_text(tx, reasoning)),
        refreshes=refreshes(tx, run, as_int(step)),
        observations=tuple(observations),
        committed=bool(committed),
    )


def completion(tx: Transaction, run: int, step: int) -> Completion:
    """Return the answer of a step that has one."""
    text, stop, reasoning, *tokens, reported = only(
        tx.execute(
            "SELECT decision, stop, reasoning, input, output, cache_read, cache_write, reported"
            " FROM steps WHERE run = ? AND step = ?",
            (run, step),
        )
    )
    return Completion(
        get_text(tx, text),
        _calls(tx, run, step),
        usage(tokens) if reported else None,
        as_text(stop),
        _json(get_maybe_text(tx, reasoning)),
    )


def unfinished(tx: Transaction, run: int, step: int, answer: Completion) -> Unfinished:
    """Return a step whose results are not in, with the calls that had started."""
    rows = tx.execute(
        "SELECT call, name, arguments, started FROM calls"
        " WHERE run = ? AND step = ? AND started IS NOT NULL ORDER BY call",
        (run, step),
    )
    started = (
        StartedCall(
            step=step,
            call=as_int(call),
            name=as_text(name),
            arguments=get_text(tx, arguments),
            detail=json_object(get_text(tx, detail)),
        )
        for call, name, arguments, detail in rows
    )
    return Unfinished(step=step, completion=answer, started=tuple(started))


def observed(tx: Transaction, row: Row) -> Observation:
    """Return an observation: step, call, kind, target, text, args, lines, ..."""
    step, call, kind, target, text, args, first, last, total, scope, key, digest, paths = row
    listed = of_type(list, _json(get_maybe_text(tx, paths)) or [])
    return Observation(
        as_int(step),
        ObsKind(as_text(kind)),
        as_maybe_text(target),
        get_text(tx, text),
        args=get_text(tx, args),
        lines=_lines(first, last),
        total_lines=as_maybe_int(total),
        scope=get_maybe_text(tx, scope),
        key=as_maybe_text(key),
        digest=get_digest(tx, digest),
        paths=tuple(of_type(str, path) for path in listed),
        call=as_int(call),
    )


def refreshes(tx: Transaction, run: int, step: int | None) -> tuple[Refresh, ...]:
    """Return the reads made again in a step, or in all of them."""
    rows = tx.execute(
        "SELECT step, position, first_line, last_line, total_lines, digest, text, reason"
        " FROM refreshes WHERE run = ? AND (? IS NULL OR step = ?) ORDER BY step, position",
        (run, step, step),
    )
    return tuple(
        Refresh(
            position=as_int(position),
            step=as_int(at),
            lines=_lines(first, last),
            total_lines=as_maybe_int(total),
            digest=get_digest(tx, digest),
            text=get_maybe_text(tx, text),
            reason=as_maybe_text(reason),
        )
        for at, position, first, last, total, digest, text, reason in rows
    )


def context_event(row: Row, versions: VersionReader) -> ContextEvent:
    """Return an event: step, sequence, kind, detail, two estimates, four counts, pieces."""
    step, sequence, kind, detail, section, request, *tokens, pieces = row
    lines = [] if pieces is None else versions.text(as_int(pieces)).split("\n")
    spelled = lines[0] if lines else as_maybe_text(detail) or "{}"
    return ContextEvent(
        step=as_int(step),
        sequence=as_int(sequence),
        kind=as_text(kind),
        detail=json_object(spelled),
        est_section=as_maybe_int(section),
        est_request=as_maybe_int(request),
        reported=reported(tokens),
        pieces=tuple(map(_piece, lines[1:])),
    )


def _piece(line: str) -> PieceTrace:
    step, call, status, why, chars = of_type(list, jsontext.loads(line))
    return PieceTrace(
        of_type(int, step),
        of_type(int, call),
        of_type(str, status),
        of_type(str, why),
        of_type(int, chars),
    )


def provider_call(row: Row) -> ProviderCall:
    """Return an attempt: step, attempt, kind, latency, four counts, detail."""
    step, attempt, kind, latency, *tokens, detail = row
    return ProviderCall(
        step=as_int(step),
        attempt=as_int(attempt),
        kind=as_text(kind),
        latency=as_float(latency),
        usage=reported(tokens),
        detail=as_text(detail),
    )


def memory_recall(row: Row) -> MemoryRecall:
    """Return a note that a run was shown: step, workspace, key, seq, and who wrote it."""
    step, name, key, seq, note_run_id, note_step = row
    return MemoryRecall(
        step=as_int(step),
        workspace=as_text(name),
        key=as_text(key),
        seq=as_int(seq),
        note_run_id=as_text(note_run_id),
        note_step=as_int(note_step),
    )


def usage(tokens: Sequence[SQLValue]) -> Usage:
    """Return what was reported: input, output, cache reads, cache writes."""
    return Usage(*map(as_maybe_int, tokens))


def reported(tokens: Sequence[SQLValue]) -> Usage | None:
    """Return what was reported, `None` where nothing was."""
    return usage(tokens) if any(count is not None for count in tokens) else None


def calls(
    tx: Transaction, run: int, step: int | None = None
) -> tuple[tuple[int, int, ToolCall], ...]:
    """Return what a run's answers asked for, or one step's: step, call, and the call."""
    rows = tx.execute(
        "SELECT step, call, call_id, name, arguments, raw FROM calls"
        " WHERE run = ? AND step BETWEEN ? AND ? ORDER BY step, call",
        (run, 0, _LAST_STEP) if step is None else (run, step, step),
    )
    return tuple(
        (
            as_int(at),
            as_int(number),
            ToolCall(
                as_text(call_id),
                as_text(name),
                arguments_from(get_text(tx, arguments), raw=bool(raw)),
            ),
        )
        for at, number, call_id, name, arguments, raw in rows
    )


def _calls(tx: Transaction, run: int, step: int) -> tuple[ToolCall, ...]:
    return tuple(call for _, _, call in calls(tx, run, step))


def _lines(first: SQLValue, last: SQLValue) -> tuple[int, int] | None:
    return None if first is None else (as_int(first), as_int(last))


def _json(text: str | None) -> JSON:
    return None if text is None else jsontext.loads(text)
