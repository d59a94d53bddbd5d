"""Notes in a store against notes in a dictionary."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from io_harness.errors import MemoryRefused
from io_harness.memory import TRUNCATED, MemoryLimits
from io_harness.store import Store
from io_harness.testing.strings import keys, texts

LIMITS = MemoryLimits(max_entries=4, max_chars=80, max_entry_chars=30)
_WORKSPACES = ("id:a_b", "id:aXb", "id:a", "id:a/b")
workspaces = st.sampled_from(_WORKSPACES)


@dataclass(frozen=True, slots=True)
class Kept:
    """A note as the model has it."""

    value: str
    run_id: str
    step: int
    pinned: bool
    rewrites: int


class NoteMachine(RuleBasedStateMachine):
    """Plays any history of an operator's calls on four workspaces."""

    reopens: ClassVar[bool]
    places = map("notes-{}".format, itertools.count())

    def __init__(self) -> None:
        super().__init__()
        self.place = next(self.places)
        self.store = self.open_store(self.place)
        self.notes: dict[str, dict[str, Kept]] = {name: {} for name in _WORKSPACES}

    def open_store(self, place: str) -> Store:
        """Return the store of that name."""
        raise NotImplementedError

    def teardown(self) -> None:
        self.store.close()

    @rule(workspace=workspaces, key=keys, value=texts, run_id=st.sampled_from("rs"))
    def put(self, workspace: str, key: str, value: str, run_id: str) -> None:
        kept, cut = self.notes[workspace], len(value) > LIMITS.max_entry_chars
        short = value[: LIMITS.max_entry_chars - len(TRUNCATED)] + TRUNCATED if cut else value
        old = kept.get(key)
        after = {name: note for name, note in kept.items() if name != key}
        evicted = []
        while len(after) >= LIMITS.max_entries or _chars(after) + len(short) > LIMITS.max_chars:
            oldest = next((name for name, note in after.items() if not note.pinned), None)
            if oldest is None:
                break
            del after[oldest]
            evicted.append(oldest)
        full = len(after) >= LIMITS.max_entries or _chars(after) + len(short) > LIMITS.max_chars
        try:
            wrote = self.store.memory_put(
                workspace, key, value, run_id=run_id, step=7, limits=LIMITS
            )
        except MemoryRefused:
            assert full
            return
        assert not full
        assert (list(wrote.evicted), wrote.truncated) == (evicted, cut)
        pinned, rewrites = (old.pinned, old.rewrites + 1) if old else (False, 0)
        after[key] = Kept(short, run_id, 7, pinned, rewrites)
        self.notes[workspace] = after

    @rule(workspace=workspaces, data=st.data())
    def pin(self, workspace: str, data: st.DataObject) -> None:
        key, there = self._some_key(workspace, data)
        pinned = data.draw(st.booleans())
        assert self.store.memory_pin(workspace, key, pinned=pinned) is there
        if there:
            kept = self.notes[workspace]
            kept[key] = replace(kept[key], pinned=pinned)

    @rule(workspace=workspaces, data=st.data())
    def delete(self, workspace: str, data: st.DataObject) -> None:
        key, there = self._some_key(workspace, data)
        assert self.store.memory_delete(workspace, key) is there
        assert self.store.memory_delete(workspace, key) is False
        assert self.store.memory_get(workspace, key) is None
        self.notes[workspace].pop(key, None)

    @rule(workspace=workspaces)
    def clear(self, workspace: str) -> None:
        assert self.store.memory_clear(workspace) == len(self.notes[workspace])
        self.notes[workspace] = {}

    @precondition(lambda self: self.reopens)
    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = self.open_store(self.place)

    @invariant()
    def is_as_the_model_has_it(self) -> None:
        for workspace, kept in self.notes.items():
            listed = self.store.memory_list(workspace)
            assert [note.key for note in listed] == list(kept)
            for note in listed:
                found = Kept(note.value, note.run_id, note.step, note.pinned, note.rewrites)
                assert found == kept[note.key]
                assert self.store.memory_get(workspace, note.key) == note

    def _some_key(self, workspace: str, data: st.DataObject) -> tuple[str, bool]:
        """A key that is there, if any is, or one that may be."""
        kept = self.notes[workspace]
        known = st.sampled_from(sorted(kept)) if kept else keys
        key = data.draw(known | keys)
        return key, key in kept


def _chars(notes: dict[str, Kept]) -> int:
    return sum(len(note.value) for note in notes.values())
