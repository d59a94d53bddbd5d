"""Processes that write at once are all served, soon, and share their commits."""

from __future__ import annotations

import os
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from benchmarks.store import fleet, single

FULL = os.environ.get("IO_HARNESS_FULL_STORE_TESTS") == "1"


def test_a_fleet_is_served_fairly_without_locked_errors() -> None:
    saw = fleet.measure(32, 16, 30.0) if FULL else fleet.measure(6, 16, 3.0)
    assert saw.locked_errors == 0
    assert saw.most_over_least <= 3.0
    assert saw.syncs_per_operation <= 1 / 8
    assert saw.p99_over_median <= 50.0


def fails_first(
    path: Path, number: int, writers: int, seconds: float, *, start: Barrier, out: Path
) -> None:
    """A process of a fleet of which one ends before the others can start."""
    if number == 0:
        raise SystemExit(3)
    fleet.process(path, number, writers, seconds, start=start, out=out)


def test_no_fleet_waits_for_a_process_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "process", fails_first)
    with pytest.raises(RuntimeError, match="process 0 of the fleet ended with 3"):
        fleet.measure(3, 2, 0.1)


def test_runs_of_one_process_share_their_commits() -> None:
    took = single.measure(9 if FULL else 2)
    assert took["commits_per_operation"] <= 1 / 16
