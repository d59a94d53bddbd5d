"""Every ceiling from 64 to 700, with texts of every length around it: off-by-one errors hide there.

For each ceiling and form the longest last text that is still carried whole is found by
bisection, and the few lengths about it are looked at: at the edge the section is exactly full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from io_harness import Assembled, Assembler, Ledger, MemoryEntry, Observation, ObsKind, PieceStatus

from .shown import size, stub_room

CEILINGS = range(64, 701)
FILLER = 1_500
HIDDEN = {PieceStatus.STUB, PieceStatus.COLLAPSED}
NOTE = MemoryEntry("key", "value", "run", 1, seq=1)
Form = Callable[[int], list[Observation]]


def text_of(length: int) -> str:
    """Short lines of that many code points in all."""
    return ("line of text 19 ch\n" * (length // 19 + 1))[:length]


def spread(length: int) -> list[Observation]:
    """Messages below the entry cap, that many code points in all, the last one short."""
    whole, rest = divmod(length, FILLER)
    sizes = [FILLER] * whole + [rest]
    return [
        Observation(step, ObsKind.MESSAGE, None, text_of(size), call=-1)
        for step, size in enumerate(sizes, 1)
    ]


def with_arguments(length: int) -> list[Observation]:
    """The last one a call with arguments."""
    *before, last = spread(length)
    arguments = '{"path": "a.py", "limit": 1234}'
    return [*before, Observation(last.step, ObsKind.TOOL, "t", last.text, args=arguments)]


def after_replaced(length: int) -> list[Observation]:
    """A read that a later one replaces, then the rest: stubs have their share."""
    reads = [Observation(step, ObsKind.READ, "a.py", "same\n", lines=(1, 1)) for step in (1, 2)]
    later = [
        Observation(seen.step + 2, seen.kind, seen.target, seen.text, call=-1)
        for seen in spread(length)
    ]
    return [*reads, *later]


FORMS: dict[str, Form] = {
    "messages": spread,
    "arguments": with_arguments,
    "replaced": after_replaced,
}


def assembled(
    observations: list[Observation], budget: int, notes: tuple[MemoryEntry, ...]
) -> Assembled:
    """One section, its size checked."""
    ledger = Ledger()
    for observation in observations:
        ledger.push(observation)
    made = Assembler(ledger).assemble(step=99, budget_tokens=budget, notes=notes)
    chars = len(made.text) + sum(len(piece.args) for piece in made.pieces)
    assert chars <= 4 * budget, (budget, chars)
    assert made.est_tokens == (chars + 3) // 4
    assert made.carried >= 1
    assert made.carried + made.stubbed == len(observations)
    return made


def all_live_carried(made: Assembled, dead: int) -> bool:
    """Whether no live observation was elided or cut."""
    return made.stubbed == dead and not any(
        piece.cut for piece in made.pieces if piece.status not in HIDDEN
    )


def edge(form: Form, budget: int, notes: tuple[MemoryEntry, ...]) -> int:
    """The longest length at which all live ones are carried whole."""
    low, high = 0, 4 * budget
    dead = 1 if form is after_replaced else 0
    while low < high:
        middle = (low + high + 1) // 2
        if all_live_carried(assembled(form(middle), budget, notes), dead):
            low = middle
        else:
            high = middle - 1
    return low


def check_edges(form: Form, budgets: Iterable[int], notes: tuple[MemoryEntry, ...]) -> None:
    """At each ceiling: sizes hold about the edge, and at the edge all the room is used."""
    for budget in budgets:
        longest = edge(form, budget, notes)
        for length in range(max(0, longest - 2), longest + 4):
            assembled(form(length), budget, notes)
        full = assembled(form(longest), budget, notes)
        block = sum(size(piece) for piece in full.pieces if piece.status is PieceStatus.MEMORY)
        stubs = sum(size(piece) for piece in full.pieces if piece.status in HIDDEN)
        used = sum(map(size, full.pieces)) - block - stubs
        room = 4 * budget - block - (stub_room(budget) if stubs else 0)
        assert used <= room, (budget, longest, used, room)
        # A new message costs a header: only within a message does one more code point tell.
        if (longest + 1) % FILLER:
            assert used == room, (budget, longest, used, room)


@pytest.mark.parametrize("notes", [(), (NOTE,)], ids=["bare", "note"])
@pytest.mark.parametrize("name", FORMS)
def test_the_edge_is_exactly_full(name: str, notes: tuple[MemoryEntry, ...]) -> None:
    """One code point more is one too many, at every ceiling."""
    check_edges(FORMS[name], CEILINGS, notes)
