"""Random runs, most of them unreasonable: what holds of every run holds of these."""

from __future__ import annotations

import asyncio
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from io_harness import CachePrice, CompletionRequest, ContextBudget, ToolCall
from io_harness.loop import Outcome, RunResult, resume, run_sync
from io_harness.policy import Policy
from io_harness.providers import Turn, anthropic_wire, openai_wire
from io_harness.store import Store
from io_harness.types import Completion
from tests.run.worlds import Watched, call, contract, read, write

NAMES = ("a.py", "b.txt", "d/c.py", "é\u202e.md")
SEEDS = 24


def make_files(root: Path, chance: random.Random) -> Path:
    (root / "d").mkdir(parents=True)
    for name in NAMES:
        lines = range(chance.randrange(120))
        texts = (f"[step {n}, read x]\nline {n} {'x' * chance.randrange(60)}\n" for n in lines)
        (root / name).write_text("".join(texts))
    return root


def some_call(chance: random.Random) -> ToolCall:
    path = chance.choice([*NAMES, "nope", "../x", "/etc/passwd", "d"])
    lines = {"offset": chance.randrange(1, 80), "limit": chance.randrange(50)}
    content = chance.choice(["w\n" * chance.randrange(400), "w\ud83d" * 9, ""])
    key, value = chance.choice(["k", "k\n", "é" * 200, "z"]), "v" * chance.randrange(3_000)
    return chance.choice(
        [
            read(path),
            read(path, **lines),
            write(path, content),
            call("edit_file", path=path, old="line 1", new="LINE"),
            call("grep", pattern=chance.choice(["line", "(", "x+"])),
            call("find", pattern="*"),
            call("show", step=chance.randrange(1, 20), call=chance.randrange(3)),
            call("remember", key=key, value=value),
            call("forget", key="k"),
            call("run_command", argv=["true"]),
            call(chance.choice(["", "weird name!", "x" * 100]), a={"b": [1, {"c": "\ud83d"}]}),
            ToolCall("", "read_file", chance.choice(["{bad", "[1]", ""])),
        ]
    )


def some_turn(chance: random.Random) -> Turn:
    calls = tuple(some_call(chance) for _ in range(chance.randrange(1, 5)))
    kind = chance.random()
    if kind < 0.1:
        return Completion("text " * chance.randrange(50) + "\n", stop="max_tokens")
    return Completion("say " * chance.randrange(9), calls) if kind < 0.5 else calls


class World:
    """One random script, over files that can be made again."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.seed = seed
        self.ceiling = chance.choice([64, 100, 300, 1_000, 5_000])
        self.price = chance.choice([None, CachePrice(0.1, 1.25)])
        self.turns = [some_turn(chance) for _ in range(chance.randrange(5, 40))]
        self.cut = chance.randrange(1, len(self.turns))

    def drive(
        self, root: Path, store: Store, steps: tuple[int, ...]
    ) -> tuple[RunResult, list[CompletionRequest]]:
        """Run to each of these numbers of steps in turn."""
        make_files(root, random.Random(self.seed))
        wanted = contract(root).with_context_budget(ContextBudget(max_tokens=self.ceiling))
        provider = Watched([*self.turns, "Done."], cache_price=self.price)
        first = wanted.with_max_steps(steps[0])
        result = run_sync(first, provider, store, policy=Policy.permissive())
        requests = provider.requests
        for limit in steps[1:]:
            rest = Watched([*self.turns, "Done."], start=result.steps, cache_price=self.price)
            more = wanted.with_max_steps(limit)
            result = asyncio.run(resume(result.run_id, rest, store, contract=more))
            requests += vars(rest).get("requests", [])
        return result, requests


@pytest.mark.parametrize("seed", range(SEEDS))
def test_any_run_is_bounded_paired_sendable_kept_and_resumable(seed: int, tmp_path: Path) -> None:
    world, store = World(seed), Store.memory()
    result, requests = world.drive(tmp_path / "cut", store, (world.cut, 100))
    assert result.outcome in (Outcome.SUCCESS, Outcome.STALLED)
    for event in store.context_events(result.run_id):
        assert event.est_section is None or event.est_section <= world.ceiling
    for request in requests:
        section = request.messages[1:]
        chars = sum(len(m.text) + sum(len(r.text) for r in m.results) for m in section)
        assert chars <= 4 * world.ceiling
        for before, message in pairwise(section):
            assert [c.id for c in before.calls] == [r.call_id for r in message.results]
        for blocks in (
            anthropic_wire.message_blocks(request, mark_end=True),
            openai_wire.message_blocks(request, marks=False),
        ):
            json.dumps(blocks, ensure_ascii=False).encode()
    assert [step.request for step in store.steps(result.run_id)] == requests
    _, uncut = world.drive(tmp_path / "whole", Store.memory(), (100,))
    assert requests == uncut
