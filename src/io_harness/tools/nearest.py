"""The text of a file that is most like one that is not in it."""

from __future__ import annotations

from difflib import SequenceMatcher

_MAX_LINES = 20_000  # of the file looked at
_MAX_CHARS = 200  # of a line compared and shown
_MAX_SHOWN = 12


def nearest_lines(text: str, wanted: str) -> str:
    """One sentence, and the lines, on what comes nearest to a text that was not found."""
    if wanted.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        ends = "CR LF" if "\r\n" in text else "LF alone"
        return f"It would be but for the line ends: the file's lines end in {ends}."
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
    best, place = 0.5, None
    for index, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_MAX_CHARS])
        # Each bound is cheaper than the next, and none is below the ratio.
        if (
            matcher.real_quick_ratio() > best
            and matcher.quick_ratio() > best
            and (ratio := matcher.ratio()) > best
        ):
            best, place = ratio, index
            if ratio == 1.0:
                break
    return place
