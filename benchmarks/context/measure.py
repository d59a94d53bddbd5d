"""Times of pushes and assemblies with the kernel in use, as JSON on standard output.

`python -m benchmarks.context.measure [LONGEST]`; `IO_HARNESS_NO_EXTENSIONS=1` measures the pure
kernel. Each figure is the least of many, in nanoseconds: noise only ever adds.
"""

from __future__ import annotations

import json
import sys
from typing import TypedDict

from io_harness import COMPILED

from .rig import RIGS, Rig, fastest_join, rig_of, timed, undisturbed
from .shapes import LONG_SHAPE

LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000)
# So long takes minutes to fill for every shape: the one that the targets speak of stands for all.
LONG = 1_000_000
ROUNDS = 2_000


class Row(TypedDict):
    """One shape at one length; times in nanoseconds."""

    shape: str
    length: int
    push: int
    assemble: int
    turn: int
    join: int
    pieces: int
    chars: int
    work: int


def measured(rig: Rig, shape: str, length: int) -> Row:
    """The least times of many turns, each one push and one assembly."""
    push = assemble = turn = sys.maxsize
    with undisturbed():
        for _ in range(ROUNDS):
            pushed = timed(rig.push)
            assembled = timed(rig.assemble)
            push, assemble = min(push, pushed), min(assemble, assembled)
            turn = min(turn, pushed + assembled)
    made = rig.assemble()
    pieces, chars = len(made.pieces), len(made.text)
    join = fastest_join(made, ROUNDS)
    return Row(
        shape=shape,
        length=length,
        push=push,
        assemble=assemble,
        turn=turn,
        join=join,
        pieces=pieces,
        chars=chars,
        work=made.work,
    )


def main() -> None:
    """All shapes at all lengths up to the longest asked for."""
    longest = int(sys.argv[1]) if len(sys.argv) > 1 else LENGTHS[-1]
    # The one that the targets speak of comes first, while memory is not yet in pieces.
    shapes = sorted(RIGS, key=lambda shape: shape != LONG_SHAPE)
    rows = [
        measured(rig_of(shape, length), shape, length)
        for shape in shapes
        for length in LENGTHS
        if length <= longest and (length < LONG or shape == LONG_SHAPE)
    ]
    json.dump({"compiled": COMPILED, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main()
