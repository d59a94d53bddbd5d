"""Claude Code sessions: one JSON record a line, one API message spread over several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness.replay.importers.build import (
    Builder,
    as_dict,
    as_list,
    as_text,
    usage_of,
)
from io_harness.replay.importers.content import result_text
from io_harness.replay.readtext import ReadText, count_lines
from io_harness.replay.vocabulary import call_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source
    from io_harness.types import JSON, Usage

FORMAT = "claude_code"
_SKIPPED = frozenset(
    {"file-history-snapshot", "queue-operation", "summary", "progress", "custom-title", "tag"}
    | {"last-prompt", "agent-name", "pr-link", "attachment", "agent-color", "mode", "ai-title"}
)


def claims(source: Source) -> bool:
    """Lines of type user or assistant that hold a message and a session."""
    return any(
        isinstance(v, dict)
        and as_text(v.get("type")) in {"user", "assistant"}
        and isinstance(v.get("message"), dict)
        and ("sessionId" in v or "uuid" in v or "parentUuid" in v)
        for v in source.values
    )


def build(source: Source) -> Transcript:
    """The session as records; lines of other types are counted by type."""
    builder = Builder()
    state = _State(_cwd(source), _sidechain(source))
    for value in source.values:
        line = as_dict(value)
        kind = as_text(line.get("type"))
        if bool(line.get("isSidechain")) != state.sidechain:
            builder.report.notes["sidechain line, in no main context"] += 1
        elif kind == "assistant":
            _assistant(builder, state, as_dict(line.get("message")))
        elif kind == "user" and state.again(line):
            builder.report.notes["user line again, of a resumed session"] += 1
        elif kind == "user":
            _user(builder, line)
        elif kind == "system":
            builder.report.notes[f"system line ({as_text(line.get('subtype')) or 'plain'})"] += 1
        elif kind in _SKIPPED:
            builder.report.notes[f"{kind} line"] += 1
        else:
            builder.unknown(f"line of type {kind or 'none'}")
    return builder.transcript(source.path, FORMAT)


class _State:
    """The answer that is being put together from its lines."""

    def __init__(self, cwd: str, sidechain: bool) -> None:
        self.cwd = cwd
        self.sidechain = sidechain
        self.message_id: str | None = None
        self.answers: set[str] = set()
        self.told: set[tuple[str, str]] = set()

    def again(self, line: Mapping[str, JSON]) -> bool:
        """Whether a user line stands here a second time: a resumed session repeats its past."""
        key = (as_text(line.get("timestamp")), str(as_dict(line.get("message")).get("content")))
        if not key[0] or key not in self.told:
            self.told.add(key)
            return False
        return True


def _cwd(source: Source) -> str:
    found = (as_text(as_dict(v).get("cwd")) for v in source.values)
    return next((c for c in found if c), "")


def _sidechain(source: Source) -> bool:
    """A file of a subagent holds sidechain lines only, and they are its main context."""
    messages = [as_dict(v) for v in source.values if as_dict(v).get("message")]
    return bool(messages) and all(m.get("isSidechain") for m in messages)


def _assistant(builder: Builder, state: _State, message: Mapping[str, JSON]) -> None:
    if message.get("model") == "<synthetic>":
        builder.report.notes["synthetic answer"] += 1
        return
    message_id = as_text(message.get("id"))
    if message_id and message_id != state.message_id and message_id in state.answers:
        builder.report.notes["answer line again, of a resumed session"] += 1
        return
    if not message_id or message_id != state.message_id:
        builder.answer()
        state.message_id = message_id
        state.answers.add(message_id)
    builder.use(_usage(message))
    content = message.get("content")
    if isinstance(content, str):
        builder.said(content)
    for block in map(as_dict, as_list(content)):
        kind = as_text(block.get("type"))
        if kind == "text":
            builder.said(as_text(block.get("text")))
        elif kind in {"tool_use", "server_tool_use"}:
            name = as_text(block.get("name"))
            meaning = call_meaning(name, as_dict(block.get("input")), state.cwd)
            builder.call(as_text(block.get("id")), name, block.get("input"), meaning)
        elif kind in {"thinking", "redacted_thinking"}:
            builder.report.notes["thinking block"] += 1
        else:
            builder.unknown(f"answer block of type {kind or 'none'}")


def _usage(message: Mapping[str, JSON]) -> Usage | None:
    return usage_of(
        message.get("usage"),
        prompt=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        read="cache_read_input_tokens",
        write="cache_creation_input_tokens",
        output="output_tokens",
    )


def _user(builder: Builder, line: Mapping[str, JSON]) -> None:
    content = as_dict(line.get("message")).get("content")
    if isinstance(content, str):
        builder.told(content)
        return
    for block in map(as_dict, as_list(content)):
        kind = as_text(block.get("type"))
        if kind == "text":
            builder.told(as_text(block.get("text")))
        elif kind == "tool_result":
            text, images = result_text(block.get("content"))
            builder.report.notes.update({"image": images} if images else {})
            builder.result(
                as_text(block.get("tool_use_id")),
                text,
                is_error=block.get("is_error") is True,
                read=_file(line.get("toolUseResult")),
            )
        elif kind in {"image", "document"}:
            builder.report.notes["image"] += 1
        else:
            builder.unknown(f"user block of type {kind or 'none'}")


def _file(result: JSON) -> ReadText | None:
    """The file's plain lines, which the client stores beside the numbered text."""
    file = as_dict(as_dict(result).get("file"))
    content, start = file.get("content"), file.get("startLine")
    if not isinstance(content, str) or not isinstance(start, int):
        return None
    text = content if content.endswith("\n") or not content else content + "\n"
    lines = count_lines(text)
    return ReadText(text, (start, start + lines - 1), _total(file, start, lines), exact=True)


def _total(file: Mapping[str, JSON], start: int, lines: int) -> int | None:
    """The file's number of lines: the client counts what follows the last line end as one more."""
    total, shown = file.get("totalLines"), file.get("numLines")
    if not isinstance(total, int) or not isinstance(shown, int):
        return None
    reached = start - 1 + shown >= total
    return start - 1 + lines if reached else max(total - 1, start - 1 + lines)
