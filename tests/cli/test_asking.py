"""Approvals on a terminal: what is shown, what each key means."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
from dataclasses import replace

import pytest

from io_harness.cli.asking import TerminalApprover
from io_harness.policy import ApprovalRequest, Choice, Decision
from io_harness.types import Act, Effect, Rule, Verdict

REQUEST = ApprovalRequest(
    Act.WRITE,
    "a\x1b.py",
    Verdict(Effect.ASK, Rule(Act.WRITE, Effect.ASK, "*.py"), "mine"),
    "write_file",
    {},
    "--- a\n+++ b\n-old\n+new\x07\n",
)


def answered(
    typed: str, monkeypatch: pytest.MonkeyPatch, request: ApprovalRequest = REQUEST
) -> Decision:
    read_end, write_end = os.pipe()
    os.write(write_end, typed.encode())
    os.close(write_end)
    with os.fdopen(read_end) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        return asyncio.run(TerminalApprover(lambda: None).decide(request))


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("y\n", Choice.APPROVE),
        ("YES\n", Choice.APPROVE),
        ("a\n", Choice.APPROVE_FOR_RUN),
        ("n\n", Choice.DENY),
        ("d\n", Choice.DEFER),
        ("what?\n\ny\n", Choice.APPROVE),
        ("", Choice.DEFER),
    ],
)
def test_each_answer(
    typed: str,
    choice: Choice,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert answered(typed, monkeypatch).choice is choice
    shown = capsys.readouterr()
    assert "write: a\\u{1b}.py" in shown.out
    assert "asked by the rule '*.py' of 'mine', wanted by write_file" in shown.out
    assert "+new\\u{7}" in shown.err
    assert "  write a\\u{1b}.py: [y]es" in shown.err


def test_what_was_typed_before_the_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def decided(leader: int) -> Decision:
        os.write(leader, b"y\ny\n")
        await asyncio.sleep(0.1)
        asking = asyncio.create_task(TerminalApprover(lambda: None).decide(REQUEST))
        await asyncio.sleep(0.2)
        os.write(leader, b"n\n")
        return await asyncio.wait_for(asking, 5)

    leader, follower = pty.openpty()
    with os.fdopen(follower) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert asyncio.run(decided(leader)).choice is Choice.DENY
    os.close(leader)


def test_a_question_that_no_rule_asks_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unruled = replace(REQUEST, verdict=Verdict(Effect.ASK, None, "default"))
    answered("d\n", monkeypatch, unruled)
    assert "the policy asks before every write that no rule allows" in capsys.readouterr().out


def test_a_question_ends_when_the_run_is_cancelled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def cancelled() -> None:
        asking = asyncio.create_task(TerminalApprover(lambda: None).decide(REQUEST))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    read_end, write_end = os.pipe()
    with os.fdopen(read_end) as stdin, os.fdopen(write_end, "w"):
        monkeypatch.setattr(sys, "stdin", stdin)
        asyncio.run(asyncio.wait_for(cancelled(), 5))
    assert capsys.readouterr().out.endswith("\n\n"), "what comes next starts on a line of its own"
