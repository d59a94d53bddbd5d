"""Making the operator's check."""

from __future__ import annotations

import asyncio
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from io_harness.contract import Verification
from io_harness.contract.verification import VerificationKind
from io_harness.tools import Plan, ToolContext, ToolError, foreign
from io_harness.tools.command import run_command
from io_harness.types import JSON
from io_harness.workspace import is_text

_LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a check said."""

    passed: bool
    output: str


async def verify(verification: Verification, tools: ToolContext, *, seconds: float) -> Report:
    """Make a check within `seconds`; whatever it raises is a failed check."""
    until = time.monotonic() + seconds
    match verification.kind:
        case VerificationKind.NONE:
            return Report(True, "the model called no more tools")
        case VerificationKind.COMMAND:
            return await _command(verification, tools, seconds)
        case VerificationKind.CALLABLE:
            return await _callable(verification, Path(tools.workspace.root), seconds)
        case VerificationKind.ALL_OF:
            for part in verification.parts:
                left = max(_LEAST_SECONDS, until - time.monotonic())
                report = await verify(part, tools, seconds=left)
                if not report.passed:
                    return report
            return Report(True, verification.describe())
        case _:
            return await asyncio.to_thread(_file, verification, tools)


async def _callable(verification: Verification, root: Path, seconds: float) -> Report:
    check = verification.check
    assert check is not None
    try:
        async with asyncio.timeout(seconds) as limit:
            said = await foreign.call(check, root)
    except Exception as error:
        if limit.expired():
            return Report(False, f"the operator's check was not done within {seconds:g} s")
        return Report(False, f"the operator's check failed: {type(error).__name__}: {error}")
    if isinstance(said, str):
        return Report(False, said)
    return Report(bool(said), "the operator's check " + ("passes" if said else "does not pass"))


def _file(verification: Verification, tools: ToolContext) -> Report:
    name, text = verification.file, verification.text
    try:
        found = tools.workspace.read(name)
    except (OSError, ValueError) as error:
        return Report(False, f"{name} cannot be read: {error}")
    if not is_text(found):
        return Report(False, f"{name} is no text, and its check needs one: {found.text}")
    if verification.kind is VerificationKind.FILE_EQUALS:
        whole = found.lines[1] == found.total_lines
        passed, how = whole and found.text == text, "is exactly what was asked for"
    else:
        passed, how = text in found.text, f"contains {text!r}"
    return Report(passed, f"{name} {how}" if passed else f"not true yet: {verification.describe()}")


async def _command(verification: Verification, tools: ToolContext, seconds: float) -> Report:
    """Run the operator's command as a tool would, but for the policy: nobody is asked."""
    argv: list[JSON] = list(verification.argv)
    command = shlex.join(verification.argv)
    plan = run_command.plan({"argv": argv, "timeout": seconds}, tools)
    assert isinstance(plan, Plan)
    try:
        text = (await plan.perform()).text
    except ToolError as error:
        return Report(False, f"`{command}`: {error}")
    ended, _, said = text.partition("\n")
    passed = ended == f"exit code {verification.expect_exit}"
    return Report(passed, f"`{command}`: {ended}\n{said}".rstrip())
