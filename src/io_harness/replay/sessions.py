"""Several sessions in one file of lines: each is a run of its own, with its own context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from io_harness.replay.source import Source
from io_harness.types import JSON


def sessions(source: Source) -> list[Source]:
    """One source a session: of pi each header begins one, Claude Code's lines name theirs.

    Lines that name no session belong to the one before them. A session that goes on with lines
    of another is one with it.
    """
    if source.whole:
        return [source]
    lines: list[Mapping[str, JSON]] = [v if isinstance(v, dict) else {} for v in source.values]
    named = _by_header(lines) or _by_name(lines)
    first = next(filter(None, named), "")
    groups: dict[str, list[JSON]] = {}
    for value, name in zip(source.values, named, strict=True):
        groups.setdefault(name or first, []).append(value)
    if len(groups) == 1:
        return [source]
    return [
        Source(f"{source.path}#{number}", values, False, source.notes if number == 1 else Counter())
        for number, values in enumerate(groups.values(), 1)
    ]


def _by_header(lines: list[Mapping[str, JSON]]) -> list[str]:
    """The session of each line, by pi's headers; [] where there are none, or one."""
    named: list[str] = []
    headers = 0
    for line in lines:
        headers += line.get("type") == "session" and "cwd" in line
        named.append(str(max(headers, 1)))
    return named if headers > 1 else []


def _by_name(lines: list[Mapping[str, JSON]]) -> list[str]:
    """The session of each line, by the name it has and the line it answers."""
    named: list[str] = []
    same: dict[str, str] = {}
    places: dict[str, str] = {}
    before = ""
    for line in lines:
        name = line.get("sessionId", line.get("session_id"))
        name = name if isinstance(name, str) and name else before
        parent, place = line.get("parentUuid"), line.get("uuid")
        if name and name not in same:
            joined = isinstance(parent, str) and places.get(parent)
            same[name] = same[joined] if joined else name
        if isinstance(place, str):
            places[place] = name
        named.append(same.get(name, ""))
        before = name
    return named
