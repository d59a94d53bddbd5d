"""`run` and `resume`: every outcome with its exit code, what is printed, and the way on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from io_harness.cli.output import complain
from io_harness.providers import ScriptedProvider
from io_harness.store import Lease, Store
from tests.cli.shell import Answer, Done, Shell, model
from tests.store.other import python, stopped
from tests.vendor import Reply

NOWHERE = "openai-compatible:m@http://127.0.0.1:9/v1"
READ: Answer = ("read_file", {"path": "a.py"})
WRITE: Answer = ("write_file", {"path": "a.py", "content": "x = 2\n"})
NOT_YET = f"{sys.executable} -c 'raise SystemExit(1)'"
BUSY = Reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "3000"})
TOO_LONG = Reply({"error": {"message": "prompt is too long: 9 tokens > 5 maximum"}}, status=400)
BAD_KEY = Reply({"error": {"message": "bad key"}}, status=401)
REFUSAL = Reply(
    {"choices": [{"index": 0, "finish_reason": "stop",
                  "message": {"role": "assistant", "content": None, "refusal": "I won't."}}]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "options", "outcome", "code"),
    [
        ([READ, "Done."], [], "success", 0),
        ([WRITE, "Done."], ["--verify", "grep -q 2 a.py"], "success", 0),
        (["Done."], ["--verify", NOT_YET], "verification_failed", 1),
        ([READ, WRITE, READ], ["--max-steps", "2"], "step_cap", 1),
        ([READ], ["--budget", "100"], "token_budget", 1),
        ([READ], [], "stalled", 1),
        ([REFUSAL], [], "denied", 1),
        ([TOO_LONG], [], "context_overflow", 1),
        ([BAD_KEY], [], "provider_failed", 3),
    ],
)
def test_each_outcome_has_its_exit_code(
    shell: Shell, answers: list[Answer], options: list[str], outcome: str, code: int
) -> None:
    with model(answers) as server:
        done = shell.run(server, *options)
    assert done.code == code
    assert f"{outcome} after" in done.out
    assert shell.store in done.out
    run_id = shell("runs", "--store", shell.store, "--json").last["runs"][0]["run_id"]
    for width in ("", "20", "40", "60", "80", "200"):
        shell.patch.setenv("COLUMNS", width)
        table = shell("runs", "--store", shell.store).out
        assert (table.count(outcome), table.count(run_id)) == (1, 1), table


def test_time_budget_from_a_config_file(shell: Shell) -> None:
    config = shell.place / "task.toml"
    config.write_text('goal = "Do it."\nroot = "w"\ntime_budget = 2\n')
    with model([BUSY]) as server:
        name = f"openai-compatible:m@{server.url}/v1"
        done = shell("run", "--config", config, "--model", name, "--store", shell.store,
                     "--allow", "read,write,exec")  # fmt: skip
    assert (done.code, "time_budget after" in done.out) == (1, True)


@pytest.mark.parametrize(
    ("options", "more"),
    [(["--max-steps", "2"], "--max-steps 4"), (["--budget", "1300"], "--budget 2600")],
)
def test_the_line_that_goes_on_raises_the_limit_that_ended_the_run(
    shell: Shell, options: list[str], more: str
) -> None:
    with model([READ, WRITE, "Done."]) as server:
        done = shell.run(server, *options)
        line = next(x for x in done.out.splitlines() if x.startswith("go on with: "))
        assert more in line
        again = shell(*line.removeprefix("go on with: io-harness ").split())
    assert (again.code, "success after 3 steps" in again.out) == (0, True), done.out + again.out


def test_the_line_that_goes_on_says_again_what_a_resumed_run_was_given(shell: Shell) -> None:
    with model([READ, ("list_dir", {}), WRITE, "Done."]) as server:
        words = shell.run(server, "--max-steps", "1", allow="read").going_on
        assert "--allow" not in words, "the run itself keeps what it began with"
        words = shell(*words, "--allow", "read,exec", "--budget", "50000").going_on
        assert words[2:] == ["--budget", "50000", "--max-steps", "4", "--allow", "read,exec",
                             *("--store", shell.store), *words[-2:]]  # fmt: skip
        assert shell(*words).code == 4


def test_a_time_budget_of_the_command_line(shell: Shell) -> None:
    with model([BUSY]) as server:
        done = shell.run(server, "--time-budget", "1.5")
    assert (done.code, "time_budget after 0 steps" in done.out) == (1, True)
    assert "--time-budget 3 " in done.out


def test_without_a_terminal_an_approval_is_put_off_and_resumed(shell: Shell) -> None:
    with model([WRITE, "Done."]) as server:
        done = shell.run(server, allow="read,exec")
        assert done.code == 4
        assert "waits for approval" in done.out
        line = next(x for x in done.out.splitlines() if x.startswith("go on with: "))
        words = line.removeprefix("go on with: io-harness ").split()
        again = shell(*words, "--allow", "read,write,exec")
    assert (again.code, "success after 2 steps" in again.out) == (0, True)
    assert (shell.root / "a.py").read_text() == "x = 2\n"


def test_json_lines_for_machines(shell: Shell) -> None:
    with model([READ, "Done."]) as server:
        done = shell.run(server, "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["event"] for event in events] == [
        *("run_started", "request_assembled", "completed", "tool_called"),
        *("request_assembled", "completed", "verified", "run_finished", "result"),
    ]
    assert (done.last["outcome"], done.last["steps"]) == ("success", 2)


def test_a_finished_run_is_only_reported(shell: Shell) -> None:
    with model(["Done."]) as server:
        shell.run(server)
        again = shell("resume", "last", "--store", shell.store, "--model",
                      f"openai-compatible:m@{server.url}/v1", "--json")  # fmt: skip
        assert len(server.seen) == 1
    assert (again.code, again.last["outcome"]) == (0, "success")


def test_a_finished_run_is_reported_without_its_model(shell: Shell) -> None:
    with model(["Done."]) as server:
        shell.run(server, "--verify", NOT_YET)
    again = shell("resume", "last", "--store", shell.store)
    assert again.code == 1
    assert "has finished: verification_failed after 4 steps: the check failed 4 times" in again.out
    assert shell("resume", "last", "--store", shell.store, "--json").last["steps"] == 4


def test_a_server_that_the_store_does_not_know_is_asked_for(shell: Shell) -> None:
    with model([READ]) as server:
        shell.run(server, "--max-steps", "1")
    again = shell("resume", "last", "--store", shell.store)
    assert again.code == 2
    assert "was driven by openai-compatible:m, which is no name to reach it by" in again.err


def leased(shell: Shell) -> tuple[Store, Lease]:
    with model([READ, "Done."]) as server:
        shell.run(server, "--max-steps", "1")
    store = Store.open(shell.store)
    return store, asyncio.run(store.journal.acquire(store.runs()[0].run_id))


def resumed(shell: Shell) -> Done:
    with model(["Done."]) as server:
        name = f"openai-compatible:m@{server.url}/v1"
        more = ("--model", name, "--max-steps", "9", "--allow", "read,write,exec")
        return shell("resume", "last", "--store", shell.store, *more)


def test_resume_waits_for_a_lease_and_says_so(shell: Shell) -> None:
    store, lease = leased(shell)

    def freed(text: str, *, whole: bool = False) -> None:
        complain(text, whole=whole)
        asyncio.run(store.journal.release(lease))

    shell.patch.setattr("io_harness.cli.running.complain", freed)
    done = resumed(shell)
    store.close()
    assert (done.code, done.err.count("waiting up to 30 s for its lease to end")) == (0, 1)


TAKE = """
import asyncio, sys
from io_harness.store import Store
store = Store.open(sys.argv[1])
asyncio.run(store.journal.acquire(store.runs()[0].run_id))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells that a driver is dead")
def test_resume_does_not_wait_for_a_driver_that_died_here(shell: Shell) -> None:
    with model([READ, "Done."]) as server:
        shell.run(server, "--max-steps", "1")
    python(TAKE, shell.store)
    done = resumed(shell)
    assert (done.code, "waiting" in done.err) == (0, False)


