"""Calls that were about to start when a run was interrupted: what is recorded of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

from io_harness.loop.state import Run
from io_harness.store import StartedCall
from io_harness.tools import Started, ToolOutcome
from io_harness.types import JSON, ObsKind

_FIELDS = ("text", "target", "lines", "total_lines", "scope", "key", "digest", "paths")


def started_detail(started: Started) -> dict[str, JSON]:
    """Return what is kept of an effect before it happens, for `settled` to read."""
    if started.path is None or started.outcome is None:
        return {}
    outcome: dict[str, JSON] = {"kind": started.outcome.kind.value}
    for name in _FIELDS:
        value = getattr(started.outcome, name)
        outcome[name] = list(value) if isinstance(value, tuple) else value
    return {"path": started.path, "digest": started.digest, "outcome": outcome}


async def settled(run: Run, started: StartedCall) -> ToolOutcome:
    """Return the result of a call that was started and not finished; it is not run again.

    A workspace write happened where the file has the digest that it was to have: its result is
    the normal one. Of anything else nobody knows.
    """
    path, outcome = started.detail.get("path"), started.detail.get("outcome")
    if isinstance(path, str) and isinstance(outcome, dict):
        if await _digest(run, path) == started.detail.get("digest"):
            return _restored(outcome)
        return _interrupted(
            started,
            f"interrupted: the write of {path!r} did not happen, or the file was changed since; "
            "read it before you go on",
        )
    return _interrupted(
        started, "interrupted: it may have happened; look at its effects before you try again"
    )


async def _digest(run: Run, path: str) -> str | None:
    try:
        return (await asyncio.to_thread(run.tools.workspace.read, path, limit=1)).digest
    except (OSError, ValueError):
        return None


def _interrupted(started: StartedCall, text: str) -> ToolOutcome:
    return ToolOutcome(ObsKind.ERROR, started.name, text, is_error=True)


def _restored(stored: Mapping[str, JSON]) -> ToolOutcome:
    lines = cast("list[int] | None", stored["lines"])
    return ToolOutcome(
        ObsKind(str(stored["kind"])),
        cast("str | None", stored["target"]),
        str(stored["text"]),
        lines=None if lines is None else (lines[0], lines[1]),
        total_lines=cast("int | None", stored["total_lines"]),
        scope=cast("str | None", stored["scope"]),
        key=cast("str | None", stored["key"]),
        digest=cast("str | None", stored["digest"]),
        paths=tuple(cast("list[str]", stored["paths"])),
        changed=True,
    )
