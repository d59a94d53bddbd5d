"""Every way a run can end, through the public API, with its reason and the way on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from io_harness import CompletionRequest, ContextBudget, ScriptedProvider, ToolCall, Verification
from io_harness.errors import ConfigError, PolicyNeedsApprover, ProviderError, RunUnknown
from io_harness.loop import Outcome, resume, run, run_sync
from io_harness.policy import ApprovalRequest, Decision, Policy
from io_harness.providers import Script
from io_harness.store import Store
from io_harness.types import Act, Completion, Effect, Rule
from tests.run.worlds import Watched, call, contract, files, ran, read, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return files(tmp_path / "w", a_py="x = 1\n", b_py="y = 2\n")


def test_success_when_the_model_stops_calling_tools(root: Path) -> None:
    result = ran(contract(root), [read("a.py"), "All is read."])
    assert (result.outcome, result.ok, result.steps) == (Outcome.SUCCESS, True, 2)
    assert result.text == "All is read."


def test_an_empty_answer_is_asked_about_once_before_it_counts_as_done(root: Path) -> None:
    store = Store.memory()
    result = ran(contract(root), [read("a.py"), Completion(""), "All is read."], store)
    assert (result.outcome, result.steps, result.text) == (Outcome.SUCCESS, 3, "All is read.")
    assert "Your answer was empty: go on" in store.steps(result.run_id)[2].prompt
    result = ran(contract(root), [read("a.py"), Completion(""), Completion(" ")])
    assert (result.outcome, result.steps) == (Outcome.SUCCESS, 3)
    again: Script = [Completion(""), read("a.py"), Completion(""), Completion("")]
    assert ran(contract(root), again).steps == 4


def test_an_empty_answer_is_done_where_a_check_says_so(root: Path) -> None:
    verify = Verification.file_contains("a.py", "x")
    assert ran(contract(root, verify), [Completion("")]).steps == 1


def test_answers_cut_off_before_they_say_anything_end_as_stalled(root: Path) -> None:
    cut = Completion("", stop="max_tokens")
    result = ran(contract(root), [cut] * 50)
    assert (result.outcome, result.steps) == (Outcome.STALLED, 6)
    longer = [Completion(f"Part {n}.", stop="length") for n in range(20)]
    assert ran(contract(root), [*longer, "Done."]).steps == 21


def test_success_when_the_check_passes_after_its_output_went_back(root: Path) -> None:
    script: Script = ["Done.", write("a.py", "x = 2\n"), "Done now."]
    verify = Verification.file_equals("a.py", "x = 2\n")
    store = Store.memory()
    result = ran(contract(root, verify), script, store)
    assert result.outcome is Outcome.SUCCESS
    prompt = store.steps(result.run_id)[1].prompt
    assert "Not done yet: not true yet: a.py is exactly 'x = 2\\n'" in prompt


def test_verification_failed_after_three_chances(root: Path) -> None:
    verify = Verification.command("python3", "-c", "print('nope'); raise SystemExit(3)")
    result = ran(contract(root, verify), ["Done."] * 9)
    assert (result.outcome, result.steps) == (Outcome.VERIFICATION_FAILED, 4)
    assert "failed 4 times" in result.reason


def test_step_cap_and_going_on_with_a_higher_one(root: Path) -> None:
    store = Store.memory()
    script: Script = [read("a.py"), read("b.py"), "Done."]
    result = ran(contract(root).with_max_steps(2), script, store)
    assert (result.outcome, result.steps) == (Outcome.STEP_CAP, 2)
    again = asyncio.run(
        resume(
            result.run_id,
            ScriptedProvider(script, start=2),
            store,
            contract=contract(root).with_max_steps(3),
        )
    )
    assert (again.outcome, again.steps) == (Outcome.SUCCESS, 3)


def test_token_budget_counts_what_is_reported(root: Path) -> None:
    result = ran(contract(root).with_token_budget(3_000), [read("a.py")] * 2 + [read("b.py")] * 9)
    assert result.outcome is Outcome.TOKEN_BUDGET
    spent = (result.spent.input or 0) + (result.spent.output or 0)
    assert spent >= 3_000
    assert f"{spent:,} tokens of 3,000" in result.reason


def test_token_budget_counts_the_estimate_where_nothing_is_reported(root: Path) -> None:
    provider = ScriptedProvider([read("a.py"), read("b.py"), "x"], reports_usage=False)
    limit = contract(root).with_token_budget(2_000)
    result = run_sync(limit, provider, Store.memory(), policy=Policy.permissive())
    assert result.outcome is Outcome.TOKEN_BUDGET


def test_time_budget_ends_an_answer_that_takes_too_long(root: Path) -> None:
    async def slow(request: CompletionRequest) -> str:
        await asyncio.sleep(30)
        return "late"

    since = time.monotonic()
    result = ran(contract(root).with_time_budget(0.2), slow)
    assert result.outcome is Outcome.TIME_BUDGET
    assert time.monotonic() - since < 10


def test_time_budget_ends_a_command_that_takes_too_long(root: Path) -> None:
    store = Store.memory()
    script: Script = [[read("a.py"), call("run_command", argv=["sleep", "60"])], "Done."]
    since = time.monotonic()
    result = ran(contract(root).with_time_budget(1), script, store)
    assert (result.outcome, result.steps) == (Outcome.TIME_BUDGET, 1)
    assert time.monotonic() - since < 20
    longer = contract(root).with_time_budget(60)
    rest = ScriptedProvider(script, start=1)
    again = asyncio.run(resume(result.run_id, rest, store, contract=longer))
    assert again.outcome is Outcome.SUCCESS
    told = [seen.text for seen in store.steps(result.run_id)[0].observations]
    assert told[0] == "x = 1\n"
    assert told[1].startswith("interrupted: it may have happened")


def test_time_budget_is_not_waited_past(root: Path) -> None:
    busy = ProviderError("busy", kind="rate_limited", retry_after=600)
    result = ran(contract(root).with_time_budget(5), [busy] * 9)
    assert result.outcome is Outcome.TIME_BUDGET
    assert "the next attempt is due in 600.0 s" in result.reason


def test_stalled_after_one_note(root: Path) -> None:
    store = Store.memory()
    result = ran(contract(root), [read("a.py")] * 20, store)
    assert (result.outcome, result.steps) == (Outcome.STALLED, 6)
    prompts = [step.prompt for step in store.steps(result.run_id)]
    assert "You are getting nowhere" in prompts[3]
    kinds = [event.kind for event in store.context_events(result.run_id)]
    assert (kinds.count("replan"), kinds.count("stalled")) == (1, 1)


def test_denied_when_the_run_is_stuck_on_what_the_policy_denies(root: Path) -> None:
    policy = Policy.permissive().extended(Rule(Act.READ, Effect.DENY, "*.py"))
    result = ran(contract(root), [read("a.py")] * 20, policy=policy)
    assert result.outcome is Outcome.DENIED


def test_denied_when_the_model_refuses(root: Path) -> None:
    result = ran(contract(root), [Completion("I won't.", stop="refusal")])
    assert result.outcome is Outcome.DENIED
    assert "I won't." in result.reason


class Answers:
    """An approver that gives its decisions in order and keeps what it was asked."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions = list(decisions)
        self.asked: list[ApprovalRequest] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return self.decisions.pop(0)


