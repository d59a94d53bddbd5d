"""A ledger of a shape and a length with its assembler, turned one push and one assembly a time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Protocol

from io_harness import Assembled, Assembler, Ledger
from io_harness.types import Observation

from . import linear
from .shapes import CEILING, LAST_STEP, SHAPES, Shape, ledger_of
from .stale import Files


class Section(Protocol):
    """What is measured of an assembly."""

    @property
    def text(self) -> str:
        """The section."""
        ...

    @property
    def work(self) -> int:
        """Observations visited."""
        ...


class Turns(Protocol):
    """Something that takes an observation and then assembles."""

    def push(self) -> None:
        """One observation more."""
        ...

    def assemble(self) -> Section:
        """One section."""
        ...


class Rig:
    """The library: as many observations as asked have entered before the first turn.

    `budgets` are the ceilings of successive turns, over and over.
    """

    def __init__(
        self,
        shape: Shape,
        length: int,
        *,
        budgets: Sequence[int] = (CEILING,),
        files: Files | None = None,
    ) -> None:
        self.shape = shape
        self.offset = 0
        self.budgets = budgets
        self.ledger = Ledger()
        for observation in ledger_of(shape, length):
            self.ledger.push(observation)
        self.assembler = Assembler(self.ledger, workspace=files)
        self.assemble()

    def push(self) -> None:
        """The observation that every ledger of this shape gets next."""
        self.ledger.push(self.shape(self.offset))
        self.offset += 1

    def assemble(self) -> Assembled:
        """One section under this turn's ceiling."""
        budget = self.budgets[self.offset % len(self.budgets)]
        return self.assembler.assemble(step=LAST_STEP + self.offset, budget_tokens=budget)


MOVING = tuple(range(18_000, 24_001, 500))
RIGS = (*SHAPES, "moving ceiling", "stale reads")


def rig_of(name: str, length: int) -> Rig:
    """The rig of a shape by its name, those that need more than a shape included."""
    if name == "moving ceiling":
        return Rig(SHAPES["30 % repeats"], length, budgets=MOVING)
    if name == "stale reads":
        files = Files()
        return Rig(files.observation, length, files=files)
    return Rig(SHAPES[name], length)


class LinearRig:
    """The negative control over the same observations."""

    def __init__(self, shape: Shape, length: int) -> None:
        self.shape = shape
        self.offset = 0
        self.ledger: list[Observation] = list(ledger_of(shape, length))

    def push(self) -> None:
        """The observation that every ledger of this shape gets next."""
        self.ledger.append(self.shape(self.offset))
        self.offset += 1

    def assemble(self) -> linear.LinearSection:
        """One section of what fits."""
        return linear.assemble(self.ledger, CEILING)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection inside, and nothing alive before it is ever walked again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def timed(act: Callable[[], object]) -> int:
    """Nanoseconds of one call."""
    start = perf_counter_ns()
    act()
    return perf_counter_ns() - start


def fastest_turns(rigs: Sequence[Turns], rounds: int) -> list[int]:
    """The least nanoseconds an assembly took after one push, the rigs taking turns."""
    best = [2**63] * len(rigs)
    with undisturbed():
        for _ in range(rounds):
            for index, rig in enumerate(rigs):
                rig.push()
                best[index] = min(best[index], timed(rig.assemble))
    return best


def fastest_join(made: Assembled, rounds: int) -> int:
    """The least nanoseconds of joining the pieces of a section: the physical limit."""
    parts = [piece.text for piece in made.pieces]
    with undisturbed():
        return min(timed(lambda: "".join(parts)) for _ in range(rounds))
