"""Requests and answers in the form of Anthropic's Messages API, as plain JSON values.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from io_harness.context.escape import clean
from io_harness.providers import faults
from io_harness.providers.wire import (
    accepted_name,
    argument_object,
    blocks_of,
    called_with,
    count,
    text_of,
)
from io_harness.types import Completion, ToolCall, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from io_harness.types import JSON, CompletionRequest, Message

Block = dict[str, object]

_MARK: Block = {"type": "ephemeral"}


def system_blocks(request: CompletionRequest) -> list[Block]:
    """Return the system text as blocks; a vendor refuses an empty one."""
    text = clean(request.system)
    return [{"type": "text", "text": text}] if text.strip() else []


def tool_blocks(request: CompletionRequest) -> list[Block]:
    """Return the tools as the API takes them, in the order given."""
    return [
        {"name": t.name, "description": clean(t.description), "input_schema": t.parameters}
        for t in request.tools
    ]


def message_blocks(request: CompletionRequest, *, mark_end: bool) -> list[Block]:
    """Return the messages with at most three cache marks.

    They stand after the fixed part (the first message closes it; tools and system text come
    before it in the vendor's order), at the last block that ends within `stable_chars`, and,
    where a cache is paid for, at the end: a prefix is only read where an earlier request wrote.
    """
    messages: list[Block] = []
    fixed: Block | None = None
    stable: Block | None = None
    last: Block | None = None
    seen = 0
    for position, message in enumerate(request.messages):
        role = "assistant" if message.role == "assistant" else "user"
        for block, chars in _blocks(message):
            if not messages or messages[-1]["role"] != role:
                messages.append({"role": role, "content": []})
            cast("list[Block]", messages[-1]["content"]).append(block)
            last = block if _takes_mark(block) else last
            if position == 0:
                fixed = last
                continue
            seen += chars
            stable = last if 0 < seen <= request.stable_chars else stable
    for marked in (fixed, stable, last if mark_end else None):
        if marked is not None:
            marked["cache_control"] = _MARK
    return messages


def completion(answer: Mapping[str, object], *, who: str) -> Completion:
    """Return what an answer says.

    Raises `ProviderError`: malformed where it says nothing at all, context_overflow where the
    model stopped at the end of its window before it said anything.
    """
    blocks = blocks_of(answer.get("content"))
    text = text_of(answer.get("content"))
    calls = tuple(_call(block) for block in blocks if block.get("type") == "tool_use")
    stop = str(answer.get("stop_reason") or "end")
    usage = _usage(answer.get("usage"))
    if not text and not calls:
        if stop == "model_context_window_exceeded":
            raise faults.refused(who, 400, stop)
        if usage is None:
            raise faults.inside(who, answer)
    return Completion(text, calls, usage, stop, reasoning=_reasoning(blocks))


def _blocks(message: Message) -> Iterator[tuple[Block, int]]:
    """Yield each block with the code points of the section that it stands for."""
    if isinstance(message.reasoning, list):
        for block in message.reasoning:
            yield cast("Block", block), 0
    for result in message.results:
        yield (
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": clean(result.text),
                "is_error": result.is_error,
            },
            len(result.text),
        )
    if message.text.strip():
        yield {"type": "text", "text": clean(message.text)}, len(message.text)
    for call in message.calls:
        name = accepted_name(call.name)
        yield {"type": "tool_use", "id": call.id, "name": name, "input": argument_object(call)}, 0


def _takes_mark(block: Block) -> bool:
    return block.get("type") in ("text", "tool_result", "tool_use")


def _call(block: Block) -> ToolCall:
    name, given = str(block.get("name") or ""), called_with(block.get("input"))
    return ToolCall(str(block.get("id") or ""), name, given)


def _reasoning(blocks: list[Block]) -> JSON:
    kept = [block for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
    return cast("JSON", kept or None)


def _usage(reported: object) -> Usage | None:
    """Return the counts with the whole prompt as input: the vendor's excludes what was cached."""
    if not isinstance(reported, dict):
        return None
    plain = count(reported.get("input_tokens"))
    written = count(reported.get("cache_creation_input_tokens"))
    read = count(reported.get("cache_read_input_tokens"))
    output = count(reported.get("output_tokens"))
    if plain is None and output is None:
        return None
    whole = None if plain is None else plain + (written or 0) + (read or 0)
    return Usage(whole, output, read, written)
