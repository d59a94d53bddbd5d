"""Opening and listing a store of 1 GB.

python -m benchmarks.store.large [bytes]
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from io_harness.store import Store
from io_harness.types import Completion, CompletionRequest, Observation, ObsKind

GIGABYTE = 1_000_000_000
STEPS = 20
RESULT_BYTES = 200_000

LIST = """
import sys, time
from io_harness.store import Store
import io_harness.store.sqlite.backend
began = time.perf_counter()
with Store.open(sys.argv[1]) as store:
    opened = time.perf_counter()
    runs = store.runs()
    listed = time.perf_counter()
    step = store.steps(runs[-1].run_id, step=1)
    looked = time.perf_counter()
print(1000 * (opened - began), 1000 * (listed - opened), 1000 * (looked - listed), len(runs))
"""


async def fill(store: Store, size: int) -> None:
    """Write runs of text that does not compress until the file has so many bytes."""
    rng, path = random.Random(1), store.files[0]
    while path.stat().st_size < size:
        lease = await store.journal.begin(
            goal="g", workspace="/w", contract="{}", provider="p", model="m", policy="[]"
        )
        for step in range(1, STEPS + 1):
            await store.journal.completed(
                lease, step, Completion("said"), request=CompletionRequest("s", (), ())
            )
            text = rng.randbytes(RESULT_BYTES).decode("latin-1")
            seen = Observation(step, ObsKind.TOOL, None, text, call=0)
            await store.journal.stepped(lease, step, [seen])
        await store.journal.finished(lease, outcome="success")


def measure(size: int) -> dict[str, float]:
    """Build the file, then open and list it in fresh processes; times in milliseconds."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "runs.db")
        with Store.open(path) as store:
            asyncio.run(fill(store, size))
        command = [sys.executable, "-c", LIST, str(path)]
        rounds = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            for _ in range(7)
        ]
        opened, listed, looked, runs = (
            statistics.median(map(float, column)) for column in zip(*rounds, strict=True)
        )
        return {
            "file_bytes": path.stat().st_size,
            "runs": runs,
            "open_ms": opened,
            "list_ms": listed,
            "one_step_ms": looked,
        }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else GIGABYTE), indent=2))
