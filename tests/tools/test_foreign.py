"""Functions of others that raise what a program or an iteration ends with: the run goes on."""

from __future__ import annotations

import asyncio
import sys
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
