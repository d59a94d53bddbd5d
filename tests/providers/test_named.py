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
        ("openai-compatible:m@http://user:pass@[::1]:80/v1", "openai-compatible", "m", False),
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


BAD_URLS = (
    *("http://", "http:///v1", "http://:80", "http://h:99999", "http://h:abc/v1", "http://h:0"),
    *("http://[::1/v1", "http://a b/v1", "http://h/v1\n", "http://u:secret@h:99999"),
)


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_url_of_no_server_is_refused_before_a_run(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="write one as http://HOST:PORT/v1") as caught:
        provider_from(f"openai-compatible:m@{url}")
    assert "secret" not in str(caught.value)
    for variable in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(variable, url.replace("\n", ""))
    if not url.endswith("\n"):
        for name in ("anthropic:m", "openai:m"):
            with pytest.raises(ConfigError, match="is no server's URL"):
                provider_from(name)


@pytest.mark.parametrize("key", ["\u043a\u043b\u044e\u0447", "sk-1\n2", "sk\x1b"])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="the key in OPENAI_API_KEY") as caught:
        provider_from("openai:m")
    assert key not in str(caught.value)


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
