"""What every engine of the store must do, as tests that pytest collects from a subclass.

class TestMine(StoreConformance):
    def open_store(self, place: Path) -> Store:
        return Store.open(place / "runs.db")
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from io_harness.errors import MemoryRefused
from io_harness.memory import MemoryLimits
from io_harness.store import Assembly, Event, Lease, PieceTrace, Refresh, Store
from io_harness.testing.note_machine import NoteMachine
from io_harness.testing.run_machine import RunMachine
from io_harness.testing.strings import NASTY
from io_harness.types import (
    Completion,
    CompletionRequest,
    Message,
    Observation,
    ObsKind,
    ToolCall,
    ToolResult,
)


class StoreConformance:
    """Subclass it, say how to open a store, and let pytest collect the subclass."""

    persistent = True
    """Whether a store that is closed and opened again holds what it held."""
    examples = 25
    """Histories that each state machine plays."""

    def open_store(self, place: Path) -> Store:
        """Return a store of the engine under test; the same place is the same store."""
        raise NotImplementedError

    def test_notes_are_as_a_dictionary_would_have_them(self, tmp_path: Path) -> None:
        opened = self._opened

        class Notes(NoteMachine):
            reopens = self.persistent

            def open_store(self, place: str) -> Store:
                return opened(tmp_path / place)

        self._play(Notes)

    def test_runs_are_as_a_dictionary_would_have_them(self, tmp_path: Path) -> None:
        opened = self._opened

        class Runs(RunMachine):
            reopens = self.persistent

            def open_store(self, place: str) -> Store:
                return opened(tmp_path / place)

        self._play(Runs)

    @pytest.mark.parametrize("text", NASTY, ids=[ascii(text[:4]) for text in NASTY])
    def test_every_text_comes_back_exactly(self, tmp_path: Path, text: str) -> None:
        with self.open_store(tmp_path) as store:
            lease = asyncio.run(_one_step(store, text))
            _check_step(store, lease.run_id, text)
            if text:
                store.memory_put(f"id:{text}", "key", text[:100], run_id=text[:100], step=0)
                (note,) = store.memory_list(f"id:{text}")
                assert (note.value, note.run_id) == (text[:100], text[:100])

    def test_a_reader_never_sees_a_cap_broken(self, tmp_path: Path) -> None:
        limits = MemoryLimits(max_entries=5, max_chars=100, max_entry_chars=40)
        stop = threading.Event()

        def write(writer: int) -> None:
            for number in range(20):
                key, value = f"{writer}-{number}", "x" * (number * 7 % 50)
                store.memory_put("w", key, value, run_id=str(writer), step=number, limits=limits)

        def watch() -> int:
            looks = 0
            while not stop.is_set():
                notes = store.memory_list("id:w")
                assert len(notes) <= limits.max_entries
                assert sum(len(note.value) for note in notes) <= limits.max_chars
                assert [note.seq for note in notes] == sorted({note.seq for note in notes})
                looks += 1
            return looks

        with self.open_store(tmp_path) as store, ThreadPoolExecutor(9) as pool:
            watcher = pool.submit(watch)
            try:
                for writing in [pool.submit(write, writer) for writer in range(8)]:
                    writing.result()
            finally:
                stop.set()  # the pool waits for who watches, whatever failed
            assert watcher.result() > 0

    def test_runs_that_write_at_once_do_not_mix(self, tmp_path: Path) -> None:
        async def drive(number: int) -> None:
            lease = await _begin(store, f"run {number}")
            for step in range(1, 5):
                text = f"{number}:{step}"
                await store.journal.completed(
                    lease, step, Completion(text), request=CompletionRequest(text, (), ())
                )
                seen = Observation(step, ObsKind.TOOL, None, text, call=0)
                await store.journal.stepped(lease, step, [seen])

        async def drive_all() -> None:
            await asyncio.gather(*map(drive, range(32)))

        with self.open_store(tmp_path) as store:
            asyncio.run(drive_all())
            for number in range(32):
                steps = store.steps(f"run {number}")
                expected = [f"{number}:{step}" for step in range(1, 5)]
                assert [step.decision for step in steps] == expected
                assert [step.result for step in steps] == expected

    def test_an_agent_is_kept_to_its_quota_and_told_why(self, tmp_path: Path) -> None:
        async def drive() -> None:
            lease = await _begin(store, "run")
            limits = MemoryLimits(writes_per_run=2)
            for call in range(4):
                writing = store.journal.remember(
                    lease, 1, call, workspace="w", key=f"k{call}", value="v", limits=limits
                )
                if call < 2:
                    await writing
                else:
                    with pytest.raises(MemoryRefused, match="its 2 notes"):
                        await writing

        with self.open_store(tmp_path) as store:
            asyncio.run(drive())
            assert [note.key for note in store.memory_list("id:w")] == ["k0", "k1"]
            kinds = [event.kind for event in store.context_events("run")]
            assert kinds == ["memory_write", "memory_write", "memory_refused", "memory_refused"]

    def _opened(self, place: Path) -> Store:
        place.mkdir(exist_ok=True)
        return self.open_store(place)

    def _play(self, machine: type[RuleBasedStateMachine]) -> None:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=self.examples,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


async def _begin(store: Store, run_id: str, text: str = "") -> Lease:
    return await store.journal.begin(
        goal=text,
        workspace=text,
        contract=text,
        provider=text,
        model=text,
        policy=text,
        parent=text,
        run_id=run_id,
    )


async def _one_step(store: Store, text: str) -> Lease:
    """A run of one step with `text` wherever text may go."""
    lease = await _begin(store, (text or "run")[:200], text)
    call = ToolCall(text, text, text)
    await store.journal.completed(
        lease,
        1,
        Completion(text, (call,), None, text, {"thought": text}),
        request=_request(text),
        assemblies=[
            Assembly(est_section=1, est_request=2, pieces=(PieceTrace(1, 0, text, text, 3),))
        ],
        refreshes=[Refresh(position=0, step=1, digest=text, text=text, reason=text)],
        manifest=text,
        state=text,
    )
    await store.journal.call_started(lease, 1, 0, detail={text: text})
    await store.journal.stepped(
        lease, 1, [_observation(text)], events=[Event(kind="replan", detail={"why": text})]
    )
    return lease


def _request(text: str) -> CompletionRequest:
    call = ToolCall(text, text, text)
    messages = (
        Message("user", text),
        Message("assistant", text, (call,), reasoning=[text]),
        Message("tool", results=(ToolResult(text, text),)),
    )
    return CompletionRequest(text, (), messages)


def _observation(text: str) -> Observation:
    return Observation(
        1,
        ObsKind.TOOL,
        text,
        text,
        args=text,
        scope=text,
        key=text,
        digest=text,
        paths=(text, text),
        call=0,
    )


def _check_step(store: Store, run_id: str, text: str) -> None:
    run, (step,) = store.run(run_id), store.steps(run_id)
    given = (run.goal, run.workspace, run.contract, run.provider, run.model, run.policy)
    assert set(given) == {text} == {run.parent}
    assert step.request == _request(text)
    assert step.completion == Completion(
        text, (ToolCall(text, text, text),), None, text, {"thought": text}
    )
    assert step.observations == (_observation(text),)
    (refresh,) = step.refreshes
    assert (refresh.digest, refresh.text, refresh.reason) == (text, text, text)
    assembled, replan = store.context_events(run_id)
    assert assembled.pieces == (PieceTrace(1, 0, text, text, 3),)
    assert replan.detail == {"why": text}
    recorded = asyncio.run(store.journal.load(run_id))
    assert (recorded.manifest, recorded.state) == (text, text)
