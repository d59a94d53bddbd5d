"""Writers that are killed, and what is left of their work: `python -m tests.store.killing ROUNDS`.

This process forks and never opens a store itself. Each round four writers write for a few
milliseconds, tell of each acknowledgement in a pipe, and are killed; then another process opens
the store, checks what the pipe says, and goes on with the runs where they stopped.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw

from io_harness.errors import RunLeased, RunUnknown
from io_harness.store import Lease, Store
from io_harness.types import Completion, CompletionRequest, Message, Observation, ObsKind
from tests.store.disks import memory_directory

WRITERS = 4
RUNS_PER_WRITER = 3
ROUNDS_PER_FILE = 25
TTL = 0.02


def write(path: Path, writer: int, reading: int, pipe: int) -> None:
    """Drive some runs at once, and remember, until killed, or until nobody listens."""
    os.close(reading)

    async def drive(store: Store, run_id: str) -> None:
        lease, step = await take_up(store, run_id)
        while True:
            step += 1
            request = CompletionRequest("s", (), (Message("user", f"{run_id} {step} " * 40),))
            answer = Completion(f"{run_id} says {step}")
            await store.journal.completed(lease, step, answer, request=request)
            tell(pipe, "answered", run_id, step)
            seen = Observation(step, ObsKind.TOOL, None, f"{run_id} saw {step}", call=0)
            await store.journal.stepped(lease, step, [seen])
            tell(pipe, "stepped", run_id, step)
            await asyncio.to_thread(
                store.memory_put, run_id, f"k{step % 9}", f"{step}", run_id=run_id, step=step
            )
            tell(pipe, "noted", run_id, step)
            lease = await store.journal.renew(lease, ttl=TTL)

    async def drive_all() -> None:
        with Store.open(path) as store:
            runs = (drive(store, f"{writer}-{number}") for number in range(RUNS_PER_WRITER))
            await asyncio.gather(*runs)

    asyncio.run(drive_all())


async def take_up(store: Store, run_id: str) -> tuple[Lease, int]:
    """Lease the run where it stopped; the step in flight is done again, whole or not."""
    while True:
        with suppress(RunLeased):
            try:
                lease = await store.journal.acquire(run_id, ttl=TTL)
            except RunUnknown:
                beginning = store.journal.begin(
                    goal="x",
                    workspace="x",
                    contract="x",
                    provider="x",
                    model="x",
                    policy="x",
                    run_id=run_id,
                    ttl=TTL,
                )
                return await beginning, 0
            recorded = await store.journal.load(run_id)
            return lease, max(0, recorded.last_step - 1)
        await asyncio.sleep(TTL)


def tell(pipe: int, what: str, run_id: str, step: int) -> None:
    os.write(pipe, f"{what} {run_id} {step}\n".encode())


def check(path: Path, told: dict[tuple[str, str], int]) -> None:
    """All that was told of is there, once, and at most one step more of each run."""
    with Store.open(path) as store:
        for run in store.runs():
            steps = store.steps(run.run_id)
            assert [step.step for step in steps] == list(range(1, len(steps) + 1))
            for step in steps:
                assert step.decision == f"{run.run_id} says {step.step}"
                assert f"{run.run_id} {step.step} " * 40 in step.prompt
                expected = f"{run.run_id} saw {step.step}" if step.committed else ""
                assert step.result == expected
                assert len(step.observations) == step.committed
            committed = sum(step.committed for step in steps)
            assert told.get(("answered", run.run_id), 0) <= len(steps)
            assert told.get(("stepped", run.run_id), 0) <= committed
            notes = store.memory_list(run.run_id)
            newest = max((int(note.value) for note in notes), default=0)
            assert told.get(("noted", run.run_id), 0) <= newest
            assert len(notes) == min(9, newest)
        known = {run.run_id for run in store.runs()}
        assert {run_id for _, run_id in told} <= known
    connection = apsw.Connection(str(path))
    assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    connection.close()


def child(work: Callable[[], None]) -> int:
    """Fork, work, and end without cleaning up."""
    number = os.fork()
    if number:
        return number
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def run_round(path: Path, rng: random.Random, told: dict[tuple[str, str], int]) -> int:
    """Let writers write, kill them, check; return how many acknowledgements were told."""
    reading, writing = os.pipe()
    work = (partial(write, path, number, reading, writing) for number in range(WRITERS))
    writers = list(map(child, work))
    os.close(writing)
    select.select([reading], [], [], 60.0)  # they are up and writing
    lines = listen(reading, seconds=rng.uniform(0.0, 0.15))
    for writer in writers:
        if rng.random() < 0.5:
            time.sleep(rng.uniform(0, 0.01))
        os.kill(writer, signal.SIGKILL)
    lines += listen(reading, seconds=60.0)
    os.close(reading)
    for writer in writers:
        _, status = os.waitpid(writer, 0)
        assert os.WIFSIGNALED(status), "a writer ended before it was killed"
    for what, run_id, step in (line.split() for line in lines.decode().splitlines()):
        told[what, run_id] = max(told.get((what, run_id), 0), int(step))
    _, status = os.waitpid(child(lambda: check(path, told)), 0)
    assert status == 0, "the check failed"
    return lines.count(b"\n")


def listen(pipe: int, *, seconds: float) -> bytes:
    """Read for so long, or until no writer is left."""
    heard, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            data = os.read(pipe, 65_536)
            if not data:
                break
            heard += data
    return heard


def main(rounds: int, seed: int = 11) -> None:
    rng, acknowledged = random.Random(seed), 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        for number in range(rounds):
            if number % ROUNDS_PER_FILE == 0:
                path, told = Path(place, f"{number}.db"), dict[tuple[str, str], int]()
            acknowledged += run_round(path, rng, told)
    print(
        f"{rounds} rounds of {WRITERS} killed writers, {acknowledged} acknowledged operations, "
        f"0 lost, 0 double, every file whole, {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
