"""One observation as it is carried: its header, its content within a cap, its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from io_harness.types import Observation, ObsKind

from . import render
from .arguments import EMPTY, for_entry
from .bound import Keep, cut_inside
from .escape import TARGET_CHARS
from .grammar import SIGNS, escape
from .kernel import Extent, count_lines, extent, plain_read

_TARGET_CHARS = (TARGET_CHARS, 100, 24, 8)
_LEAST_CHARS = 40
_READ = ObsKind.READ
_KEEP: dict[ObsKind, Keep] = {
    ObsKind.READ: "lines",
    ObsKind.GREP: "lines",
    ObsKind.FIND: "lines",
    ObsKind.TOOL: "ends",
    ObsKind.MCP: "ends",
    ObsKind.ERROR: "ends",
}


@dataclass(frozen=True, slots=True)
class Refresh:
    """A read that was read again in its place, or could not be.

    `text` is what the file had at the lines of the read, `None` where it could not be read;
    `reason` says what made the read wrong, `because` why it was not refreshed.
    """

    position: int
    step: int
    reason: str
    text: str | None = None
    lines: tuple[int, int] | None = None
    total_lines: int | None = None
    digest: str | None = None
    cap: int = 0
    because: str = ""


class Carried(NamedTuple):
    """An observation as a section shows it.

    `head` is how much of the text is kept where it is cut, `shown` the lines that a read shows.
    """

    text: str
    args: str
    head: int | None
    shown: Extent | None


def source(
    observation: Observation, refresh: Refresh | None
) -> tuple[str, tuple[int, int] | None, int | None]:
    """The text a read shows, the lines it asked for and the file's number of lines."""
    if refresh is None or refresh.text is None:
        return observation.text, observation.lines, observation.total_lines
    return refresh.text, refresh.lines, refresh.total_lines


def _why(observation: Observation, call: int, refresh: Refresh | None) -> str:
    if refresh is None:
        return ""
    # An empty answer where lines were asked for: they are gone.
    gone = refresh.text == ""
    where = render.place(observation.step, call)
    return render.reread(refresh.step, where, refresh.reason, refresh.total_lines, gone=gone)


def detail(
    observation: Observation, refresh: Refresh | None, head: int | None
) -> tuple[Extent | None, str]:
    """The lines that a read shows, and what a header says between the target and the reason."""
    if observation.kind is not ObsKind.READ:
        return None, render.scope_of(observation)
    text, lines, total = source(observation, refresh)
    shown = extent(text, lines, total, head)
    total = _total(text, lines, total)
    return shown, render.span(shown.first, shown.last + (shown.inside > 0), total)


def _total(text: str, lines: tuple[int, int] | None, total: int | None) -> int | None:
    """A file's number of lines: as told, or counted where the text is all of it."""
    return count_lines(text) if lines is None and total is None else total


def _mark(
    observation: Observation, call: int, refresh: Refresh | None, head: int, tail: int
) -> str:
    text, lines, total = source(observation, refresh)
    gone = len(text) - head - tail
    hint = render.show_hint(observation.step, call, head)
    if observation.kind is ObsKind.READ:
        shown = extent(text, lines, total, head)
        hint = _read_hint(shown, text, head, _total(text, lines, total), hint)
    return render.marker(gone, len(text), hint)


def _read_hint(shown: Extent, text: str, head: int, total: int | None, more: str) -> str:
    if shown.inside == 0:
        return render.lines_hint((shown.first, shown.last), total)
    start = text.rfind("\n", 0, head) + 1
    end = text.find("\n", head)
    length = (len(text) if end < 0 else end) - start
    return f"{render.long_line_hint(shown.last + 1, length, total)}; {more}"


def carry(
    observation: Observation,
    call: int,
    cap: int,
    *,
    refresh: Refresh | None = None,
    why: str = "",
) -> Carried:
    """An observation carried within `cap` code points, the header not counted."""
    if refresh is None and not why:
        return Carried(*entered(observation, call, cap))
    text, _, _ = source(observation, refresh)
    why = why or _why(observation, call, refresh)
    head: int | None = None
    if len(text) > cap or len(content := escape(text)) > cap:
        content, head = _cut(observation, call, refresh, text, cap)
    shown, words = detail(observation, refresh, head)
    args = for_entry(observation.args, cap) if observation.args else ""
    top = render.header(observation, call, detail=words, why=why)
    return Carried(f"{top}{content}\n", args, head, shown)


