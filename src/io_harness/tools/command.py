"""`run_command`: an argument list, no shell, a clean environment, a bounded output."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from io_harness.tools.base import Need, Plan, ToolContext, ToolError
from io_harness.tools.builtin import builtin
from io_harness.tools.outcome import ToolOutcome
from io_harness.types import Act, ObsKind
from io_harness.workspace import has_bytes

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Mapping

COMMAND_SECONDS = 120
COMMAND_MAX_BYTES = 8 * 2**20
_CHUNK = 64 * 2**10
_DRAIN_SECONDS = 1.0
_DYING_SECONDS = 10.0
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


@builtin(Act.EXEC, effectful=True)
def run_command(
    here: ToolContext,
    argv: Annotated[list[str], "the program and its arguments, each an item; there is no shell"],
    timeout: Annotated[float, "seconds before it is killed"] = COMMAND_SECONDS,
) -> Plan:
    """Run a command in the workspace root and give its exit code and its output.

    Standard input is closed; standard error is shown where it came among the output.
    """
    if not argv:
        raise ToolError("`argv` is empty; give a program and its arguments, as a list")
    if any("\0" in word for word in argv):
        raise ToolError("`argv` has a NUL character, which no argument can hold")
    if not all(map(has_bytes, argv)):
        raise ToolError("`argv` has a lone surrogate, which no argument can hold")
    if not 0 < timeout < float("inf"):
        raise ToolError(f"`timeout` is {timeout}; it is a number of seconds above 0")

    async def perform() -> ToolOutcome:
        text = await _run(argv, here, timeout)
        return ToolOutcome(ObsKind.TOOL, shlex.join(argv), text)

    return Plan((Need(Act.EXEC, shlex.join(argv)),), perform)


def environment(added: Mapping[str, str]) -> dict[str, str]:
    """What a command gets to see: nothing of this process's but what a command needs."""
    kept = {
        name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")
    }
    return kept | dict(added)


class _Output:
    """The start and the end of what a command says, and the number of bytes in between."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; the first half of the bound is kept, then the last half."""
        half = COMMAND_MAX_BYTES // 2
        room = half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) >= 2 * half:
            self._drop(half)

    def text(self) -> str:
        """All of it, or its two ends; bytes that are no UTF-8 as lone surrogates."""
        if len(self._head) + len(self._tail) > COMMAND_MAX_BYTES:
            self._drop(COMMAND_MAX_BYTES // 2)
        if not self._dropped:
            return (self._head + self._tail).decode(errors="surrogateescape")
        total = len(self._head) + len(self._tail) + self._dropped
        gap = f"\n[{self._dropped:,} of {total:,} bytes of output were not kept]\n"
        return gap.join(p.decode(errors="surrogateescape") for p in (self._head, self._tail))

    def _drop(self, kept: int) -> None:
        self._dropped += len(self._tail) - kept
        del self._tail[:-kept]


async def _run(argv: list[str], here: ToolContext, timeout: float) -> str:
    # A pipe of our own: asyncio would wait for its end, which a child left behind can hold open.
    end, start = os.pipe()
    try:
        process = await _started(argv, here, start)
    except BaseException:
        os.close(end)
        raise
    finally:
        os.close(start)
    output = _Output()
    reading = asyncio.create_task(_read(end, output))
    ended = f"killed after {timeout:g} s; give a longer timeout, or do less"
    try:
        with suppress(TimeoutError):
            code = await asyncio.wait_for(process.wait(), timeout)
            ended = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
            await asyncio.wait({reading}, timeout=_DRAIN_SECONDS)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.wait({reading}, timeout=_DRAIN_SECONDS)
        reading.cancel()
        with suppress(TimeoutError):  # one that runs as another user is not ours to kill
            await asyncio.wait_for(process.wait(), _DYING_SECONDS)
    if process.returncode is None:
        ended = f"still running after {timeout:g} s: it cannot be killed from here"
    return f"{ended}\n{output.text()}"


async def _started(argv: list[str], here: ToolContext, output: int) -> Process:
    """The command's process, the head of a group of its own."""
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=here.workspace.root,
            env=environment(here.command_env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError:
        if not os.path.isdir(here.workspace.root):
            raise ToolError("the workspace's root is gone: no command can run in it") from None
        if "/" in argv[0] and os.path.exists(here.workspace.root / argv[0]):
            raise ToolError(
                f"{argv[0]!r} cannot be run: what its first line names is not there"
            ) from None
        raise ToolError(f"no program is named {argv[0]!r}; there is no shell either") from None
    except OSError as error:
        raise ToolError(f"{argv[0]!r} cannot be run: {error.strerror}") from None


async def _read(descriptor: int, output: _Output) -> None:
    """Take what comes out of a pipe until its end, and close it."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb")
    )
    try:
        while chunk := await reader.read(_CHUNK):
            output.add(chunk)
    finally:
        transport.close()
