"""A request as people read it: who says what, one part after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from io_harness.cli.output import plain
from io_harness.jsontext import arguments_text
from io_harness.types import CompletionRequest, Message, ObsKind

_OURS = re.compile(
    rf"^(?=\\*(?:--- (?:account|answer|system|tools?|user|assistant)$|calls \S+ \{{|"
    rf"\[(?:{'|'.join(ObsKind)}) .*\] \{{))",
    re.MULTILINE,
)


def told(text: str) -> str:
    """A text as it is shown: a line that reads like one of ours gets a leading backslash."""
    return _OURS.sub("\\\\", plain(text, lines=True))


def lines_of(request: CompletionRequest) -> Iterator[str]:
    """Yield a request's parts, each under a line that names it; texts are as they were sent."""
    yield from _part("system", told(request.system))
    yield from _part("tools", ", ".join(tool.name for tool in request.tools))
    for message in request.messages:
        yield from _message(message)


def _message(message: Message) -> Iterator[str]:
    calls = [f"calls {plain(c.name)} {plain(arguments_text(c.arguments))}" for c in message.calls]
    texts = [message.text, *(result.text for result in message.results)]
    said = [told(text).rstrip("\n") for text in texts if text.strip()]
    yield from _part(message.role, "\n".join([*said, *calls]))


def _part(name: str, text: str) -> Iterator[str]:
    yield f"--- {name}"
    yield text.strip("\n")
