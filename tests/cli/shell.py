"""The command line in this process, and a model behind a local server for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from io_harness.cli.main import main
from io_harness.types import JSON
from tests.providers.shapes import openai_answer
from tests.vendor import Reply, Vendor, vendor

Answer = str | tuple[str, dict[str, JSON]] | Reply
"""What the model says, the call it makes, or what the server does instead."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> dict[str, Any]:
        """The last line of its output, as JSON."""
        loaded: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return loaded

    @property
    def going_on(self) -> list[str]:
        """The words after `io-harness` in the line that goes on with the run."""
        (line,) = [row for row in self.out.splitlines() if row.startswith("go on with: ")]
        return line.split()[4:]


@dataclass(slots=True)
class Shell:
    """Runs commands with a store and a workspace of its own."""

    place: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    @property
    def root(self) -> Path:
        return self.place / "w"

    @property
    def store(self) -> str:
        return str(self.place / "runs.db")

    def __call__(self, *args: str | Path) -> Done:
        self.patch.setattr(sys, "argv", ["io-harness", *map(str, args)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = self.capture.readouterr()
        code = stopped.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    def run(self, server: Vendor, *more: str | Path, allow: str = "read,write,exec") -> Done:
        model = f"openai-compatible:m@{server.url}/v1"
        base = ("--root", self.root, "--model", model, "--store", self.store, "--allow", allow)
        return self("run", "Do it.", *base, *more)


def model(answers: Sequence[Answer]) -> AbstractContextManager[Vendor]:
    """Serve a model that gives these answers in order, the last one again and again."""
    return vendor([_reply(answer) for answer in answers])


def _reply(answer: Answer) -> Reply:
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(openai_answer({"content": answer}))
    name, arguments = answer
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return Reply(openai_answer({"content": None, "tool_calls": [call]}, "tool_calls"))
