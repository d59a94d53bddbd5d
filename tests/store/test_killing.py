"""kill -9 at random instants: what was acknowledged is there, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = 10_000 if os.environ.get("IO_HARNESS_FULL_STORE_TESTS") == "1" else 200
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_nothing_acknowledged_is_lost_or_double_when_writers_are_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.killing", str(ROUNDS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{ROUNDS} rounds" in done.stdout
