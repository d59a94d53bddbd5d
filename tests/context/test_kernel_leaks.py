"""Kernels that are dropped leave nothing behind."""

from __future__ import annotations

import subprocess
import sys

from .flavours import Flavour


def test_dropped_kernels_give_back_what_they_took(flavour: Flavour) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.context.leaks", flavour.name],
        capture_output=True,
        text=True,
        check=True,
    )
    # 20 kernels of 300 observations; one text lost by each would be 1,000 bytes.
    assert int(done.stdout) < 800
