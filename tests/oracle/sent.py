"""What is sent and read back: provider messages with calls and results paired, and `parse`."""

from __future__ import annotations

import json

from io_harness.context import Piece, PieceStatus
from io_harness.context.messages import build_messages
from io_harness.testing import Parsed, parse
from io_harness.types import Message, ObsKind, ToolCall

from . import grammar
from .scenario import Frame
from .shown import demand

Place = tuple[int, int]


def calls_of(frame: Frame) -> dict[Place, ToolCall]:
    """A tool call behind every observation that can have one; skills are pushed by callers."""
    found: dict[Place, ToolCall] = {}
    for fact in frame.facts:
        seen = fact.observation
        place = (seen.step, -1 if seen.call is None else seen.call)
        if seen.kind is not ObsKind.SKILL and place[1] >= 0:
            found[place] = ToolCall(f"{place[0]}.{place[1]}", "tool", seen.args)
    return found


def messages(frame: Frame) -> None:
    """Each call has its result right after it, in order; nothing is lost, nothing is too much."""
    pieces = list(frame.assembled.pieces)
    calls = calls_of(frame)
    made = build_messages(pieces, calls)
    paired(made)
    by_place = {(piece.step, piece.call): piece for piece in reversed(pieces) if piece.kind}
    shown = {place for place in by_place if place in calls}
    sent = [call for message in made for call in message.calls]
    demand(sorted(call.id for call in sent) == sorted(calls[p].id for p in shown), "calls", sent)
    results = {result.call_id: result for message in made for result in message.results}
    for place in shown:
        piece, result = by_place[place], results[calls[place].id]
        demand(result.text == piece.text, "another result", piece, result)
        demand(result.is_error == (piece.kind is ObsKind.ERROR), "error or not", piece)
    arguments = {calls[place].id: by_place[place].args for place in shown}
    for call in sent:
        demand(call.arguments == parsed_arguments(arguments[call.id]), "other arguments", call)
    within(frame, made, pieces)


def paired(made: tuple[Message, ...]) -> None:
    """An assistant message with calls, then the results of exactly these, and no others."""
    for before, message in zip((None, *made), made, strict=False):
        if message.role == "tool":
            demand(before is not None and before.role == "assistant", "results without calls")
            assert before is not None
            ids = [call.id for call in before.calls]
            demand([result.call_id for result in message.results] == ids, "not paired", ids)
        elif before is not None:
            demand(not before.calls, "calls without results", before.calls)
        steps = {call.id.partition(".")[0] for call in message.calls}
        demand(len(steps) <= 1, "steps share a message", steps)
        demand(message.text or message.calls or message.results, "an empty message", message)
    demand(not made or not made[-1].calls, "calls without results at the end")


def within(frame: Frame, made: tuple[Message, ...], pieces: list[Piece]) -> None:
    """All texts and arguments of the messages are within the ceiling."""
    texts = [message.text for message in made]
    texts += [result.text for message in made for result in message.results]
    chars = sum(map(len, texts)) + sum(len(piece.args) for piece in pieces)
    demand(chars <= 4 * frame.ask.budget, "messages over the ceiling", chars)


def parsed_arguments(args: str) -> object:
    """The arguments as an object; none where they are no JSON object."""
    try:
        value = json.loads(args) if args else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def read_back(frame: Frame) -> None:
    """`parse` gives the pieces back from the text alone, and from the content what was made."""
    pieces = list(frame.assembled.pieces)
    found = parse(frame.assembled.text)
    demand([one.text for one in found] == [piece.text for piece in pieces], "other pieces", found)
    contents = {
        (fact.observation.step, fact.observation.call): fact.observation.text
        for fact in frame.facts
    }
    for one, piece in zip(found, pieces, strict=True):
        if piece.status in {PieceStatus.STUB, PieceStatus.COLLAPSED, PieceStatus.MEMORY}:
            demand(one.status == piece.status, "another status", one, piece)
        if piece.kind is None or piece.text.startswith("[changed "):
            continue
        told = (one.step, one.call, one.kind)
        demand(told == (piece.step, piece.call, piece.kind), "another header", told, piece)
        same_target(one, piece)
        if piece.status is PieceStatus.CARRIED and not piece.cut:
            text = contents[piece.step, piece.call]
            demand(one.content == grammar.clean(text), "another content", one.content, text)


def same_target(one: Parsed, piece: Piece) -> None:
    """The target as it was, or the start of it where it was shortened."""
    if piece.target is None or one.target is None:
        demand(one.target is piece.target, "target", one, piece)
    else:
        whole = one.target == piece.target
        start = one.target.removesuffix("…")
        demand(whole or piece.target.startswith(start), "another target", one, piece)
