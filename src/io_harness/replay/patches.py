"""Patches as recordings hold them: `*** Begin Patch` blocks and unified diffs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from io_harness.replay.records import Append, Change, Gone, Moved, Swap, Unknown, Whole

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.*\S)\s*$")
_MOVE = re.compile(r"^\*\*\* Move to: (.*\S)\s*$")
_NEW_FILE = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)")


def patch_changes(patch: str) -> tuple[Change, ...]:
    """What a patch does, file after file; () where nothing of it is readable."""
    if "*** Begin Patch" in patch or _BEGIN.search(patch):
        return tuple(_blocks(patch.splitlines()))
    return tuple(Unknown(path) for path in diff_files(patch))


def diff_files(diff: str) -> tuple[str, ...]:
    """The files a unified diff names as new, in order."""
    found = (_NEW_FILE.match(line) for line in diff.splitlines())
    return tuple(m[1].strip() for m in found if m and m[1].strip() != "/dev/null")


def _blocks(lines: list[str]) -> Iterator[Change]:
    at = 0
    while at < len(lines):
        begin = _BEGIN.match(lines[at])
        at += 1
        if not begin:
            continue
        end = at
        while end < len(lines) and not _BEGIN.match(lines[end]) and not _ends(lines[end]):
            end += 1
        yield from _block(begin[1], begin[2], lines[at:end])
        at = end


def _ends(line: str) -> bool:
    return line.startswith(("*** End Patch", "*** Begin Patch"))


def _block(verb: str, path: str, body: list[str]) -> Iterator[Change]:
    if verb == "Delete":
        yield Gone(path)
        return
    if verb == "Add":
        yield Whole(path, "".join(line[1:] + "\n" for line in body if line.startswith("+")))
        return
    pairs = tuple(_hunks(line for line in body if not line.startswith("***")))
    if pairs and all(old for old, _ in pairs):
        yield Swap(path, pairs)
    elif len(pairs) == 1:
        yield Append(path, pairs[0][1])
    for line in body:
        moved = _MOVE.match(line)
        if moved:
            yield Moved(path, moved[1])


def _hunks(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    old: list[str] = []
    new: list[str] = []
    for line in lines:
        if line.startswith("@@"):
            if old or new:
                yield "".join(old), "".join(new)
            old, new = [], []
        elif line.startswith("-"):
            old.append(line[1:] + "\n")
        elif line.startswith("+"):
            new.append(line[1:] + "\n")
        else:
            old.append(line[1:] + "\n")
            new.append(line[1:] + "\n")
    if old or new:
        yield "".join(old), "".join(new)