def test_resume_gives_up_on_a_driver_that_lives(shell: Shell) -> None:
    shell.patch.setattr("io_harness.cli.running.LEASE_SECONDS", -1.0)
    store, _ = leased(shell)
    done = resumed(shell)
    store.close()
    assert (done.code, "is driven by " in done.err) == (2, True)


HERE = ("--model", NOWHERE)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("run",), "say what is to be done"),
        (("run", "x"), "name a model with --model: anthropic:MODEL, "),
        (("run", "x", "--model", "gpt"), "names no vendor and model"),
        (("run", "x", "--model", "anthropic:m"), "set ANTHROPIC_API_KEY"),
        (("run", "x", "--verify", "'"), "is no command"),
        (("run", "x", "--verify", ""), "--verify is empty"),
        (
            ("run", "x", "--verify", "make && pytest -q"),
            """write --verify 'sh -c '"'"'make && pytest -q'"'"''""",
        ),
        (("run", "x", "--verify", "CI=1 pytest -q"), "to which alone CI=1 means something"),
        (("run", "x", "--verify", "no-such-program"), "'no-such-program' is not on PATH"),
        # What the user typed comes before what the model needs, with one or without.
        *(
            (("run", "x", *more, *wrong), says)
            for more in ((), HERE, ("--model", "anthropic:m"))
            for wrong, says in (
                (("--allow", "fly"), "--allow 'fly' is no act; there are read, write, exec, net"),
                (("--root", "nowhere"), "nowhere cannot be opened: No such file or directory"),
                (("--root", "a.file"), "a.file cannot be opened: Not a directory"),
                (("--root", ""), "it is empty"),
                (("--policy", "none"), "the policy file none cannot be read: No such file"),
                (("--policy", "."), "the policy file . cannot be read: Is a directory"),
                (("--policy", "binary.file"), "the policy file binary.file is no UTF-8 text"),
                (("--policy", ""), "it is empty"),
                (
                    ("--config", "none.toml"),
                    "file none.toml cannot be read: No such file or directory",
                ),
                (("--config", "binary.file"), "binary.file is no UTF-8 text"),
                (("--config", ""), "it is empty"),
                (("--budget", "-5"), "token_budget must be a whole number from 1, got -5"),
                (("--budget", "much"), "Invalid value for '--budget'"),
                (("--time-budget", "nan"), "time_budget must be a positive number of seconds"),
                (("--max-steps", "0"), "max_steps must be a whole number from 1, got 0"),
                (("--workspace-id", ""), "workspace_id must be a text that is not empty"),
                (("--store", "postgresql://x"), "SQLite files only"),
                (("--store", "http://x/y.db"), "SQLite files only"),
                (("--store", "."), "the store . is a directory: name a file, as runs.db"),
                (("--store", ""), "--store is empty"),
            )
        ),
        (("run", "x", *HERE, "--store", "a.file/x.db"), "a.file: Not a directory"),
        (("runs", "--store", "postgresql://x"), "SQLite files only"),
        (("runs",), "there is no store at"),
        (("resume", "x"), "there is no store at"),
        (("show", "x"), "there is no store at"),
        (("memory", "list", "."), "there is no store at"),
        (("replay", "none.jsonl"), "none.jsonl: no such file"),
        (("demo", "--dir", ""), "it is empty"),
        (("nonsense",), "nonsense"),
        (("run", "x", "--nonsense"), "--nonsense"),
        (("show",), "RUN"),
    ],
)
def test_wrong_use_exits_2_and_says_what_to_do(
    shell: Shell, args: tuple[str, ...], says: str
) -> None:
    (shell.place / "a.file").write_text("x = 1\n")
    (shell.place / "binary.file").write_bytes(bytes(range(256)))
    shell.patch.chdir(shell.place)
    done = shell(*args)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert not (shell.place / "state").exists()


