"""A provider from its name on a command line: `anthropic:claude-sonnet-4-5`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from io_harness.context.budget import CachePrice
from io_harness.errors import ConfigError
from io_harness.providers.wire import required_key

if TYPE_CHECKING:
    from io_harness.providers.base import Provider
    from io_harness.providers.openai import OpenAIProvider

_OPENROUTER_URL = "https://openrouter.ai/api/v1"
MODEL_FORMS = "anthropic:MODEL, openai:MODEL, openrouter:MODEL or openai-compatible:MODEL@URL"
_MODEL_AT_URL = re.compile(r"(.+)@(https?://.*)", re.DOTALL)
NAMED_VENDORS = frozenset({"anthropic", "openai", "openrouter"})
"""Vendors whose model's name is all that it takes to reach it."""

# https://platform.openai.com/docs/guides/prompt-caching and https://openrouter.ai/docs/features/
# prompt-caching: a cached prefix costs a tenth to a half; writing costs nothing extra at OpenAI.
_OPENAI_PRICE = CachePrice(read=0.1, write=1.0)
_ANTHROPIC_PRICE = CachePrice(read=0.1, write=1.25)


def provider_from(name: str) -> Provider:
    """Return the provider that a name stands for, with its key from the usual variable.

    Keys are read from ANTHROPIC_API_KEY, OPENAI_API_KEY and OPENROUTER_API_KEY; other servers
    from ANTHROPIC_BASE_URL and OPENAI_BASE_URL. Without a vendor's SDK, without its key, or for
    a name that has none of the forms: `ConfigError`, saying what to do.
    """
    vendor, colon, model = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not colon or not model:
        raise ConfigError(f"model {name!r} names no vendor and model: write {MODEL_FORMS}")
    if vendor == "anthropic":
        return _anthropic(model)
    if vendor == "openai":
        return _openai(model)
    if vendor == "openrouter":
        return _openrouter(model)
    if vendor == "openai-compatible":
        return _compatible(model)
    raise ConfigError(f"model {name!r} is of an unknown vendor {vendor!r}: write {MODEL_FORMS}")


def _anthropic(model: str) -> Provider:
    from io_harness.providers.anthropic import AnthropicProvider

    return AnthropicProvider(model)


def _openai(model: str) -> Provider:
    return _openai_class()(model, cache_price=_OPENAI_PRICE)


def _openrouter(model: str) -> Provider:
    marks = model.startswith("anthropic/")
    return _openai_class()(
        model,
        api_key=required_key("OPENROUTER_API_KEY"),
        base_url=_OPENROUTER_URL,
        name="openrouter",
        cache_price=_ANTHROPIC_PRICE if marks else _OPENAI_PRICE,
        cache_marks=marks,
    )


def _compatible(model_and_url: str) -> Provider:
    found = _MODEL_AT_URL.fullmatch(model_and_url)
    if found is None:
        raise ConfigError(
            f"openai-compatible:{model_and_url} names no server: write "
            "openai-compatible:MODEL@http://HOST:PORT/v1"
        )
    model, url = found.groups()
    # A local server takes any key, and the SDK insists on one.
    key = os.environ.get("OPENAI_COMPATIBLE_API_KEY", "none")
    return _openai_class()(model, api_key=key, base_url=url, name="openai-compatible")


def _openai_class() -> type[OpenAIProvider]:
    from io_harness.providers.openai import OpenAIProvider

    return OpenAIProvider
