"""A long run under a ceiling, as it is stored: what it takes on the disk over its new text.

python -m benchmarks.store.growth [turns] [chars of one result]
"""

from __future__ import annotations

import asyncio
import base64
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from io_harness.store import Assembly, PieceTrace, ProviderCall, Store
from io_harness.types import (
    Completion,
    CompletionRequest,
    Message,
    Observation,
    ObsKind,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)

CEILING_CHARS = 4 * 24_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn's request and what came of it."""

    step: int
    request: CompletionRequest
    completion: Completion
    observations: tuple[Observation, ...]
    assembly: Assembly

    @property
    def new_chars(self) -> int:
        """Code points that no earlier turn had: the answer, its arguments, the results."""
        return sum(len(seen.text) + len(seen.args) for seen in self.observations)


def turns(count: int, result_chars: int) -> Iterator[Turn]:
    """A run whose window slides: results as they were, older ones as stubs, then counted.

    The text cannot be compressed away: it is random, in base 64.
    """
    rng = random.Random(4)
    tools = (ToolSpec("read", "Reads a file of the workspace.", {"type": "object"}),)
    past: list[tuple[Completion, Observation]] = []
    for step in range(1, count + 1):
        args = f'{{"path":"src/module_{rng.randrange(400)}.py"}}'
        said = text(rng, 120)
        call = ToolCall(f"toolu_{text(rng, 24)}", "read", {"path": args[9:-2]})
        size = rng.randrange(result_chars // 2, result_chars * 3 // 2)
        seen = Observation(
            step, ObsKind.READ, args[9:-2], text(rng, size), args=args, lines=(1, 60), call=0
        )
        messages, pieces = window(past)
        request = CompletionRequest(
            "You work on a repository. " * 60, tools, messages, stable_chars=step
        )
        answer = Completion(said, (call,), Usage(24_000, 90, 20_000, 0), "tool_use")
        message = Observation(step, ObsKind.MESSAGE, None, said, call=-1)
        assembly = Assembly(
            est_section=24_000,
            est_request=24_600,
            pieces=tuple(pieces),
            detail={"carried": len(pieces), "stubbed": max(0, step - len(pieces)), "reread": 0},
        )
        yield Turn(step, request, answer, (message, seen), assembly)
        past.append((answer, seen))


def window(
    past: list[tuple[Completion, Observation]],
) -> tuple[tuple[Message, ...], list[PieceTrace]]:
    """The newest results in full while they fit, twenty stubs before them."""
    room, shown, messages = CEILING_CHARS, 0, list[Message]()
    pieces: list[PieceTrace] = []
    for answer, seen in reversed(past):
        whole = len(seen.text) + 200 <= room
        if not whole:
            room, shown = 0, shown + 1
            if shown > 20:
                break
        body = f"{seen.text}\n" if whole else ""
        why = "" if whole else "older than the current context window"
        head = f"[read {seen.target}, lines 1-60 of 60, step {seen.step}{why}]\n"
        room -= len(body) + 200 if whole else 0
        result = ToolResult(answer.calls[0].id, head + body)
        messages += (
            Message("tool", results=(result,)),
            Message("assistant", answer.text, answer.calls),
        )
        status = "carried" if whole else "stub"
        pieces.append(PieceTrace(seen.step, 0, status, why, len(head) + len(body)))
    goal = Message("user", "Make the parser faster without changing what it accepts.")
    return (goal, *reversed(messages)), pieces[::-1]


def text(rng: random.Random, chars: int) -> str:
    """Text with nothing in it to compress but its alphabet."""
    return base64.b64encode(rng.randbytes(chars * 3 // 4 + 3)).decode()[:chars]


async def drive(store: Store, run: Iterator[Turn]) -> tuple[int, int, float]:
    """Store a run; return its new text, the sum of its prompts, and seconds in the store."""
    lease = await store.journal.begin(
        goal="g", workspace="/w", contract="{}", provider="p", model="m", policy="[]"
    )
    new = prompts = 0
    spent = 0.0
    for turn in run:
        usage = turn.completion.usage
        call = ProviderCall(step=turn.step, attempt=1, kind="ok", latency=1.25, usage=usage)
        began = time.perf_counter()
        await store.journal.completed(
            lease,
            turn.step,
            turn.completion,
            request=turn.request,
            assemblies=[turn.assembly],
            call=call,
            manifest="{}",
        )
        await store.journal.stepped(lease, turn.step, turn.observations, state="{}")
        spent += time.perf_counter() - began
        new += turn.new_chars
        prompts += sum(
            len(m.text) + sum(len(r.text) for r in m.results) for m in turn.request.messages
        )
    return new, prompts, spent


def measure(count: int, result_chars: int) -> dict[str, float]:
    """Store a run in a fresh file and measure it."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "runs.db")
        with Store.open(path) as store:
            new, prompts, spent = asyncio.run(drive(store, turns(count, result_chars)))
        size = path.stat().st_size
        return {
            "turns": count,
            "result_chars": result_chars,
            "new_chars": new,
            "prompt_chars": prompts,
            "file_bytes": size,
            "ratio": size / new,
            "ms_per_turn": 1_000 * spent / count,
        }


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for chars in map(int, sys.argv[2:] or ("1000", "2000", "4000", "8000")):
        print(measure(count, chars))
