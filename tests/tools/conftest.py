"""A workspace with a few files, and one call after the other in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from io_harness.policy import Policy
from io_harness.tools import BUILTIN_TOOLS, Toolbox, ToolContext, ToolOutcome
from io_harness.types import JSON, ToolCall
from io_harness.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from io_harness.tools import BeforeEffect, Deferred, Tool


class Bench:
    """One context, and calls of its tools, on one event loop for all tests."""

    runner: asyncio.Runner

    def __init__(self, context: ToolContext, *tools: Tool) -> None:
        self.context = context
        self.toolbox = Toolbox(tools or BUILTIN_TOOLS)

    def dispatch(
        self, name: str, arguments: dict[str, JSON] | str, before: BeforeEffect | None = None
    ) -> ToolOutcome | Deferred:
        call = ToolCall("id", name, arguments)
        return self.runner.run(self.toolbox.dispatch(call, self.context, before_effect=before))

    def __call__(self, name: str, **arguments: JSON) -> ToolOutcome:
        outcome = self.dispatch(name, arguments)
        assert isinstance(outcome, ToolOutcome)
        return outcome

    def fails(self, name: str, **arguments: JSON) -> str:
        outcome = self(name, **arguments)
        assert outcome.is_error
        assert outcome.kind == "error"
        assert outcome.target == name
        return outcome.text


@pytest.fixture(autouse=True, scope="session")
def _loop() -> Iterator[None]:
    with asyncio.Runner() as Bench.runner:
        yield


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("SECRET")
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("import os\n\n\ndef main():\n    return 0\n")
    (root / "notes.txt").write_text("one\ntwo\nthree\n")
    (root / ".env").write_text("API_KEY=SECRET\n")
    return root


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace(root) as opened:
        yield opened


@pytest.fixture
def call(workspace: Workspace) -> Bench:
    return Bench(ToolContext(workspace, Policy.permissive()))
