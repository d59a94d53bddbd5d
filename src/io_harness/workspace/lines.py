"""The lines of one file that match, with their surroundings, each shown within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io_harness.workspace.pattern import LinePattern

LINE_MAX_BYTES = 500
_BEFORE = 150  # bytes shown before a match in a line that is too long


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a search: a match, or a line near one. A long line is a window on its match."""

    path: str
    line: int
    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    start: int
    end: int
    match: int | None


def hits_in(
    data: bytes, pattern: LinePattern, path: str, *, context: int, limit: int
) -> tuple[list[Hit], bool]:
    """The hits of one file, of at most `limit` matching lines, and whether there are more.

    Raises UnicodeDecodeError where a line to show is not UTF-8.
    """
    matches, more = _matches(data, pattern, limit)
    lines = _with_context(data, matches, context) if context else matches
    hits = [
        Hit(path, line.number, _shown(data, line), matched=line.match is not None) for line in lines
    ]
    return hits, more


def _matches(data: bytes, pattern: LinePattern, limit: int) -> tuple[list[_Line], bool]:
    """The matching lines: one search a line, so that the whole is linear in the text."""
    found: list[_Line] = []
    place, number, counted = 0, 1, 0
    while place < len(data):
        match = pattern.search(data, place)
        if match is None:
            return found, False
        before = data.rfind(b"\n", place, match[0])
        start = place if before < 0 else before + 1
        if start == len(data):
            return found, False  # what follows the last line feed is no line
        if len(found) == limit:
            return found, True
        end = _end(data, match[0])
        number, counted = number + data.count(b"\n", counted, start), start
        found.append(_Line(number, start, end, match[0]))
        place = end + 1
    return found, False


def _end(data: bytes, start: int) -> int:
    """Where the line that a place is in ends."""
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def _with_context(data: bytes, matches: list[_Line], context: int) -> list[_Line]:
    """The matches and the lines around them, each line once."""
    shown = {line.number: line for line in matches}
    for match in matches:
        start = match.start
        for number in range(match.number - 1, max(0, match.number - 1 - context), -1):
            end = start - 1
            start = data.rfind(b"\n", 0, end) + 1
            shown.setdefault(number, _Line(number, start, end, None))
        end = match.end
        for number in range(match.number + 1, match.number + 1 + context):
            if end + 1 >= len(data):
                break
            start, end = end + 1, _end(data, end + 1)
            shown.setdefault(number, _Line(number, start, end, None))
    return [shown[number] for number in sorted(shown)]


def _shown(data: bytes, line: _Line) -> str:
    """The line's text, or a window on its match that says how much lies on either side."""
    if line.end - line.start <= LINE_MAX_BYTES:
        return data[line.start : line.end].decode()
    start = max(line.start, (line.match or line.start) - _BEFORE)
    end = min(line.end, start + LINE_MAX_BYTES)
    # A character cut at either edge is left out; all else must be text.
    while start < end and data[start] & 0xC0 == 0x80:
        start += 1
    while end > start and end < line.end and data[end] & 0xC0 == 0x80:
        end -= 1
    before = f"[{start - line.start:,} bytes before] " if start > line.start else ""
    after = f" [{line.end - end:,} bytes after]" if end < line.end else ""
    return f"{before}{data[start:end].decode()}{after}"
