"""What a newcomer passes by mistake is named at once, with what to give instead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from io_harness import (
    Assembler,
    CachePrice,
    Completion,
    CompletionRequest,
    Decision,
    Ledger,
    Policy,
    Rule,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    Usage,
    Verification,
    Workspace,
    provider_from,
    resume,
    run_sync,
)
from io_harness.errors import ConfigError
from io_harness.policy import ApprovalRequest
from io_harness.tools import Toolbox, tool

C = TaskContract.workspace("Do it.", "work")


def wrong(value: object) -> Any:  # noqa: ANN401  (hides a wrong type from the type checker)
    return value


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: C.with_context_budget(wrong(24_000)), "context_budget must be a ContextBudget"),
        (lambda: C.with_constraints(wrong(["a", "b"])), r"each of the constraints .* got \['a'"),
        (lambda: C.with_constraints(""), "each of the constraints"),
        (lambda: C.with_memory_limits(wrong(3)), "memory_limits must be a MemoryLimits, got 3"),
        (lambda: C.with_retries(wrong(3)), "retries must be a Retries, got 3"),
        (lambda: C.with_stall(wrong(3)), "stall must be a StallLimits, got 3"),
        (lambda: C.with_cache_price(wrong((0.1, 1))), "cache_price must be a CachePrice"),
        (lambda: C.with_calibration(wrong("yes")), "calibration must be a bool"),
        (lambda: C.with_workspace_id(wrong(3)), "workspace_id must be a text"),
        (lambda: C.with_command_env(wrong({"A": 1})), "'A'=1 cannot be an environment variable"),
        (lambda: TaskContract.workspace("x", "w", wrong("pytest")), "must be a Verification"),
        (lambda: TaskContract.workspace("x", ""), "root must be a text that is not empty"),
        (lambda: TaskContract.workspace("x", wrong(None)), "root must be a text"),
        (lambda: TaskContract.workspace("x", wrong(b"w")), "root must be a text"),
        (lambda: TaskContract.workspace("x", "a\0b"), "root must be a text"),
        (lambda: Verification.command("pytest -q"), r"Verification.command\('pytest', '-q'\)"),
        (lambda: ScriptedProvider("Done."), "turns must be a list of turns or a function"),
        (lambda: ScriptedProvider(wrong(None)), "turns must be a list"),
        (lambda: provider_from(wrong(None)), "names no vendor"),
        (lambda: Policy.default().extended(wrong(("read", "deny", "x"))), "no Rule"),
        (lambda: Policy.default().extended(Rule(wrong("reed"), wrong("deny"), "x")), "no such act"),
        (lambda: Workspace(""), "name a directory that exists"),
        (lambda: Workspace("a\0b"), "name a directory that exists"),
        (lambda: TaskContract.workspace(wrong(3), "w"), "goal must be a str, got 3"),
        (lambda: Toolbox([wrong(len)]), "lacks spec: `@tool` makes one of a function"),
        (lambda: Store.open(":memory:"), r"call Store\.memory\(\)"),
    ],
)
def test_a_value_of_another_kind(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make()


def test_a_path_or_a_text_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    with Workspace(tmp_path) as workspace:
        for look in (workspace.read, workspace.canonical, workspace.list, workspace.signature):
            with pytest.raises(ConfigError, match="a path in the workspace is text, not PosixPath"):
                look(wrong(Path("a.py")))
        with pytest.raises(ConfigError, match=r"is text, not b'a\.py'"):
            workspace.read(wrong(b"a.py"))
        with pytest.raises(ConfigError, match="what is written is text, not bytes"):
            workspace.write("a.py", wrong(b"y"))
    assert (tmp_path / "a.py").read_text() == "x"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"contract": {}}, "contract must be text, not dict"),
        ({"policy": Policy.default()}, "policy must be text, not Policy"),
        ({"workspace": Path()}, "workspace must be text, not PosixPath"),
        ({"goal": None}, "goal must be text, not NoneType"),
    ],
)
def test_a_driver_of_ones_own_is_told_what_it_records_wrongly(
    given: dict[str, object], says: str
) -> None:
    async def drive(store: Store, **wrongly: object) -> None:
        right: dict[str, object] = {"goal": "g", "workspace": "w", "contract": "{}"}
        right |= {"provider": "p", "model": "m", "policy": "[]"}
        lease = await wrong(store.journal.begin)(**(right | wrongly))
        request, made = CompletionRequest("s", (), ()), Assembler(Ledger())
        section = made.assemble(step=1, budget_tokens=64)
        for answer, more, told in (
            ("Done.", {}, "completion must be a Completion, not str"),
            (Completion("Done."), {"assemblies": [section]}, "assembly_of of io_harness.store"),
        ):
            with pytest.raises(ConfigError, match=told):
                await wrong(store.journal.completed)(lease, 1, answer, request=request, **more)

    with Store.memory() as store:
        asyncio.run(drive(store))
        with pytest.raises(ConfigError, match=says):
            asyncio.run(drive(store, **given))
        assert len(store.runs()) == 1


def test_programs_whose_names_have_blanks_are_paths() -> None:
    assert Verification.command("/opt/My Tools/check").argv == ("/opt/My Tools/check",)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"contract": "do it"}, "contract must be a TaskContract, got 'do it'"),
        ({"provider": "anthropic:m"}, "provider must have name, .*; 'anthropic:m' lacks name"),
        ({"store": "runs.db"}, "store must be a Store, got 'runs.db'"),
        ({"policy": "workspace"}, "policy must be a Policy, got 'workspace'"),
        ({"approver": lambda _: True}, "approver must have decide"),
        ({"tools": [len]}, "each of the tools must have spec, .*, plan; .* `@tool` makes one"),
        ({"tools": [SimpleNamespace(spec=0, acts=0, plan=0, effectful=0)]}, "lacks trusted"),
        ({"observer": 3}, "observer must be a function"),
        ({"observer": asyncio.sleep}, "observer must be no async function"),
    ],
)
def test_an_argument_of_another_kind(
    tmp_path: Path, arguments: dict[str, object], says: str
) -> None:
    with Store.memory() as store:
        given: dict[str, Any] = {
            "contract": TaskContract.workspace("Do it.", tmp_path),
            "provider": ScriptedProvider(["Done."]),
            "store": store,
            "policy": Policy.workspace(),
            **arguments,
        }
        with pytest.raises(ConfigError, match=says):
            run_sync(given.pop("contract"), given.pop("provider"), given.pop("store"), **given)
        assert store.runs() == ()


def test_resume_takes_a_store() -> None:
    with pytest.raises(ConfigError, match="store must be a Store"):
        asyncio.run(resume("r", ScriptedProvider([]), wrong("runs.db")))


class Mine:
    """A provider of one's own, with a mistake."""

    name, model, cache_price = "mine", "m", CachePrice()

    def __init__(self, complete: Callable[[object], object]) -> None:
        self.complete = complete


