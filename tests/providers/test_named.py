"""Providers by name: what each form gives, and what is said of a wrong one."""

from __future__ import annotations

import sys

import pytest

from io_harness.errors import ConfigError
from io_harness.providers.named import provider_from

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.setenv(key, "k")


@pytest.mark.parametrize(
    ("name", "vendor", "model", "priced"),
    [
        ("anthropic:claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", True),
        ("openai:gpt-5", "openai", "gpt-5", True),
        (
            "openrouter:anthropic/claude-sonnet-4.5",
            "openrouter",
            "anthropic/claude-sonnet-4.5",
            True,
        ),
        ("openai-compatible:qwen@http://127.0.0.1:8080/v1", "openai-compatible", "qwen", False),
        ("openai-compatible:a@b:c@https://h/v1", "openai-compatible", "a@b:c", False),
    ],
)
def test_each_form(name: str, vendor: str, model: str, priced: bool) -> None:
    provider = provider_from(name)
    assert (provider.name, provider.model) == (vendor, model)
    assert provider.cache_price.rewards_a_stable_prefix is priced


@pytest.mark.parametrize(
    "name", ["", "gpt-5", "anthropic:", "acme:x", "openai-compatible:x", "openai-compatible:x@h"]
)
def test_a_wrong_name_shows_the_right_forms(name: str) -> None:
    with pytest.raises(ConfigError, match="write"):
        provider_from(name)


@pytest.mark.parametrize(
    ("name", "key"),
    [("anthropic:m", KEYS[0]), ("openai:m", KEYS[1]), ("openrouter:m", KEYS[2])],
)
def test_without_a_key_the_variable_is_named(
    name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(key, " ")
    with pytest.raises(ConfigError, match=f"set {key}"):
        provider_from(name)


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_without_the_sdk_the_extra_is_named(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"io_harness.providers.{vendor}", raising=False)
    monkeypatch.setitem(sys.modules, vendor, None)
    with pytest.raises(ConfigError, match=rf"pip install 'io-harness\[{vendor}\]'"):
        provider_from(f"{vendor}:m")
