"""A call on its way: ruled on, asked about, told of, done."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from io_harness.errors import ConfigError
from io_harness.policy import ApprovalRequest, Choice, Decision, Policy
from io_harness.tools import (
    BUILTIN_TOOLS,
    Deferred,
    Started,
    Toolbox,
    ToolOutcome,
    read_file,
)
from io_harness.types import JSON, Act, Effect, Rule, ToolCall
from tests.tools.conftest import Bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Script:
    """An approver that gives one answer after the other, and notes what it was asked."""

    def __init__(self, *answers: Decision | Callable[[], Decision]) -> None:
        self.answers, self.asked = list(answers), list[ApprovalRequest]()

    async def decide(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        answer = self.answers.pop(0)
        return answer() if callable(answer) else answer


def asking(call: Bench, *answers: Decision | Callable[[], Decision]) -> tuple[Bench, Script]:
    script = Script(*answers)
    policy = Policy.default().extended(Rule(Act.READ, Effect.ASK, "notes.txt"))
    return Bench(replace(call.context, policy=policy, approver=script)), script


def test_what_is_denied_says_which_rule_and_does_nothing(call: Bench, root: Path) -> None:
    bench, script = asking(call)
    for name, arguments in {
        "read_file": {"path": ".env"},
        "write_file": {"path": "a/../.git/hooks/x", "content": ""},
        "edit_file": {"path": "src/../.ENV", "old": "a", "new": "b"},
    }.items():
        text = bench.fails(name, **arguments)
        assert "denied by the policy (rule '" in text
        assert "'secrets'" in text
    assert script.asked == []
    assert (root / ".env").read_text() == "API_KEY=SECRET\n"


@pytest.mark.parametrize("old", ["two SECRET", "one\n", "absent"])
def test_an_edit_tells_nothing_of_a_file_before_its_reading_is_approved(
    call: Bench, root: Path, old: str
) -> None:
    (root / "notes.txt").write_text("one\ntwo SECRETS\none\n")
    bench, script = asking(call, Decision.deny(), Decision.deny())
    told = bench.fails("edit_file", path="notes.txt", old=old, new="x")
    assert told == bench.fails("edit_file", path="notes.txt", old="other", new="x")
    assert told == "read of 'notes.txt' was not approved; go on without it"
    assert [(asked.act, asked.diff) for asked in script.asked] == [(Act.READ, "")] * 2

    bench, script = asking(call, Decision.approve(), Decision.approve())
    assert bench("edit_file", path="notes.txt", old="two", new="2").changed
    assert [asked.act for asked in script.asked] == [Act.READ, Act.WRITE]
    assert "+2 SECRETS" in script.asked[1].diff


def test_a_refusal_is_the_same_whether_or_not_the_file_exists(call: Bench) -> None:
    bench, _ = asking(call)
    there, absent = (bench.fails("read_file", path=path) for path in (".env", "src/.env"))
    assert there.replace(".env", "X") == absent.replace("src/.env", "X").replace(".env", "X")


def test_an_alias_of_what_is_denied_is_denied(call: Bench, root: Path) -> None:
    bench, _ = asking(call)
    (root / "innocent").symlink_to(".env")
    (root / "d").symlink_to(".")
    for path in ("innocent", "d/.env", "src/../.env", "d/innocent"):
        assert "denied by the policy" in bench.fails("read_file", path=path)
        assert "denied" in bench.fails("edit_file", path=path, old="A", new="B")
        assert "denied" in bench.fails("grep", pattern="SECRET", path=path)


def test_an_ask_goes_to_the_approver_with_the_difference(call: Bench, root: Path) -> None:
    bench, script = asking(call, Decision.approve())
    outcome = bench("edit_file", path="./src/a.py", old="return 0", new="return 1")
    assert not outcome.is_error
    request = script.asked[0]
    assert (request.act, request.subject, request.tool) == (Act.WRITE, "src/a.py", "edit_file")
    assert request.verdict.effect is Effect.ASK
    assert "-    return 0\n+    return 1" in request.diff
    assert [a.choice for a in outcome.approvals] == [Choice.APPROVE]
    assert "return 1" in (root / "src/a.py").read_text()


def test_whoever_is_asked_sees_that_a_file_is_there_which_cannot_be_compared(
    call: Bench, root: Path
) -> None:
    (root / "data").write_bytes(b"\0" * 50)
    bench, script = asking(call, *[Decision.deny()] * 2)
    bench.fails("write_file", path="data", content="x\n")
    assert script.asked[0].diff.startswith("--- data (it is there, and no text that can be")
    bench.fails("write_file", path="data", content="x\n" * 5_000)
    assert script.asked[1].diff.endswith("compared): 5,000 lines take its place")


def test_a_difference_too_long_to_read_is_told_in_numbers(call: Bench, root: Path) -> None:
    (root / "long").write_text("x\n" * 4_000)
    bench, script = asking(call, *[Decision.approve()] * 3)
    bench("write_file", path="long", content="y\n" * 10)
    bench("write_file", path="new", content="one\n")
    bench("write_file", path="new", content="one")
    assert script.asked[0].diff == "long: 4,000 lines become 10"
    assert script.asked[1].diff.startswith("--- /dev/null\n+++ new\n")
    assert script.asked[2].diff == "new: only the end of the last line changes"


def test_without_an_approver_an_ask_is_a_refusal(call: Bench) -> None:
    bench = Bench(replace(call.context, policy=Policy.default()))
    assert "nobody is there to approve it" in bench.fails("write_file", path="x", content="")


def test_an_approver_that_fails_has_approved_of_nothing(call: Bench, root: Path) -> None:
    def fail() -> Decision:
        raise OSError("the terminal is gone")

    bench, _ = asking(call, fail)
    assert "the approver failed: OSError: the terminal is gone" in bench.fails(
        "write_file", path="x", content=""
    )
    assert not (root / "x").exists()


def test_denied_by_the_approver_with_a_reason(call: Bench, root: Path) -> None:
    bench, _ = asking(call, Decision.deny("use the other file"))
    assert bench.fails("write_file", path="x", content="").endswith(": use the other file")
    assert not (root / "x").exists()


def test_approved_for_the_run_means_exactly_that_subject(call: Bench) -> None:
    bench, script = asking(call, Decision.approve_for_run(), Decision.deny())
    outcome = bench("write_file", path="x", content="1")
    assert [(a.act, a.subject, a.choice) for a in outcome.approvals] == [
        (Act.WRITE, "x", Choice.APPROVE_FOR_RUN)
    ]
    assert not bench("write_file", path="./x", content="2").is_error
    assert bench("write_file", path="y", content="2").is_error
    assert len(script.asked) == 2
    assert bench.context.grants == {(Act.WRITE, "x")}


def test_a_grant_does_not_outlive_a_deny(call: Bench) -> None:
    bench, _ = asking(call)
    bench.context.grants.add((Act.READ, ".env"))
    assert "denied" in bench.fails("read_file", path=".env")


def test_deferred_does_nothing_and_asks_again(call: Bench, root: Path) -> None:
    bench, script = asking(call, Decision.defer("later"), Decision.approve())
    arguments: dict[str, object] = {"path": "x", "content": "1"}
    outcome = bench.dispatch("write_file", {"path": "x", "content": "1"})
    assert isinstance(outcome, Deferred)
    assert (outcome.request.subject, outcome.reason) == ("x", "later")
    assert outcome.request.arguments == arguments
    assert not (root / "x").exists()
    assert not bench("write_file", path="x", content="1").is_error
    assert len(script.asked) == 2


def test_a_rewritten_act_is_checked_again_and_cannot_lift_a_deny(call: Bench, root: Path) -> None:
    bench, script = asking(
        call,
        Decision.rewrite({"path": "safe", "content": "other"}),
        Decision.rewrite({"path": ".env", "content": "gone"}),
        Decision.rewrite({"path": "../out", "content": "gone"}),
        Decision.rewrite({"nonsense": 1}),
    )
    first = bench("write_file", path="x", content="1")
    assert (first.target, first.arguments) == ("safe", {"path": "safe", "content": "other"})
    assert [a.choice for a in first.approvals] == [Choice.REWRITE]
    assert (root / "safe").read_text() == "other"
    assert "denied by the policy" in bench.fails("write_file", path="x", content="1")
    assert "no path inside" in bench.fails("write_file", path="x", content="1")
    assert "no argument is named" in bench.fails("write_file", path="x", content="1")
    assert not (root / "x").exists()
    assert len(script.asked) == 4


def test_a_file_that_changes_while_approval_is_awaited_is_not_overwritten(
    call: Bench, root: Path
) -> None:
    def change() -> Decision:
        (root / "src/a.py").write_text("the user's own work")
        return Decision.approve()

    calls: list[tuple[str, dict[str, JSON]]] = [
        ("edit_file", {"path": "src/a.py", "old": "e", "new": "E", "count": 99}),
        ("write_file", {"path": "src/a.py", "content": "all new"}),
    ]
    for name, arguments in calls:
        (root / "src/a.py").write_text("before")
        bench, _ = asking(call, change)
        assert "changed meanwhile" in bench.fails(name, **arguments)
        assert (root / "src/a.py").read_text() == "the user's own work"


def test_a_file_that_comes_while_approval_is_awaited_is_not_overwritten(
    call: Bench, root: Path
) -> None:
    def make() -> Decision:
        (root / "new").write_text("the user's own")
        return Decision.approve()

    bench, _ = asking(call, make)
    assert "changed meanwhile" in bench.fails("write_file", path="new", content="x")
    assert (root / "new").read_text() == "the user's own"


def test_an_effect_is_told_after_approval_and_before_it_starts(call: Bench, root: Path) -> None:
    bench, _ = asking(call, Decision.approve())
    told: list[Started] = []

    async def before(started: Started) -> None:
        assert not (root / "x").exists()
        told.append(started)

    outcome = bench.dispatch("write_file", {"path": "./x", "content": "1"}, before)
    assert isinstance(outcome, ToolOutcome)
    started = told[0]
    assert (started.tool, started.path, started.digest) == ("write_file", "x", outcome.digest)
    assert started.outcome is not None
    assert (started.outcome.text, started.outcome.changed) == (outcome.text, outcome.changed)
    bench.dispatch("read_file", {"path": "src/a.py"}, before)
    bench.dispatch("write_file", {"path": ".env", "content": ""}, before)
    assert len(told) == 1


def test_what_before_effect_raises_comes_through(call: Bench, root: Path) -> None:
    async def before(_started: Started) -> None:
        raise RuntimeError("the store is gone")

    with pytest.raises(RuntimeError, match="the store is gone"):
        call.dispatch("write_file", {"path": "x", "content": "1"}, before)
    assert not (root / "x").exists()


def test_unknown_tools_and_arguments_that_are_no_object(call: Bench) -> None:
    assert "there are read_file, list_dir" in call.fails("rm")
    outcome = call.dispatch("read_file", '{"path": ')
    assert isinstance(outcome, ToolOutcome)
    assert outcome.is_error
    assert "no JSON object" in outcome.text


def test_two_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(ConfigError, match="read_file"):
        Toolbox([*BUILTIN_TOOLS, read_file])


def test_the_toolbox_knows_what_its_tools_may_need() -> None:
    assert Toolbox(BUILTIN_TOOLS).acts == {Act.READ, Act.WRITE, Act.EXEC}
    assert Toolbox([read_file]).acts == {Act.READ}
    assert Toolbox([]).acts == frozenset()
    names = " ".join(spec.name for spec in Toolbox(BUILTIN_TOOLS).specs)
    assert names == (
        "read_file list_dir find grep write_file edit_file run_command show remember forget"
    )


def test_reads_can_overlap(call: Bench) -> None:
    async def both() -> list[ToolOutcome | Deferred]:
        calls = [ToolCall("id", "read_file", {"path": p}) for p in ("notes.txt", "src/a.py")] * 20
        return await asyncio.gather(*(call.toolbox.dispatch(one, call.context) for one in calls))

    outcomes = asyncio.run(both())
    assert [o.target for o in outcomes if isinstance(o, ToolOutcome)] == [
        "notes.txt",
        "src/a.py",
    ] * 20
