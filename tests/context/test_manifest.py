"""A manifest that was damaged, or belongs to another run, is refused when it is handed over."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_harness import (
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
)
from io_harness.context.entry import Refresh
from io_harness.errors import ConfigError
from io_harness.types import JSON
from tests.context.files import MemoryFiles

PRICES = {"base": CachePrice(), "priced": CachePrice(0.1, 1.25)}
NOTE = MemoryEntry("key", "value", "run", 1)
CEILING = 300
Place: TypeAlias = "tuple[str | int, ...]"


@dataclass
class Turn:
    """One assembly, and the world it was made in."""

    made: Assembled
    pushed: int
    files: MemoryFiles
    step: int
    tokens: int
    notes: list[MemoryEntry]


def happens(ledger: Ledger, files: MemoryFiles, step: int) -> None:
    """What a step does: reads that are written over, superseded or lost, and searches."""
    files.put("a.py", "".join(f"{line + step}\n" for line in range(12 + step)))
    ledger.push(Observation(step, ObsKind.WRITE, "a.py", "Done."))
    first = step % 9 + 1
    read = files.read("a.py", offset=first, limit=4)
    ledger.push(Observation(step, ObsKind.READ, "a.py", read.text, lines=(first, first + 3)))
    if step % 4 == 1:
        files.put("b.py", "b\n" * 40)
        ledger.push(Observation(step, ObsKind.READ, "b.py", "b\n" * 40))
    if step % 4 == 2:
        files.remove("b.py")
    ledger.push(Observation(step, ObsKind.GREP, f"p{step % 3}", "hit", paths=("a.py",)))


def turns(price: CachePrice, steps: int) -> tuple[Ledger, list[Turn]]:
    """A run in which everything happens that a manifest tells of."""
    ledger, files = Ledger(), MemoryFiles()
    assembler = Assembler(ledger, workspace=files, price=price)
    found = []
    for step in range(1, steps + 1):
        happens(ledger, files, step)
        tokens = CEILING if step % 3 else 2_000
        notes = [NOTE] if step % 10 < 6 else []
        then = deepcopy(files)
        made = assembler.assemble(step=step, budget_tokens=tokens, notes=notes)
        found.append(Turn(made, len(ledger), then, step, tokens, notes))
    return ledger, found


def told(price: CachePrice) -> tuple[Ledger, MemoryFiles, str]:
    """Such a run, its files and its last manifest."""
    ledger, found = turns(price, 8)
    return ledger, found[-1].files, found[-1].made.manifest


TOLD = {name: told(price) for name, price in PRICES.items()}


def resumed(
    ledger: Ledger, files: MemoryFiles, price: CachePrice, manifest: str
) -> Assembler | None:
    """An assembler that goes on; `None` where the manifest is refused by name."""
    try:
        return Assembler(ledger, workspace=files, price=price, manifest=manifest)
    except ConfigError as error:
        if "manifest" not in str(error):
            raise
        return None


def places(value: JSON, at: Place = ()) -> Iterator[Place]:
    """Where something stands in a JSON value."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*at, index))


def changed(value: JSON, at: Place, new: JSON) -> JSON:
    """A JSON value with another in one place; a whole number is moved by a whole number."""
    if not at:
        return value + new if type(value) is int and type(new) is int else new
    first, *rest = at
    if isinstance(value, dict):
        return value | {str(first): changed(value[str(first)], tuple(rest), new)}
    assert isinstance(value, list)
    inner = changed(value[int(first)], tuple(rest), new)
    return [inner if index == first else old for index, old in enumerate(value)]


NEW: st.SearchStrategy[JSON] = st.one_of(
    st.integers(-40, 40),
    st.sampled_from([2**31, 2**62, 2**80, -(2**31)]),
    st.sampled_from([None, True, 1.5, "", "x", "\ud83d", "[step 1, note]\n"]),
    st.sampled_from(["[changed a.py, lines 1-2: now gone, step 2: step 1 wrote it]\n"]),
    st.builds(list[JSON]),
    st.builds(dict[str, JSON]),
    st.just([1, 2]),
)


