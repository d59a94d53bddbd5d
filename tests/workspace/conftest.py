"""Every test of a workspace runs on both ways of containment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from io_harness.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["kernel", "walk"])
def containment(request: pytest.FixtureRequest) -> Literal["kernel", "walk"]:
    way: Literal["kernel", "walk"] = request.param
    return way


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
