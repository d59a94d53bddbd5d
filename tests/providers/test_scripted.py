"""The scripted provider: turns, faults, and usage as a vendor would report it."""

from __future__ import annotations

import asyncio

import pytest

from io_harness.context.budget import CachePrice
from io_harness.errors import ProviderError
from io_harness.providers.scripted import Script, ScriptedProvider
from io_harness.types import Completion, CompletionRequest, Message, ToolCall, Usage

CALL = ToolCall("1", "read_file", {"path": "a"})


def asked(text: str) -> CompletionRequest:
    return CompletionRequest("system", (), (Message("user", text),))


def answers(script: Script, *prompts: str, **options: object) -> list[Completion]:
    provider = ScriptedProvider(script, **options)  # type: ignore[arg-type]  # passed through

    async def ask() -> list[Completion]:
        return [await provider.complete(asked(prompt)) for prompt in prompts]

    return asyncio.run(ask())


def test_each_form_of_a_turn() -> None:
    given = Completion("whole", usage=Usage(1, 2))
    got = answers(["text", CALL, [CALL, CALL], given], "a", "b", "c", "d")
    assert [(c.text, len(c.calls)) for c in got] == [("text", 0), ("", 1), ("", 2), ("whole", 0)]
    assert got[3] is given


def test_a_function_of_the_request_plain_or_awaitable() -> None:
    async def later(request: CompletionRequest) -> str:
        return request.messages[0].text.upper()

    assert answers(lambda request: request.messages[0].text, "x")[0].text == "x"
    assert answers(later, "x")[0].text == "X"


def test_an_error_is_raised_and_an_exhausted_script_says_so() -> None:
    with pytest.raises(ProviderError, match="busy"):
        answers([ProviderError("busy", kind="server")], "a")
    with pytest.raises(ProviderError, match="1 turns and was asked for turn 2") as caught:
        answers(["only"], "a", "b")
    assert not caught.value.retryable


def test_a_resumed_script_goes_on_where_it_was() -> None:
    assert answers(["a", "b", "c"], "x", start=2)[0].text == "c"


def test_cached_tokens_are_the_prefix_shared_with_the_request_before() -> None:
    price = CachePrice(0.1, 1.25)
    first, second = answers(["a", "b"], "x" * 400, "x" * 400 + "y" * 400, cache_price=price)
    assert first.usage == Usage(102, 1, cache_read=0, cache_write=102)
    assert second.usage == Usage(202, 1, cache_read=102, cache_write=100)


def test_usage_can_be_left_out() -> None:
    assert answers(["a"], "x", reports_usage=False)[0].usage is None
