"""A section taken apart: which piece is about which observation, and that none is lost."""

from __future__ import annotations

from dataclasses import dataclass

from io_harness.context import Piece, PieceStatus
from io_harness.types import ObsKind

from . import grammar
from .scenario import Fact, Frame

WHOLE = {PieceStatus.CARRIED, PieceStatus.BOUNDED, PieceStatus.REFRESHED}


class Broken(AssertionError):
    """A guarantee that does not hold, and where."""


def demand(holds: object, *what: object) -> None:
    """Fail with what was found."""
    if not holds:
        raise Broken(" | ".join(str(part) for part in what))


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece about one observation, taken apart."""

    fact: Fact
    piece: Piece
    head: grammar.Head
    body: str

    @property
    def whole(self) -> bool:
        """Whether it is more than a stub."""
        return self.piece.status in WHOLE

    @property
    def size(self) -> int:
        """Code points sent for it."""
        return len(self.piece.text) + len(self.piece.args)


def size(piece: Piece) -> int:
    """Code points sent for one piece."""
    return len(piece.text) + len(piece.args)


def stub_room(budget: int) -> int:
    """Code points kept for stubs where not everything is carried."""
    return 4 * min(max(budget // 8, 64), budget // 4)


def default_call(fact: Fact) -> int:
    """The call a header leaves unsaid."""
    return -1 if fact.observation.kind is ObsKind.MESSAGE else 0


def complete(frame: Frame) -> dict[int, Shown]:
    """Every observation is exactly one of carried, stub, counted; the order is the ledger's."""
    made = frame.assembled
    by_place = {(f.observation.step, f.observation.call): f for f in frame.facts}
    shown: dict[int, Shown] = {}
    counted = 0
    for index, piece in enumerate(made.pieces):
        line, _, rest = piece.text.partition("\n")
        if piece.status is PieceStatus.MEMORY:
            demand(index == 0, "memory is not first")
        elif piece.status is PieceStatus.COLLAPSED:
            found = grammar.COLLAPSED.fullmatch(line)
            demand(found and not rest and not counted, "no count", piece.text)
            demand(len(piece.text) <= 60, "the collapsed line is too long", piece.text)
            assert found
            counted = grammar.number(found[1])
        else:
            fact = by_place.pop((piece.step, piece.call), None)
            head = grammar.head_of(line)
            demand(fact, "shown twice, or of no ledger", piece)
            demand(head, "no header", line)
            assert fact
            assert head
            named = (head.step, head.call if head.call is not None else default_call(fact))
            demand(named == (piece.step, piece.call), "header names another", head, piece)
            demand(piece.text.endswith("\n"), "no line end", piece.text)
            shown[fact.position] = Shown(fact, piece, head, rest[:-1])
    demand(list(shown) == sorted(shown), "not in order", list(shown))
    demand(counted == len(by_place), "counted wrong", counted, len(by_place))
    demand(made.collapsed == bool(counted), "collapsed", made.collapsed, counted)
    whole = sum(item.whole for item in shown.values())
    demand(made.carried == whole, "carried", made.carried, whole)
    demand(made.carried + made.stubbed == len(frame.facts), "lost", made.carried, made.stubbed)
    return shown


def lines_of(item: Shown) -> tuple[int, int] | None:
    """The lines that a read's header says it shows; none where it was too tight to say."""
    if found := grammar.LINES.fullmatch(item.head.detail):
        return int(found[1]), int(found[2])
    if found := grammar.NO_LINES.fullmatch(item.head.detail):
        return int(found[1]), int(found[1]) - 1
    demand(not item.head.detail, "a read without lines", item.head)
    return None


def is_cut(item: Shown) -> bool:
    """Whether a marker of the harness's own says that something is missing."""
    lines = item.body.split("\n")
    edges = (lines[0], lines[-1])
    return any(edge == grammar.SHORT_MARKER or grammar.MARKER.fullmatch(edge) for edge in edges)
