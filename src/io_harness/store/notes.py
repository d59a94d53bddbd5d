"""Notes in a store: each write, with what it evicts and its events, is one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from io_harness.errors import MemoryRefused
from io_harness.memory import (
    DELETIONS_PER_RUN,
    MEMORY_MAX_KEY_CHARS,
    Held,
    MemoryLimits,
    MemoryMode,
    check_key,
    cut_value,
    evictions,
)
from io_harness.store import leases
from io_harness.store.base import Row, SQLValue, Transaction
from io_harness.store.checks import check_text
from io_harness.store.codec import as_int, as_text, only, to_sql
from io_harness.store.damage import json_object, of_type, reading
from io_harness.store.events import events, workspace_number
from io_harness.store.records import Event, Lease
from io_harness.types import JSON, MemoryEntry, MemoryWrite

_NOTE = (
    "SELECT key, value, run_id, step, seq, pinned, source, first_written, written, rewrites"
    " FROM memory JOIN workspaces USING (workspace) JOIN origins USING (run) WHERE name = ?"
)


Redactor: TypeAlias = Callable[[str], str]
"""Takes out of a text what no note may hold."""
Answer: TypeAlias = MemoryWrite | MemoryRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note to be written, attributed to a step; `now` is UTC in ISO 8601."""

    workspace: str
    key: str
    value: str
    run_id: str
    step: int
    source: str
    limits: MemoryLimits
    now: str

    def redacted(self, redact: Redactor | None) -> Note:
        """Return the note as it may be written; `ConfigError` where that is no text."""
        if redact is None:
            return self
        key, value, source = (redact(text) for text in (self.key, self.value, self.source))
        for text in (key, value, source):
            check_text("what redact returns", text)
        return replace(self, key=key, value=value, source=source)


def put(tx: Transaction, note: Note, *, call: int | None = None) -> MemoryWrite:
    """Write a note and evict the oldest until the caps hold; `MemoryRefused`."""
    check_key(note.key)
    value, truncated = cut_value(note.value, note.limits)
    run, workspace = leases.origin(tx, note.run_id), workspace_number(tx, note.workspace)
    gone = evictions(_held(tx, workspace), note.key, len(value), note.limits)
    for key in gone:
        _remove(tx, workspace, key)
    _write(tx, workspace, run, note, value)
    detail: dict[str, JSON] = {
        **{"workspace": note.workspace, "key": note.key, "chars": len(value)},
        **{"truncated": truncated, "evicted": list(gone)},
    }
    happened = [Event(kind="memory_write", detail=detail)]
    for key in gone:
        evicted: dict[str, JSON] = {"workspace": note.workspace, "key": key, "for": note.key}
        happened.append(Event(kind="memory_evict", detail=evicted))
    events(tx, run, note.step, happened, call=call)
    return MemoryWrite(gone, truncated)


def remember(tx: Transaction, lease: Lease, note: Note, call: int, mode: MemoryMode) -> Answer:
    """Write a note as an agent, or return why not; the same call again: the first answer."""
    run = leases.held(tx, lease)
    answered = _answered(tx, run, note.step, call)
    if answered is not None:
        return answered
    try:
        _check_agent(tx, run, note, mode)
        return put(tx, note, call=call)
    except MemoryRefused as refused:
        key = note.key[:MEMORY_MAX_KEY_CHARS]
        detail: dict[str, JSON] = {"key": key, "reason": str(refused)}
        events(tx, run, note.step, [Event(kind="memory_refused", detail=detail)], call=call)
        return refused


def forget(
    tx: Transaction, lease: Lease, step: int, call: int, *, workspace: str, key: str
) -> bool:
    """Delete a note as an agent; the same call again: the first answer."""
    run = leases.held(tx, lease)
    if (step, call) in (done := _forgotten(tx, run)):
        return True
    note = get(tx, workspace, key)
    if note is None:
        return False
    if note.pinned:
        raise MemoryRefused(f"the note {key!r} is pinned by an operator and stays as it is")
    own = note.run_id == lease.run_id
    if not own and sum(not mine for mine in done.values()) >= DELETIONS_PER_RUN:
        raise MemoryRefused(
            f"this run has deleted {DELETIONS_PER_RUN} notes of other runs: no more may go"
        )
    detail: dict[str, JSON] = {"workspace": workspace, "key": key, "own": own}
    events(tx, run, step, [Event(kind="memory_forget", detail=detail)], call=call)
    return delete(tx, workspace, key)


def _forgotten(tx: Transaction, run: int) -> dict[tuple[int, int], bool]:
    """Return the steps and calls that deleted a note, each with whether it was the run's own."""
    rows = tx.execute(
        "SELECT step, call, detail FROM context_events"
        " WHERE run = ? AND kind = 'memory_forget' AND call IS NOT NULL",
        (run,),
    )
    with reading("a note that was forgotten"):
        return {
            (as_int(step), as_int(call)): json_object(as_text(spelled)).get("own") is True
            for step, call, spelled in rows
        }


