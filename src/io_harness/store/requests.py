"""A request as one text that a person can read and that reads back exactly.

One frame a part: a line with its kind, its length in code points and, where there is more to
say, JSON; then the part as it is and a line end. Nothing in a part is escaped, so what tools
returned stands in it as it was stored and need not be stored again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from io_harness import jsontext
from io_harness.errors import StoreCorrupt
from io_harness.store.damage import UNREADABLE, json_object, of_type
from io_harness.types import JSON, CompletionRequest, Message, ToolCall, ToolResult, ToolSpec

Frame: TypeAlias = tuple[str, JSON, str]
"""Kind, more, body."""


def tools_text(request: CompletionRequest) -> str:
    """Return the request's tools as JSON text."""
    tools = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
    return jsontext.dumps(tools)


def request_text(request: CompletionRequest) -> str:
    """Return the text of a request; `parse_request` is its inverse."""
    parts: list[str] = []
    for kind, more, body in _frames(request):
        tail = "" if more is None else f" {jsontext.dumps(more)}"
        parts += (f"{kind} {len(body)}{tail}\n", body, "\n")
    return "".join(parts)


def parse_request(text: str) -> CompletionRequest:
    """Return the request that `request_text` made the text of; `StoreCorrupt` for another."""
    try:
        return _assembled(_parsed(text))
    except UNREADABLE as error:
        raise StoreCorrupt(
            f"a stored request cannot be read ({error}): run doctor on its store and restore a "
            "backup"
        ) from error


def arguments_from(text: str, *, raw: bool) -> dict[str, JSON] | str:
    """Return the arguments that `jsontext.arguments_text` made the text of."""
    return text if raw else json_object(text)


def _frames(request: CompletionRequest) -> Iterator[Frame]:
    yield "system", None, request.system
    yield "tools", None, tools_text(request)
    for message in request.messages:
        yield message.role, None, message.text
        for call in message.calls:
            more: JSON = [call.id, call.name, isinstance(call.arguments, str)]
            yield "call", more, jsontext.arguments_text(call.arguments)
        for result in message.results:
            yield "result", [result.call_id, result.is_error], result.text
        if message.reasoning is not None:
            yield "reasoning", None, jsontext.dumps(message.reasoning)
    # Last, for it changes with every request and what is before it does not.
    yield "limits", None, jsontext.dumps([request.max_output_tokens, request.stable_chars])


def _parsed(text: str) -> Iterator[Frame]:
    at = 0
    while at < len(text):
        end = text.index("\n", at)
        kind, size, *more = text[at:end].split(" ", 2)
        length = int(size)
        if length < 0:
            raise ValueError(f"a part of kind {kind} has {length} characters")
        at = end + 1 + length
        yield kind, jsontext.loads(more[0]) if more else None, text[end + 1 : at]
        if text[at] != "\n":
            raise ValueError(f"a part of kind {kind} does not end where it says")
        at += 1


def _assembled(frames: Iterator[Frame]) -> CompletionRequest:
    system, limits = "", [8_192, 0]
    tools: tuple[ToolSpec, ...] = ()
    messages: list[Message] = []
    for kind, more, body in frames:
        match kind:
            case "system":
                system = body
            case "tools":
                tools = tuple(map(_tool, of_type(list, jsontext.loads(body))))
            case "limits":
                limits = [of_type(int, one) for one in of_type(list, jsontext.loads(body))]
            case "user" | "assistant" | "tool":
                messages.append(Message(kind, body))
            case _:
                messages[-1] = _extended(messages[-1], kind, more, body)
    return CompletionRequest(system, tools, tuple(messages), *limits)


def _tool(row: JSON) -> ToolSpec:
    name, description, parameters = of_type(list, row)
    return ToolSpec(of_type(str, name), of_type(str, description), of_type(dict, parameters))


def _extended(message: Message, kind: str, more: JSON, body: str) -> Message:
    match kind:
        case "call":
            call_id, name, raw = of_type(list, more)
            call = ToolCall(
                of_type(str, call_id),
                of_type(str, name),
                arguments_from(body, raw=of_type(bool, raw)),
            )
            return replace(message, calls=(*message.calls, call))
        case "result":
            of, is_error = of_type(list, more)
            result = ToolResult(of_type(str, of), body, of_type(bool, is_error))
            return replace(message, results=(*message.results, result))
        case "reasoning":
            return replace(message, reasoning=jsontext.loads(body))
        case _:
            raise ValueError(f"no part of a request is of kind {kind!r}")
