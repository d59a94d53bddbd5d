"""Answers as the vendors send them, short."""

from __future__ import annotations

from io_harness.types import CompletionRequest, Message, ToolCall, ToolResult, ToolSpec


def anthropic_answer(
    *content: object, stop: str = "end_turn", **extra: object
) -> dict[str, object]:
    return {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 1_000,
            "output_tokens": 7,
        },
        **extra,
    }


def openai_answer(
    message: dict[str, object], finish: str = "stop", **extra: object
) -> dict[str, object]:
    return {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1741569952,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "refusal": None, **message},
                "logprobs": None,
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": 1_212,
            "completion_tokens": 7,
            "total_tokens": 1_219,
            "prompt_tokens_details": {"cached_tokens": 1_000, "audio_tokens": 0},
        },
        **extra,
    }


READ = ToolSpec(
    "read_file",
    "Read lines of a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def a_request(*, stable_chars: int = 0) -> CompletionRequest:
    """Two parallel calls, their results, a notice, and an answer in text."""
    calls = (
        ToolCall("call_1_0", "read_file", {"path": "a.py"}),
        ToolCall("call_1_1", "no such tool!", "{not json"),
    )
    results = (ToolResult("call_1_0", "x" * 40), ToolResult("call_1_1", "y" * 20, is_error=True))
    return CompletionRequest(
        system="You are careful.",
        tools=(READ,),
        messages=(
            Message("user", "Goal: fix it.\n\n"),
            Message("user", "[notes]\n- k: v\n"),
            Message("assistant", "Looking.", calls=calls),
            Message("tool", results=results),
            Message("user", "[changed a.py]\n"),
        ),
        max_output_tokens=512,
        stable_chars=stable_chars,
    )
