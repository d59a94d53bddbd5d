"""Chat-form message lists: OpenAI style, Anthropic style, OpenHands' text calls, and Cline's.

The dialects mix freely in real files, so one importer takes them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.content import blocks, result_text, without_text
from io_harness.replay.importers.values import as_dict, as_list, as_text, parsed, usage_of
from io_harness.replay.readtext import read_text
from io_harness.replay.records import Meaning
from io_harness.replay.vocabulary import call_meaning
from io_harness.types import JSON, ObsKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source

FORMAT = "chat"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "human", "gpt"})
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>(.*?)(?:</parameter>|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"\A(?:OBSERVATION:\n|EXECUTION RESULT of \[[^\]]*\]:\n)")
_DIRECTORY = re.compile(r"^\[Current working directory: (/[^\]\n]*)\]", re.MULTILINE)
_FAILED = re.compile(
    r"\A\s*(?:ERROR:|\[?Error\b|Traceback \(most recent call last\)"
    r"|[\w/.-]{1,99}: [^\n]{1,999}: "
    r"(?:No such file or directory|Is a directory|Permission denied)$)",
    re.MULTILINE,
)
_EXIT = re.compile(r"^\[[^\]\n]*exit code (-?\d{1,9})\.?\]", re.MULTILINE)


def claims(source: Source) -> bool:
    """A list of messages with roles, alone, under a name, or one a line."""
    return sum(1 for m in _messages(source) if _is_message(m)) >= 1


def _is_message(value: Mapping[str, JSON]) -> bool:
    has_content = "content" in value or "tool_calls" in value
    return as_text(value.get("role")) in _ROLES and has_content


def _messages(source: Source) -> Iterator[Mapping[str, JSON]]:
    for value in source.values:
        top = as_dict(value)
        if _is_message(top):
            yield top
            continue
        for name in ("messages", "conversation", "conversations", "traj", "trajectory", "history"):
            if as_list(top.get(name)):
                yield from map(as_dict, as_list(top.get(name)))
                break
        else:
            yield from map(as_dict, as_list(value))


def form(source: Source) -> str:
    """The list's own name: cline and openhands_chat are told by what only they hold."""
    top = as_dict(source.values[0])
    messages = list(_messages(source))
    if "sessionId" in top and any("metrics" in m or "modelInfo" in m for m in messages):
        return "cline"
    texts = (result_text(m.get("content"))[0] for m in messages)
    if any(_FUNCTION.search(text) or _OBSERVATION.match(text) for text in texts):
        return "openhands_chat"
    return FORMAT


def build(source: Source) -> Transcript:
    """The messages as records; what stands in the system message is the fixed part."""
    directories = (_DIRECTORY.search(result_text(m.get("content"))[0]) for m in _messages(source))
    root = next((found[1] for found in directories if found), "")
    builder = Builder(root=root, here=root)
    for message in _messages(source):
        role = as_text(message.get("role"))
        if role in {"assistant", "gpt"}:
            _answer(builder, message)
        elif role in {"user", "human"}:
            _user(builder, message)
        elif role in {"tool", "function"}:
            _tool(builder, message)
        elif role in {"system", "developer"}:
            builder.report.notes["system message"] += 1
        else:
            builder.unknown(f"message of role {role or 'none'}")
    return builder.transcript(source.path, form(source))


def _answer(builder: Builder, message: Mapping[str, JSON]) -> None:
    builder.answer()
    _use(builder, message)
    has_calls = bool(message.get("tool_calls"))
    for block in blocks(message.get("content")):
        kind = as_text(block.get("type"))
        if kind in {"text", "output_text"}:
            _text_answer(builder, as_text(block.get("text")), has_calls)
        elif kind.endswith("tool_use"):
            _call(builder, block.get("id"), as_text(block.get("name")), block.get("input"))
        elif kind.endswith("tool_result"):
            _result(builder, as_text(block.get("tool_use_id")), block)
        elif kind in {"thinking", "redacted_thinking", "reasoning"}:
            builder.report.notes["thinking block"] += 1
        else:
            builder.unknown(f"answer block of type {kind or 'none'}")
    for call in map(as_dict, as_list(message.get("tool_calls"))):
        function = as_dict(call.get("function"))
        name = as_text(function.get("name")) or as_text(call.get("name"))
        _call(builder, call.get("id"), name, function.get("arguments", call.get("arguments")))
    single = as_dict(message.get("function_call"))
    if single:
        _call(builder, None, as_text(single.get("name")), single.get("arguments"))


