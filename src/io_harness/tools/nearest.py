"""The text of a file that is most like one that is not in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from difflib import SequenceMatcher

_MAX_LINES = 20_000  # of the file looked at
_MAX_CHARS = 200  # of a line compared and shown
_MAX_SHOWN = 12
_MAX_COMPARED = 500  # lines compared in full: a file of lines all alike takes long else


def _typewritten(text: str) -> str:
    """Text with the plain characters of a keyboard for those that look like them."""
    return text.translate(str.maketrans("\u00a0\u2018\u2019\u201c\u201d\u2013", " ''\"\"-"))


_BUT_FOR: tuple[tuple[str, Callable[[str], str]], ...] = (
    (
        "the way accents are stored: the file and `old` have them in different Unicode forms",
        lambda text: unicodedata.normalize("NFC", text),
    ),
    ("special blanks, quotes or dashes, which look like those on a keyboard", _typewritten),
    (
        "blanks at the ends of lines",
        lambda text: "\n".join(line.rstrip(" \t") for line in text.split("\n")),
    ),
    ("tabs and blanks", lambda text: re.sub(r"[ \t]+", " ", text)),
)


def nearest_lines(text: str, wanted: str) -> str:
    """One sentence, and the lines, on what comes nearest to a text that was not found."""
    if wanted.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        ends = "CR LF" if "\r\n" in text else "LF alone"
        return f"It would be but for the line ends: the file's lines end in {ends}."
    causes = (cause for cause, plain in _BUT_FOR if plain(wanted) in plain(text))
    cause = next(causes, "")
    return f"It would be but for {cause}. {_like(text, wanted)}" if cause else _like(text, wanted)


def _like(text: str, wanted: str) -> str:
    lines = text.split("\n")[:_MAX_LINES]
    sought = wanted.strip("\n").split("\n")
    anchor = max(sought, key=lambda line: len(line.strip()))
    place = _most_like(lines, anchor.strip()[:_MAX_CHARS])
    if place is None:
        return "Nothing in the file is like it; read the file again."
    first = max(0, place - sought.index(anchor))
    shown = lines[first : first + min(len(sought), _MAX_SHOWN)]
    numbered = "\n".join(f"{first + n}: {line[:_MAX_CHARS]}" for n, line in enumerate(shown, 1))
    return f"The nearest text is at line {first + 1}:\n{numbered}"


def _most_like(lines: list[str], wanted: str) -> int | None:
    """The index of the line most like the wanted one; None where none is half as like."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, place, compared = 0.5, None, 0
    for index, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_MAX_CHARS])
        # Each bound is cheaper than the next, and none is below the ratio.
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        compared += 1
        if (ratio := matcher.ratio()) > best:
            best, place = ratio, index
        if best == 1.0 or compared == _MAX_COMPARED:
            break
    return place
