"""OpenAI's models and every server that speaks its protocol, through OpenAI's own SDK.

OpenRouter, llama.cpp, vLLM and Ollama are a `base_url` (`pip install 'io-harness[openai]'`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from io_harness.context.budget import CachePrice
from io_harness.errors import ConfigError
from io_harness.providers import openai_wire as wire
from io_harness.providers.wire import (
    answer_object,
    kept_secret,
    required_key,
    server_url,
    understood,
    usable_environment,
)

try:
    import openai
except ImportError as error:
    raise ConfigError(
        "the openai package is not installed: pip install 'io-harness[openai]'"
    ) from error

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

    from io_harness.types import Completion, CompletionRequest


OutputLimit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


class OpenAIProvider:
    """One model behind OpenAI's chat completions protocol.

    Args:
        model: the model's name.
        api_key: the key; without it the SDK reads `OPENAI_API_KEY`. A local server takes any.
        base_url: another server that speaks the protocol, as `http://127.0.0.1:8080/v1`.
        name: the vendor's name in the trace.
        cache_price: prices of cached tokens against plain ones; 1.0 and 1.0 where the server
            has no prefix cache to pay for.
        cache_marks: send Anthropic's cache marks, which OpenRouter hands on.
        context_window: tokens of prompt and answer together that the model takes, where known.
        output_limit: the parameter that limits an answer; without it the newer one for OpenAI
            itself, whose reasoning models refuse the older, and the older one for any other.
        timeout: seconds for one answer.

    Raises:
        ConfigError: the SDK is not installed, there is no key, or `base_url` is none.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        name: str = "openai",
        cache_price: CachePrice | None = None,
        cache_marks: bool = False,
        context_window: int | None = None,
        output_limit: OutputLimit | None = None,
        timeout: float = 600.0,
    ) -> None:
        self.name = name
        self.model = model
        self.cache_price = cache_price or CachePrice()
        self.context_window = context_window
        self._cache_marks = cache_marks
        self._base_url = server_url("OPENAI_BASE_URL", base_url)
        self._limit = output_limit or _output_limit(self._base_url)
        self._timeout = timeout
        self._key = required_key("OPENAI_API_KEY", api_key)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request, once.

        Raises:
            ProviderError: what went wrong, by kind.
        """
        with kept_secret(self._key):
            return await self._answered(request)

    async def _answered(self, request: CompletionRequest) -> Completion:
        tools = cast("list[ChatCompletionFunctionToolParam]", wire.tool_blocks(request))
        messages = wire.message_blocks(request, marks=self._cache_marks)
        with understood(openai, openai.OpenAIError, self._who(), seconds=self._timeout):
            async with asyncio.timeout(self._timeout), self._client() as client:
                answer = await client.chat.completions.with_raw_response.create(
                    model=self.model,
                    messages=cast("list[ChatCompletionMessageParam]", messages),
                    tools=tools or openai.omit,
                    extra_body={self._limit: request.max_output_tokens},
                )
        body = answer_object(answer.http_response.text, who=self._who())
        return wire.completion(body, who=self._who())

    def _client(self) -> openai.AsyncOpenAI:
        """Make a client for one request: it belongs to the event loop that it is made in.

        Its retries are off: the harness retries, so that each attempt is in the trace. It follows
        no redirect: key and prompt are for the server that was named.
        """
        with usable_environment(self._who()):
            sends = openai.DefaultAsyncHttpxClient(follow_redirects=False)
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=sends,
        )

    def _who(self) -> str:
        return f"{self.name}:{self.model}"


def _output_limit(elsewhere: str | None) -> OutputLimit:
    return "max_tokens" if elsewhere else "max_completion_tokens"
