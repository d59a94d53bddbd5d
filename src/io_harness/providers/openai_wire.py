"""Requests and answers in the form of OpenAI's chat completions, as plain JSON values.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from io_harness import jsontext
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
    from collections.abc import Mapping

    from io_harness.types import JSON, CompletionRequest, Message

Block = dict[str, object]

_MARK: Block = {"type": "ephemeral"}

# What OpenRouter and DeepSeek want back beside the message that it came with.
_REASONING_KEYS = ("reasoning_details", "reasoning_content")


def tool_blocks(request: CompletionRequest) -> list[Block]:
    """Return the tools as the API takes them, in the order given."""
    return [
        {
            "type": "function",
            "function": {
                "name": t.name,
                "description": clean(t.description),
                "parameters": t.parameters,
            },
        }
        for t in request.tools
    ]


def message_blocks(request: CompletionRequest, *, marks: bool) -> list[Block]:
    """Return the messages, the system text first.

    User messages in a row become one, for chat templates that demand alternation. `marks` sets
    Anthropic's cache marks instead, which OpenRouter hands on: after the fixed part, at the last
    message that ends within `stable_chars`, and at the end. OpenAI caches prefixes by itself.
    """
    blocks: list[Block] = [{"role": "system", "content": clean(request.system)}]
    marked: dict[str, Block] = {}
    seen = 0
    for position, message in enumerate(request.messages):
        for block in _blocks(message):
            if not marks and blocks[-1]["role"] == block["role"] == "user":
                blocks[-1]["content"] = f"{blocks[-1]['content']}{block['content']}"
                continue
            blocks.append(block)
            seen += len(str(block["content"] or "")) if position else 0
            if block["role"] != "assistant":
                marked["fixed" if position == 0 else "end"] = block
                if 0 < seen <= request.stable_chars:
                    marked["stable"] = block
    if marks:
        _set_marks(marked)
    return blocks


def completion(answer: Mapping[str, object], *, who: str) -> Completion:
    """Return what an answer says.

    Raises `ProviderError`: malformed where it says nothing at all, else what it holds as an error.
    """
    usage = _usage(answer.get("usage"))
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise faults.inside(who, answer)
    choice = choices[0]
    if choice.get("error"):
        raise faults.inside(who, choice)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = text_of(message.get("content")) or text_of(message.get("refusal"))
    calls = tuple(map(_call, blocks_of(message.get("tool_calls"))))
    if not text and not calls and usage is None:
        raise faults.empty(who)
    stop = "refusal" if message.get("refusal") else str(choice.get("finish_reason") or "end")
    kept = {key: message[key] for key in _REASONING_KEYS if message.get(key)}
    return Completion(text, calls, usage, stop, reasoning=cast("JSON", kept or None))


def _blocks(message: Message) -> list[Block]:
    if message.role == "tool":
        return [
            {"role": "tool", "tool_call_id": r.call_id, "content": clean(r.text)}
            for r in message.results
        ]
    if message.role == "user":
        return [{"role": "user", "content": clean(message.text)}]
    block: Block = {"role": "assistant", "content": clean(message.text) or None}
    if message.calls:
        block["tool_calls"] = [_call_block(call) for call in message.calls]
    if isinstance(message.reasoning, dict):
        block.update({k: v for k, v in message.reasoning.items() if k in _REASONING_KEYS})
    return [block]


def _call_block(call: ToolCall) -> Block:
    arguments = jsontext.dumps(argument_object(call))
    function = {"name": accepted_name(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _set_marks(marked: Mapping[str, Block]) -> None:
    for block in {id(block): block for block in marked.values()}.values():
        if block["content"]:
            part = {"type": "text", "text": block["content"], "cache_control": _MARK}
            block["content"] = [part]


def _call(block: Mapping[str, object]) -> ToolCall:
    function = block.get("function")
    function = function if isinstance(function, dict) else {}
    return ToolCall(
        str(block.get("id") or ""),
        str(function.get("name") or ""),
        called_with(function.get("arguments")),
    )


def _usage(reported: object) -> Usage | None:
    if not isinstance(reported, dict):
        return None
    details = reported.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    usage = Usage(
        count(reported.get("prompt_tokens")),
        count(reported.get("completion_tokens")),
        count(details.get("cached_tokens")),
        count(details.get("cache_write_tokens")),
    )
    return None if usage == Usage() else usage
