"""Memory: at most 200 bytes an observation besides what the caller handed in."""

from __future__ import annotations

import subprocess
import sys

import pytest
from benchmarks.context.shapes import SHAPES

MOST = 200
# A system short of memory takes pages away before and gives them back meanwhile: that only adds.
TRIES = 4


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "huge entries"])
def test_bytes_kept_for_an_observation(shape: str) -> None:
    """Push and entering, counted by Python's allocator and by the operating system."""
    seen: list[tuple[float, float]] = []
    while len(seen) < TRIES and (not seen or seen[-1][1] > MOST):
        seen.append(_footprint(shape))
    traced, grown = zip(*seen, strict=True)
    assert max(traced) <= MOST, seen
    assert min(grown) <= MOST, seen


def _footprint(shape: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.oracle.footprint", shape],
        capture_output=True,
        text=True,
        check=True,
    )
    traced, grown = done.stdout.split()
    return float(traced), float(grown)
