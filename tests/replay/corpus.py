"""The recorded runs outside the repository, where the environment names them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "IO_HARNESS_CORPUS"


def corpus_root() -> Path:
    """The folder of recorded runs by format; skips the test, saying why, where there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} is not set: recorded runs are not part of the repository")
    root = Path(named)
    if not root.is_dir():
        pytest.skip(f"{VARIABLE}={named} is no directory")
    return root / "dev" if (root / "dev").is_dir() else root


def corpus_files() -> list[Path]:
    """The recorded runs, in order of their names."""
    return sorted(path for path in corpus_root().glob("*/*") if path.is_file())
