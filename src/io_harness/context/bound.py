"""Cutting a text inside a cap, with a marker that says so at its edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from io_harness.errors import ConfigError

from . import checks, render
from .escape import clean
from .kernel import cut_head, cut_lines, cut_tail

Keep: TypeAlias = Literal["head", "tail", "ends", "lines"]
KEEPS: tuple[Keep, ...] = ("head", "tail", "ends", "lines")
Mark: TypeAlias = Callable[[int, int], str]
Escape: TypeAlias = Callable[[str], str]
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """A text as it is shown: `head` and `tail` are how much of the raw text is kept, in chars.

    `marked` says whether there was room for the marker.
    """

    text: str
    head: int
    tail: int
    marked: bool = True


def _longest(
    text: str, room: int, escape: Escape, take: Callable[[str, int], tuple[str, int]]
) -> tuple[str, int]:
    """The longest part of a text, from one of its ends, that is within `room` once escaped."""
    kept, count = take(text, room)
    shown = escape(kept)
    if len(shown) <= room:
        return shown, count
    low, high = 0, count
    best = "", 0
    while high - low > 1:
        middle = (low + high) // 2
        kept, count = take(text, middle)
        shown = escape(kept)
        if len(shown) <= room:
            low, best = middle, (shown, count)
        else:
            high = middle
    return best


def _head(text: str, size: int) -> tuple[str, int]:
    end = cut_head(text, size)
    return text[:end], end


def _tail(text: str, size: int) -> tuple[str, int]:
    start = cut_tail(text, size)
    return text[start:], len(text) - start


def _lines(text: str, size: int) -> tuple[str, int]:
    end = cut_lines(text, size)
    return (text[:end], end) if end > 0 else _head(text, size)


def _within(text: str, room: int, keep: Keep, escape: Escape) -> Cut:
    """A text cut to `room`, without a marker."""
    if room <= 0:
        return Cut("", 0, 0)
    if keep == "tail":
        shown, kept = _longest(text, room, escape, _tail)
        return Cut(shown, 0, kept)
    if keep == "ends" and (both := room - len(render.SEAM) - 2) >= 2:
        start, head = _longest(text, both // 2, escape, _head)
        rest = text[max(head, len(text) - both) :]
        end, tail = _longest(rest, both - len(start), escape, _tail)
        return Cut(f"{start}\n{render.SEAM}\n{end}", head, tail)
    shown, kept = _longest(text, room, escape, _lines if keep == "lines" else _head)
    return Cut(shown, kept, 0)


def _joined(cut: Cut, mark: str, *, above: bool) -> str:
    if not cut.text:
        return mark
    return f"{mark}\n{cut.text}" if above else f"{cut.text}\n{mark}"


def cut_inside(text: str, cap: int, keep: Keep, mark: Mark, escape: Escape) -> Cut | None:
    """A text cut so that with its marker and its escapes it has at most `cap` code points.

    `None` where it fits uncut once escaped. `mark(head, tail)` is the marker for what is kept;
    a cap that cannot hold it gives the plain cut without one.
    """
    if len(text) <= cap and len(escape(text)) <= cap:
        return None
    above = keep in ("tail", "ends")
    room = cap - len(mark(0, 0)) - 1
    best: Cut | None = None
    for _ in range(_TRIES):
        cut = _within(text, room, keep, escape)
        whole = _joined(cut, mark(cut.head, cut.tail), above=above)
        if len(whole) <= cap and (best is None or len(whole) > len(best.text)):
            best = Cut(whole, cut.head, cut.tail)
        if len(whole) == cap or (best is not None and len(whole) > cap):
            break
        # Whole lines may leave room unused, and what is too long must get shorter each time.
        room = (room if len(whole) < cap else len(cut.text)) + cap - len(whole)
    if best is None:
        plain = _within(text, cap, "head" if keep == "ends" else keep, escape)
        return replace(plain, marked=False)
    return best


def bound(text: str, cap: int, *, keep: Keep = "head", hint: str = "") -> str:
    r"""A text in at most `cap` code points, cut visibly: a marker line says how much is gone.

    `keep` is what stays: the head, the tail, both ends, or whole lines from the start; the
    marker is the last line, for a tail and for both ends the first. `hint` is said in the marker:
    how to get the rest. A cap shorter than the marker gives the plain cut without one. What fits
    is returned unchanged, but for lone surrogates, which are shown as \u{d83d}; the result
    always encodes to UTF-8. Raises `ConfigError`, a `ValueError`, for an argument of another type,
    a negative cap or an unknown `keep`.
    """
    checks.text("text", text)
    checks.whole("cap", cap, 0, unit="code points")
    if keep not in KEEPS:
        raise ConfigError(f"keep must be one of {', '.join(KEEPS)}, got {checks.shown(keep)}")
    words = " ".join(clean(checks.text("hint", hint)).split())

    def mark(head: int, tail: int) -> str:
        return render.marker(len(text) - head - tail, len(text), words)

    cut = cut_inside(text, cap, keep, mark, clean)
    return clean(text) if cut is None else cut.text