def entered(
    observation: Observation, call: int, cap: int
) -> tuple[str, str, int | None, Extent | None]:
    """The same as `carry`, in a plain tuple, for one that was never refreshed.

    The hot one of the two: it is what every observation goes through once.
    """
    text, target = observation.text, observation.target
    args = for_entry(observation.args, cap) if observation.args else ""
    if (
        observation.kind is _READ
        and target is not None
        and call == 0
        and len(text) <= cap
        and len(target) <= TARGET_CHARS
    ):
        plain = plain_read(
            render.READ,
            SIGNS,
            observation.step,
            target,
            text,
            observation.lines,
            observation.total_lines,
        )
        if plain is not None:
            return plain[0], args, None, plain[1]
    head: int | None = None
    if len(text) > cap or len(content := escape(text)) > cap:
        content, head = _cut(observation, call, None, text, cap)
    cut, words = detail(observation, None, head)
    return f"{render.header(observation, call, words)}{content}\n", args, head, cut


def _cut(
    observation: Observation, call: int, refresh: Refresh | None, text: str, cap: int
) -> tuple[str, int | None]:
    def mark(head: int, tail: int) -> str:
        return _mark(observation, call, refresh, head, tail)

    cut = cut_inside(text, cap, _KEEP.get(observation.kind, "head"), mark, escape)
    assert cut is not None
    return cut.text, cut.head


def squeeze(
    observation: Observation,
    call: int,
    room: int,
    cap: int,
    *,
    refresh: Refresh | None = None,
    why: str = "",
) -> Carried:
    """The newest observation cut to the room it has, header and arguments included.

    Where header, marker and 40 characters don't fit, the target is shortened step by step, then
    the words of the header go, then the arguments, and at last the marker is its shortest.
    """
    text = source(observation, refresh)[0]
    keep = _KEEP.get(observation.kind, "head")
    why = why or _why(observation, call, refresh)
    whole = escape(text) if len(text) <= room else None

    def mark(head: int, tail: int) -> str:
        return _mark(observation, call, refresh, head, tail)

    def carried(form: _Form, content: str, head: int | None) -> Carried:
        top = _top(observation, call, form, head, refresh=refresh, why=why)
        return Carried(f"{top}{content}\n", form.args, head, detail(observation, refresh, head)[0])

    args = for_entry(observation.args, min(cap, room // 2)) if observation.args else ""
    for form in _forms(args):
        top = _top(observation, call, form, None, refresh=refresh, why=why)
        left = min(cap, room - len(top) - len(form.args) - 1)
        if whole is not None and len(whole) <= left:
            return carried(form, whole, None)
        if left >= len(mark(0, 0)) + 1 + _LEAST_CHARS:
            cut = cut_inside(text, left, keep, mark, escape)
            if cut is not None and cut.marked:
                return carried(form, cut.text, cut.head)
    cut = cut_inside(text, max(0, left), "head", _short_mark, escape)
    return carried(form, text, None) if cut is None else carried(form, cut.text, cut.head)


class _Form(NamedTuple):
    """How much a header says, and the arguments sent beside it."""

    target_chars: int
    full: bool
    args: str


def _forms(args: str) -> Iterator[_Form]:
    """The forms of a header, each shorter than the one before."""
    for target_chars in _TARGET_CHARS:
        yield _Form(target_chars, True, args)
    yield _Form(_TARGET_CHARS[-1], False, args)
    if args:
        yield _Form(_TARGET_CHARS[-1], False, EMPTY)


def _top(
    observation: Observation,
    call: int,
    form: _Form,
    head: int | None,
    *,
    refresh: Refresh | None,
    why: str,
) -> str:
    """The header of an observation in one of its forms."""
    words = ""
    if form.full:
        words = detail(observation, refresh, head)[1]
    else:
        why = "" if refresh is None else render.REREAD_SHORT
    return render.header(observation, call, detail=words, why=why, target_chars=form.target_chars)


def _short_mark(_head: int, _tail: int) -> str:
    return render.SHORT_MARKER
