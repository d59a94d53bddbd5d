"""A provider whose answers are given in advance: deterministic, without key or network."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from io_harness.context.assembled import shared_prefix
from io_harness.context.budget import CachePrice
from io_harness.context.estimate import estimate_tokens
from io_harness.errors import ConfigError, ProviderError
from io_harness.jsontext import arguments_text
from io_harness.providers.prompt import prompt_text
from io_harness.types import Completion, CompletionRequest, ToolCall, Usage

Turn: TypeAlias = Completion | str | ToolCall | Sequence[ToolCall] | ProviderError
"""One answer: whole, or only its text or calls; a `ProviderError` is raised."""

Script: TypeAlias = Sequence[Turn] | Callable[[CompletionRequest], Turn | Awaitable[Turn]]


class ScriptedProvider:
    """Answers from a list of turns, or from a function of the request.

    Usage is reported as a vendor would, counted by the estimate: with a `cache_price` that
    rewards a stable prefix, what the request shares with the one before counts as cached.

    Args:
        turns: the answers in order, or a function that makes the answer to a request.
        start: how many turns of the list were given before, as when a run is resumed.
        model: the model's name in the trace.
        cache_price: prices of cached tokens against plain ones.
        context_window: tokens of prompt and answer together that it is said to take.
        reports_usage: False leaves the usage out, as some servers do.

    Raises:
        ConfigError: the turns are neither a list nor a function.
    """

    name = "scripted"

    def __init__(
        self,
        turns: Script,
        *,
        start: int = 0,
        model: str = "script",
        cache_price: CachePrice | None = None,
        context_window: int | None = None,
        reports_usage: bool = True,
    ) -> None:
        if isinstance(turns, str) or not (callable(turns) or isinstance(turns, Sequence)):
            raise ConfigError(f"turns must be a list of turns or a function, got {turns!r}")
        self.model = model
        self.cache_price = cache_price or CachePrice()
        self.context_window = context_window
        self._turns = turns
        self._given = start
        self._reports_usage = reports_usage
        self._last_prompt = ""

    async def complete(self, request: CompletionRequest) -> Completion:
        """Give the next turn.

        Raises:
            ProviderError: the turn is one, or the script has no more.
        """
        turn = await self._next_turn(request)
        if isinstance(turn, ProviderError):
            raise turn
        completion = _as_completion(turn)
        if completion.usage is not None or not self._reports_usage:
            return completion
        return replace(completion, usage=self._usage(request, completion))

    async def _next_turn(self, request: CompletionRequest) -> Turn:
        position, self._given = self._given, self._given + 1
        if callable(self._turns):
            turn = self._turns(request)
            return await turn if inspect.isawaitable(turn) else turn
        if position >= len(self._turns):
            raise ProviderError(
                f"the script has {len(self._turns)} turns and was asked for turn {position + 1}: "
                "give it more turns, or let its last one call no tool",
                kind="request",
            )
        return self._turns[position]

    def _usage(self, request: CompletionRequest, completion: Completion) -> Usage:
        prompt = prompt_text(request)
        said = completion.text + "".join(arguments_text(c.arguments) for c in completion.calls)
        tokens, output = estimate_tokens(prompt), estimate_tokens(said)
        if not self.cache_price.rewards_a_stable_prefix:
            return Usage(tokens, output)
        shared = shared_prefix(prompt, self._last_prompt) // 4
        self._last_prompt = prompt
        return Usage(tokens, output, cache_read=shared, cache_write=tokens - shared)


def _as_completion(turn: object) -> Completion:
    if isinstance(turn, Completion):
        return turn
    if isinstance(turn, str):
        return Completion(turn)
    if isinstance(turn, ToolCall):
        return Completion(calls=(turn,), stop="tool_use")
    if isinstance(turn, Sequence):
        calls = tuple(call for call in turn if isinstance(call, ToolCall))
        if len(calls) == len(turn):
            return Completion(calls=calls, stop="tool_use")
    raise ConfigError(f"a turn is a Completion, a text, or one or more ToolCalls, got {turn!r}")
