"""Driving a run: from a contract to a verified result."""

from io_harness.loop.outcome import Outcome, RunResult
from io_harness.loop.starting import resume, resume_sync, run, run_sync

__all__ = ["Outcome", "RunResult", "resume", "resume_sync", "run", "run_sync"]
