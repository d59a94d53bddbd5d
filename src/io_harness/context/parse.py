"""The inverse of render: a section's text back into what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from re import Match

from io_harness.types import MemoryEntry, ObsKind

from . import checks, grammar
from .escape import unquote
from .pieces import PieceStatus
from .render import WORDS

_KINDS = {word: kind for kind, word in WORDS.items()}


@dataclass(frozen=True, slots=True)
class Parsed:
    """One piece as its text tells it.

    `content` is the text shown, unescaped and without its marker; `marker`, `why` and `detail`
    are words of the harness. `notes` has what a memory block holds; `count` what a collapsed
    line counts.
    """

    status: PieceStatus
    text: str
    step: int = 0
    call: int = 0
    kind: ObsKind | None = None
    target: str | None = None
    detail: str = ""
    why: str = ""
    content: str = ""
    marker: str = ""
    notes: tuple[MemoryEntry, ...] = ()
    count: int = 0


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end


def parse(text: str) -> list[Parsed]:
    """The pieces of a section, in order; their texts joined are the section.

    Raises `ValueError` where the text does not start with a line of the harness, and
    `ConfigError`, which is one, for what is no text.
    """
    checks.text("text", text)
    groups: list[list[str]] = []
    for line in _lines(text):
        bare = line.removesuffix("\n")
        in_notes = bool(groups) and grammar.NOTES.fullmatch(groups[-1][0].removesuffix("\n"))
        if _starts(bare) or (not groups):
            groups.append([line])
        elif in_notes and not grammar.NOTE.fullmatch(bare):
            raise ValueError(f"a line of the memory block is no note: {bare[:80]!r}")
        else:
            groups[-1].append(line)
    return [_parsed(group) for group in groups]


def _starts(line: str) -> bool:
    if not line.startswith("["):
        return False
    return any(
        pattern.fullmatch(line)
        for pattern in (
            grammar.HEADER,
            grammar.STUB,
            grammar.COLLAPSED,
            grammar.NOTES,
            grammar.HUNK,
        )
    )


def _parsed(group: list[str]) -> Parsed:
    first = group[0].removesuffix("\n")
    whole = "".join(group)
    if match := grammar.NOTES.fullmatch(first):
        notes = tuple(_note(line.removesuffix("\n")) for line in group[1:])
        return Parsed(PieceStatus.MEMORY, whole, notes=notes, count=int(match["left"] or 0))
    if match := grammar.COLLAPSED.fullmatch(first):
        count = int(match["count"].replace(",", ""))
        return Parsed(PieceStatus.COLLAPSED, whole, count=count)
    if match := grammar.STUB.fullmatch(first):
        return _observed(match, PieceStatus.STUB, group)
    if match := grammar.HEADER.fullmatch(first):
        return _observed(match, PieceStatus.CARRIED, group)
    if match := grammar.HUNK.fullmatch(first):
        content, _ = _content(group[1:])
        target = unquote(match["target"])
        return Parsed(
            PieceStatus.REFRESHED,
            whole,
            kind=ObsKind.READ,
            target=target,
            why=match["what"],
            content=content,
        )
    raise ValueError(f"not a line of the harness: {first[:80]!r}")


def _observed(match: Match[str], status: PieceStatus, group: list[str]) -> Parsed:
    kind = _KINDS[match["word"]]
    why = match["why"] or ""
    content, marker = _content(group[1:])
    if status is PieceStatus.CARRIED:
        if why.startswith("re-read"):
            status = PieceStatus.REFRESHED
        elif marker:
            status = PieceStatus.BOUNDED
    target = match["target"]
    default = -1 if kind is ObsKind.MESSAGE else 0
    return Parsed(
        status,
        "".join(group),
        step=int(match["step"]),
        call=default if match["call"] is None else int(match["call"]),
        kind=kind,
        target=None if target is None else unquote(target),
        detail=match["detail"] or "",
        why=why,
        content=content,
        marker=marker,
    )


def _content(lines: list[str]) -> tuple[str, str]:
    """The content below a header, and the marker at its edge where it was cut."""
    marker = ""
    if lines and grammar.MARKER.fullmatch(lines[-1].removesuffix("\n")):
        marker = lines[-1].removesuffix("\n")
        lines = lines[:-1]
    elif lines and grammar.MARKER.fullmatch(lines[0].removesuffix("\n")):
        marker = lines[0].removesuffix("\n")
        lines = lines[1:]
    return grammar.unescape("".join(lines).removesuffix("\n")), marker


def _note(line: str) -> MemoryEntry:
    match = grammar.NOTE.fullmatch(line)
    if match is None:
        raise ValueError(f"a line of the memory block is no note: {line[:80]!r}")
    source = match["source"]
    return MemoryEntry(
        unquote(match["key"]),
        unquote(match["value"]),
        "",
        int(match["step"]),
        source="" if source is None else unquote(source),
    )