@settings(max_examples=600)
@given(st.sampled_from(sorted(TOLD)), st.data())
def test_a_damaged_manifest_is_refused_or_does_no_harm(name: str, data: st.DataObject) -> None:
    ledger, files, manifest = TOLD[name]
    value = json.loads(manifest)
    at = data.draw(st.sampled_from(sorted(places(value), key=str)))
    damaged = json.dumps(changed(value, at, data.draw(NEW)))
    assembler = resumed(ledger, files, PRICES[name], damaged)
    if assembler is None:
        return
    for step in (9, 10):
        made = assembler.assemble(step=step, budget_tokens=CEILING)
        assert made.est_tokens <= CEILING
        assert "".join(piece.text for piece in made.pieces) == made.text
        assert json.loads(made.manifest)


@given(st.sampled_from(sorted(TOLD)), st.sampled_from(sorted(TOLD)), st.integers(0, 40))
def test_a_manifest_of_another_run_is_refused_or_does_no_harm(
    name: str, price: str, length: int
) -> None:
    whole, files, manifest = TOLD[name]
    ledger = Ledger()
    for observation in list(whole)[:length]:
        ledger.push(observation)
    assembler = resumed(ledger, files, PRICES[price], manifest)
    if assembler is not None:
        assert assembler.assemble(step=9, budget_tokens=64).est_tokens <= 64


@pytest.mark.parametrize("name", sorted(PRICES))
def test_a_manifest_asked_for_late_tells_what_was(name: str) -> None:
    ledger, found = turns(PRICES[name], 40)
    observations = list(ledger)
    for turn, following in pairwise(found):
        then = Ledger()
        for observation in observations[: following.pushed]:
            then.push(observation)
        assembler = Assembler(
            then, workspace=following.files, price=PRICES[name], manifest=turn.made.manifest
        )
        again = assembler.assemble(
            step=following.step, budget_tokens=following.tokens, notes=following.notes
        )
        assert again.text == following.made.text


def _alive() -> int:
    gc.collect()
    return sum(isinstance(thing, Refresh) for thing in gc.get_objects())


@pytest.mark.parametrize("name", sorted(PRICES))
def test_what_nobody_can_ask_for_is_not_kept(name: str) -> None:
    before = _alive()
    ledger, files = Ledger(), MemoryFiles()
    assembler = Assembler(ledger, workspace=files, price=PRICES[name])
    made = []
    for step in range(1, 200):
        happens(ledger, files, step)
        assembled = assembler.assemble(step=step, budget_tokens=2_000)
        made.append(assembled.reread)
    assert sum(made) > 80
    assert _alive() - before < 50


def test_a_ceiling_that_moves_is_noted_only_where_it_cut_something() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger)
    for step in range(60):
        ledger.push(Observation(step, ObsKind.TOOL, None, "x" * (9_000 if step == 30 else 1_500)))
        made = assembler.assemble(step=step, budget_tokens=4_000 + 100 * step)
    assert len(json.loads(made.manifest)["caps"]) == 2


BULKS = st.integers(0, 13_000) | st.integers(-3, 3).flatmap(
    lambda by: st.sampled_from([2_000, 3_000, 6_000, 12_000]).map(lambda cap: cap + by)
)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([4_000, 6_000, 12_000, 24_000]),
            st.lists(st.tuples(BULKS, st.sampled_from([0, 30, 2_500, 7_000])), max_size=3),
        ),
        min_size=2,
        max_size=8,
    )
)
def test_what_entered_under_moving_ceilings_enters_so_again(
    story: list[tuple[int, list[tuple[int, int]]]],
) -> None:
    ledger, files = Ledger(), MemoryFiles()
    assembler, resumed_one = Assembler(ledger, workspace=files), None
    for step, (tokens, bulks) in enumerate(story):
        for number, (chars, more) in enumerate(bulks):
            name = f"{step}-{number}.txt"
            files.put(name, "line\n" * (chars // 5))
            args = json.dumps({"path": name, "why": "w" * more})
            ledger.push(Observation(step, ObsKind.READ, name, files.read(name).text, args=args))
        made = assembler.assemble(step=step, budget_tokens=tokens)
        if resumed_one is not None:
            again = resumed_one.assemble(step=step, budget_tokens=tokens)
            assert again.text == made.text
            assert list(again.pieces) == list(made.pieces)
            assert again.manifest == made.manifest
        resumed_one = Assembler(ledger, workspace=files, manifest=made.manifest)
