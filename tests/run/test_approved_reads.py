"""A read that was approved reaches the model, and is not read again without asking."""

from __future__ import annotations

import time
from pathlib import Path

from io_harness import (
    Act,
    Completion,
    CompletionRequest,
    Decision,
    Effect,
    Policy,
    Rule,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    run_sync,
)
from io_harness.policy import ApprovalRequest


class Approves:
    """Approves everything, once."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        return Decision.approve()


def test_a_read_approved_once_is_shown_and_not_refreshed_later(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("before\n")
    # A file this new would have to be looked at once more.
    time.sleep(0.06)
    requests: list[str] = []

    def turn(request: CompletionRequest) -> Completion | ToolCall | str:
        results = (result.text for message in request.messages for result in message.results)
        requests.append("".join(results))
        if len(requests) == 1:
            return ToolCall("1", "read_file", {"path": "private.txt"})
        if len(requests) == 2:
            return ToolCall("2", "list_dir", {"path": "."})
        if len(requests) == 3:
            (tmp_path / "private.txt").write_text("after\n")
            return ToolCall("3", "list_dir", {"path": "."})
        return "done"

    policy = Policy.workspace().extended(Rule(Act.READ, Effect.ASK, "private.txt"))
    with Store.memory() as store:
        contract = TaskContract.workspace("Look", tmp_path)
        run_sync(contract, ScriptedProvider(turn), store, policy=policy, approver=Approves())
    assert "before" in requests[1]
    assert "before" in requests[2]
    assert "after" not in requests[3]
    assert "the policy would ask and there is nobody to ask" in requests[3]


def test_a_search_of_a_file_that_was_approved_searches_it(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("a word\n")
    search = ToolCall("1", "grep", {"pattern": "word", "path": "private.txt"})
    policy = Policy.workspace().extended(Rule(Act.READ, Effect.ASK, "private.txt"))
    with Store.memory() as store:
        contract = TaskContract.workspace("Look", tmp_path)
        provider = ScriptedProvider([search, "done"])
        done = run_sync(contract, provider, store, policy=policy, approver=Approves())
        (seen,) = store.steps(done.run_id)[0].observations
    assert seen.text == "1 matching line\nprivate.txt:1:a word"
