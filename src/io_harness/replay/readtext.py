"""The lines of a file inside a read's result: numbers, notices and wrappers taken off."""

from __future__ import annotations

import re
from dataclasses import dataclass

Lines = tuple[int, int] | None

# No number has more digits than these: Python reads none of thousands.
_NUMBERED = re.compile(r"^[ ]*(\d{1,9})(?:→|\t|:| \| ?|  )(.*)$", re.DOTALL)
_SWE_HEADER = re.compile(
    r"^\[File: .*\((\d{1,9}) lines total\)\]\r?\n(?:\(\d+ more lines above\)\r?\n)?"
)
_SWE_FOOTER = re.compile(
    r"(?:\r?\n)?\(\d+ more lines below\)\s{0,99}\Z|\(Open file: [^)\n]{0,999}\)[\s\S]*\Z"
)
_RUN_HEADER = re.compile(r"\A.{0,99}result of running `cat -n` on .{0,999}:\r?\n")
_PI_NOTICE = re.compile(
    r"\n\n\[(?:(\d{1,9}) more lines in file|Showing lines \d+-\d+ of (\d{1,9}))[^\n]*\]\s*\Z"
)
_REMINDER = ("<system-reminder>", "</system-reminder>")
_CUT = re.compile(
    r"<elided_chars>|<response clipped>|Observation truncated|too large to display"
    r"|…\s?[\d,]+ (?:tokens|chars|characters|lines|bytes) (?:truncated|omitted)"
    r"|\[[\d,]+ (?:tokens|chars|characters|lines|bytes) (?:truncated|omitted)"
    r"|\[\.\.\. (?:omitted|removed|truncated) [\d,]+"
)
_TRAILER = re.compile(
    r"\[(?:The command completed with exit code -?\d+\.|Current working directory: .*"
    r"|Python interpreter: .*|Command finished with exit code -?\d+)\]"
)
MAX_TRAILERS = 4
_LISTING = re.compile(r"\A.{0,200}files and directories up to \d+ levels deep in ", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReadText:
    """Lines of a file as a read returned them; `total` is the file's number where told.

    `exact` tells that `text` is those lines and nothing else.
    """

    text: str
    lines: Lines
    total: int | None
    exact: bool


def count_lines(text: str) -> int:
    """Lines of a text: an empty one has none, and the last needs no line end."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def is_listing(text: str) -> bool:
    """Whether a viewer shows a directory and not a file."""
    return _LISTING.match(text) is not None


def read_text(text: str, asked: Lines) -> ReadText:
    """What of a result is the file; lines asked for place text that has no numbers."""
    if _CUT.search(text):
        return ReadText(text, asked, None, False)
    body, total = _unwrapped(text)
    numbered = _unnumbered(body)
    if numbered is not None:
        body, lines = numbered
        return ReadText(body, lines, total, True)
    first = asked[0] if asked else 1
    more = _PI_NOTICE.search(body)
    if more:
        body = body[: more.start()] + "\n"
        total = _told_total(more, first + count_lines(body) - 1)
    elif total is None and (asked is None or asked[1] == 0):
        total = first + count_lines(body) - 1
    return ReadText(body, (first, first + count_lines(body) - 1), total, True)


def _told_total(notice: re.Match[str], last: int) -> int:
    return int(notice[2]) if notice[2] else last + int(notice[1])


def _without_reminders(text: str) -> str:
    """The text without what a client tells the model in the middle of it."""
    kept: list[str] = []
    opens, closes = _REMINDER
    at = 0
    while (begin := text.find(opens, at)) >= 0:
        end = text.find(closes, begin)
        if end < 0:
            break
        kept.append(text[at:begin].rstrip("\n"))
        at = end + len(closes)
        while text[at : at + 1].isspace():
            at += 1
    return "".join([*kept, text[at:]])


def _without_trailer(text: str) -> str:
    """The text without the lines in brackets by which a shell tells how the command ended."""
    for _ in range(MAX_TRAILERS):
        shorter, _, line = text.rstrip().rpartition("\n")
        if not _TRAILER.fullmatch(line):
            break
        text = shorter
    return text


def _unwrapped(text: str) -> tuple[str, int | None]:
    text = _without_trailer(_without_reminders(text))
    header = _SWE_HEADER.match(text)
    if header:
        return _SWE_FOOTER.sub("", text[header.end() :]).replace("\r\n", "\n"), int(header[1])
    return _RUN_HEADER.sub("", text, count=1), None


def _unnumbered(text: str) -> tuple[str, tuple[int, int]] | None:
    """The text without its line numbers, if every line has the next one."""
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return None
    first = _NUMBERED.match(lines[0])
    if first is None:
        return None
    start = int(first[1])
    kept: list[str] = []
    for number, line in enumerate(lines, start):
        found = _NUMBERED.match(line)
        if found is None or int(found[1]) != number:
            return None
        kept.append(found[2])
    return "".join(line + "\n" for line in kept), (start, start + len(kept) - 1)
