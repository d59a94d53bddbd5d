"""What a caller hands over, checked where it comes in: what is wrong is named with its argument."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as shown

from io_harness.errors import ConfigError
from io_harness.types import MemoryEntry

__all__ = ["answers", "notes", "shown", "text", "whole"]


def whole(name: str, value: object, least: int | None = None, unit: str = "") -> int:
    """A whole number; raises `ConfigError` for another type, or below `least`."""
    of = f" of {unit}" if unit else ""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConfigError(f"{name} must be a whole number{of}, got {shown(value)}")
    if least is not None and value < least:
        raise ConfigError(f"{name} must be at least {least}{of and ' ' + unit}, got {value}")
    return value


def text(name: str, value: object) -> str:
    """A text; raises `ConfigError` for another type."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, got {type(value).__name__}")
    return value


def answers(name: str, value: object, what: str, *methods: str) -> None:
    """Something with certain methods; raises `ConfigError` for what lacks one, and for a class."""
    if isinstance(value, type):
        raise ConfigError(f"{name} is the class {value.__name__} itself; pass {what}, made of it")
    for method in methods:
        if not callable(getattr(value, method, None)):
            raise ConfigError(
                f"{name} has no {method}(), it is a {type(value).__name__}; pass {what}"
            )


def notes(value: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """Notes as a memory block can show them; raises `ConfigError` for what is none."""
    if not isinstance(value, Iterable):
        raise ConfigError(f"notes must be a sequence of MemoryEntry, got {shown(value)}")
    known = tuple(value)
    for index, note in enumerate(known):
        if not isinstance(note, MemoryEntry):
            raise ConfigError(f"notes[{index}] must be a MemoryEntry, got {shown(note)}")
        text(f"notes[{index}].key", note.key)
        text(f"notes[{index}].value", note.value)
        text(f"notes[{index}].source", note.source)
        whole(f"notes[{index}].step", note.step, 0)
        whole(f"notes[{index}].seq", note.seq)
    return known
