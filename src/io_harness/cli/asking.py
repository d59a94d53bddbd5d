"""Approvals: asked on a terminal, put off where there is none."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from io_harness.cli.output import err, plain, say, short
from io_harness.policy import ApprovalRequest, Decision

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

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
        rule, act = request.verdict.rule, request.act.value
        why = f"the policy asks before every {act} that no rule allows"
        if rule is not None:
            why = f"asked by the rule {rule.pattern!r} of {request.verdict.layer!r}"
        say()
        say(f"{act}: {plain(request.subject)}", whole=True)
        say(f"  {plain(why)}, wanted by {plain(request.tool)}")
        _show_diff(request.diff)
        _forget_what_was_typed()
        try:
            return await _answer(f"{act} {short(request.subject, 30)}: " if request.diff else "")
        except asyncio.CancelledError:
            say()  # what comes next does not belong to the question
            raise


class Deferring:
    """Puts every answer off: nobody is there."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Defer."""
        return Decision.defer("nobody is at a terminal")


async def _answer(asked: str) -> Decision:
    while True:
        err.print(f"  {asked}[y]es, [a]lways in this run, [n]o, [d]efer? ", end="")
        said = await _line()
        if not said:
            return Decision.defer("the terminal was closed")
        choice = _CHOICES.get(said.strip().lower()[:1])
        if choice is not None:
            return choice()
        say("  answer with y, a, n or d")


def _forget_what_was_typed() -> None:
    """Drop keys that were pressed before the question could be read: they answer another."""
    if termios is not None and sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


async def _line() -> str:
    """Read a line from the terminal; unlike a thread that reads, it ends when it is cancelled."""
    loop = asyncio.get_running_loop()
    read: asyncio.Future[str] = loop.create_future()

    def ready() -> None:
        if not read.done():
            read.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin, ready)
    try:
        return await read
    finally:
        loop.remove_reader(sys.stdin)


def _show_diff(diff: str) -> None:
    lines = plain(diff, lines=True).rstrip().splitlines()
    for line in lines[:_DIFF_LINES]:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        err.print(f"  {line}", style=style)
    if len(lines) > _DIFF_LINES:
        say(f"  … and {len(lines) - _DIFF_LINES} lines more")
