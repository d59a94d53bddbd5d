"""What a ledger and its assembler keep for an observation, in bytes.

Run as `python -m tests.oracle.footprint SHAPE`. Prints what the allocator of Python handed out
and by how much the process grew (which counts memory of the compiled kernel, too). The caller's
observations are made before, with their calls filled in; their texts are shared.
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

from benchmarks.context.shapes import CEILING, LAST_STEP, SHAPES, ledger_of

from io_harness import Assembler, Ledger
from io_harness.types import Observation

COUNT = 60_000
TURNS = 200


def resident() -> int:
    """Bytes of the process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def filled(observations: list[Observation]) -> tuple[Ledger, Assembler]:
    """A ledger that all have entered, a few thousand of them one turn at a time."""
    ledger = Ledger()
    assembler = Assembler(ledger)
    for observation in observations[:-TURNS]:
        ledger.push(observation)
    for observation in observations[-TURNS:]:
        ledger.push(observation)
        assembler.assemble(step=LAST_STEP, budget_tokens=CEILING)
    return ledger, assembler


def traced(observations: list[Observation]) -> float:
    """Bytes an observation as tracemalloc counts them."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = filled(observations)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(kept[0])


def grown(observations: list[Observation]) -> float:
    """Bytes an observation as the operating system counts them."""
    gc.collect()
    before = resident()
    kept = filled(observations)
    gc.collect()
    return (resident() - before) / len(kept[0])


def main() -> None:
    """Both figures on one line."""
    shape = SHAPES[sys.argv[1]]
    observations = [replace(seen, call=0) for seen in ledger_of(shape, COUNT)]
    by_system = grown(observations)
    sys.stdout.write(f"{traced(observations[: COUNT // 4]):.1f} {by_system:.1f}\n")


if __name__ == "__main__":
    main()
