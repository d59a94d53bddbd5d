"""What happens in a story: plain values, to be shrunk, printed and sent to another process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from io_harness.types import Effect, MemoryEntry, ObsKind

from .world import split_lines

Edit = Literal[
    "rewrite", "insert", "delete", "append", "cut", "empty", "same", "final-newline", "swap"
]
Fate = Literal["touch", "remove", "folder", "unreadable", "restore", "settle", "unsettle"]


@dataclass(frozen=True, slots=True)
class Read:
    """The model reads lines of a file by one of its names; a refused one is an error."""

    path: str
    lines: tuple[int, int] | None = None
    args: str = ""
    joined: bool = False
    told: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text changes: by the model's write where `wrote`, else behind its back."""

    path: str
    edit: Edit
    at: int = 1
    lines: tuple[str, ...] = ()
    wrote: bool = True
    args: str = ""
    joined: bool = False
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Happen:
    """Something else befalls a file."""

    path: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class Shut:
    """The policy rules otherwise from now on."""

    path: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Say:
    """An observation of any other kind, made up whole."""

    kind: ObsKind
    target: str | None
    text: str
    scope: str | None = None
    key: str | None = None
    paths: tuple[str, ...] = ()
    args: str = ""
    joined: bool = False
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """One assembly: its ceiling in tokens, and the notes; asked `twice`, nothing may differ."""

    budget: int
    notes: tuple[MemoryEntry, ...] = ()
    twice: bool = False


Event: TypeAlias = Read | Change | Happen | Shut | Say | Ask


def edited(text: str, event: Change) -> str:
    """The text after one edit at a line."""
    lines = split_lines(text)
    at = min(event.at - 1, len(lines))
    new = [f"{line}\n" for line in event.lines]
    match event.edit:
        case "rewrite":
            lines = new
        case "insert":
            lines[at:at] = new
        case "delete":
            del lines[at : at + max(1, len(new))]
        case "append":
            lines += new
        case "cut":
            del lines[at:]
        case "empty":
            lines = []
        case "final-newline":
            joined = "".join(lines)
            return joined[:-1] if joined.endswith("\n") else joined + "\n"
        case "swap":
            # Another text of the same size: a stat sees no difference but in the times.
            lines[at : at + 1] = [
                line.removesuffix("\n")[::-1] + "\n" * line.endswith("\n")
                for line in lines[at : at + 1]
            ]
        case "same":
            pass
    return "".join(lines)