def test_awaiting_approval_and_going_on(root: Path) -> None:
    store = Store.memory()
    script: Script = [[read("a.py"), write("a.py", "x = 9\n"), read("a.py")], "Done."]
    later = Answers(Decision.defer())
    result = ran(contract(root), script, store, policy=Policy.default(), approver=later)
    assert (result.outcome, result.steps) == (Outcome.AWAITING_APPROVAL, 1)
    assert "write of 'a.py'" in result.reason
    assert (root / "a.py").read_text() == "x = 1\n"
    now = Answers(Decision.approve())
    again = asyncio.run(
        resume(result.run_id, ScriptedProvider(script, start=1), store, approver=now)
    )
    assert again.outcome is Outcome.SUCCESS
    assert (root / "a.py").read_text() == "x = 9\n"
    first = store.steps(result.run_id)[0]
    assert [seen.kind.value for seen in first.observations] == ["read", "write", "read"]
    assert now.asked[0].diff


def test_approved_for_the_run_is_asked_once_even_across_a_resume(root: Path) -> None:
    store = Store.memory()
    script: Script = [
        write("a.py", "1"),
        write("a.py", "2"),
        write("b.py", "3"),
        write("a.py", "4"),
        "x",
    ]
    first = Answers(Decision.approve_for_run(), Decision.defer())
    result = ran(contract(root), script, store, policy=Policy.default(), approver=first)
    assert [request.subject for request in first.asked] == ["a.py", "b.py"]
    then = Answers(Decision.approve())
    again = asyncio.run(
        resume(result.run_id, ScriptedProvider(script, start=3), store, approver=then)
    )
    assert again.outcome is Outcome.SUCCESS
    assert [request.subject for request in then.asked] == ["b.py"]
    assert (root / "a.py").read_text() == "4"


