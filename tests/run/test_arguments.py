"""A call's arguments as vendors' SDKs type them, and as any mapping that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from io_harness import ObsKind, Policy, ScriptedProvider, Store, TaskContract, ToolCall, run_sync
from io_harness.providers.wire import argument_object
from io_harness.types import ToolSpec

PATH = {"path": "a.py"}
"""What a type checker takes for `dict[str, str]`, which is no `dict[str, JSON]`."""
BLOCK: dict[str, object] = {"path": "a.py"}
"""As Anthropic's SDK types the input of a block."""


@pytest.mark.parametrize("arguments", [PATH, BLOCK, MappingProxyType(PATH)])
def test_arguments_may_be_any_mapping(arguments: Mapping[str, object], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    call = ToolCall("1", "read_file", arguments)
    contract = TaskContract.workspace("Read a.py.", tmp_path)
    with Store.memory() as store:
        script = ScriptedProvider([call, "Done."])
        result = run_sync(contract, script, store, policy=Policy.workspace())
        step, _ = store.steps(result.run_id)
    assert step.calls == (ToolCall("1", "read_file", PATH),)
    assert step.observations[-1].kind is ObsKind.READ
    assert argument_object(call) == PATH


def test_a_schema_may_be_typed_as_it_is_written() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert ToolSpec("look", "Look.", schema).parameters == schema