async def says_text(_: object) -> object:
    return "Done."


@pytest.mark.parametrize(
    ("complete", "says"),
    [
        (says_text, "what complete of mine:m returns must be a Completion, got 'Done.'"),
        (lambda _: Completion("Done."), "mine:m: complete must be async"),
    ],
)
def test_a_provider_of_ones_own_is_told_its_mistake(
    tmp_path: Path, complete: Callable[[object], object], says: str
) -> None:
    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store, pytest.raises(ConfigError, match=says):
        run_sync(contract, wrong(Mine(complete)), store, policy=Policy.workspace())


def call(*, id: object = "1", name: object = "f", arguments: object = None) -> Completion:
    return Completion(calls=(ToolCall(wrong(id), wrong(name), wrong(arguments or {})),))


@pytest.mark.parametrize(
    ("completion", "says"),
    [
        (call(id=None), r"calls\[0\].id must be a text, got None"),
        (call(name=None), r"calls\[0\].name must be a text, got None"),
        (call(arguments=[1]), r"calls\[0\].arguments must be a JSON object.*, got \[1\]"),
        (call(arguments={"a": b"x"}), r"calls\[0\].arguments must be a JSON object.*, got .*b'x'"),
        (Completion(calls=wrong(None)), "calls must be a tuple of ToolCalls, got None"),
        (Completion(calls=wrong([{}])), r"calls\[0\] must be a ToolCall, got {}"),
        (Completion(wrong(None)), "text must be a text, got None"),
        (Completion("x", stop=wrong(None)), "stop must be a text, got None"),
        (Completion("x", reasoning=wrong({1})), r"reasoning must be JSON, got {1}"),
        (Completion("x", usage=wrong({"input": 1})), "usage must be a Usage or None, got {'inp"),
        (Completion("x", usage=Usage(-5)), r"usage: Usage.input must be .*, not -5"),
        (Completion("x", usage=Usage(output=2**63)), "usage: Usage.output must be"),
        (Completion("x", usage=Usage(wrong(float("nan")))), "usage: Usage.input .*, not nan"),
    ],
)
def test_each_field_of_an_answer_is_looked_at(
    tmp_path: Path, completion: Completion, says: str
) -> None:
    async def complete(_: object) -> object:
        return completion

    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store, pytest.raises(ConfigError, match=f"mine:m returns: {says}"):
        run_sync(contract, wrong(Mine(complete)), store, policy=Policy.workspace())


