"""Answers from a stored run: the same run again, without a network."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import islice
from typing import Protocol, cast

from io_harness.context import CachePrice
from io_harness.errors import ProviderError, RecordingMismatch
from io_harness.providers.prompt import prompt_text
from io_harness.types import JSON, Completion, CompletionRequest

_SHOWN_LINES = 24


class RecordedStep(Protocol):
    """A step as a store gives it."""

    @property
    def step(self) -> int: ...  # noqa: D102
    @property
    def request(self) -> CompletionRequest | None: ...  # noqa: D102
    @property
    def completion(self) -> Completion: ...  # noqa: D102


class RecordedEvent(Protocol):
    """What happened to a context, as a store gives it."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def detail(self) -> dict[str, JSON]: ...  # noqa: D102


class RecordedRun(Protocol):
    """A run, as a store gives it."""

    @property
    def model(self) -> str: ...  # noqa: D102


class Recording(Protocol):
    """A store, as far as a replay reads it."""

    def run(self, run_id: str) -> RecordedRun:
        """Return the run."""
        ...

    def steps(self, run_id: str) -> Sequence[RecordedStep]:
        """Return its steps, in order."""
        ...

    def context_events(self, run_id: str) -> Sequence[RecordedEvent]:
        """Return what happened to its context, in order."""
        ...


class RecordedProvider:
    """Gives the answers of a stored run, each to the request that it answered.

    Raises `RunUnknown` for a run that the store does not have.
    """

    name = "recorded"

    def __init__(self, store: Recording, run_id: str) -> None:
        self.model = store.run(run_id).model
        self.cache_price = _price(store.context_events(run_id))
        self._steps = [step for step in store.steps(run_id) if step.request is not None]
        self._given = 0

    async def complete(self, request: CompletionRequest) -> Completion:
        """Give the next recorded answer.

        Raises:
            RecordingMismatch: the request is not the recorded one; the message shows where.
            ProviderError: the recording has no more answers.
        """
        if self._given >= len(self._steps):
            raise ProviderError(
                f"the recording has {len(self._steps)} answers and was asked for one more: "
                "the run went on longer than the recorded one",
                kind="request",
            )
        step = self._steps[self._given]
        if step.request is not None and request != step.request:
            raise RecordingMismatch(
                f"the request of step {step.step} differs from the recorded one: "
                f"{_difference(step.request, request)}"
            )
        self._given += 1
        return step.completion


def _price(events: Sequence[RecordedEvent]) -> CachePrice:
    for event in events:
        if event.kind == "assembled" and "price" in event.detail:
            read, write = cast("list[float]", event.detail["price"])
            return CachePrice(read, write)
    return CachePrice()


def _difference(recorded: CompletionRequest, now: CompletionRequest) -> str:
    before, after = prompt_text(recorded), prompt_text(now)
    if before == after:
        return (
            f"the texts are equal; recorded were max_output_tokens={recorded.max_output_tokens}, "
            f"stable_chars={recorded.stable_chars}, now they are {now.max_output_tokens} and "
            f"{now.stable_chars}, or the messages are cut differently"
        )
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), "recorded", "now", lineterm="", n=1
    )
    return "\n" + "\n".join(islice(lines, _SHOWN_LINES))
