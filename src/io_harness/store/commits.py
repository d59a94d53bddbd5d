"""What a run's driver writes: the three commits of a step, and what comes before and after.

Each is guarded by a row that only the first one makes, so that a repeated one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from io_harness import jsontext
from io_harness.store import leases
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import as_maybe_int, maybe_to_sql, only, to_sql
from io_harness.store.events import assembled, attempted, events, recall, tokens
from io_harness.store.records import Assembly, Event, Lease, ProviderCall, Refresh
from io_harness.store.requests import request_text, tools_text
from io_harness.store.texts import put_digest, put_maybe_text, put_text
from io_harness.store.versions import Versions
from io_harness.types import (
    JSON,
    Completion,
    CompletionRequest,
    MemoryEntry,
    Observation,
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
            *tokens(answer.usage),
            answer.usage is not None,
        ),
    )
    if not tx.changes():
        return
    for number, call in enumerate(answer.calls):
        text, raw = jsontext.arguments_text(call.arguments), isinstance(call.arguments, str)
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


def observe(tx: Transaction, run: int, observations: Iterable[Observation]) -> None:
    """Keep observations; arguments that are the call's own are not kept again."""
    for seen in observations:
        own = tx.execute(
            "SELECT arguments FROM calls WHERE run = ? AND step = ? AND call = ?",
            (run, seen.step, seen.call),
        )
        args, text = put_text(tx, run, seen.args), put_text(tx, run, seen.text)
        first, last = seen.lines or (None, None)
        tx.execute(
            "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (
                *(run, seen.step, seen.call, seen.kind.value, maybe_to_sql(seen.target)),
                text,
                None if own and own[0][0] == args else args,
                *(first, last, seen.total_lines),
                *(put_maybe_text(tx, run, seen.scope), maybe_to_sql(seen.key)),
                put_digest(tx, text, seen.digest),
                put_text(tx, run, jsontext.dumps(list(seen.paths))) if seen.paths else None,
            ),
        )


def refresh(tx: Transaction, run: int, refreshes: Iterable[Refresh]) -> None:
    """Keep reads that assembly made again."""
    for made in refreshes:
        text = put_maybe_text(tx, run, made.text)
        tx.execute(
            "INSERT INTO refreshes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                *(run, made.step, made.position, *(made.lines or (None, None))),
                *(made.total_lines, put_digest(tx, text, made.digest)),
                *(text, maybe_to_sql(made.reason)),
            ),
        )


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
