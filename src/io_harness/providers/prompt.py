"""A request as one text: what providers count, compare and show, in the order they send it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from io_harness.types import CompletionRequest, Message, ToolSpec


def tools_text(tools: tuple[ToolSpec, ...]) -> str:
    """Return the tools' part of a prompt; it comes first wherever prefixes are cached."""
    return jsontext.dumps([[t.name, t.description, t.parameters] for t in tools]) if tools else ""


def message_parts(message: Message) -> Iterator[str]:
    """Yield a message's texts in order: what was said, each call, each result."""
    yield message.text
    for call in message.calls:
        yield call.name
        yield jsontext.arguments_text(call.arguments)
    for result in message.results:
        yield result.text


def prompt_text(request: CompletionRequest) -> str:
    """Return the whole request as one text: tools, system text, messages."""
    parts = [tools_text(request.tools), request.system]
    for message in request.messages:
        parts.extend(message_parts(message))
    return "\n".join(parts)
