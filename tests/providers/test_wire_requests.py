"""What goes over the wire, sent by the vendors' own SDKs to a local server."""

from __future__ import annotations

import asyncio
import json
from typing import cast

import pytest
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from io_harness.context.budget import CachePrice
from io_harness.providers.anthropic import AnthropicProvider
from io_harness.providers.openai import OpenAIProvider
from io_harness.types import CompletionRequest, Message, ToolCall, ToolResult
from tests.providers.shapes import a_request, anthropic_answer, openai_answer
from tests.vendor import Reply, vendor

Body = dict[str, object]


def sent_to_anthropic(request: CompletionRequest, price: CachePrice | None = None) -> Body:
    with vendor([Reply(anthropic_answer({"type": "text", "text": "ok"}))]) as server:
        provider = AnthropicProvider(
            "m", api_key="k", base_url=server.url, cache_price=price or CachePrice(0.1, 1.25)
        )
        asyncio.run(provider.complete(request))
        assert len(server.seen) == 1
        return server.seen[0].body


def sent_to_openai(request: CompletionRequest, *, marks: bool = False) -> Body:
    with vendor([Reply(openai_answer({"content": "ok"}))]) as server:
        provider = OpenAIProvider("m", api_key="k", base_url=server.url, cache_marks=marks)
        asyncio.run(provider.complete(request))
        return server.seen[0].body


def blocks(body: Body) -> list[Body]:
    messages = cast("list[Body]", body["messages"])
    return [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in cast("list[Body]", message["content"])
    ]


def marked(body: Body) -> list[object]:
    found = [block for block in blocks(body) if "cache_control" in block]
    return [block.get("text") or block.get("content") for block in found]


def test_anthropic_gets_native_pairs_in_order() -> None:
    body = sent_to_anthropic(a_request())
    messages = cast("list[Body]", body["messages"])
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    uses = [b for b in blocks(body) if b["type"] == "tool_use"]
    results = [b for b in blocks(body) if b["type"] == "tool_result"]
    assert [b["id"] for b in uses] == [b["tool_use_id"] for b in results]
    assert [b["name"] for b in uses] == ["read_file", "no_such_tool_"]
    assert [b["input"] for b in uses] == [{"path": "a.py"}, {}]
    assert [b["is_error"] for b in results] == [False, True]
    assert body["max_tokens"] == 512
    TypeAdapter(list[MessageParam]).validate_python(messages)


@pytest.mark.parametrize(
    ("stable_chars", "price", "where"),
    [
        (0, CachePrice(0.1, 1.25), ["Goal: fix it.\n\n", "[changed a.py]\n"]),
        (15, CachePrice(0.1, 1.25), ["Goal: fix it.\n\n", "[notes]\n- k: v\n", "[changed a.py]\n"]),
        (15 + 8 + 40, CachePrice(0.1, 1.25), ["Goal: fix it.\n\n", "x" * 40, "[changed a.py]\n"]),
        (15 + 8 + 59, CachePrice(0.1, 1.25), ["Goal: fix it.\n\n", "x" * 40, "[changed a.py]\n"]),
        (15 + 8 + 60, CachePrice(), ["Goal: fix it.\n\n", "y" * 20]),
        (9_999, CachePrice(0.1, 1.25), ["Goal: fix it.\n\n", "[changed a.py]\n"]),
    ],
)
def test_cache_marks_stand_after_the_fixed_part_at_stable_chars_and_at_the_end(
    stable_chars: int, price: CachePrice, where: list[str]
) -> None:
    body = sent_to_anthropic(a_request(stable_chars=stable_chars), price)
    assert marked(body) == where
    assert json.dumps(body).count("cache_control") == len(where) <= 4


def test_openai_gets_native_pairs_in_order() -> None:
    body = sent_to_openai(a_request())
    messages = cast("list[Body]", body["messages"])
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert messages[1]["content"] == "Goal: fix it.\n\n[notes]\n- k: v\n"
    calls = cast("list[Body]", messages[2]["tool_calls"])
    functions = [cast("Body", call["function"]) for call in calls]
    assert [call["id"] for call in calls] == [m["tool_call_id"] for m in messages[3:5]]
    assert [f["arguments"] for f in functions] == ['{"path":"a.py"}', "{}"]
    assert [f["name"] for f in functions] == ["read_file", "no_such_tool_"]
    assert (body["max_tokens"], "max_completion_tokens" in body) == (512, False)
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(messages)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_limit_of_an_answer_can_have_either_name(name: str) -> None:
    with vendor([Reply(openai_answer({"content": "ok"}))]) as server:
        provider = OpenAIProvider(
            "m",
            api_key="k",
            base_url=server.url,
            output_limit=name,  # type: ignore[arg-type]  # one of the two
        )
        asyncio.run(provider.complete(a_request()))
        assert server.seen[0].body[name] == 512


def test_the_limit_goes_by_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with vendor([Reply(openai_answer({"content": "ok"}))]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asyncio.run(OpenAIProvider("m", api_key="k").complete(a_request()))
        assert "max_tokens" in server.seen[0].body


def test_openrouter_is_sent_marks_and_openai_none() -> None:
    request = a_request(stable_chars=15)
    assert "cache_control" not in json.dumps(sent_to_openai(request))
    body = sent_to_openai(request, marks=True)
    assert marked(body) == ["Goal: fix it.\n\n", "[notes]\n- k: v\n", "[changed a.py]\n"]


def test_a_request_without_tools_sends_none() -> None:
    bare = CompletionRequest("s", (), (Message("user", "hello"),))
    assert "tools" not in sent_to_openai(bare)


@pytest.mark.parametrize("sent", [sent_to_anthropic, sent_to_openai])
def test_lone_surrogates_are_shown_not_refused(sent: object) -> None:
    call = ToolCall("call_1_0", "read_file", {"path": "a\ud83d"})
    request = CompletionRequest(
        "sys\ud83d",
        (),
        (
            Message("user", "goal \ud83d"),
            Message("assistant", calls=(call,)),
            Message("tool", results=(ToolResult("call_1_0", "no file \ud83d"),)),
        ),
    )
    body = json.dumps(sent(request), ensure_ascii=False)  # type: ignore[operator]  # both take one
    body.encode()
    assert body.count(r"\\u{d83d}") + body.count(r"\u{d83d}") >= 4
