"""One assembled section, and what it was made of."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, overload

from . import manifest as manifests
from ._kernel_py import Counts, Texts
from ._positions_py import COLLAPSED, CUT, REFRESHED, SHIFT, STUB
from .entry import Refresh
from .estimate import tokens_of
from .pieces import Piece, PieceStatus
from .render import NotesBlock
from .view import View

if TYPE_CHECKING:
    from .resume import Snapshot

# What only a growing section has: a file's change, and a read shown again after a void.
HUNK = STUB | COLLAPSED
AGAIN = HUNK | REFRESHED
BITS = (1 << SHIFT) - 1
# The index of the piece cut further for its turn, its arguments, how much of its text is kept.
Squeezed: TypeAlias = tuple[int, str, int | None]
_NOT_YET = -1


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
        squeezed: Squeezed | None,
        *,
        count: int,
    ) -> None:
        """`order` tells what each of `count` texts is; the lists may have grown since."""
        self._count = count
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
        observation = self._view.ledger.pushed(position)
        step, call = observation.step, self._view.ledger.call(position)
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


class Assembled:
    """One request's section: its text, and the account of it. Never changed once made.

    What needs work is done when it is first asked for: joining two hundred texts costs
    microseconds, and describing each of them a hundred times as much.
    """

    __slots__ = (
        "_before",
        "_block",
        "_caps",
        "_counts",
        "_made",
        "_order",
        "_past_writes",
        "_refreshed",
        "_snapshot",
        "_squeezed",
        "_stable",
        "_text",
        "_texts",
        "_view",
    )

    def __init__(  # noqa: PLR0917  # once a turn, and keywords would cost a third of it
        self,
        text: str,
        before: str,
        counts: Counts,
        view: View,
        block: NotesBlock,
        texts: Texts,
        order: array[int],
        squeezed: Squeezed | None,
        made: tuple[Refresh, ...],
        snapshot: Snapshot | None,
    ) -> None:
        """What is made now of `view`; it may change later, and the lists may grow.

        `before` is the section before; `order` is what each of `texts` is (see `Kernel.emit`);
        `made` are the refreshes of this turn, and `snapshot` is of a growing section.
        """
        self._text = text
        self._before = before
        self._counts = counts
        self._view = view
        self._block = block
        self._texts = texts
        self._order = order
        self._squeezed = squeezed
        self._made = made
        self._snapshot = snapshot
        self._caps = len(view.caps)
        self._refreshed = view.refreshes.now
        self._past_writes = view.past_writes.now
        self._stable = _NOT_YET

    def __repr__(self) -> str:
        return (
            f"Assembled(carried={self.carried}, stubbed={self.stubbed}, "
            f"collapsed={self.collapsed}, est_tokens={self.est_tokens}, work={self.work})"
        )

    @property
    def text(self) -> str:
        """The section."""
        return self._text

    @property
    def pieces(self) -> Sequence[Piece]:
        """What the section consists of; the texts of all, joined, are the section."""
        texts = self._texts
        if isinstance(texts, array):
            texts = [self._text[start:end] for start, end in pairwise(texts)]
        return Pieces(
            self._view,
            self._block.text,
            texts,
            self._order,
            self._squeezed,
            count=self._counts[5],
        )

    @property
    def carried(self) -> int:
        """How many observations are shown in full, bounded and refreshed ones too."""
        return self._counts[0]

    @property
    def stubbed(self) -> int:
        """How many are not, collapsed ones too; with `carried` the number of observations."""
        return self._counts[1] - self._counts[0]

    @property
    def reread(self) -> int:
        """How many reads were refreshed this turn."""
        return sum(refresh.text is not None for refresh in self._made)

    @property
    def refreshes(self) -> tuple[Refresh, ...]:
        """The refreshes of this turn, failed ones too."""
        return self._made

    @property
    def recalled(self) -> int:
        """How many notes are in the memory block."""
        return len(self.recalled_keys)

    @property
    def recalled_keys(self) -> tuple[str, ...]:
        """The keys of the notes in the memory block."""
        return self._block.recalled

    @property
    def left_out(self) -> int:
        """How many notes the memory block had no room for."""
        return self._block.left_out

    @property
    def collapsed(self) -> bool:
        """Whether observations are counted in one line that is all there is of them."""
        return self._counts[2] > 0

    @property
    def est_tokens(self) -> int:
        """The estimate of text and arguments, in tokens: what the ceiling bounds."""
        return tokens_of(self._counts[3])

    @property
    def stable_chars(self) -> int:
        """The length in code points of the prefix shared with the section before."""
        if self._stable == _NOT_YET:
            self._stable = shared_prefix(self._before, self._text)
        return self._stable

    @property
    def rewritten(self) -> bool:
        """Whether the section before is not wholly a prefix of this one."""
        return self.stable_chars < len(self._before)

    @property
    def work(self) -> int:
        """How many observations were visited to assemble it."""
        return self._counts[4]

    @property
    def manifest(self) -> str:
        """What resume needs to go on from this section, as JSON text."""
        view, kernel = self._view, self._view.kernel
        entered, caps, snapshot = self._counts[1], self._caps, self._snapshot
        # What was known then, though much may have happened since.
        refreshes = view.refreshes.at(self._refreshed)
        looked = view.past_writes.at(self._past_writes)
        return manifests.dump(
            manifests.State(
                entered,
                tuple(zip(view.cap_starts[:caps], view.caps[:caps], strict=True)),
                tuple(refreshes[position] for position in sorted(refreshes)),
                tuple(
                    (read, write)
                    for read, write in sorted(looked.items())
                    if not write < kernel.last(kernel.gid(read)) < entered
                ),
                None if snapshot is None else snapshot.state(refreshes),
            )
        )


def shared_prefix(one: str, other: str) -> int:
    """The number of code points after which two texts differ first, or one of them ends."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
