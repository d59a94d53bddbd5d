"""Requests that a provider takes: each call with its result, and nothing between the two."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_harness import (
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    PieceStatus,
    ToolCall,
)
from io_harness.context.messages import build_messages
from io_harness.types import Message
from tests.context.files import MemoryFiles

BASE = CachePrice()
PRICED = CachePrice(read=0.1, write=1.25)
Calls = dict[tuple[int, int], ToolCall]


class Run:
    """A run that says something in each step, and calls several tools at once."""

    def __init__(self, price: CachePrice = BASE) -> None:
        self.files = MemoryFiles()
        self.ledger = Ledger()
        self.calls: Calls = {}
        self.assembler = Assembler(self.ledger, workspace=self.files, price=price)
        self.step = 0

    def take(self, *results: Observation, said: str | None = "I look.") -> None:
        """One step: words, then the results of its calls, in order."""
        self.step += 1
        if said is not None:
            self.ledger.push(Observation(self.step, ObsKind.MESSAGE, None, said, call=-1))
        for number, result in enumerate(results):
            arguments = json.loads(result.args) if result.args else {}
            name = f"{result.kind}_tool"
            self.calls[self.step, number] = ToolCall(f"{self.step}.{number}", name, arguments)
            self.ledger.push(result)

    def ask(self, ceiling: int, notes: Sequence[MemoryEntry] = ()) -> Assembled:
        request = self.assembler.assemble(step=self.step + 1, budget_tokens=ceiling, notes=notes)
        check(request, self.calls, ceiling)
        return request


def size(message: Message) -> int:
    """The code points of texts and arguments, as JSON without spaces."""
    arguments = sum(
        len(json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":")))
        for call in message.calls
        if call.arguments != {}
    )
    return len(message.text) + arguments + sum(len(result.text) for result in message.results)


def check(request: Assembled, calls: Calls, ceiling: int) -> tuple[Message, ...]:
    """What every provider asks of messages, and the ceiling of ours."""
    messages = build_messages(request.pieces, calls)
    assert -(-sum(map(size, messages)) // 4) <= ceiling
    answered: list[str] = []
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else None
        if message.role == "tool":
            assert before is not None
            assert [call.id for call in before.calls] == [r.call_id for r in message.results]
            assert message.results
        else:
            assert before is None or not before.calls
            assert message.text or message.calls
        answered += [call.id for call in message.calls]
    assert not messages or not messages[-1].calls
    assert len(set(answered)) == len(answered)
    shown = {
        calls[piece.step, piece.call].id
        for piece in request.pieces
        if piece.kind is not None and (piece.step, piece.call) in calls
    }
    assert set(answered) == shown
    return messages


def result(step: int, size: int = 20, kind: ObsKind = ObsKind.TOOL) -> Observation:
    return Observation(step, kind, f"t{step}", "x" * size, args='{"n":1}')


def roles(messages: Sequence[Message]) -> list[str]:
    return [message.role for message in messages]


def test_a_step_is_one_answer_and_its_results() -> None:
    run = Run()
    run.take(result(1), result(1, kind=ObsKind.ERROR))
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert roles(messages) == ["assistant", "tool"]
    answer, results = messages
    assert answer.text == "I look."
    assert answer.calls == (
        ToolCall("1.0", "tool_tool", {"n": 1}),
        ToolCall("1.1", "error_tool", {"n": 1}),
    )
    assert [r.text for r in results.results] == [
        f"[step 1, tool t1]\n{'x' * 20}\n",
        f"[step 1 call 1, error t1]\n{'x' * 20}\n",
    ]
    assert [r.is_error for r in results.results] == [False, True]


def test_words_without_calls_are_an_answer_alone() -> None:
    run = Run()
    run.take()
    run.take(said="Done.")
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert [(m.role, m.text) for m in messages] == [
        ("assistant", "I look."),
        ("assistant", "Done."),
    ]


@pytest.mark.parametrize("said", ["", None])
def test_a_step_without_words_has_calls_only(said: str | None) -> None:
    run = Run()
    run.take(result(1), said=said)
    run.take(said=said)
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert [(m.role, m.text, len(m.calls)) for m in messages] == [
        ("assistant", "", 1),
        ("tool", "", 0),
    ]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("price", [BASE, PRICED])
def test_a_parallel_batch_is_cut_at_every_index_in_pairs(width: int, price: CachePrice) -> None:
    cuts = set()
    for ceiling in range(64, 700, 7):
        run = Run(price)
        for _ in range(4):
            run.take(*(result(run.step + 1, 120) for _ in range(width)))
        request = run.ask(ceiling)
        whole = [p for p in request.pieces if p.kind is ObsKind.TOOL and p.status == "carried"]
        cuts.add(len(whole) % width)
        hidden = [p for p in request.pieces if p.status is PieceStatus.COLLAPSED]
        assert len(hidden) <= 1
    assert cuts == set(range(width))


def test_a_stub_keeps_the_place_of_its_call() -> None:
    run = Run()
    run.take(
        Observation(1, ObsKind.SKILL, "a", "first", args='{"n":"a"}'),
        Observation(1, ObsKind.SKILL, "b", "second", args='{"n":"b"}'),
        Observation(1, ObsKind.SKILL, "a", "third", args='{"n":"c"}'),
    )
    _, results = check(run.ask(1_000), run.calls, 1_000)
    assert [r.text for r in results.results] == [
        "[step 1, skill a: superseded by step 1 call 2]\n",
        "[step 1 call 1, skill b]\nsecond\n",
        "[step 1 call 2, skill a]\nthird\n",
    ]


def test_a_collapsed_one_leaves_together_with_its_call() -> None:
    run = Run()
    for _ in range(40):
        run.take(result(run.step + 1, 200))
    request = run.ask(400)
    messages = check(request, run.calls, 400)
    assert messages[0].role == "user"
    assert messages[0].text.startswith("[collapsed: ")
    sent = sum(len(message.calls) for message in messages)
    shown = [p for p in request.pieces if p.kind is not None and p.call >= 0]
    assert sent == len(shown) < 40


def test_the_arguments_sent_are_those_of_the_piece() -> None:
    run = Run()
    args = json.dumps({"text": "y" * 900, "path": "a.py"}, separators=(",", ":"))
    run.take(Observation(1, ObsKind.TOOL, "t", "x" * 2_000, args=args))
    run.take(Observation(2, ObsKind.TOOL, "t", "x" * 1_900, args='{"path":"b.py"}'))
    messages = check(run.ask(700), run.calls, 700)
    sent = [call.arguments for message in messages for call in message.calls]
    assert sent == [{"text": "[900 chars elided]", "path": "a.py"}, {"path": "b.py"}]


def test_notes_and_counts_are_user_text_before_the_first_answer() -> None:
    run = Run()
    for _ in range(30):
        run.take(result(run.step + 1, 200))
    messages = check(run.ask(800, [MemoryEntry("k", "v", "r", 1)]), run.calls, 800)
    assert roles(messages)[:3] == ["user", "assistant", "tool"] or messages[1].role == "tool"
    first = messages[0].text
    assert first.startswith("[notes: ")
    assert "[collapsed: " in first
    assert all(message.role != "user" for message in messages[1:])


def test_what_no_call_stands_behind_is_user_text_after_the_results() -> None:
    run = Run()
    run.take(result(1), result(1))
    run.ledger.push(Observation(1, ObsKind.MESSAGE, None, "The check failed.", call=2))
    run.take(result(2))
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert roles(messages) == ["assistant", "tool", "user", "assistant", "tool"]
    assert messages[2].text == "[step 1 call 2, note]\nThe check failed.\n"


def test_a_step_that_an_outside_note_interrupts_stays_whole() -> None:
    run = Run()
    run.take(result(1))
    run.ledger.push(Observation(1, ObsKind.MESSAGE, None, "By the way.", call=7))
    run.calls[1, 1] = ToolCall("1.1", "late", {})
    run.ledger.push(Observation(1, ObsKind.TOOL, "t", "late", call=1))
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert roles(messages) == ["user", "assistant", "tool"]
    assert [call.id for call in messages[1].calls] == ["1.0", "1.1"]


def test_a_call_that_is_not_answered_yet_is_in_no_message() -> None:
    run = Run()
    run.take(result(1))
    run.calls[2, 0] = ToolCall("2.0", "running", {})
    messages = check(run.ask(1_000), run.calls, 1_000)
    assert [call.id for message in messages for call in message.calls] == ["1.0"]


def test_nothing_gives_no_message() -> None:
    assert build_messages([], {}) == ()


def read(run: Run, path: str, first: int, count: int) -> Observation:
    got = run.files.read(path, offset=first, limit=count)
    return Observation(
        run.step + 1,
        ObsKind.READ,
        path,
        got.text,
        args='{"path":"a"}',
        lines=(first, first + count - 1),
        total_lines=got.total_lines,
        digest=got.digest,
    )


def write(run: Run, path: str, text: str) -> Observation:
    run.files.put(path, text)
    return Observation(run.step + 1, ObsKind.WRITE, path, "written", args='{"path":"a"}')


def test_a_change_between_two_steps_is_user_text_after_the_results() -> None:
    run = Run(PRICED)
    run.files.put("a", "1\n2\n3\n")
    run.take(read(run, "a", 1, 9))
    run.ask(2_000)
    run.files.put("a", "1\ntwo\n3\n")
    run.take(result(2))
    messages = check(run.ask(2_000), run.calls, 2_000)
    assert roles(messages) == ["assistant", "tool", "user", "assistant", "tool"]
    assert (
        messages[2].text
        == "[changed a, lines 2-2: now lines 2-2 of 3, step 3: it changed on disk]\ntwo\n"
    )


def test_a_read_that_is_shown_again_is_user_text_and_its_call_stays_where_it_was() -> None:
    run = Run(PRICED)
    run.files.put("a", "x\n" * 5)
    run.take(read(run, "a", 1, 5))
    run.ask(2_000)
    run.files.put("a", ("y" * 900 + "\n") * 5)
    run.take(result(2))
    messages = check(run.ask(2_000), run.calls, 2_000)
    assert roles(messages) == ["assistant", "tool", "user", "assistant", "tool"]
    assert "nothing shown of it before holds" in messages[2].text
    assert "re-read at step 3" in messages[2].text


LINES = st.lists(st.sampled_from(["a", "b", "", "c" * 40, "[step 1, note]", "d" * 900]), max_size=9)
ACT = st.one_of(
    st.tuples(st.just("tool"), st.integers(0, 900)),
    st.tuples(st.just("read"), st.integers(1, 9)),
    st.tuples(st.just("write"), LINES),
)
STEP = st.tuples(st.sampled_from([None, "", "I look."]), st.lists(ACT, max_size=4), LINES)


@settings(max_examples=150)
@given(
    st.lists(STEP, max_size=12),
    st.integers(64, 900),
    st.sampled_from([BASE, PRICED]),
    st.lists(st.builds(MemoryEntry, st.text(max_size=9), st.text(), st.just("r"), st.just(1))),
)
def test_every_run_gives_messages_that_a_provider_takes(
    steps: list[tuple[str | None, list[tuple[str, object]], list[str]]],
    ceiling: int,
    price: CachePrice,
    notes: list[MemoryEntry],
) -> None:
    run = Run(price)
    run.files.put("a", "x\n" * 5)
    for said, acts, behind in steps:
        if behind:
            run.files.put("a", "".join(f"{line}\n" for line in behind))
        results = []
        for act in acts:
            match act:
                case ("tool", int(length)):
                    results.append(result(run.step + 1, length))
                case ("read", int(first)):
                    results.append(read(run, "a", first, 4))
                case ("write", list(lines)):
                    results.append(write(run, "a", "".join(f"{line}\n" for line in lines)))
        run.take(*results, said=said)
        run.ask(ceiling, notes)


def test_a_change_comes_after_the_read_that_it_changes_though_the_step_goes_on() -> None:
    """What waited for room is of an earlier step, and follows the change of a file it read."""
    files, ledger = MemoryFiles(), Ledger()
    files.put("a.py", "one\ntwo\n")
    assembler = Assembler(ledger, workspace=files, price=PRICED)
    calls = {(1, call): ToolCall(f"1.{call}", "tool", {}) for call in range(3)}
    ledger.push(Observation(1, ObsKind.TOOL, "job", "x" * 1_900, call=0))
    ledger.push(Observation(1, ObsKind.TOOL, "job", "x" * 1_900, call=1))
    ledger.push(Observation(1, ObsKind.READ, "a.py", "one\ntwo\n", total_lines=2, call=2))
    assembler.assemble(step=2, budget_tokens=100)
    files.put("a.py", "one\n2\n")

    messages = build_messages(assembler.assemble(step=2, budget_tokens=4_000).pieces, calls)

    texts = [
        message.text or "".join(result.text for result in message.results) for message in messages
    ]
    (read,) = (index for index, text in enumerate(texts) if "two" in text)
    (change,) = (index for index, text in enumerate(texts) if "[changed a.py" in text)
    assert read < change
    assert [len(message.results) for message in messages if message.results] == [1, 2]
