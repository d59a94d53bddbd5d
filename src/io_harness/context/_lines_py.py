"""Lines: how many a text has, and which of them a read shows."""

from __future__ import annotations

from typing import NamedTuple

from ._index_py import text_of, within
from ._texts_py import filled, has_any, is_bare

END = 1 << 62
LINE = 32
MAX_LINE = 2**30
MAX_LAST = 2**31 - 2
MAX_CHARS = 2**62


class Extent(NamedTuple):
    """The lines that a text shows of a file.

    `last` is the last line shown whole, `inside` how many characters are shown of the line
    after it, `reached` whether the file's end is shown. `lo` and `hi` are where that starts and
    ends on the kernel's axis.
    """

    first: int
    last: int
    inside: int
    reached: bool

    @property
    def lo(self) -> int:
        """Where it starts on the kernel's axis."""
        return self.first << LINE

    @property
    def hi(self) -> int:
        """Where it ends on the kernel's axis."""
        return END if self.reached else ((self.last + 1) << LINE) + self.inside


def count_lines(text: str) -> int:
    """Lines of a text; LF alone ends one, and a last one needs no end."""
    text_of("text", text)
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def extent(
    text: str, lines: tuple[int, int] | None, total: int | None, head: int | None = None
) -> Extent:
    """The lines shown of a read of `lines` that got `text` and shows its first `head` chars."""
    text_of("text", text)
    first, asked = (1, 0) if lines is None else lines
    within("the first line", first, 0, MAX_LINE)
    within("the last line", asked, 0, MAX_LINE)
    if total is not None:
        within("total", total, 0, MAX_LINE)
    if head is not None:
        head = min(within("head", head, 0, MAX_CHARS), len(text))
        whole = text.count("\n", 0, head)
        start = text.rfind("\n", 0, head) + 1
        if head > start and (head == len(text) or text[head] == "\n"):
            return Extent(first, first + whole, 0, False)
        return Extent(first, first + whole - 1, head - start, False)
    count = count_lines(text)
    last = within("the last line shown", first + count - 1, -1, MAX_LAST)
    if lines is None:
        return Extent(first, last, 0, total is None or last >= total)
    fewer = count == 0 or last < asked
    return Extent(first, last, 0, fewer or (total is not None and last >= total))


def plain_read(  # noqa: PLR0917  # keywords would cost a third of the call
    words: tuple[str, ...],
    signs: tuple[str, ...],
    step: int,
    target: str,
    text: str,
    lines: tuple[int, int] | None,
    total: int | None,
) -> tuple[str, Extent] | None:
    """A read's header and content in one piece, and the lines it shows, where all is plain.

    `words` are as in `filled`, around the step, the target, the first and the last line shown,
    the file's number of lines, and the content. `None` where that is not all there is to say, the
    target is not bare, or the content is not ASCII or has one of `signs`.
    """
    text_of("target", target)
    text_of("text", text)
    if not text.isascii() or not is_bare(target) or has_any(text, signs):
        return None
    shown = extent(text, lines, total)
    if (total is None and lines is not None) or shown.last < shown.first:
        return None
    total = shown.last if total is None else total
    return filled(words, step, target, shown.first, shown.last, total, text), shown
