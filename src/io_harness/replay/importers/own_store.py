"""Runs of this library's own store: their observations are records already."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from io_harness.errors import ConfigError, HarnessError
from io_harness.replay.importers.build import Builder
from io_harness.replay.readtext import ReadText, count_lines
from io_harness.replay.records import Meaning
from io_harness.replay.vocabulary import call_meaning
from io_harness.types import ObsKind

if TYPE_CHECKING:
    from io_harness.replay.records import Transcript
    from io_harness.store.records import RunRecord, StepRecord
    from io_harness.types import JSON, Observation

FORMAT = "io_harness"
MAGIC = b"SQLite format 3\0"


def store_transcripts(path: str) -> tuple[Transcript, ...]:
    """Every run of a store that has a step. `ConfigError`: no store of this library."""
    from io_harness.store import Store

    try:
        with Store.open(path, read_only=True) as store:
            runs = store.runs()
            found = [_transcript(path, run, store.steps(run.run_id)) for run in runs]
    except HarnessError as error:
        raise ConfigError(f"{path}: an SQLite database, and no store to read: {error}") from None
    return tuple(run for run in found if run.steps)


def _transcript(path: str, run: RunRecord, steps: tuple[StepRecord, ...]) -> Transcript:
    builder = Builder()
    builder.told(run.goal)
    for step in steps:
        builder.answer(step.usage)
        builder.said(step.decision)
        seen = {observation.call: observation for observation in step.observations}
        for index, call in enumerate(step.calls):
            name = f"{step.step}.{index}"
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            meaning = call_meaning(call.name, arguments, "")
            observation = seen.get(index)
            if observation is not None:
                meaning = _meaning(meaning, observation)
            builder.call(name, call.name, cast("JSON", call.arguments), meaning)
            if observation is not None:
                failed = observation.kind is ObsKind.ERROR
                builder.result(name, observation.text, is_error=failed, read=_read(observation))
    return builder.transcript(f"{path}#{run.run_id}", FORMAT)


def _meaning(meaning: Meaning, observation: Observation) -> Meaning:
    """What the observation says the call was; what it changed only the arguments tell."""
    if observation.kind is ObsKind.ERROR:
        return meaning
    target = observation.target
    targets = (target,) if target is not None else ()
    is_write = observation.kind is ObsKind.WRITE
    return Meaning(
        observation.kind,
        target,
        observation.lines,
        observation.scope,
        targets,
        meaning.changes if is_write else (),
    )


def _read(observation: Observation) -> ReadText | None:
    if observation.kind is not ObsKind.READ:
        return None
    first = observation.lines[0] if observation.lines else 1
    last = first + count_lines(observation.text) - 1
    return ReadText(observation.text, (first, last), observation.total_lines, exact=True)
