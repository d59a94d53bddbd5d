"""Claude Code sessions: one JSON record a line, one API message spread over several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.content import blocks, without_text
from io_harness.replay.importers.values import arguments_text, as_dict, as_text, usage_of
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
    | {"result", "stream_event"}
)
_SESSION = frozenset({"sessionId", "session_id", "uuid", "parentUuid"})


def claims(source: Source) -> bool:
    """Lines of type user or assistant that hold a message and a session."""
    return any(
        isinstance(v, dict)
        and as_text(v.get("type")) in {"user", "assistant"}
        and isinstance(v.get("message"), dict)
        and not _SESSION.isdisjoint(v)
        for v in source.values
    )


def build(source: Source) -> Transcript:
    """The session as records; lines of other types are counted by type."""
    builder = Builder(ids_come_once=True)
    state = _State(_cwd(source), all(map(_is_aside, _with_message(source))))
    for value in source.values:
        line = as_dict(value)
        kind = as_text(line.get("type"))
        if line.get("message") and _is_aside(line) != state.sidechain:
            builder.report.notes["sidechain line, in no main context"] += 1
        elif kind == "assistant":
            state.here = as_text(line.get("cwd")) or state.here
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
        self.cwd = self.here = cwd
        self.sidechain = sidechain
        self.message_id: str | None = None
        self.answers: dict[str, set[str]] = {}
        self.told: set[tuple[str, str]] = set()

    def new(self, message_id: str, content: JSON) -> list[Mapping[str, JSON]]:
        """The blocks of an answer's line that did not stand in an earlier line of it."""
        seen = self.answers.setdefault(message_id, set()) if message_id else set[str]()
        found = [(block, arguments_text(dict(block))) for block in blocks(content)]
        new = [block for block, text in found if text not in seen]
        seen.update(text for _, text in found)
        return new

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


def _with_message(source: Source) -> list[Mapping[str, JSON]]:
    return [line for line in map(as_dict, source.values) if line.get("message")]


def _is_aside(line: Mapping[str, JSON]) -> bool:
    """Whether a line is a subagent's; a file of one holds no others, and they are its context."""
    return bool(line.get("isSidechain") or line.get("parent_tool_use_id"))


def _assistant(builder: Builder, state: _State, message: Mapping[str, JSON]) -> None:
    if message.get("model") == "<synthetic>":
        builder.report.notes["synthetic answer"] += 1
        return
    message_id = as_text(message.get("id"))
    is_known = message_id in state.answers
    content = state.new(message_id, message.get("content"))
    if is_known and not content:
        builder.report.notes["answer line again, of a resumed session"] += 1
        return
    if not is_known:
        builder.answer()
        state.message_id = message_id
    if message_id == state.message_id:
        builder.use(_usage(message))
    for block in content:
        _block(builder, state, block)


def _block(builder: Builder, state: _State, block: Mapping[str, JSON]) -> None:
    kind = as_text(block.get("type"))
    if kind == "text":
        builder.said(as_text(block.get("text")))
    elif kind.endswith("tool_use"):
        name = as_text(block.get("name"))
        meaning = call_meaning(name, as_dict(block.get("input")), state.cwd, state.here)
        builder.call(as_text(block.get("id")), name, block.get("input"), meaning)
    elif kind.endswith("tool_result"):
        builder.result(as_text(block.get("tool_use_id")), builder.text(block.get("content")))
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
    content = blocks(as_dict(line.get("message")).get("content"))
    results = sum(block.get("type") == "tool_result" for block in content)
    for block in content:
        kind = as_text(block.get("type"))
        if kind == "text":
            builder.told(as_text(block.get("text")))
        elif kind == "tool_result":
            builder.result(
                as_text(block.get("tool_use_id")),
                builder.text(block.get("content")),
                is_error=block.get("is_error") is True,
                read=_file(line.get("toolUseResult")) if results == 1 else None,
            )
        elif without_text(block):
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
