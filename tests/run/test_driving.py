"""Driving: leases, waiting between attempts, reasoning given back, broken tools and providers."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest

from io_harness import CompletionRequest, ScriptedProvider, Verification
from io_harness.contract import Retries
from io_harness.errors import ProviderError, RunLeased, StoreLocked
from io_harness.loop import Outcome, resume, run, run_sync
from io_harness.policy import Policy
from io_harness.providers import Script
from io_harness.store import Store
from io_harness.tools import ToolOutcome, tool
from io_harness.types import JSON, Completion, ObsKind, ToolCall
from tests.run.worlds import Watched, call, contract, files, ran, read, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return files(tmp_path / "w", a_py="x = 1\n")


def test_one_driver_at_a_time(root: Path) -> None:
    store = Store.memory()
    inside = asyncio.Event()

    async def hang(request: CompletionRequest) -> str:
        inside.set()
        await asyncio.sleep(60)
        return "late"

    async def both() -> None:
        first = asyncio.create_task(
            run(contract(root), ScriptedProvider(hang), store, policy=Policy.permissive())
        )
        await asyncio.wait_for(inside.wait(), 10)
        run_id = store.runs()[0].run_id
        with pytest.raises(RunLeased, match=run_id):
            await resume(run_id, ScriptedProvider(["x"]), store)
        assert store.steps(run_id) == ()
        first.cancel()
        await asyncio.wait([first])
        again = await resume(run_id, ScriptedProvider(["Done."]), store)
        assert again.outcome is Outcome.SUCCESS

    asyncio.run(both())


def test_runs_side_by_side_in_one_loop_and_one_store(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "runs.db")

    async def one(number: int) -> tuple[str, str]:
        root = files(tmp_path / f"w{number}", a_py=f"x = {number}\n")
        note = call("remember", key="n", value=str(number))
        provider = ScriptedProvider([read("a.py"), note, read("a.py", offset=1), "Done."])
        result = await run(contract(root), provider, store, policy=Policy.permissive())
        assert result.ok
        (kept,) = store.memory_list(str(root))
        return store.steps(result.run_id)[0].result, kept.value

    async def all_of_them() -> list[tuple[str, str]]:
        return await asyncio.gather(*(one(number) for number in range(8)))

    with store:
        assert asyncio.run(all_of_them()) == [(f"x = {n}\n", str(n)) for n in range(8)]


def test_a_relative_root_is_found_again_from_another_directory(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    store = Store.memory()
    result = ran(contract(Path(root.name)).with_max_steps(1), [read("a.py")], store)
    assert result.outcome is Outcome.STEP_CAP
    monkeypatch.chdir(tmp_path.parent)
    again = asyncio.run(resume(result.run_id, ScriptedProvider([]), store))
    assert again.outcome is Outcome.STEP_CAP


def test_the_log_tells_of_runs_and_failed_attempts(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="io_harness"):
        ran(contract(root), [ProviderError("busy", kind="server"), "Done."])
    told = [(record.levelname, record.getMessage().split(": ")[1]) for record in caplog.records]
    assert [level for level, _ in told] == ["INFO", "WARNING", "INFO"]
    assert told[1][1].startswith("AttemptFailed(")


def test_a_servers_wish_to_wait_is_honoured(root: Path) -> None:
    busy = ProviderError("busy", kind="rate_limited", retry_after=0.3)
    since = time.monotonic()
    assert ran(contract(root), [busy, "Done."]).ok
    assert time.monotonic() - since >= 0.3


def test_a_wish_to_wait_for_more_than_an_hour_ends_the_run(root: Path) -> None:
    busy = ProviderError("busy", kind="rate_limited", retry_after=4_000)
    result = ran(contract(root), [busy, "Done."])
    assert (result.outcome, result.retryable) == (Outcome.PROVIDER_FAILED, True)


@pytest.mark.parametrize("seconds", [None, 300.0])
def test_a_provider_that_gives_up_in_its_own_time_is_asked_again(
    root: Path, seconds: float | None
) -> None:
    asked: list[CompletionRequest] = []

    async def once_late(request: CompletionRequest) -> str:
        asked.append(request)
        if len(asked) == 1:
            raise TimeoutError("the read timed out")  # as a socket's, long before any deadline
        return "Done."

    store = Store.memory()
    result = ran(contract(root).with_time_budget(seconds), once_late, store)
    assert result.outcome is Outcome.SUCCESS
    kinds = [(made.kind, made.detail) for made in store.provider_calls(result.run_id)]
    assert kinds == [("timeout", "scripted:script gave up: the read timed out"), ("ok", "")]


@pytest.mark.parametrize("seconds", [None, 300.0])
def test_a_store_that_is_locked_inside_a_step_is_no_time_budget_that_is_spent(
    root: Path, monkeypatch: pytest.MonkeyPatch, seconds: float | None
) -> None:
    async def locked(*_: object, **__: object) -> None:
        raise StoreLocked("held by other writers")

    monkeypatch.setattr("io_harness.store.journal.Journal.call_started", locked)
    with pytest.raises(StoreLocked, match="held by other writers"):
        ran(contract(root).with_time_budget(seconds), [write("a.py", "x"), "Done."])


def test_a_request_has_a_deadline(root: Path) -> None:
    async def slow(request: CompletionRequest) -> str:
        await asyncio.sleep(30)
        return "late"

    quick = contract(root).with_retries(Retries(attempts=2, first_delay=0.01, deadline=0.1))
    store = Store.memory()
    result = ran(quick, slow, store)
    assert result.outcome is Outcome.PROVIDER_FAILED
    assert [made.kind for made in store.provider_calls(result.run_id)] == ["timeout", "timeout"]


def test_an_empty_answer_is_asked_for_again(root: Path) -> None:
    store = Store.memory()
    provider = ScriptedProvider([Completion(), "Done."], reports_usage=False)
    result = run_sync(contract(root), provider, store, policy=Policy.permissive())
    assert result.ok
    assert [made.kind for made in store.provider_calls(result.run_id)] == ["malformed", "ok"]


def test_the_newest_steps_reasoning_goes_back_with_its_calls_and_no_older_one(root: Path) -> None:
    thoughts: list[JSON] = [[{"type": "thinking", "thinking": str(n)}] for n in range(2)]
    provider = Watched(
        [
            Completion(calls=(read("a.py"),), reasoning=thoughts[0]),
            Completion(calls=(call("list_dir"),), reasoning=thoughts[1]),
            "Done.",
        ]
    )
    run_sync(contract(root), provider, Store.memory(), policy=Policy.permissive())
    sent = [[m.reasoning for m in request.messages if m.calls] for request in provider.requests]
    assert sent == [[], [thoughts[0]], [None, thoughts[1]]]


def test_a_tool_that_raises_is_an_error_the_model_is_told(root: Path) -> None:
    @tool
    def broken(n: int) -> str:
        """Break."""
        raise ZeroDivisionError(f"no {n}")

    store = Store.memory()
    result = ran(contract(root), [call("broken", n=3), "Done."], store, tools=[broken])
    assert result.ok
    assert "the tool failed: ZeroDivisionError: no 3" in store.steps(result.run_id)[1].prompt


def test_a_provider_with_a_bug_leaves_the_run_to_be_gone_on_with(root: Path) -> None:
    def bug(request: CompletionRequest) -> str:
        raise KeyError("a bug")

    store = Store.memory()
    with pytest.raises(KeyError, match="a bug"):
        ran(contract(root), bug, store)
    (left,) = store.runs()
    assert left.outcome is None
    again = asyncio.run(resume(left.run_id, ScriptedProvider(["Done."]), store))
    assert again.outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    ("verify", "says"),
    [
        (Verification.command("no-such-program"), "no program is named"),
        (Verification.file_contains("none.txt", "x"), "none.txt cannot be read"),
        (Verification.callable(lambda where: where.nonsense), "AttributeError"),  # type: ignore[attr-defined]
        (Verification.callable(lambda where: False), "does not pass"),
        (
            Verification.all_of(Verification.none(), Verification.command("false")),
            "`false`: exit code 1",
        ),
    ],
)
def test_a_check_that_cannot_be_made_is_one_that_failed(
    root: Path, verify: Verification, says: str
) -> None:
    result = ran(contract(root, verify), ["Done."] * 4)
    assert result.outcome is Outcome.VERIFICATION_FAILED
    assert says in result.reason


def test_the_check_sees_the_environment_that_the_contract_gives(root: Path) -> None:
    verify = Verification.command("sh", "-c", 'test "$A" = 1 && test -z "$ANTHROPIC_API_KEY"')
    assert ran(contract(root, verify).with_command_env({"A": "1"}), ["Done."]).ok


def test_the_store_is_hidden_from_every_tool(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="x\n")
    with Store.open(root / "runs.db") as store:
        script: Script = [read("runs.db"), call("find", pattern="*"), "Done."]
        result = ran(contract(root), script, store)
        seen = [step.observations[0] for step in store.steps(result.run_id)[:2]]
    assert seen[0].kind.value == "error"
    assert "runs.db" not in seen[1].text


def test_many_calls_of_one_answer_keep_their_order(root: Path) -> None:
    calls = [ToolCall("same-id", "read_file", {"path": "a.py"})] * 20
    store = Store.memory()
    provider = Watched([calls, "Done."])
    assert run_sync(contract(root), provider, store, policy=Policy.permissive()).ok
    asked = [made.id for m in provider.requests[1].messages for made in m.calls]
    given = [result.call_id for m in provider.requests[1].messages for result in m.results]
    assert asked == given
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(
    "calls",
    [
        [read("a.py", limit=2**31)],
        [read("a.py", offset=10**10, limit=10**10)],
        [read("a.py", offset=10**30)],
        [read("a.py", limit=10**30)],
        [call("show", step=10**30), call("show", step=1, call=-(10**30))],
    ],
)
def test_no_number_of_a_model_ends_a_run(root: Path, calls: list[ToolCall]) -> None:
    with Store.memory() as store:
        done = ran(contract(root), [Completion(calls=tuple(calls)), "Done."], store)
        (_, *seen) = store.steps(done.run_id)
        told = [o.text for o in store.steps(done.run_id)[0].observations]
    assert done.outcome is Outcome.SUCCESS
    assert seen
    assert not any("damaged" in text or "runs.db" in text for text in told)


def test_a_limit_beyond_all_lines_is_all_lines(root: Path) -> None:
    with Store.memory() as store:
        done = ran(contract(root), [read("a.py", limit=10**30), "Done."], store)
        (seen,) = store.steps(done.run_id)[0].observations
    assert seen.text == "x = 1\n"


@pytest.mark.parametrize(
    "given",
    [
        {"lines": (1, 10**10)},
        {"lines": (5, 1)},
        {"lines": [1, 2]},
        {"lines": (1, 2.5)},
        {"total_lines": -1},
        {"kind": "unheard of"},
        {"text": None},
        {"text": b"x"},
        {"target": 3},
        {"key": 3},
        {"paths": ["a"]},
        {"note": 3},
    ],
)
def test_a_result_that_cannot_be_kept_is_a_failure_of_its_tool(
    root: Path, given: dict[str, object]
) -> None:
    values: dict[str, object] = {"kind": ObsKind.READ, "target": "a.py", "text": "x", **given}

    @tool
    def odd() -> ToolOutcome:
        """Give an outcome."""
        return ToolOutcome(**values)  # type: ignore[arg-type] # that is what is tried

    with Store.memory() as store:
        done = ran(contract(root), [call("odd"), "Done."], store, tools=[odd])
        (seen,) = store.steps(done.run_id)[0].observations
    assert done.outcome is Outcome.SUCCESS
    assert (seen.kind, seen.target) == (ObsKind.ERROR, "odd")
    assert "the tool failed" in seen.text


def test_nothing_is_made_where_the_store_would_take_it_for_its_own(tmp_path: Path) -> None:
    root = files(tmp_path / "w")
    names = ["runs.db-journal", "./runs.db-wal", "runs.db-journal/x", "runs.db-shm/y"]
    with Store.open(root / "runs.db") as store:
        calls = tuple(call("write_file", path=name, content="x") for name in names)
        done = ran(contract(root), [Completion(calls=calls), "Done."], store)
        told = store.steps(done.run_id)[0].observations
        assert not (root / "runs.db-journal").exists()
    assert {seen.kind for seen in told} == {ObsKind.ERROR}
