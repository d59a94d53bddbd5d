"""A key in the harness's own environment is in no child, no request, no trace and no error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from io_harness import (
    CompletionRequest,
    Policy,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    run_sync,
)

SECRET = "sk-ant-never-to-be-seen-4711"


def test_a_key_of_the_environment_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    root = tmp_path / "root"
    root.mkdir()
    show_all = "import os; print(sorted(os.environ)); print(dict(os.environ))"
    turns: list[list[ToolCall] | str] = [
        [
            ToolCall("1", "run_command", {"argv": [sys.executable, "-c", show_all]}),
            ToolCall("2", "run_command", {"argv": ["env"]}),
            ToolCall("3", "read_file", {"path": "/proc/self/environ"}),
            ToolCall("4", "grep", {"pattern": "sk-ant", "path": "/proc/self"}),
            ToolCall("5", "run_command", {"argv": ["/no/such/program"]}),
        ],
        "done",
    ]
    requests: list[str] = []
    script = iter(turns)

    def turn(request: CompletionRequest) -> list[ToolCall] | str:
        requests.append(repr(request))
        return next(script)

    with Store.open(tmp_path / "runs.db") as store:
        contract = TaskContract.workspace("Look around", root)
        result = run_sync(contract, ScriptedProvider(turn), store, policy=Policy.permissive())
        trace = repr(
            [
                store.run(result.run_id),
                store.steps(result.run_id),
                store.context_events(result.run_id),
                store.provider_calls(result.run_id),
            ]
        )
    assert "PATH" in trace
    assert "exit code 0" in trace
    for told in (trace, result.reason, *requests):
        assert SECRET not in told
