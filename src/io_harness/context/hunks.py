"""What a section shows of each file, and the change that makes it true again."""

from __future__ import annotations

from dataclasses import dataclass, field

from .escape import clean


def lines_of(text: str) -> list[str]:
    """A text's lines as they are shown, without their ends; LF alone ends one."""
    lines = clean(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a file that took the place of others: `old` by their former numbers, `new` by now.

    Both ranges are inclusive; one whose last is before its first is empty. `shift` is how far
    the lines after it move, `total` the file's number of lines now.
    """

    old: tuple[int, int]
    new: tuple[int, int]
    lines: tuple[str, ...]
    total: int

    @property
    def shift(self) -> int:
        """How far the later lines move."""
        return self.new[1] - self.old[1]


class Unknown(Exception):
    """What changed cannot be told: too little is known of the file, before or now."""


@dataclass(slots=True)
class ShownFile:
    """The lines of a file that a section shows, as its reader holds them after the last hunk.

    `version` is the kernel's count of changes that is accounted for; `end_shown` whether the
    section shows that nothing follows the last line.
    """

    lines: dict[int, str] = field(default_factory=dict)
    total: int | None = None
    end_shown: bool = False
    version: int = -1

    def show(self, first: int, texts: list[str], total: int | None, *, end: bool) -> None:
        """Take in a read."""
        self.lines.update(zip(range(first, first + len(texts)), texts, strict=True))
        self.total = total
        self.end_shown = self.end_shown or end

    def change_to(self, now: list[str], total: int | None) -> Hunk | None:
        """The hunk that makes the lines shown true; `None` where they are.

        Raises `Unknown` where a number of lines is not known, or not all of them are at hand.
        """
        shown = sorted(self.lines)
        first = next((n for n in shown if n > len(now) or now[n - 1] != self.lines[n]), None)
        if first is None and (not self.end_shown or total == self.total):
            self.total = total
            return None
        if self.total is None or total is None or len(now) < total:
            raise Unknown
        shift = total - self.total
        last = next((n for n in reversed(shown) if not self._found(n, shift, now)), None)
        if last is None:
            start = (shown[0] if shown else self.total + 1) + min(shift, 0)
            last = start - 1 - min(shift, 0)
        else:
            start = min(self.total + 1 if first is None else first, last + 1)
            last = max(last, start - 1, start - 1 - shift)
        new = (start, last + shift)
        return Hunk((start, last), new, tuple(now[start - 1 : new[1]]), total)

    def _found(self, line: int, shift: int, now: list[str]) -> bool:
        return 0 < line + shift <= len(now) and now[line + shift - 1] == self.lines[line]

    def apply(self, hunk: Hunk) -> None:
        """Take in a hunk: replace, and move what follows."""
        (start, last), shift = hunk.old, hunk.shift
        before = {n: text for n, text in self.lines.items() if n < start}
        after = {n + shift: text for n, text in self.lines.items() if n > last}
        between = dict(zip(range(start, start + len(hunk.lines)), hunk.lines, strict=True))
        self.lines = {**before, **between, **after}
        self.total = hunk.total
        self.end_shown = self.end_shown or (bool(hunk.lines) and hunk.new[1] == hunk.total)
