"""Driving a run: from a contract to a verified result."""

import logging

from io_harness.loop.outcome import FINAL, Outcome, RunResult
from io_harness.loop.starting import reported, resume, resume_sync, run, run_sync

# A library is quiet until its user asks: without a handler Python prints warnings by itself.
logging.getLogger("io_harness").addHandler(logging.NullHandler())

__all__ = [
    "FINAL",
    "Outcome",
    "RunResult",
    "reported",
    "resume",
    "resume_sync",
    "run",
    "run_sync",
]
