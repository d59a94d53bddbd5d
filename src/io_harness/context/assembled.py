"""One assembled section, and what it was made of."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from ._kernel_py import COLLAPSED, CUT, REFRESHED, SHIFT, STUB
from .entry import Refresh
from .pieces import Piece, PieceStatus
from .view import View

# What only a growing section has: a file's change, and a read shown again after a void.
HUNK = STUB | COLLAPSED
AGAIN = HUNK | REFRESHED
BITS = (1 << SHIFT) - 1


def carries(code: int) -> bool:
    """Whether a piece shows an observation's text."""
    bits = code & HUNK
    return bits == 0 or code & AGAIN == AGAIN


class Pieces(Sequence[Piece]):
    """The pieces of a section, made when asked for."""

    __slots__ = ("_block", "_count", "_order", "_squeezed", "_texts", "_view")

    def __init__(
        self,
        view: View,
        block: str,
        texts: Sequence[str],
        order: array[int],
        squeezed: tuple[int, str, int | None] | None,
    ) -> None:
        """`order` tells what each text is; `squeezed` the index cut further, and its arguments.

        Both lists may grow later: the pieces are those there now.
        """
        self._count = len(order)
        self._view = view
        self._block = block
        self._texts = texts
        self._order = order
        self._squeezed = squeezed

    def __len__(self) -> int:
        return self._count + bool(self._block)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Piece]: ...
    def __getitem__(self, index: int | slice) -> Piece | Sequence[Piece]:
        if isinstance(index, slice):
            return [self._piece(at) for at in range(len(self))[index]]
        return self._piece(range(len(self))[index])

    def __iter__(self) -> Iterator[Piece]:
        return map(self._piece, range(len(self)))

    def _piece(self, index: int) -> Piece:
        if self._block:
            if index == 0:
                memory = PieceStatus.MEMORY
                return Piece(0, 0, None, memory, False, None, "", self._block)
            index -= 1
        code, text = self._order[index], self._texts[index]
        position, bits = code >> SHIFT, code & BITS
        observation = self._view.ledger[position]
        step, call = observation.step, observation.call or 0
        if bits == HUNK:
            path, status = observation.target, PieceStatus.REFRESHED
            return Piece(step, call, None, status, False, path, "", text)
        if bits & HUNK == COLLAPSED:
            return Piece(step, call, None, PieceStatus.COLLAPSED, True, None, "", text)
        if bits & AGAIN == AGAIN:
            status, args = PieceStatus.REFRESHED, ""
        elif bits & STUB:
            status, args = PieceStatus.STUB, self._view.stub_args(position)
        else:
            status, args = _status(bits), self._view.sent_args(position)
        if self._squeezed is not None and index == self._squeezed[0]:
            args = self._squeezed[1]
        cut = bool(bits & CUT) or status is PieceStatus.STUB
        return Piece(step, call, observation.kind, status, cut, observation.target, args, text)


def _status(bits: int) -> PieceStatus:
    if bits & REFRESHED:
        return PieceStatus.REFRESHED
    return PieceStatus.BOUNDED if bits & CUT else PieceStatus.CARRIED


@dataclass(frozen=True, slots=True)
class Assembled:
    """One request's section: its text, and the account of it.

    `carried` counts observations shown in full, bounded and refreshed ones too; `stubbed` the
    stubs and the collapsed ones: their sum is the number of observations. `reread` counts the
    refreshes made this turn, `refreshes` tells them, failed ones too. `recalled` and `left_out`
    count the notes in the memory block and those it had no room for; `recalled_keys` names the
    former. `est_tokens` is the estimate of text and arguments that the ceiling bounds, in
    tokens; `stable_chars` the length in code points of the prefix shared with the previous
    section, `rewritten` whether that section is not wholly a prefix of this one. `work` counts
    the observations visited.
    """

    text: str
    pieces: Sequence[Piece] = field(repr=False)
    carried: int
    stubbed: int
    reread: int
    recalled: int
    left_out: int
    collapsed: bool
    est_tokens: int
    stable_chars: int
    rewritten: bool
    work: int
    refreshes: tuple[Refresh, ...] = ()
    recalled_keys: tuple[str, ...] = ()
    _manifest: Callable[[], str] = field(default=lambda: "", repr=False, compare=False)

    @property
    def manifest(self) -> str:
        """What resume needs to go on from this section, as JSON text; built when asked for."""
        return self._manifest()
