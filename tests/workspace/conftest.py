"""Every test of a workspace runs on both ways of containment."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from io_harness.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["kernel", "walk"])
def containment(request: pytest.FixtureRequest) -> Literal["kernel", "walk"]:
    way: Literal["kernel", "walk"] = request.param
    return way


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """A directory on a memory file system, where there is one: many files and swaps are fast."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(dir=place))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """What lies around the root, with a secret in it."""
    (tmp_path / "secret").write_text("SECRET")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil" / "x").write_text("SECRET")
    return tmp_path


@pytest.fixture
def root(outer: Path) -> Path:
    path = outer / "root"
    path.mkdir()
    return path


@pytest.fixture
def workspace(root: Path, containment: Literal["kernel", "walk"]) -> Iterator[Workspace]:
    with Workspace(root, containment=containment) as opened:
        yield opened
