"""The library's own policies: each request as the assembler makes it from the records so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.context import Assembler, CachePrice, Ledger, PieceStatus
from io_harness.replay.files import FileTexts
from io_harness.replay.policy import Part, Shown, steps_of
from io_harness.replay.recorded import RecordedFiles
from io_harness.types import Observation, ObsKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from io_harness.context import Assembled, Piece
    from io_harness.replay.policy import Terms
    from io_harness.replay.records import Record, Transcript

_SHOWN = {
    PieceStatus.CARRIED: Shown.CARRIED,
    PieceStatus.BOUNDED: Shown.BOUNDED,
    PieceStatus.REFRESHED: Shown.REFRESHED,
    PieceStatus.STUB: Shown.STUB,
    PieceStatus.COLLAPSED: Shown.COLLAPSED,
}


def observation(record: Record) -> Observation:
    """The record as a caller of the assembler would push it.

    A read whose text is not exactly lines of one file enters as a tool's result: nothing could
    say when it is stale. A search's question is its key, so that its header stays short.
    """
    kind = ObsKind.ERROR if record.is_error else record.kind
    if kind is ObsKind.READ and not record.exact:
        kind = ObsKind.TOOL
    is_search = kind in {ObsKind.GREP, ObsKind.FIND}
    is_read = kind is ObsKind.READ
    return Observation(
        record.step,
        kind,
        record.target,
        record.text,
        args=record.args,
        lines=record.lines if is_read else None,
        total_lines=record.total_lines if is_read else None,
        key=f"{record.target} {record.scope}" if is_search else None,
        paths=record.paths if is_search else (),
        call=record.call,
    )


@dataclass(frozen=True, slots=True)
class AssemblerPolicy:
    """Drives a real assembler through the run; a price of `None` is that of the terms."""

    price: CachePrice | None = None

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """The pieces of each request's section, in order."""
        files = FileTexts.empty()
        ledger = Ledger()
        price = self.price or CachePrice(terms.read, terms.write)
        assembler = Assembler(ledger, workspace=RecordedFiles(files), price=price)
        parts = _Parts(run)
        for step, positions in enumerate(steps_of(run)[: run.steps], 1):
            for position in positions:
                ledger.push(observation(run.records[position]))
                files.take(run.records[position])
                parts.enter(position)
            made = assembler.assemble(step=step, budget_tokens=terms.ceiling)
            yield parts.of(made)


class _Parts:
    """Pieces as parts; the same object while a piece stays the same."""

    def __init__(self, run: Transcript) -> None:
        self._run = run
        self._positions: dict[tuple[int, int], int] = {}
        self._made: dict[tuple[int, int, PieceStatus, int], Part] = {}
        self._last_write: dict[str, int] = {}

    def enter(self, position: int) -> None:
        """The record at this position is in the ledger now."""
        record = self._run.records[position]
        self._positions[record.step, record.call] = position
        for change in record.changes:
            self._last_write[change.path] = position

    def of(self, assembled: Assembled) -> list[Part]:
        """The parts of one section."""
        seen: dict[tuple[int, int, PieceStatus], int] = {}
        found: list[Part] = []
        for piece in assembled.pieces:
            name = (piece.step, piece.call, piece.status)
            nth = seen.get(name, 0)
            seen[name] = nth + 1
            found.append(self._part(piece, nth))
        return found

    def _part(self, piece: Piece, nth: int) -> Part:
        key = (piece.step, piece.call, piece.status, nth)
        part = self._made.get(key)
        if part is not None and part.text == piece.text and part.args == piece.args:
            return part
        position = self._positions.get((piece.step, piece.call))
        path = as_of = None
        if piece.status is PieceStatus.REFRESHED and position is not None:
            path = self._run.records[position].target
            as_of = self._last_write.get(path or "", position)
        part = Part(
            piece.text,
            piece.args,
            _SHOWN.get(piece.status, Shown.CARRIED),
            position,
            path,
            -1 if as_of is None else as_of,
        )
        self._made[key] = part
        return part
