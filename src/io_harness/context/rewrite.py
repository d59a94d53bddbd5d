"""When a section is written anew where providers sell a repeated prefix cheaply, and what stays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from . import render
from ._positions_py import LIVE, READ, SEARCH, SUPERSEDED
from .budget import CHARS_PER_TOKEN, COLLAPSED_CHARS, CachePrice, exact
from .entry import Carried
from .kernel import Kernel
from .touched import TouchedFiles
from .view import View

Look: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Terms:
    """When a rewrite pays and what it keeps; the shares are parts of the ceiling.

    Tuned by cross-validation on recorded runs (docs/replay.md). A `patience` of 1 would be the
    ski-rental rule.
    """

    patience: Fraction = Fraction(3)
    tail: Fraction = Fraction(1, 48)
    written_files: Fraction = Fraction(31, 100)
    written_steps: int = 80
    written_reads: int = 6
    whole_steps: int = 16
    read_files: Fraction = Fraction(1, 24)
    read_steps: int = 80
    read_reads: int = 3
    stubs: Fraction = Fraction(1, 400)


TERMS = Terms()


def pays(price: CachePrice, paid: int, kept: int, patience: Fraction) -> bool:
    """Whether what carrying the surplus has cost by now would have paid for a rewrite."""
    read, write = exact(price.read), exact(price.write)
    return read * paid >= patience * (write - read) * kept


def reaches_the_model(kernel: Kernel, position: int) -> bool:
    """Whether a new observation is carried once though a later one of its batch supersedes it.

    A read need not be: the later reads show its lines.
    """
    return kernel.state(position) == SUPERSEDED and kernel.kind(position) != READ


@dataclass(slots=True)
class Plan:
    """What a rewrite keeps: positions, the newest one where it was cut, the stubs, the size.

    `left` is how many of the positions that no section has carried wait for another one.
    """

    kept: set[int] = field(default_factory=set)
    squeezed: tuple[int, Carried] | None = None
    stubs: list[tuple[int, str]] = field(default_factory=list)
    line: str = ""
    left: int = 0
    chars: int = 0
    visited: int = 0

    def keep(self, position: int, size: int) -> None:
        """Carry a position."""
        self.kept.add(position)
        self.chars += size


class Planner:
    """Chooses what a rewrite would keep; for a real one each read is looked at on the way."""

    def __init__(self, view: View, touched: TouchedFiles) -> None:
        """Plan for one assembler."""
        self.terms = TERMS
        self._view = view
        self._touched = touched

    def plan(
        self, ceiling: int, block_chars: int, pending: Sequence[int], step: int, look: Look
    ) -> Plan:
        """What stays under `ceiling` tokens; `pending` is what no section has carried yet.

        `look` is asked before the size of an observation counts.
        """
        terms, plan = self.terms, Plan(chars=block_chars)
        stub_room = _chars(ceiling, terms.stubs)
        limit = ceiling * CHARS_PER_TOKEN - stub_room - COLLAPSED_CHARS
        self._keep_new(plan, pending, limit, look)
        waiting = pending[: plan.left]
        written = self._touched.written(
            step, terms.written_steps, terms.written_reads, terms.whole_steps
        )
        only_read = self._touched.only_read(
            step, terms.read_steps, terms.read_reads, terms.written_steps
        )
        for share, candidates, passing in (
            (terms.tail, self._older(plan), False),
            (terms.written_files, written, True),
            (terms.read_files, only_read, True),
        ):
            room = min(limit, plan.chars + _chars(ceiling, share))
            self._keep(plan, candidates, room, look, waiting, passing=passing)
        self._choose_stubs(plan, stub_room)
        return plan

    def _keep_new(self, plan: Plan, pending: Sequence[int], limit: int, look: Look) -> None:
        """What the model has not seen, newest first; the newest of all is cut where it must be."""
        kernel = self._view.kernel
        for index in range(len(pending) - 1, -1, -1):
            position = pending[index]
            plan.visited += 1
            if not (reaches_the_model(kernel, position) or self._is_live(position, look)):
                continue
            size = kernel.size(position)
            if plan.chars + size <= limit:
                plan.keep(position, size)
            elif position == kernel.newest():
                cut = self._view.squeeze(position, limit - plan.chars)
                plan.squeezed = position, cut
                plan.keep(position, len(cut.text) + len(cut.args))
            else:
                plan.left = index + 1
                return

    def _older(self, plan: Plan) -> Iterator[int]:
        """Live observations that are not kept yet, newest first."""
        position = self._view.kernel.newest()
        while position >= 0:
            # Looking at it may take it off the list of live ones.
            before = self._view.kernel.before(position)
            if position not in plan.kept:
                yield position
            position = before

    def _keep(
        self,
        plan: Plan,
        candidates: Iterator[int],
        limit: int,
        look: Look,
        waiting: Sequence[int],
        *,
        passing: bool,
    ) -> None:
        """Keep candidates while they fit; one that doesn't ends it, or is passed over."""
        for position in candidates:
            plan.visited += 1
            if position in plan.kept or _holds(waiting, position):
                continue
            if not self._is_live(position, look):
                continue
            size = self._view.kernel.size(position)
            if plan.chars + size <= limit:
                plan.keep(position, size)
            elif not passing:
                return

    def _is_live(self, position: int, look: Look) -> bool:
        kernel = self._view.kernel
        if kernel.state(position) != LIVE:
            return False
        if kernel.kind(position) in (READ, SEARCH):
            look(position)
        return kernel.state(position) == LIVE

    def _choose_stubs(self, plan: Plan, room: int) -> None:
        """Stubs newest first while they fit; the rest is counted in one line."""
        for position in range(len(self._view.kernel) - 1, -1, -1):
            plan.visited += 1
            if position in plan.kept:
                continue
            text = self._view.stub_text(position)
            size = len(text) + len(self._view.stub_args(position))
            if size > room:
                break
            room -= size
            plan.stubs.append((position, text))
            plan.chars += size
        hidden = len(self._view.kernel) - len(plan.kept) - len(plan.stubs)
        plan.line = render.collapsed(hidden) if hidden else ""
        plan.chars += len(plan.line)


def _chars(ceiling: int, share: Fraction) -> int:
    """A share of a ceiling in whole tokens, as code points."""
    return int(ceiling * share) * CHARS_PER_TOKEN


def _holds(ascending: Sequence[int], position: int) -> bool:
    at = bisect_left(ascending, position)
    return at < len(ascending) and ascending[at] == position
