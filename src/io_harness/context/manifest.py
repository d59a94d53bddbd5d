"""What an assembler needs to go on from a section in another process, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from io_harness.errors import ConfigError
from io_harness.types import JSON

from .entry import Refresh

VERSION = 1


@dataclass(frozen=True, slots=True)
class State:
    """The facts of a section that do not follow from the ledger.

    `entered` is how many observations had entered, `caps` where the entry cap changed, `looked`
    the carried reads that had been compared with their files.
    """

    entered: int
    caps: tuple[tuple[int, int], ...]
    refreshes: tuple[Refresh, ...]
    looked: tuple[int, ...]


def dump(state: State) -> str:
    """The manifest of a state."""
    return json.dumps(
        {
            "version": VERSION,
            "entered": state.entered,
            "caps": state.caps,
            "refreshes": [refresh_to_json(refresh) for refresh in state.refreshes],
            "looked": state.looked,
        },
        separators=(",", ":"),
    )


def refresh_to_json(refresh: Refresh) -> dict[str, JSON]:
    """A refresh as the trace records it."""
    return {
        "position": refresh.position,
        "step": refresh.step,
        "reason": refresh.reason,
        "text": refresh.text,
        "lines": None if refresh.lines is None else list(refresh.lines),
        "total_lines": refresh.total_lines,
        "digest": refresh.digest,
        "cap": refresh.cap,
        "because": refresh.because,
    }


def load(text: str) -> State:
    """The state of a manifest; raises `ConfigError` for what is none."""
    try:
        value = json.loads(text)
        if value["version"] != VERSION:
            raise ConfigError(
                f"the manifest has version {value['version']!r}, this library reads {VERSION}; "
                "assemble from the ledger instead"
            )
        return State(
            int(value["entered"]),
            tuple((int(start), int(cap)) for start, cap in value["caps"]),
            tuple(_refresh(record) for record in value["refreshes"]),
            tuple(int(position) for position in value["looked"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"the manifest cannot be read ({error}); pass the text of Assembled.manifest unchanged"
        ) from error


def _refresh(record: Mapping[str, JSON]) -> Refresh:
    lines, total = record["lines"], record["total_lines"]
    return Refresh(
        _whole(record["position"]),
        _whole(record["step"]),
        str(record["reason"]),
        _text(record["text"]),
        (_whole(lines[0]), _whole(lines[1])) if isinstance(lines, list) else None,
        None if total is None else _whole(total),
        _text(record["digest"]),
        _whole(record["cap"]),
        str(record["because"]),
    )


def _whole(value: JSON) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _text(value: JSON) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def newest(log: Iterable[Refresh]) -> tuple[Refresh, ...]:
    """The last refresh of each position, in the order of positions."""
    by_position = {refresh.position: refresh for refresh in log}
    return tuple(by_position[position] for position in sorted(by_position))
