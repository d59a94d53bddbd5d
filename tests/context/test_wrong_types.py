"""What is of the wrong type is refused at the door, with the name of its argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from io_harness import (
    Assembler,
    CachePrice,
    ContextBudget,
    HarnessError,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    Policy,
    Workspace,
    bound,
    entry_cap_chars,
    estimate_tokens,
)
from io_harness.testing import parse
from tests.context.files import DenyList, MemoryFiles

OBJECT, NAN = object(), math.nan
NO_INT: tuple[object, ...] = (None, "7", b"7", 7.0, NAN, True, [7], OBJECT)
NO_NUMBER: tuple[object, ...] = (None, "7", b"7", NAN, True, [7], OBJECT, 10**400)
NO_TEXT: tuple[object, ...] = (None, b"text", 7, 7.0, True, ["text"], OBJECT)
OBSERVATION = Observation(1, ObsKind.TOOL, "run", "text")
NOTE = MemoryEntry("key", "value", "run", 1)

# `Any`: every value here is of a type that the argument does not take.
Call = Callable[[Any], object]


def assembled(*, step: int = 1, tokens: int = 64, notes: Sequence[MemoryEntry] = ()) -> object:
    return Assembler(Ledger()).assemble(step=step, budget_tokens=tokens, notes=notes)


def noted(**given: object) -> object:
    return assembled(notes=[replace(NOTE, **given)])  # type: ignore[arg-type]  # wrong on purpose


def pushed(**given: object) -> object:
    return Ledger().push(replace(OBSERVATION, **given))  # type: ignore[arg-type]  # here, too


TABLE: tuple[tuple[str, Call, tuple[object, ...]], ...] = (
    ("text", lambda it: bound(it, 7), NO_TEXT),
    ("cap", lambda it: bound("text", it), (*NO_INT, -1)),
    ("keep", lambda it: bound("text", 1, keep=it), (*NO_TEXT, "middle", {})),
    ("hint", lambda it: bound("text", 1, hint=it), NO_TEXT),
    ("text", estimate_tokens, NO_TEXT),
    ("text", parse, NO_TEXT),
    ("effective_tokens", entry_cap_chars, NO_INT),
    ("max_tokens", lambda it: ContextBudget(max_tokens=it), NO_INT),
    ("share", lambda it: ContextBudget(share=it), NO_NUMBER),
    ("remaining", lambda it: ContextBudget().effective_tokens(it), NO_INT[1:]),
    ("read", lambda it: CachePrice(read=it), NO_NUMBER),
    ("write", lambda it: CachePrice(write=it), NO_NUMBER),
    ("ledger", Assembler, (*NO_TEXT, [OBSERVATION])),
    ("workspace", lambda it: Assembler(Ledger(), workspace=it), (*NO_TEXT[1:], Workspace)),
    ("policy", lambda it: Assembler(Ledger(), policy=it), (*NO_TEXT[1:], Policy)),
    ("price", lambda it: Assembler(Ledger(), price=it), (*NO_TEXT, (0.1, 1.25))),
    ("manifest", lambda it: Assembler(Ledger(), manifest=it), (*NO_TEXT[1:], "text", "[" * 10**6)),
    ("step", lambda it: assembled(step=it), NO_INT),
    ("budget_tokens", lambda it: assembled(tokens=it), NO_INT),
    (
        "notes",
        lambda it: assembled(notes=it),
        (None, 7, "text", [None], [("key", "value")], OBJECT),
    ),
    (r"notes\[0\].key", lambda it: noted(key=it), NO_TEXT),
    (r"notes\[0\].value", lambda it: noted(value=it), NO_TEXT),
    (r"notes\[0\].source", lambda it: noted(source=it), NO_TEXT),
    (r"notes\[0\].step", lambda it: noted(step=it), (*NO_INT, -1)),
    (r"notes\[0\].seq", lambda it: noted(seq=it), NO_INT),
    ("observation", lambda it: Ledger().push(it), (*NO_TEXT, (1, "tool", "run", "text"))),
    ("position", lambda it: Ledger()[it], (None, "7", 7.0, slice(1))),
    ("step", lambda it: pushed(step=it), (*NO_INT, -1, 10**10)),
    ("kind", lambda it: pushed(kind=it), (*NO_TEXT, "wrote")),
    ("target", lambda it: pushed(target=it), NO_TEXT[1:]),
    ("text", lambda it: pushed(text=it), NO_TEXT),
    ("args", lambda it: pushed(args=it), (*NO_TEXT, {"path": "a.py"})),
    ("lines", lambda it: pushed(lines=it), (7, "1-2", [1, 2], (1,), (1, None), (0, 1), (2.0, 3))),
    ("total_lines", lambda it: pushed(total_lines=it), (*NO_INT[1:], -1, 10**10)),
    ("scope", lambda it: pushed(scope=it), NO_TEXT[1:]),
    ("key", lambda it: pushed(key=it), NO_TEXT[1:]),
    ("digest", lambda it: pushed(digest=it), NO_TEXT[1:]),
    ("paths", lambda it: pushed(paths=it), (None, "a.py", ["a.py"], (None,), (b"a.py",), OBJECT)),
    ("call", lambda it: pushed(call=it), (*NO_INT[1:], -2, 10**10)),
)


@pytest.mark.parametrize(
    ("name", "call", "value"),
    [(name, call, value) for name, call, values in TABLE for value in values],
)
def test_a_wrong_type_is_named(name: str, call: Call, value: object) -> None:
    with pytest.raises(HarnessError, match=rf"^(the )?{name}\b") as caught:
        call(value)
    assert len(str(caught.value)) < 200


def test_what_only_looks_like_a_reader_or_a_policy_will_do() -> None:
    assembler = Assembler(Ledger(), workspace=MemoryFiles(), policy=DenyList())
    assert assembler.assemble(step=0, budget_tokens=4_000, notes=[NOTE]).recalled == 1
