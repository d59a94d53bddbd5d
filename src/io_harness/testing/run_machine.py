"""Runs in a store against runs in a dictionary."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from io_harness.errors import RunLeased, RunUnknown
from io_harness.store import Assembly, Event, Lease, Store
from io_harness.testing.strings import texts
from io_harness.types import (
    Completion,
    CompletionRequest,
    Message,
    Observation,
    ObsKind,
    ToolCall,
    Usage,
)

_RUNS = ("one", "two", "TWO")
run_ids = st.sampled_from(_RUNS)
usages = st.none() | st.builds(Usage, st.none() | st.integers(0, 2**63 - 1))


@dataclass(slots=True)
class Took:
    """A step as the model has it."""

    request: CompletionRequest
    completion: Completion
    observations: tuple[Observation, ...] | None = None


@dataclass(slots=True)
class Model:
    """A run as the model has it."""

    lease: Lease
    steps: list[Took] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    outcome: str | None = None

    @property
    def open_step(self) -> Took | None:
        """The step whose results are not in."""
        if self.steps and self.steps[-1].observations is None:
            return self.steps[-1]
        return None


class RunMachine(RuleBasedStateMachine):
    """Plays any history of three runs' drivers, some commits twice."""

    reopens: ClassVar[bool]
    places = map("runs-{}".format, itertools.count())

    def __init__(self) -> None:
        super().__init__()
        self.place = next(self.places)
        self.store = self.open_store(self.place)
        self.loop = asyncio.Runner()
        self.runs: dict[str, Model] = {}

    def open_store(self, place: str) -> Store:
        """Return the store of that name."""
        raise NotImplementedError

    def teardown(self) -> None:
        self.loop.close()
        self.store.close()

    @rule(run_id=run_ids, goal=texts)
    def begin(self, run_id: str, goal: str) -> None:
        if run_id not in self.runs:
            beginning = self.store.journal.begin(
                goal=goal,
                workspace="/w",
                contract="{}",
                provider="p",
                model="m",
                policy="[]",
                run_id=run_id,
            )
            self.runs[run_id] = Model(self.loop.run(beginning))

    @rule(
        run_id=run_ids,
        texts=st.lists(texts, min_size=4, max_size=4),
        usage=usages,
        twice=st.booleans(),
    )
    def complete(self, run_id: str, texts: list[str], usage: Usage | None, twice: bool) -> None:
        model = self.runs.get(run_id)
        if model is None or model.outcome or model.open_step:
            return
        said, name, arguments, prompt = texts
        past = [m for took in model.steps[-3:] for m in took.request.messages]
        took = Took(
            CompletionRequest("system", (), (*past, Message("user", prompt))),
            Completion(said, (ToolCall("id", name, arguments),), usage),
        )
        model.steps.append(took)
        model.events.append("assembled")
        for _ in range(1 + twice):
            self.loop.run(
                self.store.journal.completed(
                    model.lease,
                    len(model.steps),
                    took.completion,
                    request=took.request,
                    assemblies=[Assembly(est_section=1, est_request=2)],
                )
            )

    @rule(run_id=run_ids, texts=st.lists(texts, max_size=4), twice=st.booleans())
    def take_step(self, run_id: str, texts: list[str], twice: bool) -> None:
        model = self.runs.get(run_id)
        if model is None or model.outcome or model.open_step is None:
            return
        step = len(model.steps)
        model.open_step.observations = tuple(
            Observation(step, ObsKind.TOOL, text, text, args=text, call=call)
            for call, text in enumerate(texts)
        )
        model.events.append("replan")
        for _ in range(1 + twice):
            observations = model.steps[-1].observations or ()
            self.loop.run(
                self.store.journal.stepped(
                    model.lease, step, observations, events=[Event(kind="replan")]
                )
            )

    @rule(run_id=run_ids)
    def change_driver(self, run_id: str) -> None:
        model = self.runs.get(run_id)
        if model is None:
            return
        self.loop.run(self.store.journal.release(model.lease))
        lost, model.lease = model.lease, self.loop.run(self.store.journal.acquire(run_id))
        with pytest.raises(RunLeased):
            self.loop.run(self.store.journal.stepped(lost, 99, ()))

    @rule(run_id=run_ids, outcome=st.sampled_from(["success", "cancelled"]), twice=st.booleans())
    def finish(self, run_id: str, outcome: str, twice: bool) -> None:
        model = self.runs.get(run_id)
        if model is None or model.outcome:
            return
        model.outcome = outcome
        for _ in range(1 + twice):
            self.loop.run(self.store.journal.finished(model.lease, outcome=outcome))

    @rule(run_id=run_ids)
    def delete(self, run_id: str) -> None:
        model = self.runs.get(run_id)
        if model is None:
            with pytest.raises(RunUnknown):
                self.store.delete_run(run_id)
            return
        self.loop.run(self.store.journal.release(model.lease))
        self.store.delete_run(run_id)
        del self.runs[run_id]

    @precondition(lambda self: self.reopens)
    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = self.open_store(self.place)

    @invariant()
    def is_as_the_model_has_it(self) -> None:
        assert {run.run_id: run.outcome for run in self.store.runs()} == {
            run_id: model.outcome for run_id, model in self.runs.items()
        }
        for run_id, model in self.runs.items():
            steps = self.store.steps(run_id)
            assert [step.request for step in steps] == [took.request for took in model.steps]
            assert [step.completion for step in steps] == [took.completion for took in model.steps]
            for step, took in zip(steps, model.steps, strict=True):
                assert step.observations == (took.observations or ())
                assert step.committed is (took.observations is not None)
            assert [e.kind for e in self.store.context_events(run_id)] == model.events
            self._check_resume(run_id, model)

    def _check_resume(self, run_id: str, model: Model) -> None:
        recorded = self.loop.run(self.store.journal.load(run_id))
        assert recorded.last_step == len(model.steps)
        assert (recorded.unfinished is not None) is (model.open_step is not None)
        assert recorded.usages == tuple(took.completion.usage for took in model.steps)
        seen = [one for took in model.steps for one in took.observations or ()]
        assert recorded.observations == tuple(seen)
