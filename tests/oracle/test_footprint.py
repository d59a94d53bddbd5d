"""Memory: at most 200 bytes an observation besides what the caller handed in."""

from __future__ import annotations

import subprocess
import sys

import pytest
from benchmarks.context.shapes import SHAPES

MOST = 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "huge entries"])
def test_bytes_kept_for_an_observation(shape: str) -> None:
    """Push and entering, counted by Python's allocator and by the operating system."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.oracle.footprint", shape],
        capture_output=True,
        text=True,
        check=True,
    )
    traced, grown = map(float, done.stdout.split())
    assert traced <= MOST, (traced, grown)
    assert grown <= MOST, (traced, grown)
