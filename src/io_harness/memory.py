"""The rules of durable notes, pure: what a key may be, how a value is cut, what must go."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from io_harness.errors import ConfigError, MemoryRefused

MEMORY_MAX_ENTRIES = 64
"""Notes that one workspace holds."""
MEMORY_MAX_CHARS = 16_000
"""Code points of all values of one workspace together."""
MEMORY_MAX_ENTRY_CHARS = 2_000
"""Code points of one value, the marker of a cut included."""
MEMORY_MAX_KEY_CHARS = 128
"""Code points of one key."""
WRITES_PER_RUN = 8
"""Notes that the agent of one run may write: junk notes must not wash out the honest ones."""
DELETIONS_PER_RUN = 8
"""Notes of other runs that the agent of one run may delete, for the same reason."""
TRUNCATED = "…[truncated]"

MemoryMode: TypeAlias = Literal["on", "read-only", "off"]
"""Whether a run's agent sees the notes, and whether it may write them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimits:
    """The caps of one workspace's notes; sizes are code points of values.

    Raises `ConfigError` for a limit below 1.
    """

    max_entries: int = MEMORY_MAX_ENTRIES
    max_chars: int = MEMORY_MAX_CHARS
    max_entry_chars: int = MEMORY_MAX_ENTRY_CHARS
    writes_per_run: int = WRITES_PER_RUN

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value: object = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"MemoryLimits.{name} must be a whole number from 1, not {value}")


@dataclass(frozen=True, slots=True)
class Held:
    """What the caps need to know of one note that is there."""

    key: str
    chars: int
    seq: int
    pinned: bool


def check_key(key: str) -> None:
    """Raise `MemoryRefused` unless `key` has 1 to 128 characters, none of them invisible."""
    if not 1 <= len(key) <= MEMORY_MAX_KEY_CHARS:
        raise MemoryRefused(
            f"a note's key has 1 to {MEMORY_MAX_KEY_CHARS} characters and this one has "
            f"{len(key):,}: choose a short name for the note"
        )
    for char in key:
        if unicodedata.category(char) in {"Cc", "Cf"}:
            raise MemoryRefused(
                f"a note's key holds no control or format characters and this one holds "
                f"U+{ord(char):04X}: choose a name of visible characters"
            )


def cut_value(value: str, limits: MemoryLimits) -> tuple[str, bool]:
    """Return the value within its cap, its marker included, and whether it was cut."""
    cap = min(limits.max_entry_chars, limits.max_chars)
    if len(value) <= cap:
        return value, False
    kept, marker = (cap - len(TRUNCATED), TRUNCATED) if cap > len(TRUNCATED) else (cap, "")
    if "\ud800" <= value[kept - 1 : kept] <= "\udbff" and "\udc00" <= value[kept] <= "\udfff":
        kept -= 1
    return value[:kept] + marker, True


def evictions(held: Iterable[Held], key: str, chars: int, limits: MemoryLimits) -> tuple[str, ...]:
    """Return the keys that must go so that a note of `chars` under `key` fits, oldest first.

    Never `key` itself and never a pinned note; raises `MemoryRefused` where only those are left.
    """
    others = sorted((note for note in held if note.key != key), key=lambda note: note.seq)
    count, total = len(others) + 1, sum(note.chars for note in others) + chars
    gone: list[str] = []
    for note in others:
        if count <= limits.max_entries and total <= limits.max_chars:
            break
        if not note.pinned:
            gone.append(note.key)
            count, total = count - 1, total - note.chars
    if count > limits.max_entries or total > limits.max_chars:
        raise MemoryRefused(
            f"no room: the pinned notes alone leave less than this note's {chars:,} characters "
            f"(caps: {limits.max_entries} notes, {limits.max_chars:,} characters); "
            "an operator can unpin or delete one"
        )
    return tuple(gone)
