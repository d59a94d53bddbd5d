"""A server that takes only so much, over the wire: no body is sent twice, and the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from io_harness import Outcome, Policy, Provider, Store, run_sync
from io_harness.providers.anthropic import AnthropicProvider
from io_harness.providers.openai import OpenAIProvider
from tests.providers.shapes import anthropic_answer, openai_answer
from tests.run.worlds import contract, files
from tests.vendor import Reply, Seen, vendor

MOST_BYTES = 20_000
OPENAI_SAYS = (
    "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"
)
ANTHROPIC_SAYS = "prompt is too long: 9000 tokens > 4096 maximum"


def openai(url: str) -> Provider:
    return OpenAIProvider("m", api_key="k", base_url=url)


def anthropic(url: str) -> Provider:
    return AnthropicProvider("m", api_key="k", base_url=url)


def a_read(number: int, *, for_openai: bool) -> object:
    given = {"path": "a.py", "offset": 1 + 40 * number, "limit": 120}
    if not for_openai:
        use = {"type": "tool_use", "id": f"t{number}", "name": "read_file", "input": given}
        return anthropic_answer(use, stop="tool_use")
    function = {"name": "read_file", "arguments": json.dumps(given)}
    asked = {"id": f"c{number}", "type": "function", "function": function}
    return openai_answer({"content": None, "tool_calls": [asked]}, "tool_calls")


@pytest.mark.parametrize("provider", [openai, anthropic])
def test_no_body_is_sent_twice(provider: Callable[[str], Provider], tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="".join(f"line {n} {'x' * 40}\n" for n in range(1_000)))
    for_openai = provider is openai
    answered = 0

    def answer(seen: Seen) -> Reply:
        nonlocal answered
        if len(seen.raw) > MOST_BYTES:
            says = OPENAI_SAYS if for_openai else ANTHROPIC_SAYS
            return Reply({"error": {"type": "invalid_request_error", "message": says}}, status=400)
        answered += 1
        if answered <= 12:
            return Reply(a_read(answered, for_openai=for_openai))
        done = openai_answer({"content": "Done."})
        return Reply(done if for_openai else anthropic_answer({"type": "text", "text": "Done."}))

    store = Store.memory()
    with vendor(answer) as server:
        result = run_sync(contract(root), provider(server.url), store, policy=Policy.workspace())
        bodies = [seen.raw for seen in server.seen]
    assert result.outcome is Outcome.SUCCESS, result.reason
    assert len(bodies) > 13
    assert len(bodies) == len(set(bodies))
    kinds = [made.kind for made in store.provider_calls(result.run_id)]
    assert kinds.count("ok") == 13
    assert 1 <= kinds.count("context_overflow") <= 2
