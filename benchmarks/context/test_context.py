"""`python -m pytest benchmarks --benchmark-only`: pushes and assemblies of every shape.

Each timed assembly follows a push. Beside them the physical limit, joining the same pieces, and
the linear control. `IO_HARNESS_NO_EXTENSIONS=1` runs them on the pure kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

from io_harness import COMPILED

from .rig import RIGS, LinearRig, rig_of
from .shapes import LONG_SHAPE, SHAPES


class Stopwatch(Protocol):
    """What is used here of pytest-benchmark's fixture, which has no types of its own."""

    group: str
    extra_info: dict[str, object]

    def pedantic(
        self,
        target: Callable[..., object],
        args: tuple[object, ...] = (),
        *,
        setup: Callable[[], None] | None = None,
        rounds: int = 1,
    ) -> object: ...


ROUNDS = 200
LENGTHS = (100, 1_000, 10_000, 100_000)
LONG = [(LONG_SHAPE, 1_000_000)] if COMPILED else []
CASES = [(name, length) for name in RIGS for length in LENGTHS] + LONG


@pytest.mark.parametrize(("name", "length"), CASES)
def test_assemble_after_one_push(benchmark: Stopwatch, name: str, length: int) -> None:
    rig = rig_of(name, length)
    benchmark.group = name
    benchmark.pedantic(rig.assemble, setup=rig.push, rounds=ROUNDS)
    benchmark.extra_info["work"] = rig.assemble().work


@pytest.mark.parametrize("name", RIGS)
def test_push(benchmark: Stopwatch, name: str) -> None:
    rig = rig_of(name, 1_000)
    benchmark.group = name
    benchmark.pedantic(rig.push, rounds=ROUNDS)


@pytest.mark.parametrize(("name", "length"), [case for case in CASES if case[0] == LONG_SHAPE])
def test_whole_turn(benchmark: Stopwatch, name: str, length: int) -> None:
    rig = rig_of(name, length)

    def turn() -> None:
        rig.push()
        rig.assemble()

    benchmark.group = name
    benchmark.pedantic(turn, rounds=ROUNDS)


@pytest.mark.parametrize("name", RIGS)
def test_join_of_the_same_pieces(benchmark: Stopwatch, name: str) -> None:
    parts = [piece.text for piece in rig_of(name, 1_000).assemble().pieces]
    benchmark.group = name
    benchmark.pedantic("".join, args=(parts,), rounds=ROUNDS)


@pytest.mark.parametrize("length", [100, 1_000, 10_000])
def test_linear_control(benchmark: Stopwatch, length: int) -> None:
    rig = LinearRig(SHAPES[LONG_SHAPE], length)
    benchmark.group = LONG_SHAPE
    benchmark.pedantic(rig.assemble, setup=rig.push, rounds=10)
