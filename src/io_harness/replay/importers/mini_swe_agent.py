"""mini-swe-agent trajectories: plain messages, one bash block an answer is the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from io_harness.replay.commands import command_meaning
from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.values import as_dict, as_list, as_text, parsed, usage_of
from io_harness.replay.vocabulary import call_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source
    from io_harness.types import JSON, Usage

FORMAT = "mini_swe_agent"
_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)(?>\s*\n)(.*?)\n?```", re.DOTALL)
_RESULT = re.compile(r"\A\s*<returncode>(-?\d{1,9})</returncode>\s*")
_OUTPUT = re.compile(r"\A<output>\n?(.*)</output>\s*\Z", re.DOTALL)


def claims(source: Source) -> bool:
    """One object with `messages` and the agent's own name or settings beside them."""
    top = as_dict(source.values[0])
    told = as_text(top.get("trajectory_format")).startswith("mini-swe-agent")
    return isinstance(top.get("messages"), list) and (
        told or "mini_version" in as_dict(top.get("info"))
    )


def build(source: Source) -> Transcript:
    """The trajectory as records; the system message belongs to the fixed part."""
    top = as_dict(source.values[0])
    config = as_dict(as_dict(top.get("info")).get("config"))
    cwd = as_text(as_dict(config.get("environment")).get("cwd")) or "/testbed"
    builder = Builder()
    for message in map(as_dict, as_list(top.get("messages"))):
        _message(builder, message, cwd)
    return builder.transcript(source.path, FORMAT)


def _message(builder: Builder, message: Mapping[str, JSON], cwd: str) -> None:
    role, kind = as_text(message.get("role")), as_text(message.get("type"))
    if role == "assistant":
        _answer(builder, message, cwd)
    elif message.get("object") == "response":
        builder.answer(_usage(message))
        for item in map(as_dict, as_list(message.get("output"))):
            _item(builder, item, cwd)
    elif role in {"user", "tool"} or kind == "function_call_output":
        text = builder.text(message.get("content", message.get("output")))
        named = as_text(message.get("tool_call_id")) or as_text(message.get("call_id"))
        waiting = named or builder.waiting()
        if waiting is None:
            builder.told(text)
        else:
            _result(builder, waiting, text)
    elif role in {"system", "exit"}:
        builder.report.notes[f"{role} message"] += 1
    else:
        builder.unknown(f"message of role {role or kind or 'none'}")


def _result(builder: Builder, call_id: str, text: str) -> None:
    code = _RESULT.match(text)
    body = _RESULT.sub("", text)
    inner = _OUTPUT.match(body)
    builder.result(call_id, inner[1] if inner else body, exit_code=int(code[1]) if code else 0)


def _item(builder: Builder, item: Mapping[str, JSON], cwd: str) -> None:
    """One item of an answer in the style of OpenAI's Responses."""
    if item.get("type") == "function_call":
        _call(builder, as_text(item.get("call_id")), item, cwd)
    elif item.get("type") == "message":
        builder.said(builder.text(item.get("content")))
    else:
        builder.report.notes[f"{as_text(item.get('type')) or 'unnamed'} item"] += 1


def _call(builder: Builder, call_id: str, function: Mapping[str, JSON], cwd: str) -> None:
    args = function.get("arguments")
    meaning = call_meaning(as_text(function.get("name")), parsed(args), cwd)
    builder.call(call_id, as_text(function.get("name")), args, meaning)


def _answer(builder: Builder, message: Mapping[str, JSON], cwd: str) -> None:
    builder.answer(_usage(message))
    text = builder.text(message.get("content"))
    calls = [as_dict(call) for call in as_list(message.get("tool_calls"))]
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1 or calls:
        builder.said(text)
        for call in calls:
            _call(builder, as_text(call.get("id")), as_dict(call.get("function")), cwd)
        if not calls:
            builder.report.notes[f"answer with {len(blocks)} commands, none run"] += 1
        return
    builder.said(_BLOCK.sub("", text).strip())
    builder.call("", "bash", {"command": blocks[0]}, command_meaning(blocks[0], cwd, cwd))


def _usage(message: Mapping[str, JSON]) -> Usage | None:
    usage = as_dict(as_dict(as_dict(message.get("extra")).get("response")).get("usage"))
    details = as_dict(usage.get("prompt_tokens_details"))
    return usage_of(
        {**usage, "cached": details.get("cached_tokens")},
        prompt=("prompt_tokens",),
        read="cached",
        write="cache_write_tokens",
        output="completion_tokens",
    )
