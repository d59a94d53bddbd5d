"""How much of a request is known from the one before: where a cache mark can stand."""

from __future__ import annotations

import dataclasses

from io_harness.loop.prefix import stable_chars
from io_harness.types import Message, ToolCall, ToolResult

CALL = ToolCall("call_1_0", "read_file", {"path": "a"})
BEFORE = (
    Message("user", "notes\n"),
    Message("assistant", "Look.", (CALL,)),
    Message("tool", results=(ToolResult("call_1_0", "x" * 10),)),
)
MORE = (*BEFORE, Message("user", "hunk"))
ALL = len("notes\n") + len("Look.") + 10


def test_all_of_it_where_nothing_changed() -> None:
    assert stable_chars((), BEFORE) == 0
    assert stable_chars(BEFORE, BEFORE) == ALL
    assert stable_chars(BEFORE, MORE) == ALL


def test_up_to_the_first_difference_whatever_it_is_in() -> None:
    other = (Message("user", "note!\n"), *BEFORE[1:])
    assert stable_chars(BEFORE, other) == len("note")
    elided = dataclasses.replace(BEFORE[1], calls=(dataclasses.replace(CALL, arguments={}),))
    assert stable_chars(BEFORE, (BEFORE[0], elided, BEFORE[2])) == len("notes\nLook.")
    thought = dataclasses.replace(BEFORE[1], reasoning=[{"type": "thinking"}])
    assert stable_chars(BEFORE, (BEFORE[0], thought, BEFORE[2])) == len("notes\n")
    cut = Message("tool", results=(ToolResult("call_1_0", "x" * 4),))
    assert stable_chars(BEFORE, (*BEFORE[:2], cut)) == ALL - 6
    error = Message("tool", results=(ToolResult("call_1_0", "x" * 10, is_error=True),))
    assert stable_chars(BEFORE, (*BEFORE[:2], error)) == len("notes\nLook.")
