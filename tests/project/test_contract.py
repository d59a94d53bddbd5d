"""The public contract: what may be called how, and which errors are also which builtins."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from functools import reduce

import pytest

import io_harness
from io_harness import errors

# What a release promises of a callable's parameters: these, so named, of this kind, with these
# defaults. Others may come, with defaults of their own.
PROMISED = {
    "ContextBudget": "max_tokens=24_000, share=0.5",
    "ContextBudget.effective_tokens": "self, remaining",
    "CachePrice": "read=1.0, write=1.0",
    "Observation": (
        "step, kind, target, text, *, args='', lines=None, total_lines=None, scope=None, "
        "key=None, digest=None, paths=(), call=None"
    ),
    "Ledger": "",
    "Ledger.push": "self, observation",
    "Ledger.full_text": "self",
    "Assembler": "ledger, *, workspace=None, policy=None, price=CachePrice(), manifest=None",
    "Assembler.assemble": "self, *, step, budget_tokens, notes=()",
    "bound": "text, cap, *, keep='head', hint=''",
    "estimate_tokens": "text",
    "Workspace": "root",
    "Workspace.canonical": "self, path",
    "Workspace.read": "self, path, *, offset=1, limit=None",
    "Workspace.write": "self, path, text",
    "Policy.default": "",
    "Policy.workspace": "",
    "Policy.permissive": "",
    "Policy.extended": "self, *rules, name='extended'",
    "Policy.check": "self, act, subject",
    "Store.open": "url",
    "Store.memory": "",
    "Store.memory_put": "self, workspace, key, value, *, run_id, step",
    "Store.memory_get": "self, workspace, key",
    "Store.memory_list": "self, workspace",
    "Store.memory_delete": "self, workspace, key",
    "Store.memory_clear": "self, workspace",
    "Store.memory_pin": "self, workspace, key",
    "Store.memory_recalls": "self, run_id",
    "Store.runs": "self",
    "Store.run": "self, run_id",
    "Store.steps": "self, run_id",
    "Store.context_events": "self, run_id",
    "Store.provider_calls": "self, run_id",
    "Store.drift": "self, run_id",
    "Store.delete_run": "self, run_id",
    "Store.backup": "self, path",
    "TaskContract.workspace": "goal, root, verify=None",
    "Verification.command": "*argv, expect_exit=0",
    "Verification.file_contains": "file, needle",
    "Verification.file_equals": "file, text",
    "run": "contract, provider, store, *, policy=None, approver=None, tools=(), observer=None",
    "run_sync": "contract, provider, store, *, policy=None, approver=None, tools=(), observer=None",
    "resume": "run_id, provider, store",
    "ScriptedProvider": "turns",
    "Rule": "act, effect, pattern",
    "MemoryEntry": "key, value, run_id, step",
    "Usage": "input=None, output=None, cache_read=None, cache_write=None",
    "ToolCall": "id, name, arguments",
}

ERRORS = {
    "ConfigError": "ValueError",
    "LedgerError": "ValueError",
    "PathOutside": "PermissionError",
    "NotRegularFile": "OSError",
    "PolicyNeedsApprover": "PermissionError",
    "StoreLocked": "TimeoutError",
    "StoreFull": "OSError",
    "StoreReadOnly": "PermissionError",
    "StoreCorrupt": "Exception",
    "SchemaNewer": "Exception",
    "RunLeased": "RuntimeError",
    "RunUnknown": "KeyError",
    "ProviderError": "Exception",
    "RecordingMismatch": "Exception",
}


def promised(parameters: str) -> inspect.Signature:
    """The signature of a function that has these parameters."""
    names: dict[str, Callable[..., None]] = {}
    exec(f"def it({parameters}): ...", {"CachePrice": io_harness.CachePrice}, names)
    return inspect.signature(names["it"])


@pytest.mark.parametrize("name", PROMISED)
def test_a_public_callable_keeps_its_parameters(name: str) -> None:
    held: object = reduce(getattr, name.split("."), io_harness)
    assert callable(held)
    theirs = dict(inspect.signature(held).parameters)
    for parameter in promised(PROMISED[name]).parameters.values():
        kept = theirs.pop(parameter.name).replace(annotation=inspect.Parameter.empty)
        assert kept == parameter
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for extra in theirs.values():
        assert extra.default is not inspect.Parameter.empty or extra.kind in optional


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_also_the_builtin_that_a_caller_would_guess(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, errors.HarnessError)
    assert issubclass(error, getattr(builtins, ERRORS[name]))


def test_every_error_has_the_one_root() -> None:
    found = [thing for thing in vars(errors).values() if inspect.isclass(thing)]
    assert found
    assert all(issubclass(thing, errors.HarnessError) for thing in found)
