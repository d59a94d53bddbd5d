"""What a run leaves behind: the same for the same run, complete, and within its ceiling."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from io_harness import CachePrice, ContextBudget, ScriptedProvider, estimate_tokens
from io_harness.events import (
    Completed,
    Event,
    MemoryWritten,
    RequestAssembled,
    RunFinished,
    RunStarted,
    ToolCalled,
)
from io_harness.loop import run_sync
from io_harness.policy import Policy
from io_harness.providers import RecordedProvider, Script, Turn, anthropic_wire, openai_wire
from io_harness.store import Store
from io_harness.tools import tool
from io_harness.types import Completion, CompletionRequest, ObsKind
from tests.run.worlds import Watched, call, contract, files, ran, read, write

LONG = "".join(f"value_{n} = {n}\n" for n in range(400))


def script(steps: int = 24) -> Script:
    """Reads again and again, writes that make reads stale, a note, a result fetched back."""
    turns: list[Turn] = [[read("a.py"), read("b.py")]]
    for step in range(2, steps):
        match step % 4:
            case 0:
                turns.append(write("a.py", f"x = {step}\n" + LONG))
            case 1:
                turns.append([read("b.py"), read("a.py", offset=step, limit=40)])
            case 2:
                turns.append([call("show", step=1, call=1), call("list_dir")])
            case _:
                turns.append(call("remember", key=f"k{step}", value=f"step {step}"))
    return [*turns, "Done."]


def traced(place: Path, price: CachePrice | None = None) -> dict[str, object]:
    """Everything a store has of one run, but clocks and ids."""
    root = files(place / "w", a_py=LONG, b_py=LONG)
    wanted = contract(root).with_context_budget(ContextBudget(max_tokens=1_500))
    with Store.open(place / "runs.db") as store:
        provider = ScriptedProvider(script(), cache_price=price)
        result = run_sync(wanted, provider, store, policy=Policy.permissive())
        assert result.ok, result.reason
        steps = store.steps(result.run_id)
        calls = store.provider_calls(result.run_id)
        events = store.context_events(result.run_id)
        notes = store.memory_list(str(root))
    return {
        "steps": steps,
        "events": [
            dataclasses.replace(e, detail={k: v for k, v in e.detail.items() if k != "workspace"})
            for e in events
        ],
        "calls": [dataclasses.replace(made, latency=0.0) for made in calls],
        "notes": [(note.key, note.value, note.step, note.seq) for note in notes],
        "spent": result.spent,
    }


def test_two_identical_runs_leave_the_same_trace(tmp_path: Path) -> None:
    for price in (None, CachePrice(0.1, 1.25)):
        one, two = tmp_path / f"one{price is None}", tmp_path / f"two{price is None}"
        one.mkdir()
        two.mkdir()
        assert traced(one, price) == traced(two, price)


def test_every_request_is_within_its_ceiling_and_every_result_is_kept(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py=LONG, b_py=LONG)
    store = Store.memory()
    provider = Watched(script())
    wanted = contract(root).with_context_budget(ContextBudget(max_tokens=1_500))
    result = run_sync(wanted, provider, store, policy=Policy.permissive())
    assembled = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    assert len(assembled) == 24
    for event, request in zip(assembled, provider.requests, strict=True):
        assert event.est_section is not None
        assert event.est_section <= 1_500
        sent = "".join(
            message.text + "".join(r.text for r in message.results)
            for message in request.messages[1:]
        )
        assert estimate_tokens(sent) <= 1_500
        assert sum(piece.chars for piece in event.pieces) <= 4 * 1_500
        assert event.reported is not None
    steps = store.steps(result.run_id)
    assert [step.request for step in steps] == provider.requests
    assert steps[0].result == LONG + LONG
    shown = next(step for step in steps if step.calls and step.calls[0].name == "show")
    assert LONG in shown.result
    assert {"reread", "memory_write", "memory_recall"} <= {
        event.kind for event in store.context_events(result.run_id)
    }
    assert store.drift(result.run_id).ratio is not None


def test_pairs_stay_whole_under_every_ceiling(tmp_path: Path) -> None:
    for ceiling in (64, 200, 700, 3_000):
        place = tmp_path / str(ceiling)
        place.mkdir()
        root = files(place / "w", a_py=LONG, b_py=LONG)
        provider = Watched(script())
        wanted = contract(root).with_context_budget(ContextBudget(max_tokens=ceiling))
        run_sync(wanted, provider, Store.memory(), policy=Policy.permissive())
        for request in provider.requests:
            for before, message in zip(request.messages, request.messages[1:], strict=False):
                asked = [made.id for made in before.calls]
                assert [result.call_id for result in message.results] == asked


@pytest.mark.parametrize("price", [CachePrice(), CachePrice(0.1, 1.25)])
def test_every_request_of_a_run_is_what_each_sdk_takes(tmp_path: Path, price: CachePrice) -> None:
    root = files(tmp_path / "w", a_py=LONG, b_py=LONG)
    provider = Watched(script(), cache_price=price)
    wanted = contract(root).with_context_budget(ContextBudget(max_tokens=700))
    run_sync(wanted, provider, Store.memory(), policy=Policy.permissive())
    anthropic, openai = (
        TypeAdapter(list[MessageParam]),
        TypeAdapter(list[ChatCompletionMessageParam]),
    )
    for number, request in enumerate(provider.requests):
        blocks = anthropic_wire.message_blocks(request, mark_end=True)
        anthropic.validate_python(blocks)
        assert [b["role"] for b in blocks] == ["user", "assistant"] * (len(blocks) // 2) + ["user"]
        assert json.dumps(blocks).count("cache_control") <= 4
        if price.rewards_a_stable_prefix and number > 1:
            assert json.dumps(blocks).count("cache_control") >= 2
        openai.validate_python(openai_wire.message_blocks(request, marks=False))


def test_a_recorded_run_replays_without_a_network(tmp_path: Path) -> None:
    store = Store.memory()
    first = ran(contract(files(tmp_path / "w", a_py=LONG, b_py=LONG)), script(), store)
    again = files(tmp_path / "again", a_py=LONG, b_py=LONG)
    second = run_sync(
        contract(again),
        RecordedProvider(store, first.run_id),
        Store.memory(),
        policy=Policy.permissive(),
    )
    assert (second.outcome, second.steps) == (first.outcome, first.steps)


def test_an_observer_is_told_in_order_and_cannot_hurt(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="x\n")
    seen: list[Event] = []

    def observe(event: Event) -> None:
        seen.append(event)
        raise ValueError("observers fail too")

    turns: Script = [[read("a.py"), call("remember", key="k", value="v")], "Done."]
    result = run_sync(
        contract(root), ScriptedProvider(turns), Store.memory(),
        policy=Policy.permissive(), observer=observe,
    )  # fmt: skip
    assert result.ok
    kinds = [type(event) for event in seen if not isinstance(event, ToolCalled)]
    assert kinds[:4] == [RunStarted, RequestAssembled, Completed, MemoryWritten]
    assert kinds[-1] is RunFinished
    assert sum(isinstance(event, ToolCalled) for event in seen) == 2


class Dear(ScriptedProvider):
    """Counts twice the estimate."""

    async def complete(self, request: CompletionRequest) -> Completion:
        answer = await super().complete(request)
        assert answer.usage is not None
        usage = dataclasses.replace(answer.usage, input=2 * (answer.usage.input or 0))
        return dataclasses.replace(answer, usage=usage)


def test_calibration_keeps_the_ceiling_in_the_providers_tokens(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py=LONG, b_py=LONG)
    store = Store.memory()
    wanted = contract(root).with_context_budget(ContextBudget(max_tokens=3_000)).with_calibration()

    result = run_sync(wanted, Dear(script()), store, policy=Policy.permissive())
    events = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    assert events[0].detail["ceiling"] == 3_000
    assert 1_400 <= events[-1].detail["ceiling"] <= 1_500  # type: ignore[operator]
    drift = store.drift(result.run_id).ratio
    assert drift is not None
    assert 1.9 < drift < 2.1


def test_notes_reach_the_next_run_and_modes_hold(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="x\n")
    store = Store.memory()
    first = ran(contract(root), [call("remember", key="where", value="in a.py"), "Done."], store)
    second = ran(contract(root), ["Done."], store)
    assert "in a.py" in store.steps(second.run_id)[0].prompt
    assert [note.key for note in store.memory_recalls(second.run_id)] == ["where"]
    assert first.run_id not in store.steps(second.run_id)[0].prompt
    third = ran(contract(root).with_memory_mode("off"), ["Done."], store)
    assert "in a.py" not in store.steps(third.run_id)[0].prompt
    wanted = contract(root).with_memory_mode("read-only")
    fourth = ran(wanted, [call("remember", key="x", value="y"), "Done."], store)
    assert "in a.py" in store.steps(fourth.run_id)[0].prompt
    assert [note.key for note in store.memory_list(str(root))] == ["where"]


def test_a_workspace_id_is_an_id_even_where_a_directory_has_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = files(tmp_path / "w")
    monkeypatch.chdir(tmp_path)
    store = Store.memory()
    for name in ("w", "id:w"):
        wanted = contract(root).with_workspace_id(name)
        ran(wanted, [call("remember", key=name, value="v"), "Done."], store)
    assert [note.key for note in store.memory_list("id:w")] == ["w", "id:w"]
    assert store.memory_list(str(root)) == ()


def test_reads_overlap_and_effects_do_not(tmp_path: Path) -> None:
    running, most = 0, 0

    async def work(name: str) -> str:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.02)
        running -= 1
        return name

    @tool(kind=ObsKind.FIND, target="name")
    async def look(name: str) -> str:
        """Look for a while."""
        return await work(name)

    @tool
    async def poke(name: str) -> str:
        """Change something for a while."""
        return await work(name)

    store = Store.memory()
    root = files(tmp_path / "w")
    looks = [call("look", name=str(n)) for n in range(4)]
    result = ran(contract(root), [looks, "x"], store, tools=[look, poke])
    assert most == 4
    assert [o.text for o in store.steps(result.run_id)[0].observations] == ["0", "1", "2", "3"]
    most = 0
    ran(contract(root), [[call("poke", name=str(n)) for n in range(4)], "x"], tools=[look, poke])
    assert most == 1