def listed(tx: Transaction, workspace: str) -> tuple[MemoryEntry, ...]:
    """Return a workspace's notes, oldest write first."""
    with reading(f"a note of {workspace!r}"):
        return tuple(map(_entry, tx.execute(f"{_NOTE} ORDER BY seq", (to_sql(workspace),))))


def get(tx: Transaction, workspace: str, key: str) -> MemoryEntry | None:
    """Return the note of exactly that key."""
    rows = tx.execute(f"{_NOTE} AND key = ?", (to_sql(workspace), to_sql(key)))
    with reading(f"the note {key!r} of {workspace!r}"):
        return _entry(only(rows)) if rows else None


def delete(tx: Transaction, workspace: str, key: str) -> bool:
    """Delete a note, pinned or not."""
    return bool(_remove(tx, workspace_number(tx, workspace), key))


def clear(tx: Transaction, workspace: str) -> int:
    """Delete every note of a workspace."""
    tx.execute("DELETE FROM memory WHERE workspace = ?", (workspace_number(tx, workspace),))
    return tx.changes()


def pin(tx: Transaction, workspace: str, key: str, *, pinned: bool) -> bool:
    """Pin a note, or let it go."""
    tx.execute(
        "UPDATE memory SET pinned = ? WHERE workspace = ? AND key = ?",
        (pinned, workspace_number(tx, workspace), to_sql(key)),
    )
    return bool(tx.changes())


def _check_agent(tx: Transaction, run: int, note: Note, mode: MemoryMode) -> None:
    """Raise `MemoryRefused` for what an agent may not do and an operator may."""
    if mode != "on":
        raise MemoryRefused(f"notes are {mode} in this run: nothing was remembered")
    there = get(tx, note.workspace, note.key)
    if there is not None and there.pinned:
        raise MemoryRefused(f"the note {note.key!r} is pinned by an operator and stays as it is")
    (written,) = only(
        tx.execute(
            "SELECT count(*) FROM context_events"
            " WHERE run = ? AND kind = 'memory_write' AND call IS NOT NULL",
            (run,),
        )
    )
    if as_int(written) >= note.limits.writes_per_run:
        raise MemoryRefused(
            f"this run has written its {note.limits.writes_per_run} notes: no more are kept"
        )


def _answered(tx: Transaction, run: int, step: int, call: int) -> Answer | None:
    """Return what the same call was answered before."""
    rows = tx.execute(
        "SELECT kind, detail FROM context_events WHERE run = ? AND step = ? AND call = ?"
        " AND kind IN ('memory_write', 'memory_refused')",
        (run, step, call),
    )
    if not rows:
        return None
    with reading(f"the event of call {call} of step {step}"):
        kind, spelled = only(rows)
        detail = json_object(as_text(spelled))
        if kind == "memory_refused":
            return MemoryRefused(str(detail["reason"]))
        evicted = of_type(list, detail["evicted"])
        return MemoryWrite(tuple(map(str, evicted)), truncated=bool(detail["truncated"]))


def _held(tx: Transaction, workspace: int) -> list[Held]:
    rows = tx.execute(
        "SELECT key, chars, seq, pinned FROM memory WHERE workspace = ?", (workspace,)
    )
    with reading("a note"):
        return [Held(as_text(k), as_int(c), as_int(s), bool(p)) for k, c, s, p in rows]


def _write(tx: Transaction, workspace: int, run: int, note: Note, value: str) -> None:
    (seq,) = only(
        tx.execute(
            "UPDATE workspaces SET last_seq = last_seq + 1 WHERE workspace = ? RETURNING last_seq",
            (workspace,),
        )
    )
    tx.execute(
        "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0)"
        " ON CONFLICT (workspace, key) DO UPDATE SET value = excluded.value,"
        " chars = excluded.chars, run = excluded.run, step = excluded.step,"
        " source = excluded.source, seq = excluded.seq, written = excluded.written,"
        " rewrites = rewrites + 1",
        (
            *(workspace, to_sql(note.key), to_sql(value), len(value), run, note.step),
            *(to_sql(note.source), seq, note.now, note.now),
        ),
    )


def _remove(tx: Transaction, workspace: SQLValue, key: str) -> int:
    tx.execute("DELETE FROM memory WHERE workspace = ? AND key = ?", (workspace, to_sql(key)))
    return tx.changes()


def _entry(row: Row) -> MemoryEntry:
    key, value, run_id, step, seq, pinned, source, first_written, written, rewrites = row
    return MemoryEntry(
        as_text(key),
        as_text(value),
        as_text(run_id),
        as_int(step),
        seq=as_int(seq),
        pinned=bool(pinned),
        source=as_text(source),
        first_written=as_text(first_written),
        written=as_text(written),
        rewrites=as_int(rewrites),
    )
