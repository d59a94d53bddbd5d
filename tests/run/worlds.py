"""Small worlds for runs: a workspace with files, calls in short, and a run from start to end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from io_harness import CompletionRequest, ScriptedProvider, TaskContract, ToolCall, Verification
from io_harness.contract import Retries
from io_harness.events import Event
from io_harness.loop import RunResult, run_sync
from io_harness.policy import Approver, Policy
from io_harness.providers import Script
from io_harness.store import Store
from io_harness.tools import Tool
from io_harness.types import JSON, Completion

FAST = Retries(first_delay=0.001, max_delay=0.002)


def call(tool: str, /, **arguments: JSON) -> ToolCall:
    return ToolCall("c", tool, arguments)


def read(path: str, **more: JSON) -> ToolCall:
    return call("read_file", path=path, **more)


def write(path: str, content: str) -> ToolCall:
    return call("write_file", path=path, content=content)


def files(root: Path, **texts: str) -> Path:
    """Make a workspace; `a_py="x"` is the file a.py."""
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / name.replace("_", ".")).write_text(text)
    return root


def contract(root: Path, verify: Verification | None = None) -> TaskContract:
    return TaskContract.workspace("Do it.", root, verify).with_retries(FAST)


class Watched(ScriptedProvider):
    """A scripted provider that keeps the requests it got."""

    requests: list[CompletionRequest]

    async def complete(self, request: CompletionRequest) -> Completion:
        self.__dict__.setdefault("requests", []).append(request)
        return await super().complete(request)


def ran(
    what: TaskContract,
    script: Script,
    store: Store | None = None,
    *,
    policy: Policy | None = None,
    approver: Approver | None = None,
    tools: Sequence[Tool] = (),
    seen: list[Event] | None = None,
) -> RunResult:
    """Run a script under a contract, everything allowed unless said otherwise."""
    return run_sync(
        what,
        ScriptedProvider(script),
        store or Store.memory(),
        policy=policy or Policy.permissive(),
        approver=approver,
        tools=tools,
        observer=None if seen is None else seen.append,
    )
