"""When a section is written anew where providers sell a repeated prefix cheaply, and what stays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from . import render
from ._kernel_py import LIVE, READ, SEARCH
from .budget import CHARS_PER_TOKEN, CachePrice, exact
from .entry import Carried
from .touched import TouchedFiles
from .view import View

Look: TypeAlias = Callable[[int], None]
# Tuned by cross-validation on recorded runs (docs/replay.md); 1 would be the ski-rental rule.
PATIENCE = 3
TAIL_SHARE = 24
FILES_SHARE = 5
STUBS_SHARE = 96
COLLAPSED_CHARS = 64


def pays(price: CachePrice, paid: int, kept: int) -> bool:
    """Whether what carrying the surplus has cost by now would have paid for a rewrite."""
    read, write = exact(price.read), exact(price.write)
    return read * paid >= Fraction(PATIENCE) * (write - read) * kept


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
        self._view = view
        self._touched = touched

    def plan(
        self, ceiling: int, block_chars: int, pending: Sequence[int], step: int, look: Look
    ) -> Plan:
        """What stays under `ceiling` tokens; `pending` is what no section has carried yet.

        `look` is asked before the size of an observation counts.
        """
        plan = Plan(chars=block_chars)
        stub_room = ceiling // STUBS_SHARE * CHARS_PER_TOKEN
        limit = ceiling * CHARS_PER_TOKEN - stub_room - COLLAPSED_CHARS
        self._keep_new(plan, pending, limit, look)
        tail = min(limit, plan.chars + ceiling // TAIL_SHARE * CHARS_PER_TOKEN)
        waiting = pending[: plan.left]
        self._keep(plan, self._older(plan), tail, look, waiting, passing=False)
        files = min(limit, plan.chars + ceiling // FILES_SHARE * CHARS_PER_TOKEN)
        self._keep(plan, self._touched.lately(step), files, look, waiting, passing=True)
        self._choose_stubs(plan, stub_room)
        return plan

    def _keep_new(self, plan: Plan, pending: Sequence[int], limit: int, look: Look) -> None:
        """What the model has not seen, newest first; the newest of all is cut where it must be."""
        kernel = self._view.kernel
        for index in range(len(pending) - 1, -1, -1):
            position = pending[index]
            plan.visited += 1
            if not self._is_live(position, look):
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


def _holds(ascending: Sequence[int], position: int) -> bool:
    at = bisect_left(ascending, position)
    return at < len(ascending) and ascending[at] == position
