"""A ledger and a ceiling into one request's section."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from io_harness.errors import ConfigError
from io_harness.types import MemoryEntry

from . import manifest as manifests
from . import render
from ._kernel_py import CUT, SHIFT
from .assembled import Assembled, Squeezed
from .budget import (
    CHARS_PER_TOKEN,
    COLLAPSED_CHARS,
    MIN_CEILING_TOKENS,
    NO_CACHE,
    CachePrice,
    entry_cap_chars,
)
from .entry import Carried
from .freshness import Files, Judge, Reader
from .ledger import Ledger
from .priced import PricedAssembler
from .resume import Snapshot, restore
from .view import View
from .watch import Watch


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
        files = Files(workspace, policy)
        self._view = View(ledger, files)
        self._watch = Watch(self._view, files)
        self._priced = (
            PricedAssembler(self._view, self._watch, price)
            if price.rewards_a_stable_prefix
            else None
        )
        self._turn = 0
        self._before = ""
        if manifest is not None:
            self._resume(manifests.load(manifest))

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
        for position in state.looked:
            self._watch.looked(position)
        if self._priced is not None and state.section is not None:
            self._priced.paid = state.section.paid
            self._priced.waiting = list(state.section.waiting)
            self._watch.moved = {p: (first, count) for p, first, count in state.section.moved}
            section = restore(view, self._priced, state.section)
            self._priced.section = section
            self._before = "".join([section.block.text, *section.texts])

    def assemble(
        self, *, step: int, budget_tokens: int, notes: Sequence[MemoryEntry] = ()
    ) -> Assembled:
        """The section for the request of `step`, of at most `budget_tokens` estimated tokens.

        Raises `ConfigError`, a `ValueError`, for a ceiling below 64 tokens or a negative step.
        """
        _whole("budget_tokens", budget_tokens, MIN_CEILING_TOKENS)
        _whole("step", step, 0)
        view, kernel = self._view, self._view.kernel
        self._turn += 1
        if self._priced is not None:
            return self._grow(self._priced, step, budget_tokens, notes)
        visited, entered = kernel.work, len(kernel)
        cap = entry_cap_chars(budget_tokens)
        self._watch.begin_turn()
        view.enter_new(cap, len(view.ledger))
        block = render.render_notes(notes, budget_tokens // 4 * CHARS_PER_TOKEN)
        room = budget_tokens * CHARS_PER_TOKEN - len(block.text)
        squeezed = self._fit(room, budget_tokens, step, cap)
        return self._emit(block, squeezed, kernel.work - visited + len(kernel) - entered)

    def _fit(self, room: int, ceiling: int, step: int, cap: int) -> Carried | None:
        """Choose what is carried and what is a stub; the newest one where it had to be cut."""
        if self._all_fit(room, step, cap):
            return None
        reserve = min(max(ceiling // 8, 64), ceiling // 4) * CHARS_PER_TOKEN
        squeezed = self._walk(room - reserve, step, cap)
        if self._may_all_fit(room):
            # What was looked at has become shorter.
            if self._all_fit(room, step, cap):
                return None
            squeezed = self._walk(room - reserve, step, cap)
        kernel = self._view.kernel
        kernel.start_stubs(reserve - COLLAPSED_CHARS, squeezed is not None)
        for position in iter(kernel.stubs, -1):
            self._view.make_stub(position)
        return squeezed

    def _may_all_fit(self, room: int) -> bool:
        kernel = self._view.kernel
        return kernel.live == len(kernel) and kernel.live_chars <= room

    def _all_fit(self, room: int, step: int, cap: int) -> bool:
        """Whether nothing is hidden, as far as is known once all was looked at."""
        if not self._may_all_fit(room):
            return False
        self._look_around(room, step, cap)
        kernel = self._view.kernel
        if kernel.carried < len(kernel):
            return False
        kernel.start_stubs(0, False)
        return True

    def _look_around(self, room: int, step: int, cap: int) -> None:
        """Walk from the newest live observation, each read looked at, while they fit."""
        kernel = self._view.kernel
        kernel.start(room, self._turn, self._watch.sees_files)
        for position in iter(kernel.walk, -1):
            self._watch.look(position, step, cap)

    def _walk(self, room: int, step: int, cap: int) -> Carried | None:
        kernel = self._view.kernel
        self._look_around(room, step, cap)
        if kernel.carried or kernel.newest() < 0:
            return None
        return self._view.squeeze(kernel.newest(), room)

    def _emit(self, block: render.NotesBlock, squeezed: Carried | None, work: int) -> Assembled:
        view, kernel = self._view, self._view.kernel
        for position in kernel.missing():
            view.render(position)
        used = kernel.used
        if squeezed is not None:
            used = len(squeezed.text) + len(squeezed.args)
        hidden = len(kernel) - kernel.carried - kernel.stub_count
        line = render.collapsed(hidden) if hidden else ""
        texts: list[str] = []
        order = kernel.emit(texts, line)
        cut = None
        if squeezed is not None:
            newest = kernel.newest()
            cut = _put(texts, order, squeezed, newest << SHIFT | kernel.mark(newest))
        kernel.release()
        assembled = Assembled(
            view,
            block,
            texts,
            order,
            cut,
            before=self._before,
            carried=kernel.carried,
            hidden=hidden,
            chars=len(block.text) + used + kernel.stub_used + len(line),
            work=work,
            made=tuple(self._watch.made),
            manifest=self._manifest_of(None),
        )
        self._before = assembled.text
        return assembled

    def _grow(
        self, priced: PricedAssembler, step: int, ceiling: int, notes: Sequence[MemoryEntry]
    ) -> Assembled:
        """The section of this turn where a repeated prefix is cheap."""
        view = self._view
        self._watch.begin_turn()
        section = priced.turn(step, ceiling, notes)
        assembled = Assembled(
            view,
            section.block,
            section.texts,
            section.codes,
            section.squeezed,
            before=self._before,
            carried=len(section.carried),
            hidden=section.hidden,
            chars=section.chars,
            work=priced.visited,
            made=tuple(self._watch.made),
            manifest=self._manifest_of(Snapshot(view, self._watch, priced, section)),
        )
        self._before = assembled.text
        return assembled

    def _manifest_of(self, snapshot: Snapshot | None) -> Callable[[], str]:
        view, turn = self._view, self._turn
        entered, caps, made = len(view.kernel), len(view.caps), len(self._watch.log)

        def build() -> str:
            # Asked for late, what was superseded meanwhile is needed again.
            log = view.refreshes.values() if turn == self._turn else self._watch.log[:made]
            return manifests.dump(
                manifests.State(
                    entered,
                    tuple(zip(view.cap_starts[:caps], view.caps[:caps], strict=True)),
                    manifests.newest(log),
                    self._watch.looked_past_writes(),
                    None if snapshot is None else snapshot.state(),
                )
            )

        return build


def _whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _put(texts: list[str], order: array[int], squeezed: Carried, code: int) -> Squeezed:
    """Put the cut newest observation in the place of its uncut self; where that is."""
    index = len(order) - 1
    while order[index] >> SHIFT != code >> SHIFT:
        index -= 1
    texts[index] = squeezed.text
    order[index] = code if squeezed.head is None else code | CUT
    return index, squeezed.args, squeezed.head
