"""A ledger and a ceiling into one request's section."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from io_harness.errors import ConfigError
from io_harness.types import MemoryEntry

from . import checks, render
from . import manifest as manifests
from ._positions_py import CUT, SHIFT
from .assembled import Assembled, Squeezed
from .budget import (
    COLLAPSED_CHARS,
    MIN_CEILING_TOKENS,
    NO_CACHE,
    CachePrice,
    Ceiling,
    ceiling_of,
)
from .entry import Carried
from .freshness import Files, Judge, Reader
from .ledger import Ledger
from .priced import PricedAssembler
from .resume import Snapshot, restore
from .view import View
from .watch import Watch

_UNCUT = -1


class Assembler:
    """Builds each request's section from a ledger, within a ceiling of estimated tokens.

    `workspace` is where stale reads are read again and `policy` decides whether they may be;
    without a policy every read is allowed. `price` is what the provider charges for a repeated
    prefix. `manifest` continues from an earlier section of the same ledger.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        workspace: Reader | None = None,
        policy: Judge | None = None,
        price: CachePrice = NO_CACHE,
        manifest: str | None = None,
    ) -> None:
        _check_parts(ledger, workspace, policy, price)
        files = Files(workspace, policy)
        self._view = View(ledger, files)
        self._watch = Watch(self._view, files)
        self._priced = (
            PricedAssembler(self._view, self._watch, price)
            if price.rewards_a_stable_prefix
            else None
        )
        self._ceiling = ceiling_of(MIN_CEILING_TOKENS)
        self._turn = 0
        self._before = ""
        if manifest is not None:
            with manifests.readable():
                self._resume(manifests.load(checks.text("manifest", manifest)))

    def _resume(self, state: manifests.State) -> None:
        """Let everything enter as it had, with the refreshes then made."""
        view = self._view
        if state.entered > len(view.ledger):
            raise ConfigError(
                f"the manifest knows {state.entered} observations and the ledger has "
                f"{len(view.ledger)}; pass the ledger of the same run"
            )
        stops = [*(start for start, _ in state.caps[1:]), state.entered]
        for (_, cap), stop in zip(state.caps, stops, strict=False):
            if self._priced is None:
                view.enter_new(cap, stop)
            else:
                self._priced.enter(cap, stop)
        for refresh in state.refreshes:
            view.apply(refresh)
        for position, write in state.looked:
            if view.kernel.last(view.kernel.gid(position)) == write:
                self._watch.looked(position)
        if self._priced is not None and state.section is not None:
            self._priced.paid = state.section.paid
            self._priced.waiting = list(state.section.waiting)
            for position, first, count in state.section.moved:
                view.moved[position] = first, count
            section = restore(view, self._priced, state.section)
            self._priced.section = section
            self._before = "".join([section.block.text, *section.texts])

    def assemble(
        self, *, step: int, budget_tokens: int, notes: Sequence[MemoryEntry] = ()
    ) -> Assembled:
        """The section for the request of `step`, of at most `budget_tokens` estimated tokens.

        Raises `ConfigError`, a `ValueError`, for a ceiling below 64 tokens, a negative step, or
        what is no note.
        """
        ceiling = self._ceiling
        if budget_tokens is not ceiling.tokens:
            ceiling = self._ceiling = ceiling_of(budget_tokens)
        if type(step) is not int or step < 0:
            checks.whole("step", step, 0)
        if notes != ():
            notes = checks.notes(notes)
        self._turn += 1
        if self._watch.in_turn:
            self._watch.end_turn()
        if self._priced is not None:
            return self._grow(self._priced, step, ceiling, notes)
        view, kernel = self._view, self._view.kernel
        visited = kernel.work
        view.enter_new(ceiling.cap, view.ledger.count())
        block = render.render_notes(notes, ceiling.block) if notes else render.NO_NOTES
        squeezed = self._fit(ceiling, ceiling.chars - len(block.text), step)
        for position in kernel.missing:
            view.render(position)
        return self._emit(block, squeezed, visited)

    def _fit(self, ceiling: Ceiling, room: int, step: int) -> Carried | None:
        """Choose what is carried and what is a stub; the newest one where it had to be cut."""
        kernel, cap = self._view.kernel, ceiling.cap
        if kernel.live_chars <= room and self._all_fit(room, step, cap):
            return None
        left = room - ceiling.stubs
        if self._look_around(left, step, cap) and kernel.live_chars <= room:
            # What was looked at has become shorter.
            if self._all_fit(room, step, cap):
                return None
            self._look_around(left, step, cap)
        squeezed, size = None, _UNCUT
        if not kernel.carried and kernel.live:
            squeezed = self._view.squeeze(kernel.newest(), left)
            size = len(squeezed.text) + len(squeezed.args)
        position = kernel.start_stubs(ceiling.stubs - COLLAPSED_CHARS, size)
        while position >= 0:
            self._view.make_stub(position)
            position = kernel.stubs()
        return squeezed

    def _all_fit(self, room: int, step: int, cap: int) -> bool:
        """Whether nothing is hidden, as far as is known once all was looked at."""
        kernel = self._view.kernel
        if kernel.live != len(kernel):
            return False
        self._look_around(room, step, cap)
        return kernel.carried == len(kernel) and kernel.start_stubs(0, _UNCUT) < 0

    def _look_around(self, room: int, step: int, cap: int) -> bool:
        """Walk from the newest live observation, each read looked at, while they fit."""
        kernel = self._view.kernel
        position = kernel.start(room, self._turn, self._watch.sees_files)
        if position < 0:
            return False
        while position >= 0:
            self._watch.look(position, step, cap)
            position = kernel.walk()
        return True

    def _emit(self, block: render.NotesBlock, squeezed: Carried | None, visited: int) -> Assembled:
        view, before, made = self._view, self._before, self._watch.made
        text, order, texts, counts = view.kernel.emit(
            block.text, render.COLLAPSED, None if squeezed is None else squeezed.text, visited
        )
        self._before = text
        cut = None if squeezed is None else self._squeezed(order, squeezed)
        refreshed = tuple(made) if made else ()
        return Assembled(text, before, counts, view, block, texts, order, cut, refreshed, None)

    def _squeezed(self, order: array[int], squeezed: Carried) -> Squeezed:
        """Where the cut newest observation stands, and what is sent of it."""
        newest, index = self._view.kernel.newest(), len(order) - 1
        while order[index] >> SHIFT != newest:
            index -= 1
        cut = 0 if squeezed.head is None else CUT
        order[index] = newest << SHIFT | self._view.kernel.mark(newest) | cut
        return index, squeezed.args, squeezed.head

    def _grow(
        self, priced: PricedAssembler, step: int, ceiling: Ceiling, notes: Sequence[MemoryEntry]
    ) -> Assembled:
        """The section of this turn where a repeated prefix is cheap."""
        view, before = self._view, self._before
        section = priced.turn(step, ceiling.tokens, notes)
        texts, carried = section.texts, len(section.carried)
        text = self._before = "".join([section.block.text, *texts])
        return Assembled(
            text,
            before,
            (carried, len(view.kernel), section.hidden, section.chars, priced.visited, len(texts)),
            view,
            section.block,
            texts,
            section.codes,
            section.squeezed,
            tuple(self._watch.made),
            Snapshot(view, priced, section),
        )


def _check_parts(
    ledger: object, workspace: object | None, policy: object | None, price: object
) -> None:
    """What an assembler is made of; raises `ConfigError` for what cannot be used."""
    if not isinstance(ledger, Ledger):
        raise ConfigError(f"ledger must be a Ledger, got {checks.shown(ledger)}")
    if workspace is not None:
        checks.answers("workspace", workspace, "a Workspace", "canonical", "read", "signature")
    if policy is not None:
        checks.answers("policy", policy, "a Policy", "check")
    if not isinstance(price, CachePrice):
        raise ConfigError(f"price must be a CachePrice, got {checks.shown(price)}")
