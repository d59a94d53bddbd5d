"""What a run's driver writes: the three commits of a step, and what comes before and after.

Each is guarded by a row that only the first one makes, so that a repeated one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from io_harness import jsontext
from io_harness.store import leases
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import as_int, as_maybe_int, maybe_to_sql, only, to_sql
from io_harness.store.records import Assembly, Event, Lease, ProviderCall, Refresh
from io_harness.store.requests import arguments_text, request_text, tools_text
from io_harness.store.texts import Versions, put_maybe_text, put_text
from io_harness.types import (
    JSON,
    Completion,
    CompletionRequest,
    MemoryEntry,
    Observation,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """Commit 1, as a value."""

    step: int
    completion: Completion
    request: CompletionRequest
    assemblies: Sequence[Assembly]
    call: ProviderCall | None
    refreshes: Sequence[Refresh]
    recalled: Sequence[MemoryEntry]
    recalled_from: str
    events: Sequence[Event]
    manifest: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """Commit 3, as a value."""

    step: int
    observations: Sequence[Observation]
    events: Sequence[Event]
    refreshes: Sequence[Refresh]
    manifest: str | None
    state: str | None
    whole: bool


def completed(tx: Transaction, versions: Versions, lease: Lease, done: Completed) -> None:
    """Keep an answer, the request it answers and how that was assembled."""
    run, step, answer = leases.held(tx, lease), done.step, done.completion
    reasoning = None if answer.reasoning is None else jsontext.dumps(answer.reasoning)
    tx.execute(
        "INSERT INTO steps VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING",
        (
            *(run, step, put_text(tx, run, answer.text), to_sql(answer.stop)),
            put_maybe_text(tx, run, reasoning),
            *_tokens(answer.usage),
            answer.usage is not None,
        ),
    )
    if not tx.changes():
        return
    for number, call in enumerate(answer.calls):
        text, raw = arguments_text(call.arguments), isinstance(call.arguments, str)
        fields = (to_sql(call.id), to_sql(call.name), put_text(tx, run, text), raw)
        tx.execute(
            "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", (run, step, number, *fields)
        )
    refresh(tx, run, done.refreshes)
    prompt = _prompt(tx, versions, run, done)
    tx.execute("UPDATE steps SET prompt = ? WHERE run = ? AND step = ?", (prompt, run, step))
    tx.execute("UPDATE progress SET prompt = ? WHERE run = ?", (prompt, run))
    if done.call is not None:
        attempted(tx, run, done.call)
    assembled(tx, versions, run, step, assemblies=done.assemblies, usage=answer.usage)
    events(tx, run, step, done.events)
    recall(tx, run, step, done.recalled_from, done.recalled)
    progress(tx, run, done.manifest, done.state)


def call_started(
    tx: Transaction, lease: Lease, step: int, call: int, detail: Mapping[str, JSON]
) -> None:
    """Keep that an effectful call of an answer is about to start."""
    run = leases.held(tx, lease)
    tx.execute(
        "UPDATE calls SET started = ? WHERE run = ? AND step = ? AND call = ? AND started IS NULL",
        (put_text(tx, run, jsontext.dumps(dict(detail))), run, step, call),
    )


def stepped(tx: Transaction, lease: Lease, done: Stepped) -> None:
    """Keep what the calls of a step returned, or those of them that were done when it paused."""
    run, step = leases.held(tx, lease), done.step
    tx.execute(
        "INSERT INTO steps (run, step, reported, committed) VALUES (?, ?, 0, ?)"
        " ON CONFLICT DO UPDATE SET committed = excluded.committed WHERE committed = 0",
        (run, step, done.whole),
    )
    if not tx.changes():
        return
    observe(tx, run, done.observations)
    refresh(tx, run, done.refreshes)
    events(tx, run, step, done.events)
    progress(tx, run, done.manifest, done.state)


def finished(tx: Transaction, lease: Lease, outcome: str, reason: str, now: str) -> int | None:
    """Keep how a run ended and give its lease back; `None` where that was done already."""
    run = leases.known(tx, lease.run_id)
    holder, ended, why = only(
        tx.execute(
            "SELECT holder, outcome, reason FROM progress JOIN runs USING (run) WHERE run = ?",
            (run,),
        )
    )
    if holder is None and (ended, why) == (to_sql(outcome), to_sql(reason)):
        return None
    run = leases.held(tx, lease)
    tx.execute(
        "UPDATE runs SET outcome = ?, reason = ?, finished = ? WHERE run = ?",
        (to_sql(outcome), to_sql(reason), now, run),
    )
    leases.release(tx, lease)
    return run


def attempted(tx: Transaction, run: int, call: ProviderCall) -> None:
    """Keep one attempt at an answer."""
    tx.execute(
        "INSERT INTO provider_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(run, call.step, call.attempt, call.kind, call.latency),
            *_tokens(call.usage),
            to_sql(call.detail),
        ),
    )


def assembled(
    tx: Transaction,
    versions: Versions,
    run: int,
    step: int,
    *,
    assemblies: Sequence[Assembly],
    usage: Usage | None = None,
) -> None:
    """Keep one event a request; the usage is the last one's."""
    for place, assembly in enumerate(assemblies, start=1):
        reported = usage if place == len(assemblies) else None
        (base,) = only(tx.execute("SELECT pieces FROM progress WHERE run = ?", (run,)))
        lines = [
            jsontext.dumps([p.step, p.call, p.status, p.why, p.chars]) for p in assembly.pieces
        ]
        pieces = versions.put(tx, run, "pieces", "\n".join(lines), base=as_maybe_int(base))
        tx.execute("UPDATE progress SET pieces = ? WHERE run = ?", (pieces, run))
        tx.execute(
            "INSERT INTO context_events (run, step, sequence, kind, detail, est_section,"
            " est_request, input, output, cache_read, cache_write, pieces)"
            " VALUES (?, ?, ?, 'assembled', ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(run, step, _next_sequence(tx, run, step)),
                to_sql(jsontext.dumps(assembly.detail)),
                *(assembly.est_section, assembly.est_request),
                *_tokens(reported),
                pieces,
            ),
        )


