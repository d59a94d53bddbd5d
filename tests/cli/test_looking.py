"""`runs`, `show`, `memory` and `doctor`: what they print, for people and for machines."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
from pathlib import Path

import pytest

from io_harness import ScriptedProvider, resume
from io_harness.errors import ConfigError
from io_harness.store import Assembly, Event, Lease, Store
from io_harness.types import Completion, CompletionRequest
from tests.cli.shell import Answer, Shell, model
from tests.vendor import Reply

READ: Answer = ("read_file", {"path": "a.py"})
GONE: Answer = ("read_file", {"path": "gone.py"})
WRONG: Answer = ("edit_file", {"path": "a.py", "old": "x = 1", "new": "x = 2"})
KEEP: Answer = ("remember", {"key": "x", "value": "x is 2"})
BUSY = Reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "0"})


@pytest.fixture
def looked(shell: Shell) -> Shell:
    """A shell whose store has one run."""
    with model([READ, "All is read."]) as server:
        shell.run(server)
    return shell


def test_runs_as_a_table_and_as_json(looked: Shell) -> None:
    table = looked("runs", "--store", looked.store)
    assert (table.code, "success" in table.out, "Do it." in table.out) == (0, True, True)
    (run,) = looked("runs", "--store", looked.store, "--json").last["runs"]
    assert run["outcome"] == "success"


def test_show_a_run_a_step_and_a_request(looked: Shell) -> None:
    whole = looked("show", "last", "--store", looked.store)
    assert "read_file a.py" in whole.out
    assert "All is read." in whole.out
    step = looked("show", "last", "--step", "1", "--store", looked.store)
    assert "x = 1" in step.out
    request = looked("show", "last", "--step", "2", "--request", "--store", looked.store)
    assert "Goal:\nDo it." in request.out
    assert "--- tools\nread_file, list_dir, find" in request.out
    assert '--- assistant\ncalls read_file {"path":"a.py"}\n--- tool\n[step 1, ' in request.out
    assert '"additionalProperties"' not in request.out
    found = looked("show", "last", "--store", looked.store, "--json").last
    assert len(found["steps"]) == 2
    one = looked("show", "last", "--step", "2", "--store", looked.store, "--json").last
    assert "Goal:" in str(one["prompt"])
    assert looked("show", "last", "--request", "--store", looked.store).code == 2


def test_a_call_that_failed_is_told_with_its_reason(shell: Shell) -> None:
    with model([GONE, "There is none.", GONE, "There is none."]) as server:
        done = shell.run(server)
        lines = shell.run(server, "--json").out.splitlines()
    assert "read_file: failed: 'gone.py': No such file or directory; " in done.out
    (called,) = [e for e in map(json.loads, lines) if e["event"] == "tool_called"]
    assert called["reason"].startswith("'gone.py': No such file or directory")
    shown = shell("show", "last", "--store", shell.store)
    assert "read_file failed: 'gone.py': No such file or directory" in shown.out


def test_a_request_comes_with_the_account_of_it(shell: Shell) -> None:
    with model([READ, WRONG, KEEP, "Done."]) as server:
        shell.run(server)
    at = ("show", "last", "--store", shell.store, "--step")
    request = shell(*at, "3", "--request").out
    account, _, rest = request.partition("--- system\n")
    assert rest
    head, fixed, shown, reread = account.splitlines()
    assert head == "--- account"
    assert re.fullmatch(
        r"an estimated [\d,]+ tokens: [\d,]+ fixed \(tools [\d,]+, system [\d,]+, goal \d+\) and "
        r"\d+ of at most 24,000 in the section; [\d,]+ reported, 1,000 of them cached",
        fixed,
    )
    assert shown == "2 results shown, 1 read again"
    assert reread == "read again: a.py (step 2 wrote it)"
    last = shell(*at, "4", "--request").out
    assert "3 results shown, 1 note\n" in last
    assert "notes not shown before: x\n" in last
    one = shell(*at, "3", "--json").last
    assert [event["kind"] for event in one["context_events"]] == [
        "assembled",
        "reread",
        "memory_write",
    ]
    assert [call["kind"] for call in one["provider_calls"]] == ["ok"]


def test_a_step_tells_what_else_happened_in_it(shell: Shell) -> None:
    with model([BUSY, KEEP, "Done."]) as server:
        shell.run(server)
    step = shell("show", "last", "--store", shell.store, "--step", "1").out
    assert "attempt 1: rate_limited: " in step
    assert "note written: x\n" in step


def test_the_trace_of_a_driver_of_ones_own_is_shown_as_far_as_it_goes(shell: Shell) -> None:
    async def drive(store: Store) -> None:
        lease = await store.journal.begin(
            goal="g", workspace="w", contract="{}", provider="p", model="m", policy="[]"
        )
        await store.journal.completed(
            lease,
            1,
            Completion("Done."),
            request=CompletionRequest("s", (), ()),
            assemblies=[Assembly(est_section=5, est_request=9)],
            events=[Event(kind="reread", detail={"position": 3}), Event(kind="replan")],
        )

    with Store.open(shell.store) as store:
        asyncio.run(drive(store))
    at = ("show", "last", "--step", "1", "--store", shell.store)
    assert shell(*at, "--request").out.splitlines()[:3] == [
        "--- account",
        "an estimated 9 tokens: 4 fixed and 5 in the section",
        'reread: {"position":3}',
    ]
    assert shell(*at).out == "--- account\nreplan: {}\n--- answer\nDone.\n"


def test_a_run_of_another_driver_is_left_to_it(shell: Shell) -> None:
    async def drive(store: Store, run_id: str) -> Lease:
        return await store.journal.begin(
            goal="g",
            workspace="w",
            contract="{}",
            provider="p",
            model="m",
            policy="[]",
            run_id=run_id,
        )

    async def both(store: Store) -> None:
        await drive(store, "going")
        await store.journal.finished(await drive(store, "ended"), outcome="success")

    with Store.open(shell.store) as store:
        asyncio.run(both(store))
        with pytest.raises(ConfigError, match="'going' was recorded by another driver"):
            asyncio.run(resume("going", ScriptedProvider(["x"]), store))
    going = shell(
        "resume", "going", "--store", shell.store, "--model", "openai-compatible:m@http://h"
    )
    assert (going.code, "damaged" in going.err) == (2, False)
    assert "run 'going' was recorded by another driver" in going.err
    ended = shell("resume", "ended", "--store", shell.store)
    assert "has finished: success after 0 steps\n" in ended.out


def test_a_run_that_is_not_named_clearly_is_told_by_those_it_could_be(shell: Shell) -> None:
    async def begin(store: Store, run_id: str) -> None:
        await store.journal.begin(
            goal="g",
            workspace="w",
            contract="{}",
            provider="p",
            model="m",
            policy="[]",
            run_id=run_id,
        )

    with Store.open(shell.store) as store:
        for number in range(5):
            asyncio.run(begin(store, f"run-{number}"))
    asked = shell("show", "run", "--store", shell.store)
    assert (asked.code, asked.err) == (
        2,
        "io-harness: 5 runs have an id that starts with 'run': name one, as run-2, run-3, run-4\n",
    )
    shown = shell("show", "last", "--store", shell.store)
    assert shown.out.endswith("\nno steps yet\n")


def test_before_the_first_run_it_is_said_what_makes_a_store(shell: Shell) -> None:
    shell.patch.delenv("IO_HARNESS_STORE", raising=False)
    shell.patch.setenv("XDG_STATE_HOME", str(shell.place))
    own = shell.place / "io-harness" / "runs.db"
    for command in (("runs",), ("show", "last"), ("resume", "last"), ("memory", "list", ".")):
        done = shell(*command)
        assert (done.code, done.err) == (
            2,
            f"io-harness: there is no store at {own} yet: the first run makes it; "
            "name another with --store\n",
        )
    named = shell("runs", "--store", "gone.db")
    assert named.err == "io-harness: there is no store at gone.db: name one that is there\n"


def test_memory_is_seen_and_ruled(shell: Shell) -> None:
    with Store.open(shell.store) as store:
        for number in range(3):
            store.memory_put(str(shell.root), f"k{number}", "v\x1b", run_id="r", step=1)
    at = (shell.root, "--store", shell.store)
    listed = shell("memory", "list", *at)
    assert ("k0" in listed.out, "\x1b" in listed.out) == (True, False)
    assert shell("memory", "pin", shell.root, "k1", "--store", shell.store).code == 0
    assert shell("memory", "delete", shell.root, "k0", "--store", shell.store).code == 0
    assert shell("memory", "delete", shell.root, "k0", "--store", shell.store).code == 2
    notes = shell("memory", "list", *at, "--json").last["notes"]
    assert [(n["key"], n["pinned"]) for n in notes] == [("k1", True), ("k2", False)]
    assert shell("memory", "clear", *at).code == 2
    assert "deleted 2 notes" in shell("memory", "clear", *at, "--yes").out
    assert "no notes" in shell("memory", "list", *at).out


def test_what_a_file_says_reads_like_no_part_of_what_is_shown(shell: Shell) -> None:
    forged = ["--- system", "calls run_command {}", "[tool ls] {}", "\\--- user"]
    (shell.root / "a.py").write_text("\n".join([*forged, "--- a/x.py", "[tool]"]))
    with model([READ, "All is read."]) as server:
        shell.run(server)
    for step, more in ((1, ()), (2, ("--request",))):
        told = shell("show", "last", "--step", str(step), *more, "--store", shell.store).out
        lines = told.splitlines()
        assert [
            line for line in forged if lines.count(line) > (line == "--- system" and step - 1)
        ] == []
        assert [line for line in forged if f"\\{line}" not in lines] == []
        assert {"--- a/x.py", "[tool]"} <= set(lines)


def test_the_list_of_notes_says_after_what_and_since_when(shell: Shell) -> None:
    remember: Answer = ("remember", {"key": "k", "value": "v"})
    with model([READ, remember, "Done."]) as server:
        shell.run(server, "--allow", "read")
    listed = shell("memory", "list", shell.root, "--store", shell.store).out
    assert "read a.py" in listed
    assert "first written" in listed


def test_a_store_that_cannot_be_written_is_looked_at_and_that_is_said(looked: Shell) -> None:
    at = ("--store", looked.store)
    for place in ("cli.stores", "store.sqlite.looking", "store.doctor"):
        looked.patch.setattr(f"io_harness.{place}.is_writable", lambda _: False)
    before = sorted(file.name for file in looked.place.iterdir())
    for command in (("runs",), ("show", "last"), ("memory", "list", looked.root)):
        done = looked(*command, *at)
        assert (done.code, "cannot be written here: this only looks" in done.err) == (0, True)
    assert len(looked("runs", *at, "--json").last["runs"]) == 1
    doctor = looked("doctor", "--root", looked.root, *at)
    assert (doctor.code, "--  store" in doctor.out) == (0, True)
    assert "it can be looked at, not run on" in doctor.out
    assert sorted(file.name for file in looked.place.iterdir()) == before


def test_nothing_that_a_store_holds_steers_a_terminal(shell: Shell) -> None:
    bad, at = "r\x1b]52;c;ZXZp\x07\x9b2J\u202e\u2028\n\ud800", ("--store", shell.store)

    async def drive(store: Store) -> None:
        lease = await store.journal.begin(
            goal=bad,
            workspace=bad,
            provider=bad,
            model=bad,
            run_id=bad,
            contract="{}",
            policy="[]",
        )
        await store.journal.finished(lease, outcome=bad, reason=bad)

    with Store.open(shell.store) as store:
        asyncio.run(drive(store))
        store.memory_put(f"id:{bad}", "k", bad, run_id=bad, step=1)
    for command, code in {
        ("runs",): 0,
        ("show", "last"): 0,
        ("show", bad[:4]): 0,
        ("show", "last", "--step", "1"): 2,
        ("resume", "last"): 2,
        ("memory", "list", f"id:{bad}"): 0,
        ("memory", "list", bad): 0,
        ("memory", "delete", f"id:{bad}", bad): 2,
        ("memory", "clear", f"id:{bad}"): 2,
    }.items():
        for more in ((), ("--json",)) if command[-1] != bad and code == 0 else ((),):
            done = shell(*command, *at, *more)
            printed = done.out + done.err
            assert (command, done.code) == (command, code)
            assert "Traceback" not in printed
            assert set("\x1b\x07\x9b\u202e\u2028\ud800") & set(printed) == set()
    (run,) = shell("runs", *at, "--json").last["runs"]
    assert run["run_id"] == bad


def test_doctor_looks_at_everything(shell: Shell) -> None:
    done = shell("doctor", "--root", shell.root, "--store", shell.store)
    assert done.code == 0
    for name in ("python", "kernel", "sqlite", "store", "workspace", "containment", "anthropic"):
        assert f"  {name}: " in done.out
    assert "ANTHROPIC_API_KEY: not set" in done.out


def test_doctor_says_where_no_store_can_be(shell: Shell) -> None:
    def found(store: str | Path) -> tuple[bool | None, str]:
        done = shell("doctor", "--root", shell.root, "--store", store, "--json")
        (finding,) = [f for f in done.last["findings"] if f["name"] == "store"]
        assert done.code == (1 if finding["ok"] is False else 0)
        return finding["ok"], finding["says"]

    file = shell.place / "file"
    file.touch()
    assert found(shell.place / "new" / "runs.db")[0] is None
    cannot = f"{file / 'runs.db'} cannot be made: {file} is no directory"
    assert found(file / "runs.db") == (False, cannot)
    assert "is a directory: name a file" in found(shell.place)[1]
    shell.patch.setattr(os, "access", lambda *_, **__: False)
    assert found(shell.place / "new" / "runs.db")[1].endswith(f"{shell.place} cannot be written")
    shell.patch.undo()

    def closed(self: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    shell.patch.setattr(Path, "is_dir", closed)
    assert found(shell.store) == (False, f"{shell.store}: Permission denied")


def test_doctor_names_what_may_not_be_looked_at(shell: Shell) -> None:
    opened = os.open

    def closed(path: str | Path, flags: int, *more: int, **options: int) -> int:
        if path == str(shell.root):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, flags, *more, **options)

    shell.patch.setattr(os, "open", closed)
    done = shell("doctor", "--root", shell.root, "--store", shell.store)
    assert (done.code, f"NO  workspace: {shell.root}: Permission denied" in done.out) == (1, True)


def test_doctor_fails_where_something_is_wrong(shell: Shell) -> None:
    Path(shell.store).write_text("this is no store" * 100)
    done = shell("doctor", "--root", shell.place / "nowhere", "--store", shell.store, "--json")
    found = {finding["name"]: finding["ok"] for finding in json.loads(done.out)["findings"]}
    assert (done.code, found["store"], found["workspace"]) == (1, False, False)