def _use(builder: Builder, message: Mapping[str, JSON]) -> None:
    builder.use(
        usage_of(
            message.get("metrics"),
            prompt=("inputTokens",),
            read="cacheReadTokens",
            write="cacheWriteTokens",
            output="outputTokens",
        )
    )


def _text_answer(builder: Builder, text: str, has_calls: bool) -> None:
    """What was said around the functions that the text calls, and those."""
    found = [] if has_calls else list(_FUNCTION.finditer(text))
    builder.said(_FUNCTION.sub("", text) if found else text)
    for function in found:
        args: dict[str, JSON] = {
            name: value.strip("\n") for name, value in _PARAMETER.findall(function[2])
        }
        _call(builder, None, function[1], args)


def _meaning(builder: Builder, name: str, args: Mapping[str, JSON]) -> Meaning:
    return call_meaning(name, args, builder.root, builder.here)


def _call(builder: Builder, call_id: JSON, name: str, raw: JSON) -> None:
    builder.call(as_text(call_id), name, raw, _meaning(builder, name, parsed(raw)))


def _user(builder: Builder, message: Mapping[str, JSON]) -> None:
    for block in blocks(message.get("content")):
        kind = as_text(block.get("type"))
        if kind in {"text", "input_text"}:
            _user_text(builder, as_text(block.get("text")))
        elif kind.endswith("tool_result"):
            _result(builder, as_text(block.get("tool_use_id")), block)
        elif kind == "file":
            _attached(builder, block)
        elif without_text(block):
            builder.report.notes["image"] += 1
        else:
            builder.unknown(f"user block of type {kind or 'none'}")


def _user_text(builder: Builder, text: str) -> None:
    """An observation told as user text answers the call that waits for it."""
    waiting = builder.waiting()
    observation = _OBSERVATION.match(text)
    if waiting is None or observation is None:
        builder.told(text)
        return
    body = text[observation.end() :]
    _told_result(builder, waiting, body)


def _told_result(builder: Builder, call_id: str, text: str) -> None:
    """These results tell a failure by their text only."""
    code = _EXIT.search(text[-300:])
    where = _DIRECTORY.search(text[-1_000:])
    builder.here = where[1] if where else builder.here
    builder.result(
        call_id, text, is_error=bool(_FAILED.match(text)), exit_code=int(code[1]) if code else 0
    )


def _attached(builder: Builder, block: Mapping[str, JSON]) -> None:
    """A file the user attached stands in the context like a read of it."""
    path = as_text(block.get("path"))
    meaning = _meaning(builder, "read", {"path": path})
    if not path:
        meaning = Meaning(ObsKind.TOOL)
    call_id = builder.call("", "attached file", None, meaning)
    builder.result(call_id, builder.text(block.get("content")))


def _tool(builder: Builder, message: Mapping[str, JSON]) -> None:
    call_id = as_text(message.get("tool_call_id")) or builder.waiting() or ""
    text = _OBSERVATION.sub("", builder.text(message.get("content")))
    _told_result(builder, call_id, text)


def _result(builder: Builder, call_id: str, block: Mapping[str, JSON]) -> None:
    content = block.get("content")
    decoded = _decoded(content)
    told = [as_dict(part).get("success") for part in (*as_list(decoded), decoded)]
    judged = [success for success in told if isinstance(success, bool)]
    failed = block.get("is_error") is True or (bool(judged) and not any(judged))
    # The model saw the JSON; the file's lines are what is in it.
    read = read_text(result_text(decoded)[0], None) if decoded is not content else None
    builder.result(call_id, builder.text(content), is_error=failed, read=read)


def _decoded(content: JSON) -> JSON:
    """Results that a client stored as the text of their JSON: each says whether it succeeded."""
    if not isinstance(content, str) or '"success"' not in content:
        return content
    try:
        value: JSON = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content
    parts = value if isinstance(value, list) else [value]
    return value if parts and all("success" in as_dict(part) for part in parts) else content
