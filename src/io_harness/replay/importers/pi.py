"""pi sessions: a header line, then messages; compactions tell what left the context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.content import blocks
from io_harness.replay.importers.values import as_dict, as_text, usage_of
from io_harness.replay.vocabulary import call_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source
    from io_harness.types import JSON

FORMAT = "pi"
_SKIPPED = frozenset(
    {"model_change", "thinking_level_change", "session", "session_info", "label", "custom"}
)


def claims(source: Source) -> bool:
    """Messages of pi's roles and block names, or its session header before messages."""
    values = [as_dict(v) for v in source.values]
    messages = [as_dict(v.get("message")) for v in values if v.get("type") == "message"]
    if not messages:
        return False
    header = any(v.get("type") == "session" and "cwd" in v for v in values)
    roles = {as_text(m.get("role")) for m in messages}
    return header or "toolResult" in roles or any("stopReason" in m for m in messages)


def build(source: Source) -> Transcript:
    """The session as records; a compaction's summary enters as a message."""
    builder = Builder()
    lines = [as_dict(v) for v in source.values]
    cwd = next((as_text(v.get("cwd")) for v in lines if v.get("type") == "session"), "")
    left = _left_branches(lines)
    for line in lines:
        kind = as_text(line.get("type"))
        if as_text(line.get("id")) in left:
            builder.report.notes["line of another branch"] += 1
        elif kind == "message":
            _message(builder, as_dict(line.get("message")), cwd)
        elif kind in {"compaction", "branch_summary", "custom_message"}:
            builder.report.notes[kind] += 1
            builder.told(as_text(line.get("summary")) or builder.text(line.get("content")))
        elif kind in _SKIPPED:
            builder.report.notes[f"{kind} line"] += 1
        else:
            builder.unknown(f"line of type {kind or 'none'}")
    return builder.transcript(source.path, FORMAT)


def _left_branches(lines: Sequence[Mapping[str, JSON]]) -> set[JSON]:
    """The lines of a tree that the last one does not descend from; none where a link is gone."""
    parents = {
        line["id"]: line.get("parentId")
        for line in lines
        if isinstance(line.get("id"), str) and "parentId" in line
    }
    at: JSON = next(reversed(parents), None)
    kept: set[JSON] = set()
    while isinstance(at, str) and at not in kept:
        kept.add(at)
        at = parents.get(at, False)
    return set(parents) - kept if at is None else set()


def _message(builder: Builder, message: Mapping[str, JSON], cwd: str) -> None:
    role = as_text(message.get("role"))
    if role == "assistant":
        _answer(builder, message, cwd)
    elif role == "toolResult":
        builder.result(
            as_text(message.get("toolCallId")),
            builder.text(message.get("content")),
            is_error=message.get("isError") is True,
        )
    elif role == "user":
        builder.told(builder.text(message.get("content")))
    elif role == "bashExecution":
        _user_command(builder, message, cwd)
    else:
        builder.unknown(f"message of role {role or 'none'}")


def _user_command(builder: Builder, message: Mapping[str, JSON], cwd: str) -> None:
    """A command the user ran; its output stands in the context like a call's."""
    if message.get("excludeFromContext") is True:
        builder.report.notes["user's command, kept out of the context"] += 1
        return
    command = {"command": message.get("command")}
    call_id = builder.call("", "bash", command, call_meaning("bash", command, cwd))
    code = message.get("exitCode")
    builder.result(
        call_id, as_text(message.get("output")), exit_code=code if isinstance(code, int) else 0
    )


def _answer(builder: Builder, message: Mapping[str, JSON], cwd: str) -> None:
    builder.answer(
        usage_of(
            message.get("usage"),
            prompt=("input", "cacheRead", "cacheWrite"),
            read="cacheRead",
            write="cacheWrite",
            output="output",
        )
    )
    if as_text(message.get("stopReason")) in {"aborted", "error"}:
        builder.report.notes["answer cut off"] += 1
    for block in blocks(message.get("content")):
        kind = as_text(block.get("type"))
        if kind == "text":
            builder.said(as_text(block.get("text")))
        elif kind == "toolCall":
            name = as_text(block.get("name"))
            meaning = call_meaning(name, as_dict(block.get("arguments")), cwd)
            builder.call(as_text(block.get("id")), name, block.get("arguments"), meaning)
        elif kind == "thinking":
            builder.report.notes["thinking block"] += 1
        else:
            builder.unknown(f"answer block of type {kind or 'none'}")
