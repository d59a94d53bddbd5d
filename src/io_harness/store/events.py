"""What happened in a step besides its results: assemblies, attempts, notes shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from io_harness import jsontext
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import MAX_INTEGER, as_int, as_maybe_int, only, to_sql
from io_harness.store.records import Assembly, Event, ProviderCall
from io_harness.store.versions import Versions
from io_harness.types import JSON, MemoryEntry, Usage


def attempted(tx: Transaction, run: int, call: ProviderCall) -> None:
    """Keep one attempt at an answer."""
    tx.execute(
        "INSERT INTO provider_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(run, call.step, call.attempt, call.kind, call.latency),
            *tokens(call.usage),
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
        lines = [jsontext.dumps(assembly.detail)]
        lines += (
            jsontext.dumps([p.step, p.call, p.status, p.why, p.chars]) for p in assembly.pieces
        )
        pieces = versions.put(
            tx, run, "pieces", "\n".join(lines), base=as_maybe_int(base), beside="prompt"
        )
        tx.execute("UPDATE progress SET pieces = ? WHERE run = ?", (pieces, run))
        tx.execute(
            "INSERT INTO context_events (run, step, sequence, kind, est_section, est_request,"
            " input, output, cache_read, cache_write, carried, stubbed, reread, pieces)"
            " VALUES (?, ?, ?, 'assembled', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(run, step, _next_sequence(tx, run, step)),
                *(assembly.est_section, assembly.est_request),
                *tokens(reported),
                *(_count(assembly.detail, name) for name in ("carried", "stubbed", "reread")),
                pieces,
            ),
        )


def _count(detail: Mapping[str, JSON], name: str) -> int | None:
    """Return a count that people who look with other tools will want to see, if it is given."""
    value = detail.get(name)
    return value if type(value) is int and abs(value) <= MAX_INTEGER else None


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


def _next_sequence(tx: Transaction, run: int, step: int) -> SQLValue:
    rows = tx.execute(
        "SELECT coalesce(max(sequence) + 1, 0) FROM context_events WHERE run = ? AND step = ?",
        (run, step),
    )
    return only(rows)[0]


def tokens(usage: Usage | None) -> tuple[int | None, int | None, int | None, int | None]:
    """Return the columns of a usage."""
    if usage is None:
        return None, None, None, None
    return usage.input, usage.output, usage.cache_read, usage.cache_write
