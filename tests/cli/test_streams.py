"""Streams that are closed, full or read by nobody: no traceback, and a run ends cleanly."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from io_harness.cli.exits import READER_GONE
from io_harness.store import Store
from tests.cli.shell import Answer, Shell, model
from tests.replay.samples import write_sample
from tests.vendor import Reply, Vendor

# As installed: without the current directory among the places of modules, which Python 3.13.0
# cannot stand where that is gone.
PROGRAM = f"{sys.executable} -P -c 'from io_harness.cli.main import main; main()'"
SLOW = Reply("{}", delay=60.0)
READ: Answer = ("read_file", {"path": "a.py"})


def in_shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which `$IO` is the command."""
    env = {**os.environ, "IO": PROGRAM, **more}
    env.pop("COLUMNS", None)
    return subprocess.run(
        ["bash", "-c", f"io() {{ eval \"$IO\" '\"$@\"'; }}; {line}"],
        capture_output=True, text=True, check=False, timeout=60, env=env,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    with Store.open(path) as made:
        made.memory_put("id:w", "k", "…\udc80", run_id="r", step=1)
    return path


@pytest.mark.parametrize("command", ["runs", "runs --json", "memory list id:w", "doctor"])
def test_closed_and_full_streams(store: Path, command: str) -> None:
    for redirected, code in ((">&-", 0), ("<&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0),
                             (">/dev/full", 2)):  # fmt: skip
        done = in_shell(f"io {command} --store {store} {redirected}")
        assert done.returncode == code, (redirected, done.stderr)
        assert "Traceback" not in done.stderr
    assert "the output: No space left on device" in done.stderr


def test_a_question_without_a_standard_input_is_answered_no(store: Path) -> None:
    done = in_shell(f"io memory clear id:w --store {store} <&-")
    assert (done.returncode, "say --yes" in done.stderr) == (2, True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_is_escaped(store: Path, encoding: str) -> None:
    done = in_shell(f"io memory list id:w --store {store}", PYTHONIOENCODING=encoding)
    assert (done.returncode, "\\u2026\\u{dc80}" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    "command",
    [
        "doctor --store {store}",
        "runs --json --store {store}",
        "--help",
        "replay --help",
        "--version",
        "replay {transcript}",
        "replay --json {transcript}",
    ],
)
def test_a_command_whose_reader_left_ends_like_any_other(store: Path, command: str) -> None:
    transcript = write_sample("claude_code", store.parent)
    words = command.format(store=store, transcript=transcript)
    done = in_shell(f"io {words} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout.strip(), done.stderr) == (str(READER_GONE), "")


def test_a_current_directory_that_is_gone_is_named(tmp_path: Path, store: Path) -> None:
    gone = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone"
    for command in ("doctor", "memory list . --store {store}", "run x"):
        done = in_shell(f"{gone}; io {command.format(store=store)}")
        assert done.returncode == 2, command
        assert "the current directory is gone" in done.stderr, command
    assert in_shell(f"{gone}; io runs --store {store}").returncode == 0


def test_a_reader_of_complaints_may_leave_too() -> None:
    done = in_shell("io nonsense 2>&1 >/dev/null | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout.strip(), done.stderr) == (str(READER_GONE), "")


def test_a_command_can_be_interrupted_while_it_is_imported() -> None:
    program = """
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "io_harness.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from io_harness.cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "")


def started(shell: Shell, server: Vendor) -> str:
    where = f"openai-compatible:m@{server.url}/v1"
    return f"io run 'Do it.' --root {shell.root} --model {where} --store {shell.store} --allow read"


def outcome(shell: Shell) -> str | None:
    with Store.open(shell.store) as store:
        (run,) = store.runs()
        return run.outcome


def test_a_run_whose_reader_left_is_interrupted_and_can_be_resumed(shell: Shell) -> None:
    with model([READ, READ, "Done."]) as server:
        done = in_shell(f"{started(shell, server)} | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[-1] == str(READER_GONE)
    assert "interrupted; go on with: io-harness resume" in done.stderr
    assert "Traceback" not in done.stderr
    assert outcome(shell) == "cancelled"


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_a_run_in_a_scripts_background_is_ended_cleanly(shell: Shell, name: str) -> None:
    with model([READ, SLOW]) as server:
        wait = "for i in $(seq 300); do [ -s log ] && grep -q 'step 2' log && break; sleep .1; done"
        shell.patch.chdir(shell.place)
        plain = started(shell, server).replace("io ", f"{PROGRAM} ", 1)  # bash: no function here
        done = in_shell(f"{plain} >log & {wait}; kill -{name} $!; wait $!; echo $?")
    assert done.stdout == "130\n"
    assert outcome(shell) == "cancelled", done.stderr


def on_a_terminal(line: str, *, columns: int) -> tuple[int, str]:
    """Run a line of bash on a terminal so many cells wide; return its code and what it showed."""
    leader, follower = pty.openpty()
    env = {**os.environ, "IO": PROGRAM, "TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        ["bash", "-c", f"io() {{ eval \"$IO\" '\"$@\"'; }}; {line}"],
        stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    late = threading.Timer(120, os.killpg, args=(process.pid, signal.SIGKILL))
    late.daemon = True
    late.start()
    shown = b""
    with suppress(OSError):  # Linux says so where the other end is closed
        while read := os.read(leader, 4096):
            shown += read
    late.cancel()
    os.close(leader)
    return process.wait(30), shown.decode()


@pytest.mark.parametrize("columns", [40, 60])
@pytest.mark.parametrize("command", ["--help", "run --help", "doctor --store {store}", "show x"])
def test_a_narrow_terminal_breaks_no_word(store: Path, command: str, columns: int) -> None:
    line = f"io {command.format(store=store)}"
    _, text = on_a_terminal(line, columns=columns)
    too_long = [row for row in text.splitlines() if len(row) > columns and " " in row.strip()]
    assert not too_long
    _, wide = on_a_terminal(line, columns=500)
    assert text.split() == wide.split() or "--help" in command


def test_a_line_to_be_copied_is_left_whole(shell: Shell) -> None:
    with model([READ]) as server:
        code, text = on_a_terminal(f"{started(shell, server)} --max-steps 1", columns=40)
    assert code == 1
    (resume,) = [row for row in text.splitlines() if row.startswith("go on with: ")]
    assert resume.endswith(f"--model openai-compatible:m@{server.url}/v1")


@pytest.mark.parametrize(("encoding", "turns"), [("utf-8", "⠋ step 1"), ("ascii", "- step 1")])
def test_what_turns_on_a_terminal_is_what_its_encoding_has(
    shell: Shell, encoding: str, turns: str
) -> None:
    with model(["Done."]) as server:
        line = f"NO_COLOR=1 PYTHONIOENCODING={encoding} {started(shell, server)}"
        code, text = on_a_terminal(line, columns=80)
    assert (code, turns in text, "\\u" in text) == (0, True, False)


def test_a_run_that_an_error_ends_leaves_the_terminal_at_rest(shell: Shell) -> None:
    with model([READ]) as server:
        code, text = on_a_terminal(f"HTTP_PROXY=odd://x {started(shell, server)}", columns=80)
    assert (code, "cannot be asked from this environment" in text) == (2, True)
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is shown again"
    assert text.rindex("\x1b[?25h") < text.rindex("io-harness: ")


def test_a_terminal_shows_what_is_waited_for_whatever_it_is_named(shell: Shell) -> None:
    odd: Answer = ("[/bold]\x1b[2J", {"path": "a.py"})
    with model([odd, "Done."]) as server:
        code, text = on_a_terminal(started(shell, server), columns=50)
    assert code == 0, text
    assert "step 1: [/bold]\\u{1b}[2J" in text
    assert "the observer failed" not in text