def test_what_an_approver_rewrote_is_done_and_shown_and_what_it_denied_is_told(root: Path) -> None:
    store = Store.memory()
    script: Script = [write("a.py", "bad"), write("b.py", "worse"), "Done."]
    instead = Decision.rewrite({"path": "a.py", "content": "good"})
    approver = Answers(instead, Decision.deny("leave b.py alone"))
    result = ran(contract(root), script, store, policy=Policy.default(), approver=approver)
    assert result.ok
    assert ((root / "a.py").read_text(), (root / "b.py").read_text()) == ("good", "y = 2\n")
    request = store.steps(result.run_id)[2].request
    assert request is not None
    assert request.messages[1].calls[0].arguments == {"path": "a.py", "content": "good"}
    assert "leave b.py alone" in request.messages[4].results[0].text
    choices = [
        e.detail["choice"] for e in store.context_events(result.run_id) if e.kind == "approval"
    ]
    assert choices == ["rewrite", "deny"]


def test_what_was_approved_for_the_run_is_read_again_too(root: Path) -> None:
    store = Store.memory()
    policy = Policy.permissive().extended(Rule(Act.READ, Effect.ASK, "a.py"))
    script: Script = [read("a.py"), write("a.py", "x = 7\n"), "Done."]
    once = Answers(Decision.approve())
    result = ran(contract(root), script, store, policy=policy, approver=once)
    assert "x = 7" not in store.steps(result.run_id)[2].request.messages[2].results[0].text  # type: ignore[union-attr]
    (root / "a.py").write_text("x = 1\n")
    whole = Answers(Decision.approve_for_run())
    result = ran(contract(root), script, store, policy=policy, approver=whole)
    assert "x = 7" in store.steps(result.run_id)[2].request.messages[2].results[0].text  # type: ignore[union-attr]


def test_context_overflow_never_sends_the_same_bytes_twice(root: Path) -> None:
    (root / "big.py").write_text("z = 3\n" * 3_000)
    full = ProviderError("prompt is too long", kind="context_overflow")
    provider = Watched([read("big.py"), read("a.py"), full, full])
    store = Store.memory()
    result = run_sync(contract(root), provider, store, policy=Policy.permissive())
    assert result.outcome is Outcome.CONTEXT_OVERFLOW
    sent = [repr(request) for request in provider.requests]
    assert len(sent) == len(set(sent)) == 4
    calls = [(c.step, c.attempt, c.kind) for c in store.provider_calls(result.run_id)]
    assert calls[2:] == [(3, 1, "context_overflow"), (3, 2, "context_overflow")]
    events = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    sizes = [event.est_request for event in events[-2:]]
    assert all(f"{size:,}" in result.reason for size in sizes)
    assert [event.detail["ceiling"] for event in events[-2:]][1] < 24_000  # type: ignore[operator]


def test_context_overflow_with_nothing_left_to_leave_out_is_sent_once(root: Path) -> None:
    full = ProviderError("prompt is too long", kind="context_overflow")
    provider = Watched([full] * 5)
    result = run_sync(contract(root), provider, Store.memory(), policy=Policy.permissive())
    assert (result.outcome, len(provider.requests)) == (Outcome.CONTEXT_OVERFLOW, 1)


def test_after_an_overflow_that_helped_the_ceiling_stays_down(root: Path) -> None:
    (root / "big.py").write_text("z = 3\n" * 3_000)
    full = ProviderError("prompt is too long", kind="context_overflow")
    store = Store.memory()
    result = ran(contract(root), [read("big.py"), full, read("a.py"), "Done."], store)
    assert result.outcome is Outcome.SUCCESS
    events = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    ceilings = [event.detail["ceiling"] for event in events]
    assert ceilings[0] == ceilings[1] == 24_000
    assert ceilings[2] == ceilings[3] < 24_000  # type: ignore[operator]


