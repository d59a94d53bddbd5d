"""How much of a request a provider's prefix cache has seen before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from io_harness import jsontext
from io_harness.context.assembled import shared_prefix
from io_harness.jsontext import arguments_text
from io_harness.types import Message


def stable_chars(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return the code points of text and results with which both sequences start.

    Calls and reasoning count nothing, but end what is shared where they differ.
    """
    chars = 0
    for (old, old_counts), (new, counts) in zip(_parts(before), _parts(now), strict=False):
        if old_counts == counts and old == new:
            chars += len(new) if counts else 0
        else:
            return chars + (shared_prefix(old, new) if counts and old_counts else 0)
    return chars


def _parts(messages: Sequence[Message]) -> Iterator[tuple[str, bool]]:
    """Yield what is sent, in order, with whether it counts as text of the section."""
    for message in messages:
        yield f"{message.role} {jsontext.dumps(message.reasoning)}", False
        yield message.text, True
        for call in message.calls:
            yield f"{call.id} {call.name} {arguments_text(call.arguments)}", False
        for result in message.results:
            yield f"{result.call_id} {result.is_error}", False
            yield result.text, True
