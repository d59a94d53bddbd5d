"""Approvals: asked on a terminal, put off where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from io_harness.cli.output import err, plain, say
from io_harness.policy import ApprovalRequest, Decision

_CHOICES: dict[str, Callable[[], Decision]] = {
    "y": Decision.approve,
    "a": Decision.approve_for_run,
    "n": lambda: Decision.deny("the operator said no"),
    "d": Decision.defer,
}
_DIFF_LINES = 60


class TerminalApprover:
    """Asks whoever sits at the terminal."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._pause = pause

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Show the act, its subject and what it would change, and take an answer."""
        self._pause()
        rule = request.verdict.rule
        why = f"rule {rule.pattern!r}" if rule is not None else "default"
        say()
        say(f"{request.act.value}: {plain(request.subject)}")
        say(f"  asked by the {why} of {request.verdict.layer!r}, wanted by {request.tool}")
        _show_diff(request.diff)
        return await asyncio.to_thread(_answer)


class Deferring:
    """Puts every answer off: nobody is there."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Defer."""
        return Decision.defer("nobody is at a terminal")


def _answer() -> Decision:
    while True:
        err.print("  [y]es, [a]lways in this run, [n]o, [d]efer? ", end="")
        try:
            said = input().strip().lower()
        except EOFError:
            return Decision.defer("the terminal was closed")
        if said[:1] in _CHOICES:
            return _CHOICES[said[:1]]()
        say("  answer with y, a, n or d")


def _show_diff(diff: str) -> None:
    lines = plain(diff, lines=True).splitlines()
    for line in lines[:_DIFF_LINES]:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        err.print(f"  {line}", style=style)
    if len(lines) > _DIFF_LINES:
        say(f"  … and {len(lines) - _DIFF_LINES} lines more")