def test_what_was_refused_as_too_long_is_not_sent_again_by_resume(root: Path) -> None:
    full = ProviderError("prompt is too long", kind="context_overflow")
    store = Store.memory()
    result = ran(contract(root), [full], store)
    provider = Watched(["never"])
    again = asyncio.run(resume(result.run_id, provider, store))
    assert again == result
    assert not hasattr(provider, "requests")
    smaller = contract(root).with_context_budget(ContextBudget(max_tokens=500))
    last = asyncio.run(resume(result.run_id, provider, store, contract=smaller))
    assert (last.outcome, len(provider.requests)) == (Outcome.SUCCESS, 1)


def test_what_was_refused_before_an_interruption_is_sent_smaller(root: Path) -> None:
    (root / "big.py").write_text("z = 3\n" * 3_000)
    full = ProviderError("prompt is too long", kind="context_overflow")
    store = Store.memory()

    class Crashing(Watched):
        async def complete(self, request: CompletionRequest) -> Completion:
            if len(getattr(self, "requests", [])) == 2:
                raise KeyError("as a crash would")
            return await super().complete(request)

    first = Crashing([read("big.py"), full])
    with pytest.raises(KeyError):
        run_sync(contract(root), first, store, policy=Policy.permissive())
    second = Watched(["Done."])
    again = asyncio.run(resume(store.runs()[0].run_id, second, store))
    assert again.outcome is Outcome.SUCCESS
    assert len(second.requests) == 1
    assert second.requests[0] not in first.requests


def test_a_fixed_part_that_cannot_fit_ends_before_the_first_request(root: Path) -> None:
    provider = Watched(["never"], context_window=9_000)
    big = contract(root).with_constraints("y" * 4_000)
    result = run_sync(big, provider, Store.memory(), policy=Policy.permissive())
    assert (result.outcome, result.steps) == (Outcome.CONTEXT_OVERFLOW, 0)
    assert "9,000" in result.reason
    assert not hasattr(provider, "requests")


def test_provider_failed_for_good_and_for_now(root: Path) -> None:
    result = ran(contract(root), [ProviderError("bad key", kind="auth")])
    assert (result.outcome, result.retryable) == (Outcome.PROVIDER_FAILED, False)
    assert "bad key" in result.reason
    store = Store.memory()
    result = ran(contract(root), [ProviderError("down", kind="server")] * 9, store)
    assert (result.outcome, result.retryable) == (Outcome.PROVIDER_FAILED, True)
    assert [c.attempt for c in store.provider_calls(result.run_id)] == [1, 2, 3, 4, 5]
    again = asyncio.run(resume(result.run_id, ScriptedProvider(["Done."]), store))
    assert again.outcome is Outcome.SUCCESS
    assert [c.attempt for c in store.provider_calls(result.run_id)] == [1, 2, 3, 4, 5, 6]


