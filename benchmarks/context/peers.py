"""What others do for the same: langchain-core's `trim_messages`, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from io_harness import estimate_tokens

from .rig import timed, undisturbed
from .shapes import CEILING, LONG_SHAPE, SHAPES, ledger_of


def trim_ns(length: int, rounds: int = 5) -> int:
    """The least nanoseconds of trimming a history of that many messages to the ceiling."""
    messages = import_module("langchain_core.messages")
    human = cast("Callable[[str], object]", messages.HumanMessage)
    trim = cast("Callable[..., list[object]]", messages.trim_messages)
    history = [human(seen.text) for seen in ledger_of(SHAPES[LONG_SHAPE], length)]

    def count(some: list[object]) -> int:
        return sum(estimate_tokens(str(getattr(message, "content", ""))) for message in some)

    def act() -> object:
        return trim(history, max_tokens=CEILING, token_counter=count, strategy="last")

    with undisturbed():
        return min(timed(act) for _ in range(rounds))
