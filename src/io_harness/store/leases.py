"""Which run is which, and who may drive it."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from datetime import UTC, datetime

from io_harness.errors import ConfigError, RunLeased, RunUnknown
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import as_float, as_int, maybe_to_sql, only, to_sql
from io_harness.store.holders import is_dead, new_holder, who
from io_harness.store.records import Lease, RunRecord

LEASE_SECONDS = 30.0
_TRACE = (
    *("memory_recalls", "provider_calls", "context_events", "refreshes", "observations"),
    *("calls", "steps", "progress", "runs"),
)
"""The tables with rows of one run, those that refer to others first."""


def origin(tx: Transaction, run_id: str) -> int:
    """Return the number of a run id, given now where it had none."""
    found = _numbered(tx, run_id)
    if found is not None:
        return found
    (run,) = only(
        tx.execute("INSERT INTO origins (run_id) VALUES (?) RETURNING run", (to_sql(run_id),))
    )
    return as_int(run)


def known(tx: Transaction, run_id: str) -> int:
    """Return the number of a run that is in the store; `RunUnknown`."""
    run = _numbered(tx, run_id)
    if run is None or not tx.execute("SELECT 1 FROM runs WHERE run = ?", (run,)):
        raise RunUnknown(f"no run {run_id!r} is in this store: see its runs for those that are")
    return run


def named(tx: Transaction, run_id: str) -> int:
    """Return the number of a run id that notes or runs have; `RunUnknown`."""
    run = _numbered(tx, run_id)
    return known(tx, run_id) if run is None else run


def new_run_id() -> str:
    """Return an id that no run has, which sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def begin(tx: Transaction, run: RunRecord, ttl: float) -> Lease:
    """Record a new run and lease it."""
    number = origin(tx, run.run_id)
    if tx.execute("SELECT 1 FROM runs WHERE run = ?", (number,)):
        raise ConfigError(f"run {run.run_id!r} is in the store already: resume it or rename this")
    fields = (
        run.run_id,
        run.goal,
        run.workspace,
        run.contract,
        run.provider,
        run.model,
        run.policy,
    )
    tx.execute(
        "INSERT INTO runs (run, run_id, goal, workspace, contract, provider, model, policy,"
        " started, parent, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
        (number, *map(to_sql, fields), run.started, maybe_to_sql(run.parent)),
    )
    lease = Lease(run.run_id, new_holder(), time.time() + ttl)
    tx.execute(
        "INSERT INTO progress (run, holder, expires) VALUES (?, ?, ?)",
        (number, lease.holder, lease.expires),
    )
    return lease


def acquire(tx: Transaction, run_id: str, ttl: float) -> Lease:
    """Lease a run that nobody drives."""
    run = known(tx, run_id)
    check_free(tx, run_id, run)
    lease = Lease(run_id, new_holder(), time.time() + ttl)
    _hold(tx, run, lease.holder, lease.expires)
    return lease


def check_free(tx: Transaction, run_id: str, run: int) -> None:
    """Raise `RunLeased` while somebody drives the run.

    A lease that would last longer than any does was taken before the clock was set back; one
    whose process died on this machine has ended.
    """
    holder, expires = only(tx.execute("SELECT holder, expires FROM progress WHERE run = ?", (run,)))
    if holder is None or is_dead(holder):
        return
    left = as_float(expires) - time.time()
    if 0 < left <= 10 * LEASE_SECONDS:
        raise RunLeased(
            f"run {run_id!r} is driven by {who(holder)}, whose lease ends in {left:.0f} s unless "
            "it is renewed: wait for it, or end that driver"
        )


def renew(tx: Transaction, lease: Lease, ttl: float) -> Lease:
    """Hold a lease for longer."""
    run = held(tx, lease)
    longer = replace(lease, expires=time.time() + ttl)
    _hold(tx, run, longer.holder, longer.expires)
    return longer


def release(tx: Transaction, lease: Lease) -> None:
    """Let go of a lease, where it is still held."""
    tx.execute(
        "UPDATE progress SET holder = NULL, expires = NULL WHERE run = ? AND holder = ?",
        (_numbered(tx, lease.run_id), lease.holder),
    )


def held(tx: Transaction, lease: Lease) -> int:
    """Return the number of the lease's run; `RunLeased` where the lease is no longer held.

    A lease that ran out and that nobody took still holds.
    """
    run = known(tx, lease.run_id)
    (holder,) = only(tx.execute("SELECT holder FROM progress WHERE run = ?", (run,)))
    if holder != lease.holder:
        raise RunLeased(
            f"the lease on run {lease.run_id!r} was given back or taken by another process; "
            "nothing was written: resume the run to drive it again"
        )
    return run


def _numbered(tx: Transaction, run_id: str) -> int | None:
    if not isinstance(run_id, str):
        raise ConfigError(f"a run id is text, unlike {run_id!r:.80}")
    rows = tx.execute("SELECT run FROM origins WHERE run_id = ?", (to_sql(run_id),))
    return as_int(rows[0][0]) if rows else None


def delete_run(tx: Transaction, run_id: str) -> None:
    """Delete a run that nobody drives, with its trace and the texts that only it used."""
    run = known(tx, run_id)
    check_free(tx, run_id, run)
    tx.execute(
        "DELETE FROM versions WHERE id IN (SELECT prompt FROM steps WHERE run = ?1"
        " UNION SELECT pieces FROM context_events WHERE run = ?1)",
        (run,),
    )
    for table in _TRACE:
        tx.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - names from here
    used = [text for (text,) in tx.execute("SELECT text FROM text_uses WHERE run = ?", (run,))]
    tx.execute("DELETE FROM text_uses WHERE run = ?", (run,))
    for text in used:
        tx.execute(
            "DELETE FROM texts WHERE id = ?1 AND NOT EXISTS"
            " (SELECT 1 FROM text_uses WHERE text = ?1)",
            (text,),
        )
    tx.execute(
        "DELETE FROM origins WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM memory WHERE run = ?1)",
        (run,),
    )


def _hold(tx: Transaction, run: int, holder: SQLValue, expires: float) -> None:
    tx.execute("UPDATE progress SET holder = ?, expires = ? WHERE run = ?", (holder, expires, run))
