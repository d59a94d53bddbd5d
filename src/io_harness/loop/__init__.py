"""Driving a run: from a contract to a verified result."""

from io_harness.loop.outcome import Outcome, RunResult
from io_harness.loop.starting import resume, run, run_sync

__all__ = ["Outcome", "RunResult", "resume", "run", "run_sync"]
