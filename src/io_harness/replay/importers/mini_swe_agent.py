"""mini-swe-agent trajectories: plain messages, one bash block an answer is the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from io_harness.replay.commands import command_meaning
from io_harness.replay.importers.build import (
    Builder,
    as_dict,
    as_list,
    as_text,
    usage_of,
)
from io_harness.replay.importers.content import result_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source
    from io_harness.types import JSON, Usage

FORMAT = "mini_swe_agent"
_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_RESULT = re.compile(r"\A\s*<returncode>(-?\d+)</returncode>\s*")
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
    role = as_text(message.get("role"))
    text = result_text(message.get("content"))[0]
    if role == "assistant":
        _answer(builder, message, text, cwd)
    elif role in {"user", "tool"}:
        waiting = builder.last_call_id()
        if waiting is None:
            builder.told(text)
        else:
            code = _RESULT.match(text)
            body = _RESULT.sub("", text)
            inner = _OUTPUT.match(body)
            text = inner[1] if inner else body
            builder.result(waiting, text, exit_code=int(code[1]) if code else 0)
    elif role in {"system", "exit"}:
        builder.report.notes[f"{role} message"] += 1
    else:
        builder.unknown(f"message of role {role or 'none'}")


def _answer(builder: Builder, message: Mapping[str, JSON], text: str, cwd: str) -> None:
    builder.answer(_usage(message))
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        builder.said(text)
        builder.report.notes[f"answer with {len(blocks)} commands, none run"] += 1
        return
    builder.said(_BLOCK.sub("", text).strip())
    meaning = command_meaning(blocks[0], cwd, cwd)
    builder.call(f"step {builder.step}", "bash", {"command": blocks[0]}, meaning)


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