def events(
    tx: Transaction, run: int, step: int, happened: Iterable[Event], *, call: int | None = None
) -> None:
    """Keep what happened in a step, after what is kept of it already."""
    for event in happened:
        tx.execute(
            "INSERT INTO context_events (run, step, sequence, kind, detail, call)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                *(run, step, _next_sequence(tx, run, step), event.kind),
                to_sql(jsontext.dumps(event.detail)),
                call,
            ),
        )


def observe(tx: Transaction, run: int, observations: Iterable[Observation]) -> None:
    """Keep observations; arguments that are the call's own are not kept again."""
    for seen in observations:
        own = tx.execute(
            "SELECT arguments FROM calls WHERE run = ? AND step = ? AND call = ?",
            (run, seen.step, seen.call),
        )
        args = put_text(tx, run, seen.args)
        first, last = seen.lines or (None, None)
        tx.execute(
            "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (
                *(run, seen.step, seen.call, seen.kind.value, maybe_to_sql(seen.target)),
                put_text(tx, run, seen.text),
                None if own and own[0][0] == args else args,
                *(first, last, seen.total_lines),
                *(put_maybe_text(tx, run, seen.scope), maybe_to_sql(seen.key)),
                maybe_to_sql(seen.digest),
                put_text(tx, run, jsontext.dumps(list(seen.paths))) if seen.paths else None,
            ),
        )


def refresh(tx: Transaction, run: int, refreshes: Iterable[Refresh]) -> None:
    """Keep reads that assembly made again."""
    for made in refreshes:
        tx.execute(
            "INSERT INTO refreshes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                *(run, made.step, made.position, *(made.lines or (None, None))),
                *(made.total_lines, maybe_to_sql(made.digest)),
                *(put_maybe_text(tx, run, made.text), maybe_to_sql(made.reason)),
            ),
        )


def recall(
    tx: Transaction, run: int, step: int, workspace: str, notes: Sequence[MemoryEntry]
) -> None:
    """Keep which notes a request carried that none of the run's before did."""
    if not notes:
        return
    number = workspace_number(tx, workspace)
    new: list[JSON] = []
    for note in notes:
        tx.execute(
            "INSERT INTO memory_recalls VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (run, number, note.seq, step, to_sql(note.key), to_sql(note.run_id), note.step),
        )
        if tx.changes():
            new.append(note.key)
    if new:
        events(tx, run, step, [Event(kind="memory_recall", detail={"keys": new})])


def workspace_number(tx: Transaction, name: str) -> int:
    """Return the number of a workspace, given now where it had none."""
    tx.execute(
        "INSERT INTO workspaces (name, last_seq) VALUES (?, 0) ON CONFLICT DO NOTHING",
        (to_sql(name),),
    )
    rows = tx.execute("SELECT workspace FROM workspaces WHERE name = ?", (to_sql(name),))
    return as_int(only(rows)[0])


def progress(tx: Transaction, run: int, manifest: str | None, state: str | None) -> None:
    """Keep the newest manifest and state, each where one is given."""
    for column, text in (("manifest", manifest), ("state", state)):
        if text is not None:
            tx.execute(f"UPDATE progress SET {column} = ? WHERE run = ?", (to_sql(text), run))  # noqa: S608


def _prompt(tx: Transaction, versions: Versions, run: int, done: Completed) -> int:
    """Keep a request as what differs from the one before it and from what tools returned."""
    (base,) = only(tx.execute("SELECT prompt FROM progress WHERE run = ?", (run,)))
    near: list[SQLValue] = []
    if base is None:
        near += (
            put_text(tx, run, text) for text in (done.request.system, tools_text(done.request))
        )
    for sql in (
        "SELECT text FROM observations WHERE run = ? AND step = ?",
        "SELECT arguments FROM calls WHERE run = ? AND step = ?",
    ):
        near += (value for (value,) in tx.execute(sql, (run, done.step - 1)))
    rows = tx.execute("SELECT text FROM refreshes WHERE run = ? AND step = ?", (run, done.step))
    near += (value for (value,) in rows)
    text = request_text(done.request)
    return versions.put(tx, run, "prompt", text, base=as_maybe_int(base), near=near)


def _next_sequence(tx: Transaction, run: int, step: int) -> SQLValue:
    rows = tx.execute(
        "SELECT coalesce(max(sequence) + 1, 0) FROM context_events WHERE run = ? AND step = ?",
        (run, step),
    )
    return only(rows)[0]


def _tokens(usage: Usage | None) -> tuple[int | None, int | None, int | None, int | None]:
    if usage is None:
        return None, None, None, None
    return usage.input, usage.output, usage.cache_read, usage.cache_write
