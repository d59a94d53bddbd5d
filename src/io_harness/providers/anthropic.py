"""Anthropic's models, through Anthropic's own SDK (`pip install 'io-harness[anthropic]'`)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from io_harness.context.budget import CachePrice
from io_harness.errors import ConfigError
from io_harness.providers import anthropic_wire as wire
from io_harness.providers.wire import (
    answer_object,
    kept_secret,
    required_key,
    server_url,
    understood,
    usable_environment,
)

try:
    import anthropic
except ImportError as error:
    raise ConfigError(
        "the anthropic package is not installed: pip install 'io-harness[anthropic]'"
    ) from error

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam, ToolParam

    from io_harness.types import Completion, CompletionRequest

# https://platform.claude.com/docs/en/build-with-claude/prompt-caching: a five-minute cache is
# written at 1.25 times the price of a prompt token and read at 0.1 times.
PRICE = CachePrice(read=0.1, write=1.25)
# https://platform.claude.com/docs/en/build-with-claude/context-windows: what every model takes.
WINDOW = 200_000


class AnthropicProvider:
    """One model at Anthropic.

    Args:
        model: the model's name, as `claude-sonnet-4-5`.
        api_key: the key; without it the SDK reads `ANTHROPIC_API_KEY`.
        base_url: another server that speaks the same protocol.
        cache_price: prices of cached tokens against plain ones.
        context_window: tokens of prompt and answer together that the model takes.
        timeout: seconds for one answer.

    Raises:
        ConfigError: the SDK is not installed, there is no key, or `base_url` is none.
    """

    name = "anthropic"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        cache_price: CachePrice = PRICE,
        context_window: int | None = WINDOW,
        timeout: float = 600.0,
    ) -> None:
        self.model = model
        self.cache_price = cache_price
        self.context_window = context_window
        self._base_url = server_url("ANTHROPIC_BASE_URL", base_url)
        self._timeout = timeout
        self._key = required_key("ANTHROPIC_API_KEY", api_key)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request, once.

        Raises:
            ProviderError: what went wrong, by kind.
        """
        with kept_secret(self._key):
            return await self._answered(request)

    async def _answered(self, request: CompletionRequest) -> Completion:
        tools = wire.tool_blocks(request)
        mark_end = self.cache_price.rewards_a_stable_prefix
        messages = wire.message_blocks(request, mark_end=mark_end)
        with understood(anthropic, anthropic.AnthropicError, self._who(), seconds=self._timeout):
            async with asyncio.timeout(self._timeout), self._client() as client:
                answer = await client.messages.with_raw_response.create(
                    model=self.model,
                    max_tokens=request.max_output_tokens,
                    system=cast("list[TextBlockParam]", wire.system_blocks(request)),
                    tools=cast("list[ToolParam]", tools) if tools else anthropic.omit,
                    messages=cast("list[MessageParam]", messages),
                )
        body = answer_object(answer.http_response.text, who=self._who())
        return wire.completion(body, who=self._who())

    def _client(self) -> anthropic.AsyncAnthropic:
        """Make a client for one request: it belongs to the event loop that it is made in.

        Its retries are off: the harness retries, so that each attempt is in the trace. It follows
        no redirect: key and prompt are for the server that was named.
        """
        with usable_environment(self._who()):
            sends = anthropic.DefaultAsyncHttpxClient(follow_redirects=False)
        return anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=sends,
        )

    def _who(self) -> str:
        return f"{self.name}:{self.model}"