def test_cancelled_and_gone_on_with(root: Path) -> None:
    store = Store.memory()

    inside = asyncio.Event()

    async def hang(request: CompletionRequest) -> str:
        inside.set()
        await asyncio.sleep(60)
        return "late"

    async def cancel() -> None:
        task = asyncio.create_task(
            run(contract(root), ScriptedProvider(hang), store, policy=Policy.permissive())
        )
        await asyncio.wait_for(inside.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    (record,) = store.runs()
    assert record.outcome == Outcome.CANCELLED
    assert "interrupted in step 1" in record.reason
    again = asyncio.run(resume(record.run_id, ScriptedProvider(["Done."]), store))
    assert again.outcome is Outcome.SUCCESS


def test_a_finished_run_is_reported_not_driven(root: Path) -> None:
    store = Store.memory()
    result = ran(contract(root), [read("a.py"), "Done."], store)
    again = asyncio.run(resume(result.run_id, ScriptedProvider([]), store))
    assert again == result


def test_what_a_run_refuses_to_start_with(root: Path) -> None:
    async def inside() -> None:
        with pytest.raises(RuntimeError, match="await run"):
            ran(contract(root), ["x"])

    asyncio.run(inside())
    with pytest.raises(PolicyNeedsApprover, match="write"):
        ran(contract(root), ["x"], policy=Policy.default())
    with pytest.raises(ConfigError):
        ran(contract(root / "missing"), ["x"])
    with pytest.raises(RunUnknown, match="nobody"):
        asyncio.run(resume("nobody", ScriptedProvider([]), Store.memory()))


def test_without_an_approver_commands_that_nobody_could_allow_are_not_offered(root: Path) -> None:
    provider = Watched(["Done."])
    run_sync(contract(root), provider, Store.memory(), policy=Policy.workspace())
    assert "run_command" not in [tool.name for tool in provider.requests[0].tools]


def test_a_callable_check_is_asked_and_must_be_given_again(root: Path) -> None:
    def check(where: Path) -> bool | str:
        return True if (where / "c.py").exists() else "c.py is missing"

    store = Store.memory()
    wanted = contract(root, Verification.callable(check)).with_max_steps(1)
    result = ran(wanted, ["Done."], store)
    assert result.outcome is Outcome.STEP_CAP
    with pytest.raises(ConfigError, match="with the contract given again"):
        asyncio.run(resume(result.run_id, ScriptedProvider([]), store))
    script: Script = ["Done.", write("c.py", ""), "Now."]
    again = asyncio.run(
        resume(
            result.run_id,
            ScriptedProvider(script, start=1),
            store,
            contract=wanted.with_max_steps(5),
        )
    )
    assert again.outcome is Outcome.SUCCESS
    assert "c.py is missing" in store.steps(result.run_id)[1].prompt


def test_an_answer_cut_off_is_not_taken_for_the_end(root: Path) -> None:
    store = Store.memory()
    script: Script = [Completion("I was about to", stop="max_tokens"), "Done."]
    result = ran(contract(root), script, store)
    assert (result.outcome, result.steps) == (Outcome.SUCCESS, 2)
    assert "cut off at its limit" in store.steps(result.run_id)[1].prompt


def test_the_ceiling_follows_the_budget_in_thousands(root: Path) -> None:
    store = Store.memory()
    tight = (
        contract(root)
        .with_token_budget(12_345)
        .with_context_budget(ContextBudget(max_tokens=24_000, share=0.5))
    )
    result = ran(tight, [read("a.py"), read("b.py"), "Done."], store)
    events = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    assert [event.detail["ceiling"] for event in events] == [6_000, 5_000, 4_000]


@pytest.mark.parametrize(
    "arguments",
    ["{oops", "[1]", '"x"', '{"path":NaN}', '{"path":"a.py","offset":1e999}', '{"path":"\ud83d"'],
)
def test_an_unknown_tool_and_broken_arguments_are_told_to_the_model(
    root: Path, arguments: str
) -> None:
    store = Store.memory()
    script: Script = [[call("no_such"), ToolCall("c", "read_file", arguments)], "Done."]
    result = ran(contract(root), script, store)
    assert result.outcome is Outcome.SUCCESS
    prompt = store.steps(result.run_id)[1].prompt
    assert "no tool is named 'no_such'" in prompt
    assert "the arguments are no JSON object" in prompt


def test_no_check_of_a_text_is_passed_by_what_stands_for_other_bytes(tmp_path: Path) -> None:
    root = files(tmp_path / "w")
    (root / "out").write_bytes(b"\0\1")
    stands = "binary file, 2 bytes: not shown as text"
    checks = [Verification.file_contains("out", "text"), Verification.file_equals("out", stands)]
    for check in checks:
        done = ran(contract(root, check), ["Done."] * 9)
        assert done.outcome is Outcome.VERIFICATION_FAILED


def test_a_file_that_goes_on_is_not_what_was_asked_for(tmp_path: Path) -> None:
    root = files(tmp_path / "w")
    line = "x" * (2**20 - 1) + "\n"
    (root / "out").write_text(line * 8 + "and more\n")
    check = Verification.file_equals("out", line * 8)
    assert ran(contract(root, check), ["Done."] * 9).outcome is Outcome.VERIFICATION_FAILED
    (root / "out").write_text(line * 8)
    assert ran(contract(root, check), ["Done."]).ok
    (root / "out").write_text("")
    assert ran(contract(root, Verification.file_equals("out", "")), ["Done."]).ok
