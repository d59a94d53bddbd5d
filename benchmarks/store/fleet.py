"""Processes that write to one store at once: who is served, how soon, at how many commits.

python -m benchmarks.store.fleet [processes] [writers in each] [seconds]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import cast

import apsw

from io_harness.errors import StoreLocked
from io_harness.store import Store
from io_harness.store.sqlite.backend import FileBackend
from io_harness.types import Completion, CompletionRequest, Message, Observation, ObsKind

_MOST_SECONDS_MORE = 120.0
"""What starting, and what is under way when time is up, may take besides."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """What a fleet of writers saw. Times in seconds; `syncs` are of the log, one a commit."""

    processes: int
    writers: int
    seconds: float
    operations: int
    operations_per_second: float
    locked_errors: int
    most_over_least: float
    syncs_per_operation: float
    median: float
    p99: float
    p99_over_median: float


class SyncCounter(apsw.VFS):
    """Counts the syncs of the log."""

    def __init__(self, name: str = "sync-counter") -> None:
        super().__init__(name, base="")
        self.name = name
        self.syncs = 0

    def xOpen(  # noqa: N802 - SQLite's name
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return _CountedFile(self, name, flags)


class _CountedFile(apsw.VFSFile):
    def __init__(
        self, counter: SyncCounter, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        super().__init__("", name, flags)
        self.counter = counter
        self.is_log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self.counter.syncs += self.is_log
        super().xSync(flags)


@contextmanager
def counted_store(path: Path) -> Iterator[tuple[Store, SyncCounter]]:
    """Open a store whose syncs are counted."""
    counter = SyncCounter()
    with Store(FileBackend(path, timeout=120.0, vfs=counter.name)) as store:
        yield store, counter


async def mixed_work(store: Store, name: str, until: float, took: list[float]) -> None:
    """Drive one run as a run does: answer, result, a note now and then; time each."""

    async def timed(work: asyncio.Future[object]) -> None:
        began = time.perf_counter()
        await work
        took.append(time.perf_counter() - began)

    lease = await store.journal.begin(
        goal="x", workspace="x", contract="x", provider="x", model="x", policy="x", run_id=name
    )
    step = 0
    while time.time() < until:
        step += 1
        request = CompletionRequest("s", (), (Message("user", f"{name} {step} " * 40),))
        answer = Completion(f"{name} says {step}")
        seen = Observation(step, ObsKind.TOOL, None, f"{name} saw {step} " * 30, call=0)
        await timed(
            asyncio.ensure_future(store.journal.completed(lease, step, answer, request=request))
        )
        await timed(asyncio.ensure_future(store.journal.stepped(lease, step, [seen])))
        if step % 8 == 0:
            await timed(asyncio.ensure_future(store.journal.renew(lease)))


def process(
    path: Path, number: int, writers: int, seconds: float, *, start: Barrier, out: Path
) -> None:
    """One process of the fleet; writes what it saw to a file."""
    took: list[float] = []
    locked = 0

    async def drive(store: Store) -> None:
        until = time.time() + seconds
        names = (f"{number}-{writer}" for writer in range(writers))
        await asyncio.gather(*(mixed_work(store, name, until, took) for name in names))

    with counted_store(path) as (store, counter):
        start.wait(_MOST_SECONDS_MORE)
        before = counter.syncs
        try:
            asyncio.run(drive(store))
        except StoreLocked:
            locked += 1
        syncs = counter.syncs - before
    out.write_text(json.dumps([took, syncs, locked]))


def _see_out(started: Sequence[SpawnProcess], seconds: float) -> None:
    """Wait until all have ended; where one fails or time is up, end the others, and say so.

    The others would wait for it at the barrier without end, and Python for them.
    """
    until = time.monotonic() + seconds
    left = {one.sentinel: one for one in started}
    try:
        while left:
            ended = wait(left, max(0.0, until - time.monotonic()))
            if not ended:
                raise TimeoutError(f"{len(left)} processes run on after {seconds:g} s")
            for sentinel in ended:
                one = left.pop(cast("int", sentinel))
                one.join()
                if one.exitcode:
                    raise RuntimeError(f"{one.name} ended with {one.exitcode}")
    finally:
        for one in started:
            one.kill()
            one.join()


def measure(processes: int, writers: int, seconds: float) -> Fleet:
    """Run a fleet on a fresh file."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as place:
        path, start = Path(place, "runs.db"), context.Barrier(processes)
        Store.open(path).close()
        outs = [Path(place, f"{number}.json") for number in range(processes)]
        started = [
            context.Process(
                target=process,
                name=f"process {n} of the fleet",
                args=(path, n, writers, seconds),
                kwargs={"start": start, "out": out},
                daemon=True,
            )
            for n, out in enumerate(outs)
        ]
        for one in started:
            one.start()
        _see_out(started, seconds + _MOST_SECONDS_MORE)
        saw = [json.loads(out.read_text()) for out in outs]
    served = [len(took) for took, _, _ in saw]
    times = sorted(second for took, _, _ in saw for second in took)
    median, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    return Fleet(
        processes=processes,
        writers=writers,
        seconds=seconds,
        operations=len(times),
        operations_per_second=len(times) / seconds,
        locked_errors=sum(locked for _, _, locked in saw),
        most_over_least=max(served) / max(1, min(served)),
        syncs_per_operation=sum(syncs for _, syncs, _ in saw) / len(times),
        median=median,
        p99=p99,
        p99_over_median=p99 / median,
    )


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[1:]] + [32.0, 16.0, 30.0][len(sys.argv) - 1 :]
    print(json.dumps(asdict(measure(int(given[0]), int(given[1]), given[2])), indent=2))
