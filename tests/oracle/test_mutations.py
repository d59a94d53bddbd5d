"""The oracle can fail: each deliberate mistake in the assembler is noticed, and no mistake is not.

Mistakes are made in the pure kernel, so where the compiled one is in use every third of them does;
`IO_HARNESS_ORACLE_MUTATIONS=all` tries them all there too.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from io_harness import COMPILED

from .mutations import MUTATIONS

EVERY = 3 if COMPILED and os.environ.get("IO_HARNESS_ORACLE_MUTATIONS") != "all" else 1
EXAMPLES = 400
# Some need a rare story: those are tried once more, for longer.
MORE_EXAMPLES = 6_000


def oracle_on(name: str, examples: int = EXAMPLES) -> subprocess.CompletedProcess[str]:
    """The oracle's run against one mistake, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.oracle.mutant", name, str(examples)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", [mutation.name for mutation in MUTATIONS][::EVERY])
def test_a_mistake_is_noticed(name: str) -> None:
    done = oracle_on(name)
    if "not noticed" in done.stdout:
        done = oracle_on(name, MORE_EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]


def test_nothing_is_noticed_without_a_mistake() -> None:
    done = oracle_on("none")
    assert done.returncode == 1, done.stdout + done.stderr[-2_000:]
    assert "not noticed" in done.stdout