def test_arguments_that_a_model_may_send_are_taken(tmp_path: Path) -> None:
    given = [call(arguments={"a": float("nan")}), call(arguments={1: (2,)}), Completion("Done.")]
    answers = iter(given)

    async def complete(_: object) -> object:
        return next(answers)

    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store:
        done = run_sync(contract, wrong(Mine(complete)), store, policy=Policy.workspace())
        kept = [c.arguments for step in store.steps(done.run_id) for c in step.calls]
    assert done.ok
    assert kept == ['{"a": NaN}', {"1": [2]}]


class Agrees:
    """An approver whose author took a decision for a bool."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        return wrong(True)  # type: ignore[no-any-return]  # that is the mistake


def test_an_approver_is_told_its_mistake(tmp_path: Path) -> None:
    script = ScriptedProvider([ToolCall("1", "write_file", {"path": "a", "content": ""}), "Done."])
    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store:
        done = run_sync(contract, script, store, approver=Agrees())
        (seen,) = store.steps(done.run_id)[0].observations
    assert "what the approver's decide returns must be a Decision, got True" in seen.text
    assert not (tmp_path / "a").exists()


class Text(str):
    """A text with something more to it, as template engines and enums make."""

    __slots__ = ()


def test_texts_of_a_subclass_are_taken(tmp_path: Path) -> None:
    @tool
    def mine() -> str:
        """Give one."""
        return Text("its text")

    script = ScriptedProvider([Completion(Text("I look."), call(name="mine").calls), Text("Done.")])
    contract = TaskContract.workspace(Text("Do it."), tmp_path)
    with Store.memory() as store:
        done = run_sync(contract, script, store, policy=Policy.workspace(), tools=[mine])
        said, seen = store.steps(done.run_id)[0].observations
    assert (said.text, seen.text, done.text) == ("I look.", "its text", "Done.")


def test_a_turn_that_is_none_is_named(tmp_path: Path) -> None:
    script = ScriptedProvider(wrong([{"a": 1}]))
    contract = TaskContract.workspace("Do it.", tmp_path)
    with Store.memory() as store, pytest.raises(ConfigError, match="a turn is a Completion, a t"):
        run_sync(contract, script, store, policy=Policy.workspace())
