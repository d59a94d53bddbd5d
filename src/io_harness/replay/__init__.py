"""Recorded runs through the assembler: what each request would have carried and cost."""

from io_harness.replay.figures import Figures, Seen
from io_harness.replay.measure import Request
from io_harness.replay.policy import Everything, Part, Policy, Shown, Terms
from io_harness.replay.records import MappingReport, Record, Transcript
from io_harness.replay.report import ReplayReport, RunReport, replay_files

__all__ = [
    "Everything",
    "Figures",
    "MappingReport",
    "Part",
    "Policy",
    "Record",
    "ReplayReport",
    "Request",
    "RunReport",
    "Seen",
    "Shown",
    "Terms",
    "Transcript",
    "replay_files",
]
