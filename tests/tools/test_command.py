"""Commands: no shell, a clean environment, an end in time, a bounded output."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from io_harness.policy import Policy
from io_harness.tools import command
from io_harness.types import JSON, Act, Effect, ObsKind, Rule, ToolCall
from tests.tools.conftest import Bench

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-a-very-secret-key"


def python(code: str) -> list[JSON]:
    return [sys.executable, "-c", code]


def test_the_exit_code_is_always_shown(call: Bench) -> None:
    got = call("run_command", argv=["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (got.kind, got.text) == (ObsKind.TOOL, "exit code 3\nout\nerr\n")
    assert got.target == "sh -c 'echo out; echo err >&2; exit 3'"
    assert not got.is_error
    assert call("run_command", argv=["true"]).text == "exit code 0\n"
    assert call("run_command", argv=["sh", "-c", "kill -9 $$"]).text == "killed by signal 9\n"


def test_there_is_no_shell_and_the_root_is_the_place(call: Bench, root: Path) -> None:
    got = call("run_command", argv=["echo", "$HOME", "*", "; rm -rf ."])
    assert got.text == "exit code 0\n$HOME * ; rm -rf .\n"
    assert call("run_command", argv=["pwd"]).text == f"exit code 0\n{root}\n"
    assert call("run_command", argv=["cat"]).text == "exit code 0\n", "standard input is closed"


def test_no_secret_of_the_harness_reaches_a_child_an_outcome_or_an_error(
    call: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("LC_TIME", "C")
    bench = Bench(replace(call.context, command_env={"ADDED": "by the contract"}))
    names = python("import os; print(*sorted(os.environ))")
    seen = set(bench("run_command", argv=names).text.split()[3:])
    assert seen <= {"ADDED", "HOME", "LANG", "LC_TIME", "PATH", "TMPDIR", "VIRTUAL_ENV"} | {
        "LC_CTYPE",  # Python's own, in a C locale
        "LC_ALL",
    }
    assert {"ADDED", "LC_TIME", "PATH"} <= seen
    told = [bench("run_command", argv=["env"]).text]
    wrong: list[list[JSON]] = [["no-such-program"], [], ["a\0b"]]
    told += [bench.fails("run_command", argv=argv) for argv in wrong]
    told += [bench.fails("read_file", path=p) for p in ("none", "/proc/self/environ", "../../x")]
    assert KEY not in "".join(told)


def test_what_cannot_be_run_is_an_error_that_says_so(call: Bench, root: Path) -> None:
    (root / "plain").write_text("no program")
    assert "no program is named 'nonsense'" in call.fails("run_command", argv=["nonsense"])
    assert "Permission denied" in call.fails("run_command", argv=["./plain"])
    (root / "lost").write_text("#!/no/such/interpreter\n")
    (root / "lost").chmod(0o755)
    assert "what its first line names is not there" in call.fails("run_command", argv=["./lost"])
    assert "no program is named './none'" in call.fails("run_command", argv=["./none"])
    for argv in (["\ud800"], ["echo", "\ud800"]):
        words: list[JSON] = list(argv)
        assert "`argv` has a lone surrogate" in call.fails("run_command", argv=words)
    assert "`argv` is empty" in call.fails("run_command", argv=[])
    assert "must be an array" in call.fails("run_command", argv="ls -l")
    assert "`timeout` is 0" in call.fails("run_command", argv=["ls"], timeout=0)


def alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        # A zombie that nobody has reaped is dead all the same.
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    return False


def dies(pid: int) -> bool:
    """Whether a process is dead, or is so soon: a busy machine takes its time."""
    until = time.monotonic() + 20
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pid)


def test_the_whole_group_is_killed_in_time(call: Bench) -> None:
    began = time.monotonic()
    got = call(
        "run_command", argv=["sh", "-c", "sleep 60 & echo $!; echo started; wait"], timeout=0.5
    )
    assert time.monotonic() - began < 30
    first, pid, started, *_ = got.text.split("\n")
    assert first.startswith("killed after 0.5 s")
    assert started == "started"
    assert dies(int(pid))


def test_a_child_left_behind_does_not_hold_the_call(call: Bench) -> None:
    began = time.monotonic()
    got = call("run_command", argv=["sh", "-c", "sleep 60 & echo $!"], timeout=30)
    assert time.monotonic() - began < 20
    code, pid, _ = got.text.split("\n")
    assert code == "exit code 0"
    assert dies(int(pid))


def test_cancellation_kills_the_group(call: Bench) -> None:
    written = call.context.workspace.root / "pid"

    async def cancelled() -> None:
        one = ToolCall("id", "run_command", {"argv": ["sh", "-c", "echo $$ > pid; sleep 60"]})
        task = asyncio.create_task(call.toolbox.dispatch(one, call.context))
        while not task.done() and not (written.exists() and written.read_text()):
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert dies(int(written.read_text()))


def test_output_is_bounded_and_the_real_total_is_told(
    call: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "COMMAND_MAX_BYTES", 2**20)
    code = "import sys; sys.stdout.write('start' + 'x' * 3_000_000 + 'the error is at the end')"
    text = call("run_command", argv=python(code)).text
    assert text.startswith("exit code 0\nstartxxx")
    assert text.endswith("xxxthe error is at the end")
    assert "of 3,000,028 bytes of output were not kept]" in text
    assert 2**20 <= len(text) < 2**20 + 200_000
    whole = call("run_command", argv=python("print('y' * 900_000)")).text
    assert whole == "exit code 0\n" + "y" * 900_000 + "\n"


@pytest.mark.parametrize("size", [1, 7, 100, 1_000])
def test_what_is_kept_of_an_output_does_not_depend_on_its_pieces(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "COMMAND_MAX_BYTES", 100)
    for total in (0, 50, 99, 100, 101, 150, 151, 199, 200, 201, 1_000):
        data = bytes(b"abcdefghijklmnopqrstuvwxyz"[n % 26] for n in range(total))
        output = command._Output()
        for start in range(0, total, size):
            output.add(data[start : start + size])
            assert len(output._head) + len(output._tail) <= 150 + size
        told = data.decode()
        if total > 100:
            gap = f"\n[{total - 100} of {total:,} bytes of output were not kept]\n"
            told = told[:50] + gap + told[-50:]
        assert output.text() == told


def test_bytes_that_are_no_text_are_kept(call: Bench) -> None:
    got = call("run_command", argv=python(r"import os; os.write(1, b'a\xff\0b')"))
    assert got.text == "exit code 0\na\udcff\0b"


def test_the_policy_sees_the_joined_arguments(call: Bench) -> None:
    policy = Policy.workspace().extended(
        Rule(Act.EXEC, Effect.ALLOW, "echo *"), Rule(Act.EXEC, Effect.DENY, "*rm -rf*")
    )
    bench = Bench(replace(call.context, policy=policy))
    assert bench("run_command", argv=["echo", "hi"]).text == "exit code 0\nhi\n"
    assert "denied" in bench.fails("run_command", argv=["rm", "-rf", "x"])
    assert "nobody is there" in bench.fails("run_command", argv=["ls"])


def test_a_root_that_is_gone_is_named_not_the_program(call: Bench, root: Path) -> None:
    assert call("run_command", argv=["sh", "-c", 'rm -r "$PWD"']).text == "exit code 0\n"
    assert "the workspace's root is gone" in call("run_command", argv=["true"]).text


async def ended(group: int) -> None:
    """Kill what a test left running, and let the event loop hear of it."""
    os.killpg(group, signal.SIGKILL)
    with suppress(ProcessLookupError):
        for _ in range(200):
            os.kill(group, 0)
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)


def test_a_command_that_cannot_be_killed_does_not_hold_the_call(
    call: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(group: int, number: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(command, "_DYING_SECONDS", 0.1)
    monkeypatch.setattr(os, "killpg", refused)  # as for a program that runs as another user
    began = time.monotonic()
    got = call("run_command", argv=["sh", "-c", "echo $$; exec sleep 60"], timeout=0.3)
    elapsed = time.monotonic() - began
    monkeypatch.undo()
    first, pid, _ = got.text.split("\n")
    call.runner.run(ended(int(pid)))
    assert first == "still running after 0.3 s: it cannot be killed from here"
    assert elapsed < 30