def test_an_unknown_run_or_step_is_named(shell: Shell) -> None:
    with model(["Done."]) as server:
        shell.run(server)
    steps = [("show", "last", "--step", step) for step in ("9", "0", "-1", "9" * 30)]
    for args in (("resume", "zzz"), ("show", "zzz"), *steps):
        done = shell(*args, "--store", shell.store)
        assert (done.code, "no " in done.err) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(shell: Shell, number: signal.Signals) -> None:
    with model([READ, Reply("{}", delay=60.0)]) as server:
        name = f"openai-compatible:m@{server.url}/v1"
        process = subprocess.Popen(
            [sys.executable, "-c", "from io_harness.cli.main import main; main()", "run", "Do it.",
             "--root", shell.root, "--model", name, "--store", shell.store, "--allow", "read"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ},
        )  # fmt: skip
        with stopped(process):
            since = time.monotonic()
            while len(server.seen) < 2 and time.monotonic() - since < 30:
                time.sleep(0.05)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; go on with: io-harness resume" in err
    assert "Traceback" not in err
    with Store.open(shell.store) as store:
        (run,) = store.runs()
        assert run.outcome == "cancelled"
        assert len(store.steps(run.run_id)) == 1


def test_a_policy_file_rules(shell: Shell) -> None:
    policy = shell.place / "policy.toml"
    policy.write_text(
        'preset = "permissive"\n[[rules]]\nact = "read"\neffect = "deny"\npattern = "a.py"\n'
    )
    with model([READ, "Done."]) as server:
        done = shell.run(server, "--policy", policy, allow="")
    assert (done.code, "read_file" in done.out, "failed" in done.out) == (0, True, True)


