"""The negative control: an assembler that does the obvious thing, the whole ledger every turn.

It keeps nothing between turns. What the growth test asserts must fail for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from io_harness.types import Observation


@dataclass(frozen=True, slots=True)
class LinearSection:
    """What it made, and how many observations it looked at."""

    text: str
    work: int


def assemble(ledger: Sequence[Observation], budget_tokens: int) -> LinearSection:
    """The newest answer to every question, newest first, while it fits; one stub for the rest."""
    room = budget_tokens * 4 * 7 // 8
    answered: set[tuple[str, str | None, tuple[int, int] | None]] = set()
    shown: list[str] = []
    replaced = 0
    for seen in reversed(ledger):
        question = (seen.kind.value, seen.target, seen.lines)
        if seen.target is not None and question in answered:
            replaced += 1
            continue
        answered.add(question)
        piece = f"[{seen.kind.value} {seen.target}, step {seen.step}]\n{seen.text}\n"
        if len(piece) <= room:
            room -= len(piece)
            shown.append(piece)
        else:
            room = 0
    shown.append(f"[{len(ledger) - len(shown)} not shown, {replaced} replaced]\n")
    return LinearSection("".join(reversed(shown)), len(ledger))
