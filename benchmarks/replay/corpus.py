"""The recorded runs that figures are made of: a folder of them, named by the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from io_harness.errors import ConfigError
from io_harness.replay import Transcript
from io_harness.replay.importers import read_transcripts

VARIABLE = "IO_HARNESS_CORPUS"
MIN_STEPS = 30


def recorded_runs() -> Sequence[Transcript]:
    """The runs of at least 30 steps below the folder that the environment names."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise ConfigError(f"{VARIABLE} is not set: name the folder of recorded runs")
    files = sorted(path for path in Path(named).rglob("*") if path.is_file())
    runs: list[Transcript] = []
    for path in files:
        if path.suffix in {".json", ".jsonl", ".traj"}:
            runs.extend(read_transcripts(str(path)))
    return [run for run in runs if run.steps >= MIN_STEPS]