def test_what_resume_allows_comes_on_top_of_the_runs_own_policy(shell: Shell) -> None:
    policy = shell.place / "policy.toml"
    policy.write_text('[[rules]]\nact = "write"\neffect = "deny"\npattern = "a.py"\n')
    other: Answer = ("write_file", {"path": "b.py", "content": "b"})
    with model([other, WRITE, "Done."]) as server:
        assert shell.run(server, "--policy", policy, allow="read").code == 4
        name = f"openai-compatible:m@{server.url}/v1"
        options = ("--model", name, "--store", shell.store, "--allow", "write,exec")
        assert shell("resume", "last", *options).code == 0
    assert (shell.root / "b.py").read_text() == "b"
    assert (shell.root / "a.py").read_text() == "x = 1\n"


def test_control_characters_of_a_model_do_not_reach_the_terminal(shell: Shell) -> None:
    with model(["\x1b]8;;http://evil\x07done\u202e [bold]:warning:"]) as server:
        done = shell.run(server)
    assert "\x1b" not in done.out
    assert "[bold]:warning:" in done.out
    assert "\\u{1b}" in done.out


def test_a_user_without_a_home_names_a_store(shell: Shell) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        shell.patch.delenv(name)
    shell.patch.setattr(Path, "home", homeless)
    done = shell("runs")
    assert (done.code, "there is no home directory to keep a store in" in done.err) == (2, True)
    with model(["Done."]) as server:
        assert shell.run(server).code == 0


def test_the_scripted_provider_is_no_model_of_the_command_line(shell: Shell) -> None:
    assert ScriptedProvider.name == "scripted"
    assert shell("run", "x", "--model", "scripted:x").code == 2


def test_workspace_id_keeps_notes_under_that_name(shell: Shell, tmp_path: Path) -> None:
    note: Answer = ("remember", {"key": "k", "value": "v"})
    with model([note, "Done."]) as server:
        shell.run(server, "--workspace-id", "mine")
    listed = shell("memory", "list", "id:mine", "--store", shell.store, "--json")
    assert [note["key"] for note in listed.last["notes"]] == ["k"]
