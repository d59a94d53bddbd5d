"""What a model provider is: a name, a price for cached tokens, and one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from io_harness.context.budget import CachePrice
    from io_harness.types import Completion, CompletionRequest


class Provider(Protocol):
    """A model that answers requests. Write your own by having these four."""

    @property
    def name(self) -> str:
        """The vendor or server, as it stands in the trace."""

    @property
    def model(self) -> str:
        """The model's name at that vendor."""

    @property
    def cache_price(self) -> CachePrice:
        """What a cached and a newly cached token cost; 1.0 and 1.0 without a prefix cache."""

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request, once: no retries in here.

        Raises `ProviderError` with the kind of the failure.
        """


@runtime_checkable
class KnowsWindow(Protocol):
    """A provider that knows how many tokens its model takes, prompt and answer together."""

    @property
    def context_window(self) -> int | None:
        """The window in tokens; `None` where it is not known."""
