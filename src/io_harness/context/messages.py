"""A section's pieces as provider messages: calls and their results paired, whatever was cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from io_harness import jsontext
from io_harness.types import JSON, Message, ObsKind, ToolCall, ToolResult

from .pieces import Piece, PieceStatus

_SAID = -1


def build_messages(
    pieces: Iterable[Piece], calls: Mapping[tuple[int, int], ToolCall]
) -> tuple[Message, ...]:
    """The messages that carry a section, in order.

    `calls` names the tool call behind each (step, call). What a step said and called is one
    assistant message, its results are one tool message after it, in the same order; a call
    whose observation is collapsed is in neither. All else (the memory block, the line that
    counts, hunks, observations without a call) is user text, never between a call and its
    result. The texts and arguments of all messages have at most the section's code points.
    """
    builder = _Builder(calls)
    items = list(pieces)
    for index, piece in enumerate(items):
        if not builder.answers(piece):
            builder.say(piece, next_step=_next_step(items, index, builder))
        else:
            builder.answer(piece)
    builder.close()
    return tuple(builder.messages)


def _next_step(items: list[Piece], index: int, builder: _Builder) -> int | None:
    """The step of the next piece that belongs to an assistant message."""
    for piece in items[index + 1 :]:
        if builder.answers(piece):
            return piece.step
    return None


class _Builder:
    """Messages under construction: at most one step is open at a time."""

    def __init__(self, calls: Mapping[tuple[int, int], ToolCall]) -> None:
        self.messages: list[Message] = []
        self._calls = calls
        self._answered: set[tuple[int, int]] = set()
        self._step: int | None = None
        self._said: list[str] = []
        self._open: list[tuple[ToolCall, ToolResult]] = []

    def answers(self, piece: Piece) -> bool:
        """Whether a piece is part of what the model said or called."""
        if piece.kind is None:
            return False
        if piece.kind is ObsKind.MESSAGE and piece.call == _SAID:
            return piece.step > 0
        # A read that is shown again has been answered where its call stands.
        place = piece.step, piece.call
        return place in self._calls and place not in self._answered

    def answer(self, piece: Piece) -> None:
        """Add what the model said, or a call with its result."""
        if piece.step != self._step:
            self.close()
            self._step = piece.step
        call = self._calls.get((piece.step, piece.call))
        if call is None:
            self._said.append(_own_words(piece))
            return
        self._answered.add((piece.step, piece.call))
        sent = ToolCall(call.id, call.name, _arguments(piece.args))
        is_error = piece.kind is ObsKind.ERROR
        self._open.append((sent, ToolResult(call.id, piece.text, is_error)))

    def say(self, piece: Piece, *, next_step: int | None) -> None:
        """Add user text: after the step that is open, or before it where it goes on.

        What tells of a change always comes after what it changes.
        """
        changes = piece.status is PieceStatus.REFRESHED
        if self._step is None or next_step != self._step or changes:
            self.close()
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "user":
            self.messages[-1] = Message("user", last.text + piece.text)
        else:
            self.messages.append(Message("user", piece.text))

    def close(self) -> None:
        """End the step that is open: its assistant message and its results."""
        said, calls = "".join(self._said), tuple(call for call, _ in self._open)
        if said or calls:
            self.messages.append(Message("assistant", said, calls))
        if calls:
            self.messages.append(Message("tool", results=tuple(r for _, r in self._open)))
        self._step, self._said, self._open = None, [], []


def _own_words(piece: Piece) -> str:
    """What the model said, without the header where it stands whole."""
    if piece.status is PieceStatus.STUB:
        return piece.text
    return piece.text.partition("\n")[2].removesuffix("\n")


def _arguments(args: str) -> dict[str, JSON]:
    try:
        value = jsontext.loads(args) if args else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
