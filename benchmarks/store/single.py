"""One process, 64 runs at once, against plain APSW with 64 rows a commit, taken in turns.

python -m benchmarks.store.single [rounds]
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import apsw

from benchmarks.store.fleet import counted_store
from io_harness.store import Lease, ProviderCall, Store
from io_harness.types import Usage

RUNS = 64
ROWS = 40
"""Rows that each run writes in a round."""
USAGE = Usage(24_000, 120, 20_000, 0)


async def begin_all(store: Store) -> list[Lease]:
    """Begin the runs."""
    beginning = (
        store.journal.begin(
            goal="x", workspace="x", contract="x", provider="x", model="x", policy="x"
        )
        for _ in range(RUNS)
    )
    return list(await asyncio.gather(*beginning))


async def write_rows(store: Store, leases: list[Lease], first: int) -> None:
    """Write the rows of one round, each acknowledged before the run's next."""

    async def drive(lease: Lease) -> None:
        for number in range(first, first + ROWS):
            call = ProviderCall(step=number, attempt=1, kind="ok", latency=1.0, usage=USAGE)
            await store.journal.attempted(lease, call)

    await asyncio.gather(*map(drive, leases))


def plain_rows(connection: apsw.Connection, first: int) -> None:
    """Write as many rows of the same shape, 64 a commit, with nobody waiting for any."""
    for number in range(first, first + ROWS):
        connection.execute("BEGIN IMMEDIATE")
        for run in range(RUNS):
            connection.execute(
                "INSERT INTO plain VALUES (?, ?, 1, 'ok', 1.0, 24000, 120, 20000, 0, '')",
                (run, number),
            )
        connection.execute("COMMIT")


def measure(rounds: int) -> dict[str, float]:
    """Take turns and return rows a second of both, and commits an operation of the store."""
    ours: list[float] = []
    plain: list[float] = []
    with tempfile.TemporaryDirectory() as place, asyncio.Runner() as loop:
        connection = apsw.Connection(f"{place}/plain.db")
        connection.pragma("journal_mode", "WAL")
        connection.pragma("synchronous", "FULL")
        connection.execute(
            "CREATE TABLE plain (run, step,"
            " attempt, kind, latency, input, output, cache_read, cache_write, detail,"
            " PRIMARY KEY (run, step, attempt)) WITHOUT ROWID"
        )
        with counted_store(Path(place, "runs.db")) as (store, counter):
            leases = loop.run(begin_all(store))
            before = counter.syncs
            for number in range(rounds):
                began = time.perf_counter()
                loop.run(write_rows(store, leases, number * ROWS))
                ours.append(RUNS * ROWS / (time.perf_counter() - began))
                began = time.perf_counter()
                plain_rows(connection, number * ROWS)
                plain.append(RUNS * ROWS / (time.perf_counter() - began))
            commits = counter.syncs - before
        connection.close()
    return {
        "rounds": rounds,
        "rows_per_second": statistics.median(ours),
        "plain_rows_per_second": statistics.median(plain),
        "share_of_plain": statistics.median(ours) / statistics.median(plain),
        "commits_per_operation": commits / (rounds * RUNS * ROWS),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 9), indent=2))
