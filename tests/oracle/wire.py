"""Stories as JSON, to be played by another process."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import cast

from io_harness.types import Effect, MemoryEntry, ObsKind

from .events import Ask, Change, Edit, Event, Fate, Happen, Read, Say, Shut


def dumped(stories: list[tuple[Event, ...]]) -> str:
    """JSON text in ASCII: lone surrogates go through."""
    return json.dumps([[[type(event).__name__, asdict(event)] for event in s] for s in stories])


def loaded(text: str) -> list[tuple[Event, ...]]:
    """The stories that `dumped` was given."""
    return [tuple(_event(name, fields) for name, fields in story) for story in json.loads(text)]


def _event(name: str, fields: dict[str, object]) -> Event:
    for key in ("lines", "paths"):
        if isinstance(fields.get(key), list):
            fields[key] = tuple(cast("list[object]", fields[key]))
    match name:
        case "Read":
            return Read(**fields)  # type: ignore[arg-type]  # as `dumped` wrote them
        case "Change":
            fields["edit"] = cast("Edit", fields["edit"])
            return Change(**fields)  # type: ignore[arg-type]  # as `dumped` wrote them
        case "Happen":
            return Happen(str(fields["path"]), cast("Fate", fields["fate"]))
        case "Shut":
            return Shut(str(fields["path"]), Effect(str(fields["effect"])))
        case "Say":
            fields["kind"] = ObsKind(str(fields["kind"]))
            return Say(**fields)  # type: ignore[arg-type]  # as `dumped` wrote them
        case _:
            entries = cast("list[dict[str, str]]", fields["notes"])
            notes = tuple(MemoryEntry(**entry) for entry in entries)  # type: ignore[arg-type]
            return Ask(cast("int", fields["budget"]), notes, bool(fields["twice"]))
