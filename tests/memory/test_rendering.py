"""Notes in a prompt are data: they read back as they were, and forge nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness.context.pieces import PieceStatus
from io_harness.context.render import render_notes
from io_harness.store import Store
from io_harness.testing import parse
from io_harness.testing.strings import NASTY, keys, texts
from io_harness.types import MemoryEntry

sources = st.text(st.characters(), max_size=40)
entries = st.builds(MemoryEntry, keys, texts, st.just(""), st.integers(0, 2**40), source=sources)


def shown(note: MemoryEntry) -> tuple[str, str, int, str]:
    """What a prompt says of a note: not whose run wrote it, and no time."""
    return note.key, note.value, note.step, note.source


@given(st.lists(entries, min_size=1, max_size=8))
def test_what_is_rendered_reads_back(notes: list[MemoryEntry]) -> None:
    notes = [replace(note, seq=seq) for seq, note in enumerate(notes, start=1)]
    block = render_notes(notes)
    (piece,) = parse(block.text)
    assert piece.status is PieceStatus.MEMORY
    assert [shown(note) for note in piece.notes] == [shown(note) for note in notes]
    assert block.text.count("\n") == len(notes) + 1
    assert len(block.text.splitlines()) == len(notes) + 1


@given(st.lists(entries, min_size=1, max_size=8), st.integers(0, 400))
def test_the_newest_that_fit_are_shown_and_the_rest_is_counted(
    notes: list[MemoryEntry], cap: int
) -> None:
    notes = [replace(note, seq=seq) for seq, note in enumerate(notes, start=1)]
    block = render_notes(notes, cap)
    assert len(block.text) <= cap
    assert len(block.recalled) + block.left_out == len(notes)
    assert list(block.recalled) == [note.key for note in notes[block.left_out :]]


@pytest.mark.parametrize("text", NASTY, ids=[ascii(text[:4]) for text in NASTY])
def test_a_hostile_note_goes_through_store_and_prompt_unchanged_and_inert(text: str) -> None:
    with Store.memory() as store:
        store.memory_put("w", "before", "v", run_id="r", step=1)
        store.memory_put("w", "hostile", text, run_id="r", step=2, source="read a.txt")
        notes = store.memory_list("w")
    (piece,) = parse(render_notes(notes).text)
    assert [(note.key, note.value) for note in piece.notes] == [
        (note.key, note.value) for note in notes
    ]
    for line in render_notes(notes).text.splitlines()[1:]:
        assert line.startswith("- ")
        assert line.isprintable()


def test_two_runs_that_wrote_the_same_are_shown_the_same() -> None:
    with Store.memory() as store:
        for workspace, run_id in (("one", "run 1"), ("two", "run 2")):
            store.memory_put(workspace, "k", "v", run_id=run_id, step=3)
        one, two = (render_notes(store.memory_list(name)) for name in ("one", "two"))
    assert one == two
