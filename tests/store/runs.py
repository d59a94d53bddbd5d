"""Runs as a driver would write them, for the tests of the store."""

from __future__ import annotations

from io_harness.store import Assembly, Journal, Lease, PieceTrace, ProviderCall
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

TOOLS = (ToolSpec("read", "Reads a file.", {"type": "object"}),)
CALLS = (ToolCall("call-1", "read", {"path": "a.txt"}), ToolCall("call-2", "read", "{broken"))


def request(step: int, text: str = "hello\n") -> CompletionRequest:
    """A request with a part of every sort."""
    return CompletionRequest(
        "You are careful.",
        TOOLS,
        (
            Message("user", "Refactor the parser."),
            Message("assistant", "Reading.", CALLS, reasoning={"signature": "s"}),
            Message("tool", results=(ToolResult("call-1", text), ToolResult("call-2", "", True))),
        ),
        max_output_tokens=100,
        stable_chars=step,
    )


def completion(text: str = "Reading on.") -> Completion:
    return Completion(text, CALLS, Usage(120, 8, 100, None), "tool_use", [{"opaque": 1}])


def observations(step: int, text: str = "hello\n") -> tuple[Observation, ...]:
    """What the calls of `completion` returned, every field set in one of them."""
    return (
        Observation(step, ObsKind.MESSAGE, None, "Reading on.", call=-1),
        Observation(
            step,
            ObsKind.READ,
            "a.txt",
            text,
            args='{"path":"a.txt"}',
            lines=(1, 1),
            total_lines=1,
            scope="src/**",
            key="a.txt",
            digest="0" * 32,
            paths=("a.txt", "b\udc80"),
            call=0,
        ),
        Observation(step, ObsKind.ERROR, None, "not JSON", args="{broken", call=1),
    )


async def begin(journal: Journal, run_id: str | None = None) -> Lease:
    return await journal.begin(
        goal="Refactor the parser.",
        workspace="/work",
        contract='{"goal":"Refactor the parser."}',
        provider="scripted",
        model="script-1",
        policy="[]",
        run_id=run_id,
    )


async def answer(journal: Journal, lease: Lease, step: int, text: str = "hello\n") -> None:
    """Commit 1 of a step."""
    usage = completion().usage
    await journal.completed(
        lease,
        step,
        completion(),
        request=request(step, text),
        assemblies=[
            Assembly(est_section=40, est_request=60, pieces=(PieceTrace(1, 0, "stub", "old", 9),)),
            Assembly(est_section=20, est_request=40, detail={"carried": 2}),
        ],
        call=ProviderCall(step=step, attempt=2, kind="ok", latency=0.25, usage=usage),
        manifest=f'{{"step":{step}}}',
    )


async def take_step(journal: Journal, lease: Lease, step: int, text: str = "hello\n") -> None:
    """All of a step."""
    await answer(journal, lease, step, text)
    await journal.call_started(lease, step, 0, detail={"path": "a.txt"})
    await journal.stepped(lease, step, observations(step, text), state=f"state {step}")
