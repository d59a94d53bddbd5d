"""The library's own policies: each request as the assembler makes it from the records so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.context import Assembler, CachePrice, Ledger, PieceStatus
from io_harness.replay.files import FileTexts
from io_harness.replay.lengths import lengths
from io_harness.replay.policy import Part, Shown, steps_of
from io_harness.replay.recorded import RecordedFiles
from io_harness.replay.records import Whole
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
_VOID = "nothing shown of it before holds"


def observation(record: Record, total_lines: int | None) -> Observation:
    """The record as a caller of the assembler would push it, `total_lines` the file's.

    A read whose text is not exactly lines of one file enters as a tool's result: nothing could
    say when it is stale. A search's question is its key, so that its header stays short.
    """
    kind = ObsKind.ERROR if record.is_error else record.kind
    if kind is ObsKind.READ and not record.exact:
        kind = ObsKind.TOOL
    is_search = kind in {ObsKind.GREP, ObsKind.FIND}
    return Observation(
        record.step,
        kind,
        record.target,
        record.text,
        args=record.args,
        lines=record.lines if kind is ObsKind.READ else None,
        total_lines=total_lines if kind is ObsKind.READ or _is_whole_write(record) else None,
        key=f"{record.target} {record.scope}" if is_search else None,
        paths=record.paths if is_search else (),
        call=record.call,
    )


def _is_whole_write(record: Record) -> bool:
    return len(record.changes) == 1 and isinstance(record.changes[0], Whole)


@dataclass(frozen=True, slots=True)
class AssemblerPolicy:
    """Drives a real assembler through the run; a price of `None` is that of the terms."""

    price: CachePrice | None = None

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        """The pieces of each request's section, in order."""
        files = FileTexts.empty()
        workspace = RecordedFiles(files, lengths(run))
        ledger = Ledger()
        price = self.price or CachePrice(terms.read, terms.write)
        assembler = Assembler(ledger, workspace=workspace, price=price)
        parts = _Parts(run)
        for step, positions in enumerate(steps_of(run)[: run.steps], 1):
            for position in positions:
                record = run.records[position]
                files.take(record)
                total = workspace.total_lines(record.target) if record.target else None
                ledger.push(observation(record, total))
                parts.enter(position)
            yield parts.of(assembler.assemble(step=step, budget_tokens=terms.ceiling))


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
        if part is None or part.text != piece.text or part.args != piece.args:
            part = self._made[key] = self._new(piece)
        return part

    def _new(self, piece: Piece) -> Part:
        position = self._positions.get((piece.step, piece.call))
        shown = _SHOWN.get(piece.status, Shown.CARRIED)
        if shown is not Shown.REFRESHED or position is None:
            return Part(piece.text, piece.args, shown, position)
        path = self._run.records[position].target or ""
        as_of = self._last_write.get(path, position)
        if piece.kind is None:
            taken_back = _VOID in piece.text.partition("\n")[0]
            shown = Shown.VOIDED if taken_back else Shown.APPENDED
            position = None
        return Part(piece.text, piece.args, shown, position, path, as_of)
