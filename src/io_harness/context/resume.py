"""A growing section as plain facts, and built again from them in another process."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ._positions_py import COLLAPSED, LIVE, READ, SEARCH, SHIFT, STUB, SUPERSEDED
from .assembled import AGAIN, BITS, HUNK, carries
from .entry import Refresh
from .hunks import Hunk, ShownFile
from .manifest import SectionState
from .parse import Parsed, parse
from .priced import PricedAssembler
from .render import NotesBlock
from .section import Section
from .view import View

_RANGE = re.compile(
    r"(?:lines (?P<first>\d+)-(?P<last>\d+)|after line (?P<after>\d+)): "
    r"now (?:lines \d+-(?P<end>\d+) of (?P<total>\d+)|gone)"
    r"(?:, later lines move by (?P<by>[+-]\d+))?"
)
_LINES = re.compile(r"lines (?P<first>\d+)-(?P<last>\d+)")
_CUT_INSIDE = " cut inside, "


class Snapshot:
    """What a growing section was at one turn, kept cheaply until its state is asked for."""

    def __init__(self, view: View, priced: PricedAssembler, section: Section) -> None:
        """Remember one turn; the section's lists only grow, so their lengths are enough."""
        self._view = view
        self._section = section
        self._count = len(section.codes)
        self._paid = priced.paid
        self._waiting = tuple(priced.waiting)
        self._moved = view.moved.now
        self._files = tuple(
            (gid, file.total, file.end_shown) for gid, file in section.files.items()
        )

    def state(self, refreshes: Mapping[int, Refresh]) -> SectionState:
        """The facts of that turn, with the refreshes that stood then."""
        section, moved = self._section, self._view.moved.at(self._moved)
        return SectionState(
            tuple(self._piece(index, refreshes) for index in range(self._count)),
            section.squeezed,
            section.squeezed_lines,
            section.hidden,
            self._paid,
            self._waiting,
            section.block.text,
            section.block.recalled,
            section.block.left_out,
            tuple(sorted((self._view.path(gid), total, end) for gid, total, end in self._files)),
            tuple((position, *moved[position]) for position in sorted(moved)),
        )

    def _piece(self, index: int, refreshes: Mapping[int, Refresh]) -> tuple[int, str | None]:
        """A piece; its text is left out where the ledger gives the same again."""
        code, text = self._section.codes[index], self._section.texts[index]
        position = code >> SHIFT
        if (
            carries(code)
            and not self._view.mentions(position)
            and self._view.refreshes.get(position) is refreshes.get(position)
            and self._view.carry(position).text == text
        ):
            return code, None
        return code, text


def restore(view: View, priced: PricedAssembler, state: SectionState) -> Section:
    """The section of a state; what it shows of each file follows from its pieces in order."""
    section = Section(NotesBlock(state.block, state.keys, state.left_out))
    section.hidden = state.hidden
    last = {code >> SHIFT: index for index, (code, _) in enumerate(state.pieces) if carries(code)}
    for index, (code, stored) in enumerate(state.pieces):
        position = code >> SHIFT
        text = view.carry(position).text if stored is None else stored
        section.put(code, text, _args(view, state, index, code))
        if code & BITS == HUNK:
            _take_back_or_change(view, priced, section, position, text)
        elif view.kernel.kind(position) == READ and last.get(position) == index:
            if stored is None or view.kernel.state(position) != SUPERSEDED:
                priced.show(section, position, _head(state, index))
            else:
                lines = state.squeezed_lines if _is_squeezed(state, index) else None
                _show_text(view, section, position, stored, lines)
        elif stored is not None and carries(code):
            _mention(view, position, stored)
    section.squeezed, section.squeezed_lines = state.squeezed, state.squeezed_lines
    totals = {path: (total, end) for path, total, end in state.files}
    for gid, file in section.files.items():
        file.total, file.end_shown = totals[view.path(gid)]
        file.version = view.kernel.file_version(gid)
    return section


def _mention(view: View, position: int, text: str) -> None:
    """Say of a live search again what its header says besides what the ledger tells."""
    why = parse(text)[0].why
    if why and view.kernel.kind(position) == SEARCH and view.kernel.state(position) == LIVE:
        view.hits(position)
        view.mention(position, why)


def _is_squeezed(state: SectionState, index: int) -> bool:
    return state.squeezed is not None and state.squeezed[0] == index


def _head(state: SectionState, index: int) -> int | None:
    return state.squeezed[2] if state.squeezed is not None and _is_squeezed(state, index) else None


def _show_text(
    view: View, section: Section, position: int, text: str, lines: tuple[int, int] | None
) -> None:
    """Take in a read from its text: its refresh was let go when it was superseded."""
    piece = parse(text)[0]
    file = section.files.setdefault(view.kernel.gid(position), ShownFile())
    if lines is None:
        lines = _told_lines(piece)
    first, last = lines
    shown = piece.content.split("\n")[: max(0, last - first + 1)]
    file.lines.update(zip(range(first, last + 1), shown, strict=True))


def _told_lines(piece: Parsed) -> tuple[int, int]:
    """The whole lines that a read shows, by its header and marker."""
    told = _LINES.match(piece.detail)
    if told is None:
        return 1, 0
    return int(told["first"]), int(told["last"]) - (_CUT_INSIDE in piece.marker)


def _args(view: View, state: SectionState, index: int, code: int) -> str:
    """The arguments sent with a piece."""
    position, bits = code >> SHIFT, code & BITS
    if state.squeezed is not None and state.squeezed[0] == index:
        return state.squeezed[1]
    if bits & AGAIN == AGAIN or bits & HUNK in (COLLAPSED, HUNK):
        return ""
    return view.stub_args(position) if bits & STUB else view.sent_args(position)


def _take_back_or_change(
    view: View, priced: PricedAssembler, section: Section, position: int, text: str
) -> None:
    gid = view.kernel.gid(position)
    hunk = _hunk(text)
    if hunk is not None:
        # What stood there may be void by now and left out: then the change does not matter either.
        section.files.setdefault(gid, ShownFile()).apply(hunk)
        return
    section.carried.difference_update(priced.reads(section, gid))
    section.files.pop(gid, None)


def _hunk(text: str) -> Hunk | None:
    """The change that a hunk's text tells; `None` for a line that takes all back."""
    piece = parse(text)[0]
    match = _RANGE.match(piece.why)
    if match is None:
        return None
    after = match["after"]
    old = (int(after) + 1, int(after)) if after else (int(match["first"]), int(match["last"]))
    shift = int(match["by"] or 0)
    lines = tuple(piece.content.split("\n")) if match["end"] else ()
    total = int(match["total"]) if match["total"] else 0
    return Hunk(old, (old[0], old[1] + shift), lines, total)
