"""Functions of others that raise what a program or an iteration ends with: the run goes on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from io_harness import (
    Outcome,
    Policy,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    Verification,
    Workspace,
    run_sync,
)
from io_harness.tools import tool


def stops(_: object) -> str:
    return next(iter(()))


def exits(_: object) -> str:
    sys.exit("bye")


async def exits_later(_: object) -> str:
    sys.exit("bye")


async def cancels_itself(_: object) -> str:
    raise asyncio.CancelledError


WRONG = [
    (stops, "StopIteration"),
    (exits, "SystemExit: bye"),
    (exits_later, "SystemExit: bye"),
    (cancels_itself, "CancelledError"),
]


@pytest.mark.parametrize(("function", "said"), WRONG)
def test_a_tool(tmp_path: Path, function: Callable[[str], object], said: str) -> None:
    async def later(x: str) -> object:
        return await function(x)  # type: ignore[misc]

    def now(x: str) -> object:
        return function(x)

    mine = tool(name="mine")(later if asyncio.iscoroutinefunction(function) else now)
    script = ScriptedProvider([ToolCall("1", "mine", {"x": "y"}), "Done."])
    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store:
        result = run_sync(contract, script, store, policy=Policy.workspace(), tools=[mine])
        (seen,) = store.steps(result.run_id, step=1)[0].observations
    assert (result.outcome, seen.text) == (
        Outcome.SUCCESS,
        f"the tool failed: RuntimeError: it raised {said}",
    )


@pytest.mark.parametrize(("function", "said"), WRONG)
def test_a_check(tmp_path: Path, function: Callable[[Path], bool], said: str) -> None:
    contract = TaskContract.workspace("Do it.", tmp_path, Verification.callable(function))
    script = ScriptedProvider(["Done."] * 9)
    with Store.memory() as store:
        result = run_sync(contract, script, store, policy=Policy.workspace())
    assert result.outcome is Outcome.VERIFICATION_FAILED
    assert f"the operator's check failed: RuntimeError: it raised {said}" in result.reason


def test_what_names_a_target(tmp_path: Path) -> None:
    def mine(x: str) -> str:
        return x

    odd = tool(name="mine", target=stops)(mine)
    script = ScriptedProvider([ToolCall("1", "mine", {"x": "y"}), "Done."])
    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store:
        result = run_sync(contract, script, store, policy=Policy.workspace(), tools=[odd])
    assert result.outcome is Outcome.SUCCESS


@pytest.mark.parametrize("as_check", [False, True])
def test_what_never_returns_does_not_outlive_the_time_budget(
    tmp_path: Path, as_check: bool
) -> None:
    never = threading.Event()

    @tool
    def mine() -> str:
        """Wait."""
        never.wait(60)
        return "late"

    verify = Verification.callable(lambda _: never.wait(60)) if as_check else None
    script = ScriptedProvider(
        [*([] if as_check else [ToolCall("1", "mine", {})]), "Done.", "Done."]
    )
    contract = TaskContract.workspace("Do it.", tmp_path, verify).with_time_budget(0.5)
    since = time.monotonic()
    with Store.memory() as store:
        result = run_sync(contract, script, store, policy=Policy.workspace(), tools=[mine])
    elapsed = time.monotonic() - since
    never.set()
    assert result.outcome is Outcome.TIME_BUDGET
    assert elapsed < 30


def test_a_search_under_way_does_not_outlive_the_time_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(Workspace, "grep", lambda *_, **__: over.wait(60))
    script = ScriptedProvider([ToolCall("1", "grep", {"pattern": "x"}), "Done."])
    contract = TaskContract.workspace("Do it.", tmp_path).with_time_budget(0.5)
    since = time.monotonic()
    with Store.memory() as store:
        result = run_sync(contract, script, store, policy=Policy.workspace())
    elapsed = time.monotonic() - since
    over.set()
    assert result.outcome is Outcome.TIME_BUDGET
    assert elapsed < 30


def test_what_never_returns_does_not_keep_a_program_from_ending() -> None:
    program = """
import asyncio, time
from io_harness.tools.foreign import call

async def main():
    async with asyncio.timeout(0.1):
        await call(time.sleep, 600)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr.splitlines()[-1] == "TimeoutError"
