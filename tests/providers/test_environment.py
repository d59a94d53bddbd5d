"""What an HTTP client cannot be made from is told in a sentence that names where to look."""

from __future__ import annotations

import os

import pytest

from io_harness.errors import ConfigError
from io_harness.providers.wire import usable_environment


@pytest.mark.parametrize(
    ("variables", "ending"),
    [({}, "(no scheme)"), ({"https_proxy": "::"}, "(no scheme): look at https_proxy")],
)
def test_only_a_variable_that_is_set_is_pointed_at(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], ending: str
) -> None:
    monkeypatch.setattr(os, "environ", variables)
    with pytest.raises(ConfigError) as told, usable_environment("openai:m"):
        raise ValueError("no scheme")
    assert str(told.value) == f"openai:m cannot be asked from this environment {ending}"
